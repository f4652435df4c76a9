"""Columns of quantities: one unit, aligned decimals, nothing that is rounded to zero."""

from fractions import Fraction

import pytest

from qospec.report.figures import align_figures, write_fixed


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
    assert align_figures(quantities) == (unit, texts)


def test_values_of_several_dimensions_keep_their_own_units():
    found = align_figures([quantity(1, "s", "1 s"), quantity(2, "cell", "2 cell"), None])
    assert found == ("", ["1 s", "2 cell", "no data"])


def test_conditions_and_unknown_units_keep_their_texts():
    assert align_figures([{"value": "true", "unit": "1", "text": "true"}]).texts == ["true"]
    assert align_figures([quantity(2, "s^2/call", "2 s^2/call")]).texts == ["2 s^2/call"]


@pytest.mark.parametrize(
    ("middle", "low", "high", "text"),
    [
        ("2.1", 0, "6.4", "2.1 (0 .. 6.4)"),  # cut at what can be
        ("2.1", "-2.2", "6.4", "2.1 ±4.3"),
        ("20", "18", "23", "20.0 (18.0 .. 23.0)"),
        ("159.481", "154.912", "164.05", "159.5 ±4.6"),
        ("1.63812", "1.60612", "1.67012", "1.638 ±0.032"),
        ("55.617", "54.817", "56.417", "55.62 ±0.80"),
        ("656.2", "621.2", "691.2", "656 ±35"),
        ("7.3", "7.2004", "7.3996", "7.30 ±0.10"),  # not 0.0996, which has three digits
        ("512", "-722.4", "1746.4", "500 ±1200"),
        ("15441.6", "15174.6", "15708.6", "15_440 ±270"),
        ("4932", "4836", "5032", "4930 ±100"),  # 96 and 100 are the same to tens
        ("4932", "4300", "5432", "4930 (4300 .. 5430)"),
        ("40", "-960", "1040", "0 ±1000"),
        ("-1250", "-1350", "-1150", "-1250 ±100"),
        ("-3120", "-4075", "-2165", "-3120 ±960"),
        ("0.04", "-0.96", "1.04", "0.0 ±1.0"),
        ("-3", "-3.5", "-2.5", "-3.00 ±0.50"),
        ("7", "7", "7", "7"),
    ],
)
def test_an_uncertainty_has_two_digits_and_its_value_as_many_decimals(middle, low, high, text):
    mean, *ends = (quantity(Fraction(value), "pkt/s") for value in (middle, low, high))
    interval = dict(zip(("lower", "upper"), ends, strict=True))
    assert align_figures([mean], [interval]).texts == [text]


def test_a_value_without_both_ends_has_no_uncertainty():
    mean, lower = times(20, 18)
    assert align_figures([mean, mean], [{"lower": lower, "upper": None}, None]).texts == [
        "20",
        "20",
    ]


def test_a_column_of_many_decades_hides_no_value():
    tiny, large = quantity(Fraction(1, 10**13), "1", "0 %"), quantity("1/2", "1", "50 %")
    assert align_figures([tiny, large]).texts == ["0.00000000001", "50.00000000000"[:12]]


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [("0", 2, "0"), ("1/3", 2, "0.33"), ("-5/2", 1, "-2.5"), ("19999/2", 0, "10_000")],
)
def test_a_fixed_number_of_decimals(value, places, text):
    assert write_fixed(Fraction(value), places) == text
