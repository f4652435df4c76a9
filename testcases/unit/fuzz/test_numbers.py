"""Drawn numbers lie between their bounds, and shrink to round ones."""

from fractions import Fraction

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from qospec.fuzz.numbers import draw_numbers
from qospec.shrink.rounding import list_simpler

FEW = settings(max_examples=200, derandomize=True, database=None)

ends = st.tuples(st.fractions(-1_000, 10**7), st.fractions(0, 10**7)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


@pytest.mark.slow
@FEW
@given(st.data(), ends, st.sampled_from([None, 0, -12]))
def test_numbers_lie_between_their_bounds(data, bounds, finest) -> None:
    low, high = bounds
    if finest == 0:
        low, high = Fraction(int(low) - 1), Fraction(int(high) + 1)
    drawn = data.draw(draw_numbers(low, high, finest))
    assert low <= drawn <= high
    if finest == 0:
        assert drawn.denominator == 1


@pytest.mark.parametrize(
    ("low", "high", "finest", "above", "smallest"),
    [
        (0, Fraction(1, 1000), -12, Fraction(37, 10**6), Fraction(40, 10**6)),
        (1, 353_207, None, 1234, 2000),
        (1, 353_207, 0, 353_206, 353_207),
        (-5, 5, 0, -6, 0),
        (21, 24, None, 22, 24),
    ],
)
def test_a_number_above_another_shrinks_to_a_round_one(low, high, finest, above, smallest) -> None:
    drawn = draw_numbers(Fraction(low), Fraction(high), finest)
    assert find(drawn, lambda value: value > above, settings=FEW) == smallest


@pytest.mark.slow
def test_numbers_of_one_are_that_one() -> None:
    third = Fraction(1, 3)
    assert find(draw_numbers(third, third), lambda _: True, settings=FEW) == third


def test_a_number_that_is_near_and_those_beside_it_are_drawn() -> None:
    near = Fraction(123_456_789, 10**12)
    drawn = draw_numbers(Fraction(0), Fraction(1), -12, (near,))
    for beside in (-1, 0, 1):
        exact = near + Fraction(beside, 10**12)
        assert find(drawn, lambda value, exact=exact: value == exact, settings=FEW) == exact


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Fraction(37), [0, 10, 30, 40]),
        (Fraction(30), [0, 10]),
        (Fraction(0), []),
        (Fraction(1, 3), [0, Fraction(1, 10), Fraction(3, 10), Fraction(2, 5), 3]),
    ],
)
def test_simpler_numbers_have_fewer_digits_or_are_smaller(value, found) -> None:
    assert list(list_simpler(value, Fraction(0), Fraction(100), None))[: len(found)] == found
