"""Values as a document has them: exact, in base units, and as text."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.units import base_unit, text_of

if TYPE_CHECKING:
    from qospec.run.verdict import Side
    from qospec.units import Dimension

Document = dict[str, Any]

DIGITS = 4
MOST_DIGITS = 18


def quantity(value: object, dimension: Dimension | None, digits: int = DIGITS) -> Document | None:
    """Return a value for a document; None without data."""
    if value is None:
        return None
    if isinstance(value, tuple):
        parts = [quantity(part, dimension, digits) for part in value]
        text = ", ".join("no data" if part is None else part["text"] for part in parts)
        return {"value": f"[{text}]", "unit": "", "text": f"[{text}]"}
    if isinstance(value, Fraction | int) and not isinstance(value, bool) and dimension is not None:
        text = text_of(value, dimension, digits=digits)
        return {"value": str(Fraction(value)), "unit": base_unit(dimension), "text": text}
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return {"value": text, "unit": "", "text": text}


def compared(measured: Side | None, bound: Side | None) -> tuple[Document | None, Document | None]:
    """Return both sides of a comparison, with so many digits that unequal values look unequal."""
    if measured is None or bound is None:
        return _side(measured, DIGITS), _side(bound, DIGITS)
    digits = DIGITS
    while True:
        left, right = _side(measured, digits), _side(bound, digits)
        same = left is not None and right is not None and left["text"] == right["text"]
        if not same or measured.value == bound.value or digits >= MOST_DIGITS:
            return left, right
        digits += 2


def _side(side: Side | None, digits: int) -> Document | None:
    return None if side is None else quantity(side.value, side.dimension, digits)
