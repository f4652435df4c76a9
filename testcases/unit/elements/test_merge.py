"""A merge is a stable sort by time, or as its arbitration says; by batches and by events."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.merge import Merge


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
def test_each_input_keeps_its_order_whatever_the_rule(lab, inputs, rule):
    batches = [lab.cells(sorted(at_ps), connection=n) for n, at_ps in enumerate(inputs)]
    (left,) = lab.carry(Merge(len(inputs), rule), lab.setting(), *batches).departures
    assert left.at_ps.tolist() == sorted(left.at_ps.tolist())
    assert all(left.select(left.connection == n).equals(own) for n, own in enumerate(batches))


@pytest.mark.parametrize("rule", RULES)
def test_a_crowd_of_one_moment_goes_on_before_the_next_comes(lab, rule):
    """More than an event has room to answer: 199 in three answers, then as many as two take.

    There is room for fewer at first.
    """
    first, second = [[0] * 99 + [1] * 70, [0] * 100 + [1] * 56]
    batches = [lab.cells(at_ps, connection=n) for n, at_ps in enumerate((first, second))]
    (left,) = lab.carry(Merge(2, rule), lab.setting(), *batches).departures
    assert left.at_ps.tolist() == [0] * 199 + [1] * 126
    if rule == "round_robin":
        assert left.connection.tolist()[:198] == [0, 1] * 99
