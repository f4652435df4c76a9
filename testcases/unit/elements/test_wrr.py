"""Weighted round robin against a server that goes from queue to queue."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.wrr import Wrr
from qospec.engine.line.clock import Clock

NAMES = "abc"


@given(data=st.data(), weights=st.lists(st.sampled_from([1, 2, 3, 7]), min_size=1, max_size=3))
def test_it_serves_by_the_book(schedulers, data, weights):
    case = data.draw(schedulers.case(len(weights)))
    element = Wrr(tuple(zip(NAMES, weights, strict=False)))
    schedulers.agree(element, schedulers.rounds(weights, lambda _: 1), case)


def test_packets_are_shared_by_weight_and_bytes_are_not(lab):
    """3 : 1 in packets, so 3 x 100 : 1 x 1,500 in bytes."""
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    few, many = (
        lab.cells([0] * 40, connection=1, size_bytes=1_500),
        lab.cells([0] * 40, size_bytes=100),
    )
    (left,) = lab.carry(Wrr((("a", 3), ("b", 1))), where, many, few).departures
    assert left.connection[:40].tolist() == [0, 0, 0, 1] * 10


def test_the_rest_of_a_turn_is_lost_when_nothing_waits(lab):
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    one, other = lab.cells([0, 10**9, 10**9]), lab.cells([10**9], connection=1)
    (left,) = lab.carry(Wrr((("a", 2), ("b", 2))), where, one, other).departures
    assert left.connection.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("weights", [(), (("a", 0),), (("a", -1),), (("a", 1), ("a", 2))])
def test_weights_are_above_zero_and_inputs_have_names_of_their_own(weights):
    with pytest.raises(ValueError, match=r"^weights: "):
        Wrr(weights)
