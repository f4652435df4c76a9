"""Quantities in a document: exact, in base units, and as text."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from qospec.units import find_base_unit, format_value

if TYPE_CHECKING:
    from qospec.document import Document
    from qospec.judge.verdict import Side
    from qospec.units import Dimension

MOST_WRITTEN = 4_300
"""Digits of a numerator or denominator: as many as Python writes and reads in one number."""
_DIGITS = f"[0-9]{{1,{MOST_WRITTEN}}}"
EXACT = f"-?{_DIGITS}(?:/(?!0+(?![0-9])){_DIGITS})?"
"""A pattern for an exact number of a record: without an exponent, which may ask for any memory."""
DIGITS = 4
MOST_DIGITS = 18
HISTOGRAM_ERROR = "1/1024"
"""The relative error of a quantile: it is the middle of a bucket that is 1/512 wide."""


def read_number(text: str) -> Fraction | None:
    """Return an exact number as a record has it; None of any other text."""
    return Fraction(text) if re.fullmatch(EXACT, text) else None


def describe_quantity(
    value: object, dimension: Dimension | None, digits: int = DIGITS
) -> Document | None:
    """Return a value as a document has it; None without data."""
    if value is None:
        return None
    if isinstance(value, Fraction | int) and not isinstance(value, bool) and dimension is not None:
        return dict(_list_members(value, dimension, digits, counted=dimension.counted))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return {"value": text, "unit": "", "text": text}


@lru_cache(4_096)  # most values of a case are zero, or those of the case before
def _list_members(
    value: Fraction | int, dimension: Dimension, digits: int, *, counted: bool
) -> tuple[tuple[str, str], ...]:
    """Return the members; a count and a ratio, which `counted` tells, are of equal dimensions."""
    assert counted == dimension.counted  # noqa: S101 -- it is there to tell them apart
    text = format_value(value, dimension, digits=digits)
    return ("value", str(value)), ("unit", find_base_unit(dimension)), ("text", text)


def tell_apart(*sides: Side | None) -> list[Document | None]:
    """Return the documents of sides, with enough digits to tell unequal values apart."""
    values = {side.value for side in sides if side is not None and side.value is not None}
    digits = DIGITS
    while True:
        documents = [describe_side(side, digits) for side in sides]
        texts = {document["text"] for document in documents if document is not None}
        if len(texts) >= len(values) or digits >= MOST_DIGITS:
            return documents
        digits += 2


def find_limits(side: Side | None) -> tuple[Side | None, Side | None]:
    """Return the limits of a side that depends on what searches found; None if it has none."""
    if side is None or side.limits is None:
        return None, None
    return replace(side, value=side.limits.least), replace(side, value=side.limits.most)


def describe_side(side: Side | None, digits: int = DIGITS) -> Document | None:
    """Return one side of a comparison, with its error if it was read from a histogram."""
    document = None if side is None else describe_quantity(side.value, side.dimension, digits)
    if document is not None and side is not None and side.approximate:
        document["error"] = HISTOGRAM_ERROR
    return document
