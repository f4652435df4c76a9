"""A merge is a stable sort by time, or as its arbitration says; by batches and by events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.merge import Merge
from qospec.engine.event.process import EventProcess
from qospec.engine.items.batch import FOREVER_PS


@given(
    inputs=st.lists(st.lists(st.integers(0, 10), max_size=20), min_size=1, max_size=5),
    cuts=st.lists(st.integers(0, 10), max_size=3),
)
def test_cells_are_in_order_of_time_then_of_inputs(lab, inputs, cuts):
    batches = [lab.cells(sorted(at_ps), connection=number) for number, at_ps in enumerate(inputs)]
    (left,) = lab.carry(Merge(len(inputs)), lab.setting(), *batches, cuts=cuts).departures
    expected = sorted((t, number) for number, at_ps in enumerate(inputs) for t in at_ps)
    assert list(zip(left.at_ps.tolist(), left.connection.tolist(), strict=True)) == expected


def test_its_inputs_are_numbered():
    assert Merge(2).inputs == ("in[0]", "in[1]")


RULES = ["fixed_order", "round_robin", "random"]


@given(
    inputs=st.lists(st.lists(st.integers(0, 10), max_size=20), min_size=1, max_size=5),
    rule=st.sampled_from(RULES),
)
def test_by_events_it_does_the_same(lab, inputs, rule):
    batches = tuple(lab.cells(sorted(at_ps), connection=n) for n, at_ps in enumerate(inputs))
    merge = Merge(len(inputs), rule)
    (left,) = lab.carry(merge, lab.setting(), *batches).departures
    (found,) = EventProcess(merge, lab.setting()).process(batches, FOREVER_PS).departures
    assert found.equals(left)


@pytest.mark.parametrize("rule", RULES)
def test_by_events_any_number_may_arrive_at_once(lab, rule):
    """More than one event may answer, and more than there is room for at first."""
    batches = tuple(lab.cells([7] * count, connection=n) for n, count in enumerate([200, 1, 90]))
    merge = Merge(3, rule)
    (left,) = lab.carry(merge, lab.setting(), *batches).departures
    (found,) = EventProcess(merge, lab.setting()).process(batches, FOREVER_PS).departures
    assert found.count == 291
    assert found.equals(left)
