"""A constant delay."""

from hypothesis import given
from hypothesis import strategies as st

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


def test_no_delay_copies_nothing(lab):
    batch = lab.cells([1])
    assert Delay(0).process(None, (batch,), 2).departures[0] is batch
