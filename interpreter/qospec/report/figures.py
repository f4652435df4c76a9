"""Quantities of a record below each other: in one unit, with their decimal points aligned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from qospec.report.charts.axis import decade
from qospec.report.charts.sample import exact
from qospec.units import COUNT, RATIO, Dimension, decimals, fitting_unit, number_text, unit

Record = Mapping[str, Any]

DIGITS = 4
"""Significant digits of the greatest value of a column."""
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


def figures(
    quantities: Sequence[Record | None],
    margins: Sequence[Record | None] = (),
    least: Fraction | None = None,
) -> Figures:
    """Return quantities as a column; of those that are not numbers of one dimension, their texts.

    Args:
        quantities: None where there is no data.
        margins: The interval of each quantity, if it has one: what follows it after "±".
        least: The least difference that must be seen, in base units.
    """
    known = [quantity for quantity in quantities if quantity is not None]
    dimensions = {_dimension(quantity) for quantity in known}
    values = [exact(quantity) for quantity in quantities]
    if len(dimensions) != 1 or (dimension := dimensions.pop()) is None:
        return Figures("", [each["text"] if each else NO_DATA for each in quantities])
    widths = [_margin(*pair) for pair in zip(values, margins or [None] * len(values), strict=True)]
    greatest = max((abs(value) for value in values if value is not None), default=Fraction(0))
    spelling, factor = fitting_unit(greatest, dimension)
    scaled = [None if value is None else value / factor for value in values]
    seen = [each / factor for each in (*widths, least) if each]
    places = _places([value for value in scaled if value is not None], seen)
    texts = [NO_DATA if value is None else fixed(value, places) for value in scaled]
    return Figures(
        spelling,
        [
            text if width is None else f"{text} ±{fixed(width / factor, places)}"
            for text, width in zip(texts, widths, strict=True)
        ],
    )


def intervals(
    pairs: Sequence[tuple[Record | None, Record | None]],
) -> tuple[str, list[tuple[str, str]]]:
    """Return the unit of a column of intervals, and the texts of their ends, which differ."""
    known = [[exact(end) for end in pair if end is not None] for pair in pairs]
    gaps = [b - a for each in known for a, b in pairwise(v for v in each if v is not None) if b > a]
    unit, texts = figures(
        [end for pair in pairs for end in pair], least=min(gaps, default=Fraction(0)) / 10
    )
    return unit, list(zip(texts[::2], texts[1::2], strict=True))


def _dimension(quantity: Record) -> Dimension | None:
    """Return the dimension of a quantity of a record; None of one that is not a number."""
    if exact(quantity) is None:
        return None
    if quantity["unit"] == "1":
        return RATIO if quantity["text"].endswith("%") else COUNT
    known = unit(quantity["unit"])
    return None if known is None else known.dimension


def _margin(value: Fraction | None, interval: Record | None) -> Fraction | None:
    """Return the distance from a value to the farther end of its interval."""
    if value is None or not interval:
        return None
    ends = [exact(interval[name]) for name in ("lower", "upper")]
    return max((abs(value - end) for end in ends if end is not None), default=None)


def _places(values: Sequence[Fraction], differences: Sequence[Fraction]) -> int:
    """Return the number of decimals that a column needs, and that show these differences."""
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return 0
    wanted = max(DIGITS - decade(max(sizes)), LEAST_DIGITS - decade(min(sizes))) - 1
    wanted = max(wanted, *(-decade(each) for each in differences), 0)
    needed = [decimals(value) for value in sizes]
    enough = max((each for each in needed if each is not None), default=0)
    most = MOST_DECIMALS if None in needed else min(enough, MOST_DECIMALS)
    return max(0, min(wanted, most))


def fixed(value: Fraction, places: int) -> str:
    """Return a number with that many decimals; an exact zero, and what they hide, without."""
    if not value:
        return "0"
    scaled = (2 * abs(value.numerator) * 10**places + value.denominator) // (2 * value.denominator)
    if not scaled:
        return number_text(value, digits=LEAST_DIGITS)
    whole, rest = divmod(scaled, 10**places)
    sign = "-" if value < 0 else ""
    return sign + number_text(whole) + (f".{rest:0{places}}" if places else "")
