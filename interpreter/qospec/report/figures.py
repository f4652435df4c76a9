"""Quantities of a record below each other: in one unit, with their decimal points aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.report.charts.axis import find_decade
from qospec.report.charts.sample import read_exact
from qospec.units import (
    COUNT,
    RATIO,
    Dimension,
    choose_unit,
    count_decimals,
    find_unit,
    format_number,
)

Record = Mapping[str, Any]

DIGITS = 4
"""Significant digits of the greatest value of a column."""
DIGITS_OF_UNCERTAINTY = 2
LEAST_DIGITS = 3
"""Significant digits of the least value that is not zero."""
MOST_DECIMALS = 9
NO_DATA = "no data"


class Figures(NamedTuple):
    """Values of one column.

    Attributes:
        unit: Of all of them; "" if they are counts, or if the values differ in theirs.
        texts: One for each value.
    """

    unit: str
    texts: list[str]


def align_figures(
    quantities: Sequence[Record | None],
    margins: Sequence[Record | None] = (),
    least: Fraction | None = None,
) -> Figures:
    """Return quantities as a column; of those that are not numbers of one dimension, their texts.

    Args:
        quantities: None where there is no data.
        margins: The interval of each quantity, if it has one. It follows the quantity, with two
            digits of its half width: `2.10 ±0.32`, or `2.1 (0 .. 6.4)` if it is not symmetric.
        least: The least difference that must be seen, in base units.
    """
    known = [quantity for quantity in quantities if quantity is not None]
    dimensions = {_find_dimension(quantity) for quantity in known}
    values = [read_exact(quantity) for quantity in quantities]
    if len(dimensions) != 1 or (dimension := dimensions.pop()) is None:
        return Figures("", [quantity["text"] if quantity else NO_DATA for quantity in quantities])
    ends = [_ends(interval) for interval in margins or [None] * len(values)]
    widths = [
        None if value is None or pair is None else max(value - pair[0], pair[1] - value)
        for value, pair in zip(values, ends, strict=True)
    ]
    greatest = max((abs(value) for value in values if value is not None), default=Fraction(0))
    spelling, factor = choose_unit(greatest, dimension)
    scaled = [None if value is None else value / factor for value in values]
    seen = [width / factor for width in (*widths, least) if width]
    places = _count_places([value for value in scaled if value is not None], seen)
    return Figures(
        spelling,
        [
            _write_figure(value, places, None if pair is None else [end / factor for end in pair])
            for value, pair in zip(scaled, ends, strict=True)
        ],
    )


def _write_figure(value: Fraction | None, places: int, ends: Sequence[Fraction] | None) -> str:
    """Return a value, which has that many decimals if it has no interval."""
    if value is None:
        return NO_DATA
    width = Fraction(0) if ends is None else max(value - ends[0], ends[1] - value)
    if ends is None or width <= 0:
        return write_fixed(value, places)
    low, high = ends
    places = _count_places_for_uncertainty(width)
    if write_fixed(value - low, places) == write_fixed(high - value, places):
        return f"{write_rounded(value, places)} ±{write_rounded(width, places)}"
    middle, *bounds = (write_rounded(number, places) for number in (value, low, high))
    return f"{middle} ({' .. '.join(bounds)})"


def _count_places_for_uncertainty(width: Fraction) -> int:
    """Return the number of decimals that show two digits of an uncertainty: JCGM 100:2008, 7.2.6.

    Of one of hundreds it is negative: whole numbers are rounded to tens, and so on.
    """
    places = DIGITS_OF_UNCERTAINTY - 1 - find_decade(width)
    if round(width * Fraction(10) ** places) == 10**DIGITS_OF_UNCERTAINTY:  # rounded up
        places -= 1
    return min(places, MOST_DECIMALS)


def align_intervals(
    pairs: Sequence[tuple[Record | None, Record | None]],
) -> tuple[str, list[tuple[str, str]]]:
    """Return the unit of a column of intervals, and the texts of their ends, which differ."""
    known = [[read_exact(end) for end in pair if end is not None] for pair in pairs]
    gaps = [
        b - a for series in known for a, b in pairwise(v for v in series if v is not None) if b > a
    ]
    unit, texts = align_figures(
        [end for pair in pairs for end in pair], least=min(gaps, default=Fraction(0)) / 10
    )
    return unit, list(zip(texts[::2], texts[1::2], strict=True))


def _find_dimension(quantity: Record) -> Dimension | None:
    """Return the dimension of a quantity of a record; None of one that is not a number."""
    if read_exact(quantity) is None:
        return None
    if quantity["unit"] == "1":
        return RATIO if quantity["text"].endswith("%") else COUNT
    known = find_unit(quantity["unit"])
    return None if known is None else known.dimension


def _ends(interval: Record | None) -> list[Fraction] | None:
    """Return the ends of an interval; None if there is none, or if it is open."""
    ends = [read_exact(interval[name]) for name in ("lower", "upper")] if interval else []
    known = [end for end in ends if end is not None]
    return known if known and len(known) == len(ends) else None


def _count_places(values: Sequence[Fraction], differences: Sequence[Fraction]) -> int:
    """Return the number of decimals that a column needs, and that show these differences."""
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return 0
    wanted = max(DIGITS - find_decade(max(sizes)), LEAST_DIGITS - find_decade(min(sizes))) - 1
    wanted = max(wanted, *(-find_decade(difference) for difference in differences), 0)
    needed = [count_decimals(value) for value in sizes]
    enough = max((need for need in needed if need is not None), default=0)
    most = MOST_DECIMALS if None in needed else min(enough, MOST_DECIMALS)
    return max(0, min(wanted, most))


def write_fixed(value: Fraction, places: int) -> str:
    """Return a number with that many decimals; an exact zero, and what they hide, without."""
    if value and not _count_steps(value, places):
        return format_number(value, digits=LEAST_DIGITS)
    return write_rounded(value, places)


def write_rounded(value: Fraction, places: int) -> str:
    """Return a number with that many decimals, an exact zero without; if negative, to tens etc."""
    if not value:
        return "0"
    decimals = max(places, 0)
    steps = _count_steps(value, places) * 10 ** (decimals - places)
    whole, rest = divmod(steps, 10**decimals)
    sign = "-" if value < 0 and steps else ""
    return sign + format_number(whole) + (f".{rest:0{decimals}}" if decimals else "")


def _count_steps(value: Fraction, places: int) -> int:
    """Return how often the last of so many decimals is in the size of a value, halves up."""
    return int(abs(value) * Fraction(10) ** places + Fraction(1, 2))
