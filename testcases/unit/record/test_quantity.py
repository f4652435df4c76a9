"""Values as text: what is unequal looks so."""

from fractions import Fraction

import pytest

from qospec.judge.verdict import Side
from qospec.model.bounds import Bounds
from qospec.record.quantity import describe_quantity, find_limits, tell_apart
from qospec.units import CELL_RATE, COUNT, RATIO, TIME


@pytest.mark.parametrize(
    ("measured", "bound", "dimension", "texts"),
    [
        ("0.0001", "0.0002", TIME, ("100 us", "200 us")),
        ("0.0001", "0.000100004", TIME, ("100 us", "100.004 us")),
        ("0.0001000001", "0.0001", TIME, ("100.0001 us", "100 us")),
        ("1/3", "0.3333", RATIO, ("33.3333 %", "33.33 %")),
        ("12345.678", "12345.679", CELL_RATE, ("12_345.678 cell/s", "12_345.679 cell/s")),
    ],
)
def test_unequal_values_are_never_shown_by_the_same_text(
    measured: str, bound: str, dimension, texts: tuple[str, str]
) -> None:
    sides = Side(Fraction(measured), dimension), Side(Fraction(bound), dimension)
    shown = tell_apart(*sides)
    assert tuple(side["text"] for side in shown) == texts
    assert tuple(Fraction(side["value"]) for side in shown) == (Fraction(measured), Fraction(bound))


def test_equal_values_have_few_digits() -> None:
    third = Side(Fraction(1, 3), TIME)
    assert [side["text"] for side in tell_apart(third, third)] == ["333.3 ms", "333.3 ms"]


def test_values_beyond_all_digits_end_the_search() -> None:
    one, above = Side(Fraction(1), RATIO), Side(1 + Fraction(1, 10**22), RATIO)
    assert [side["text"] for side in tell_apart(one, above)] == ["100 %", "100 %"]


def test_limits_are_told_apart_from_each_other_and_from_what_they_are_compared_with() -> None:
    low, high = Fraction("0.1"), Fraction("0.10001")
    side = Side(low, TIME, limits=Bounds(low, high))
    found = tell_apart(side, Side(Fraction("0.100009"), TIME), *find_limits(side))
    assert [quantity["text"] for quantity in found] == [
        "100 ms",
        "100.009 ms",
        "100 ms",
        "100.01 ms",
    ]
    assert find_limits(Side(low, TIME, limits=Bounds(low, None)))[1].value is None
    assert find_limits(Side(low, TIME)) == find_limits(None) == (None, None)


def test_one_side_alone_has_few_digits() -> None:
    third = Side(Fraction(1, 3), TIME)
    assert [quantity and quantity["text"] for quantity in tell_apart(third, None)] == [
        "333.3 ms",
        None,
    ]
    assert [quantity and quantity["text"] for quantity in tell_apart(None, third)] == [
        None,
        "333.3 ms",
    ]


def test_a_count_and_a_ratio_of_the_same_value_are_shown_in_their_own_ways() -> None:
    shown = [describe_quantity(Fraction(1), dimension) for dimension in (RATIO, COUNT, RATIO)]
    assert [quantity and quantity["text"] for quantity in shown] == ["100 %", "1", "100 %"]
