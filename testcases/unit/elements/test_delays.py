"""A delay for each cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.delays import Delays
from qospec.engine.items.batch import FOREVER_PS


@given(
    came=st.lists(st.integers(0, 30), max_size=30).map(sorted),
    each=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    cuts=st.lists(st.integers(0, 40), max_size=4),
)
def test_the_kth_cell_leaves_the_kth_time_later(lab, came, each, cuts):
    exact = sorted((t + each[k % len(each)], k) for k, t in enumerate(came))
    (left,) = lab.carry(Delays(tuple(each)), lab.setting(), lab.cells(came), cuts=cuts).departures
    assert list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)) == exact


def test_packets_are_overtaken_and_of_equals_the_first_is_first(lab):
    """The spike of UNH 2004, table 2.1: packet 3 arrives behind 4 and 5, together with 6."""
    came = lab.cells([0, 2, 4, 6, 8, 10])
    (left,) = lab.carry(Delays((1, 1, 7, 1, 1, 1)), lab.setting(), came).departures
    assert left.at_ps.tolist() == [1, 3, 7, 9, 11, 11]
    assert left.sent_ps.tolist() == [0, 1, 3, 4, 2, 5]


@pytest.mark.parametrize("each", [tuple(range(300, 100, -1)), (5,)])
def test_more_wait_than_there_is_room_for_at_first_or_than_one_answer_sends(lab, each):
    exact = sorted((each[k % len(each)], k) for k in range(200))
    (left,) = lab.carry(Delays(each), lab.setting(), lab.cells([0] * 200)).departures
    assert list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)) == exact


def test_the_watermark_moves_by_the_least(lab):
    late = Delays((7, 3))
    step = late.process(late.start(lab.setting()), (lab.cells([]),), 10)
    assert step.until_ps == (13,)
    assert late.process(late.start(lab.setting()), (lab.cells([]),), FOREVER_PS).until_ps == (
        FOREVER_PS,
    )


def test_a_list_without_delays_is_refused():
    with pytest.raises(ValueError, match="at least one delay"):
        Delays(())
