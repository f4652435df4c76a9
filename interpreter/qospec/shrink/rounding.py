"""Numbers that are simpler than others: fewer digits, then less."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.syntax import ast
from qospec.units import find_unit, format_number, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGITS = 6
"""More digits than these are all alike."""
_LONG = 1000
SHOWN = 4
"""Digits that a number has which was scaled."""


def read_number(node: ast.Number | ast.Quantity) -> Fraction:
    """Return the number of a literal, in its unit."""
    text = node.text if isinstance(node, ast.Number) else node.number
    return Fraction(text.replace("_", ""))


def with_value(node: ast.Number | ast.Quantity, value: Fraction) -> str:
    """Return a literal with another number, in the same unit unless it is 0 or gets long."""
    number = format_number(value, exact=True)
    if isinstance(node, ast.Number):
        return number
    known = find_unit(node.unit)
    if known is None or 0 < value < _LONG or value == read_number(node):
        return f"{number} {node.unit}"
    return format_value(value * known.factor, known.dimension, exact=True)


def scale_literal(node: ast.Node, factor: Fraction) -> str:
    """Return a literal that is about so many times as large, in its unit; whole if it was."""
    assert isinstance(node, ast.Number | ast.Quantity)  # noqa: S101 -- what has a number
    value = read_number(node)
    new = value * factor
    if isinstance(node, ast.Number) and value.denominator == 1:
        new = Fraction(round(new))
    return with_value(node, Fraction(f"{float(new):.{SHOWN}g}"))


def list_simpler(
    value: Fraction, low: Fraction, high: Fraction, finest: int | None
) -> Iterator[Fraction]:
    """Yield numbers between two that are simpler than a value, the simplest first."""
    if value <= 0:
        yield from [Fraction(0)] * (value < 0 <= high)
        return
    own = count_digits(value)
    power = find_exponent(value)
    for digits in range(own + 1):
        if digits == 0:
            found = [Fraction(0)] * (low <= 0)
        else:
            step = Fraction(10) ** (power - digits + 1)
            below = value // step * step
            found = [Fraction(10) ** power] * (digits == 1) + [below, below + step, 10 * below]
        for number in found:
            fewer = (count_digits(number), number) < (own, value)
            if low <= number <= high and fewer and is_multiple(number, finest):
                yield number


def is_multiple(value: Fraction, finest: int | None) -> bool:
    """Return whether a number is a multiple of ten to a power; None: of any."""
    return finest is None or (value / Fraction(10) ** finest).denominator == 1


def count_digits(value: Fraction) -> int:
    """Return the number of significant digits; of what has no end of them, a large one."""
    if value == 0:
        return 0
    scaled = value / Fraction(10) ** find_exponent(value)
    for digits in range(1, 2 * DIGITS):
        if scaled.denominator == 1:
            return digits
        scaled *= 10
    return 2 * DIGITS


def find_exponent(value: Fraction) -> int:
    """Return the greatest power of ten that is not above a value, which is above 0."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    return power if Fraction(10) ** power <= value else power - 1
