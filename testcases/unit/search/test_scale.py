"""The loads that a search may try, and how many of them are between two."""

from fractions import Fraction
from math import ceil, log, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from searches import goal, search

from qospec.search.scale import find_power_of_ten, make_scale

LOADS = st.fractions(Fraction(1, 1000), 10**10, max_denominator=1000)


@st.composite
def scales(draw):
    """Draw a scale of each sort, with its search."""
    low, high = sorted(draw(st.lists(LOADS, min_size=2, max_size=2, unique=True)))
    width = draw(st.fractions(Fraction(1, 10**4), Fraction(1, 2), max_denominator=10**4))
    apart = high - low
    sorts = ["ratio", "amount", "step", "step of a ratio", "step of an amount"]
    sort = draw(st.sampled_from(sorts))
    step = apart * draw(st.fractions(Fraction(1, 300), 1)) if "step" in sort else None
    if sort == "step of an amount":
        width = draw(st.integers(1, 5)) * step
    elif "ratio" not in sort:
        width = step or apart * width
    asked = goal(width=width, absolute="ratio" not in sort)
    whole = search(asked, low=low, high=high, step=step)
    return whole, make_scale(whole, asked)


def on_grid(whole, load):
    return whole.step is None or load == whole.high or not (load - whole.low) % whole.step


def pair(data, whole):
    """Draw two loads that may be tried."""
    places = [data.draw(st.fractions(0, 1)) for _ in range(2)]
    loads = {whole.low + (whole.high - whole.low) * place for place in places}
    if whole.step is not None:
        loads = {whole.low + (load - whole.low) // whole.step * whole.step for load in loads}
    return sorted({*loads, whole.low, whole.high})[:2]


@given(scales(), st.data())
def test_bisection_takes_no_more_loads_than_said(made, data):
    whole, scale = made
    lower, upper = pair(data, whole)
    most = scale.count_halvings(lower, upper)
    while not scale.is_near(lower, upper):
        middle = scale.find_middle(lower, upper)
        assert lower < middle < upper
        assert on_grid(whole, middle)
        ends = ((lower, middle), (middle, upper))
        most -= 1
        assert most >= max(scale.count_halvings(*end) for end in ends)
        lower, upper = data.draw(st.sampled_from(ends))
    assert most >= 0


@given(scales(), st.data(), st.integers(0, 6))
def test_a_step_is_no_longer_than_its_halvings(made, data, halvings):
    whole, scale = made
    lower, upper = pair(data, whole)
    above, below = scale.move_above(lower, halvings), scale.move_below(upper, halvings)
    assert lower < above <= whole.high
    assert whole.low <= below < upper
    assert scale.count_halvings(lower, above) <= halvings
    assert scale.count_halvings(below, upper) <= halvings
    assert on_grid(whole, above)
    assert on_grid(whole, below)


@given(scales(), st.data())
def test_around_a_load_is_half_a_width_below_it(made, data):
    whole, scale = made
    place = data.draw(st.fractions(0, 1))
    load = whole.low + (whole.high - whole.low) * place
    lower = scale.center_on(load)
    assert whole.low <= lower <= load
    assert on_grid(whole, lower)
    assert lower == load or load <= scale.move_above(lower, 0) or lower == whole.low


@pytest.mark.parametrize(
    ("asked", "halvings"),
    [
        (search(goal(width="1/200"), low=1, high=100), ceil(log2(log(100) / -log(1 - 1 / 200)))),
        (search(goal(width=1, absolute=True), low=10, high=100, step=1), 7),
        (search(goal(width=10, absolute=True), low=10, high=100, step=10), 4),
        (search(goal(width=10, absolute=True), low=10, high=100, step=20), 3),
        (search(goal(width=10, absolute=True), low=10, high=100), 4),
        (search(goal(width="1/2"), low=50, high=100), 0),
    ],
)
def test_halvings_of_a_whole_range(asked, halvings):
    scale = make_scale(asked, asked.goals[0])
    assert scale.count_halvings(scale.low, scale.high) == halvings


def test_loads_are_readable():
    """Rounded to a power of ten, well below the width."""
    scale = make_scale(search(goal()), goal())
    assert scale.find_middle(Fraction(1_000), Fraction(148_800)) == 12_198
    assert scale.center_on(Fraction(40_064)) == 39_963
    megabits = goal(width=500_000, absolute=True)
    scale = make_scale(search(megabits, low=10**6, high=10**8), megabits)
    assert scale.find_middle(Fraction(10**6), Fraction(10**8)) == 50_500_000
    assert scale.center_on(Fraction(33_333_333)) == 33_080_000


@pytest.mark.parametrize(
    ("most", "power"),
    [("1", 1), ("9.99", 1), ("10", 10), ("12345", 10_000), ("0.1", "0.1"), ("0.099", "0.01")],
)
def test_power_of_ten(most, power):
    assert find_power_of_ten(Fraction(most)) == Fraction(power)
