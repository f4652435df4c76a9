"""A constant delay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.delay import Delay
from qospec.engine.items.batch import FOREVER_PS


@given(st.lists(st.integers(0, 10**18)), st.sampled_from([0, 1, 10**18]))
def test_every_cell_leaves_so_much_later(lab, at_ps, time):
    (left,) = lab.carry(Delay(time), lab.setting(), lab.cells(sorted(at_ps))).departures
    assert left.at_ps.tolist() == [t + time for t in sorted(at_ps)]


def test_the_watermark_moves_by_the_same(lab):
    step = Delay(7).process(None, (lab.cells([]),), 10)
    assert step.until_ps == (17,)
    assert Delay(7).process(None, (lab.cells([]),), FOREVER_PS).until_ps == (FOREVER_PS,)


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (Buffer(2, "packet"), [0, 1, 3, 4]),  # the first two leave at 10 and 11
        (Buffer(100, "byte"), [0, 2, 3]),
        (Buffer(2**40, "packet"), [0, 1, 2, 3, 4, 5]),
    ],
)
def test_what_comes_while_a_delay_line_is_full_is_lost(lab, limit, left, by_events):
    packets = lab.cells([0, 1, 9, 10, 11, 11], size_bytes=[60, 60, 40, 60, 60, 40])
    got = lab.carry(Delay(10, limit=limit), lab.setting(), packets, cuts=[10], by_events=by_events)
    (after,) = got.departures
    assert after.sent_ps.tolist() == left
    assert (after.at_ps - packets.at_ps[left]).tolist() == [10] * len(left)
    assert {cause for cause, *_ in got.lost} <= {"overflow"}


@pytest.mark.parametrize("by_events", [False, True])
def test_a_ring_that_is_full_has_more_places(lab, by_events):
    """300 that come in 300 ps and leave 1 us later, of which 200 find room."""
    got = lab.carry(
        Delay(10**6, limit=Buffer(200, "packet")),
        lab.setting(),
        lab.cells(range(300)),
        by_events=by_events,
    )
    assert got.departures[0].at_ps.tolist() == [10**6 + n for n in range(200)]


def test_no_delay_copies_nothing(lab):
    batch = lab.cells([1])
    assert Delay(0).process(None, (batch,), 2).departures[0] is batch
