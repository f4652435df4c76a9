"""Units: the closed table, the algebra of dimensions, values as text."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from qospec.units import (
    CELL_RATE,
    CELLS,
    COUNT,
    DATA,
    DELAY_PER_LENGTH,
    LENGTH,
    RATE,
    RATIO,
    TIME,
    Dimension,
    find_base_unit,
    find_unit,
    format_number,
    format_value,
    load_table,
)

GREEK = {"µs", "μs"}


def factor(text: str) -> Fraction:
    known = find_unit(text)
    assert known is not None, text
    return known.factor


def test_there_are_43_spellings_and_two_of_the_microsecond() -> None:
    spellings, _ = load_table()
    assert len(spellings.keys() - GREEK) == 43
    assert spellings.keys() >= GREEK


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bit", 1),
        ("B", 8),
        ("kB", 8_000),
        ("KiB", 8_192),
        ("GiB", 8 * 2**30),
        ("us", Fraction(1, 10**6)),
        ("µs", Fraction(1, 10**6)),
        ("h", 3_600),
        ("km", 1_000),
        ("%", Fraction(1, 100)),
        ("Hz", 1),
        ("Mcell", 10**6),
        ("Mbit/s", 10**6),
        ("cell/min", Fraction(1, 60)),
        ("B/cell", 8),
        ("us/km", Fraction(1, 10**9)),
    ],
)
def test_a_factor_is_exact(text: str, expected: Fraction) -> None:
    assert factor(text) == expected


@pytest.mark.parametrize("text", ["bps", "kbps", "Mbps", "Gbps"])
def test_bits_per_second_have_a_short_spelling_that_is_rewritten(text: str) -> None:
    short = find_unit(text)
    assert short is not None
    assert short == find_unit(short.canonical)
    assert short.canonical == text.replace("bps", "bit/s")


@pytest.mark.parametrize(
    "text",
    ["", "/", "s/", "/s", "bit/s/s", "bps/s", "%/s", "s/Hz", "S", "kbyte", "Kbit", "cell / s"],
)
def test_what_is_not_in_the_table_is_no_unit(text: str) -> None:
    assert find_unit(text) is None


def test_a_rate_over_bytes_per_cell_is_a_cell_rate_by_algebra() -> None:
    rate, per_cell = find_unit("kbit/s"), find_unit("B/cell")
    assert rate is not None
    assert per_cell is not None
    assert rate.dimension / per_cell.dimension == CELL_RATE
    assert 64 * rate.factor / (47 * per_cell.factor) == Fraction(64_000, 376)


def test_counts_are_dimensions() -> None:
    assert CELLS != DATA
    assert CELL_RATE * TIME == CELLS
    assert (CELLS / CELLS).is_ratio
    assert not CELLS.is_ratio
    assert RATE.has_data
    assert not CELL_RATE.has_data


def test_a_count_is_a_ratio_that_is_shown_otherwise() -> None:
    assert COUNT == RATIO
    assert hash(COUNT) == hash(RATIO)
    assert format_value(4, COUNT) == "4"
    assert format_value(4, RATIO) == "400 %"


@pytest.mark.parametrize(
    ("dimension", "name", "base"),
    [
        (TIME, "a time", "s"),
        (RATE, "a bit rate", "bit/s"),
        (CELL_RATE, "a cell rate", "cell/s"),
        (CELLS, "a count of cells", "cell"),
        (RATIO, "a ratio", "1"),
        (DATA / CELLS, "a quantity in bit/cell", "bit/cell"),
        (TIME * TIME, "a quantity in s^2", "s^2"),
        (RATIO / TIME / LENGTH, "a quantity in 1/(s m)", "1/(s m)"),
    ],
)
def test_a_dimension_has_a_name_and_a_unit(dimension: Dimension, name: str, base: str) -> None:
    assert dimension.name == name
    assert find_base_unit(dimension) == base


# ---- values as text


@pytest.mark.parametrize(
    ("value", "dimension", "expected"),
    [
        ("0.00000566", TIME, "5.66 us"),
        ("0.00000566125", TIME, "5.661 us"),
        ("149760000", RATE, "149.76 Mbit/s"),
        ("149758333", RATE, "149.8 Mbit/s"),
        ("352720", CELL_RATE, "352_720 cell/s"),
        ("18720000/53", CELL_RATE, "353_208 cell/s"),
        ("0.0056", RATIO, "0.56 %"),
        ("1/3", RATIO, "33.33 %"),
        ("0.0000000003", RATIO, "0.00000003 %"),
        ("12000", DATA, "1500 B"),
        ("12", DATA, "12 bit"),
        ("8000000000", DATA, "1 GB"),
        ("50000", LENGTH, "50 km"),
        ("0", TIME, "0 s"),
        ("0", RATE, "0 bit/s"),
        ("0", RATIO, "0 %"),
        ("-0.00000566", TIME, "-5.66 us"),
        ("7200", TIME, "7200 s"),
        ("0.000000005", DELAY_PER_LENGTH, "5 us/km"),
        ("1/3", DATA / CELLS, "0.3333 bit/cell"),
    ],
)
def test_a_value_is_shown_in_a_fitting_unit(
    value: str, dimension: Dimension, expected: str
) -> None:
    assert format_value(Fraction(value), dimension) == expected


def test_whole_units_are_never_rounded_away() -> None:
    assert format_value(Fraction(1_234_567), CELLS, digits=2) == "1_234_567 cell"
    assert format_value(Fraction("0.0001234567"), TIME, digits=2) == "123 us"
    assert format_value(Fraction("0.0000012345"), TIME, digits=2) == "1.2 us"


@pytest.mark.parametrize(
    ("value", "dimension", "shown"),
    [
        ("0.0009999999", TIME, "1 ms"),
        ("-0.0009999999", TIME, "-1 ms"),
        ("0.9999999", TIME, "1 s"),
        ("0.00099994", TIME, "999.94 us"),
        ("999999999.7", RATE, "1 Gbit/s"),
    ],
)
def test_what_rounds_up_to_the_next_unit_is_shown_in_it(
    value: str, dimension: Dimension, shown: str
) -> None:
    assert format_value(Fraction(value), dimension) == shown
    assert format_value(Fraction(value), dimension, exact=True) != "1 ms"


def test_an_exact_value_is_not_rounded() -> None:
    assert format_value(Fraction("0.00000566125"), TIME, exact=True) == "5.66125 us"
    assert format_value(Fraction(18_720_000, 53), CELL_RATE, exact=True) == "18_720_000/53 cell/s"


def test_a_number_is_grouped_from_five_digits_on() -> None:
    assert format_number(1600) == "1600"
    assert format_number(16_000) == "16_000"
    assert format_number(Fraction("16000.25")) == "16_000.25"


@given(
    draw.fractions(min_value=0, max_value=10**15),
    draw.sampled_from([TIME, RATE, DATA, CELL_RATE, RATIO, LENGTH]),
)
def test_what_is_shown_is_near_what_is_meant(value: Fraction, dimension: Dimension) -> None:
    number, shown = format_value(value, dimension).split(" ")
    back = Fraction(number.replace("_", "")) * factor(shown)
    assert abs(back - value) <= value / 1000
    assert find_unit(shown) is not None
