"""Columns of quantities: one unit, aligned decimals, nothing that is rounded to zero."""

from fractions import Fraction

import pytest

from qospec.report.figures import figures, fixed


def quantity(value, unit, text="?"):
    return {"value": str(Fraction(value)), "unit": unit, "text": text}


def times(*microseconds):
    return [quantity(Fraction(str(value)) / 10**6, "s") for value in microseconds]


@pytest.mark.parametrize(
    ("quantities", "unit", "texts"),
    [
        (times(25.5, 1.25), "us", ["25.50", "1.25"]),
        (times(25.5, 3_000), "ms", ["0.0255", "3.0000"]),
        (times(5, 10), "us", ["5", "10"]),
        ([*times(0, 0.5)], "ns", ["0", "500"]),
        ([quantity(Fraction(1, 3), "1", "33 %"), quantity(0, "1", "0 %")], "%", ["33.33", "0"]),
        ([quantity(14_880, "pkt/s"), quantity(8_400, "pkt/s")], "pkt/s", ["14_880", "8400"]),
        ([quantity(3, "1", "3"), None], "", ["3", "no data"]),
        ([quantity(-1_500_000, "bit/s")], "Mbit/s", ["-1.5"]),
        ([quantity(Fraction(1, 8), "cell/pkt")], "cell/pkt", ["0.125"]),
    ],
)
def test_a_column_has_one_unit(quantities, unit, texts):
    assert figures(quantities) == (unit, texts)


def test_values_of_several_dimensions_keep_their_own_units():
    found = figures([quantity(1, "s", "1 s"), quantity(2, "cell", "2 cell"), None])
    assert found == ("", ["1 s", "2 cell", "no data"])


def test_conditions_and_unknown_units_keep_their_texts():
    assert figures([{"value": "true", "unit": "1", "text": "true"}]).texts == ["true"]
    assert figures([quantity(2, "s^2/call", "2 s^2/call")]).texts == ["2 s^2/call"]


def test_an_interval_is_a_margin_as_wide_as_its_farther_end():
    mean, lower, upper = times(20, 18, 23)
    interval = {"lower": lower, "upper": upper, "repeats": 5}
    assert figures([mean, mean], [interval, None]).texts == ["20 ±3", "20"]
    assert figures([mean], [{"lower": None, "upper": None}]).texts == ["20"]


def test_a_column_of_many_decades_hides_no_value():
    tiny, large = quantity(Fraction(1, 10**13), "1", "0 %"), quantity("1/2", "1", "50 %")
    assert figures([tiny, large]).texts == ["0.00000000001", "50.00000000000"[:12]]


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [("0", 2, "0"), ("1/3", 2, "0.33"), ("-5/2", 1, "-2.5"), ("19999/2", 0, "10_000")],
)
def test_a_fixed_number_of_decimals(value, places, text):
    assert fixed(Fraction(value), places) == text
