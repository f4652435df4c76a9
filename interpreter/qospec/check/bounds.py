"""Between what a value lies that is not measured yet.

A constant's bounds are its value, a metric's those that its class declares; arithmetic makes bounds
of bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.conditions import Constant, Counted, Measured, Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from qospec.conditions import Expression, Leaf


class Bounds(NamedTuple):
    """Between what a value lies, inclusive; None where nothing is known."""

    least: Fraction | None = None
    most: Fraction | None = None


ANYTHING = Bounds()
NOTHING = Bounds(Fraction(0), Fraction(0))


def declared(leaf: Leaf) -> Bounds:
    """Return between what a measured value lies, whatever is measured."""
    if isinstance(leaf, Measured):
        return Bounds(leaf.least, leaf.most)
    return Bounds(least=Fraction(0)) if isinstance(leaf, Counted) else ANYTHING


def bounds(expression: Expression, of: Callable[[Leaf], Bounds] = declared) -> Bounds:
    """Return between what the value of an expression lies; `of` says so of what is measured."""
    if isinstance(expression, Constant):
        value = expression.value
        return Bounds(value, value) if isinstance(value, Fraction) else ANYTHING
    if not isinstance(expression, Operation):
        return of(expression)
    return _combined(expression.operator, [bounds(each, of) for each in expression.operands])


def _combined(operator: str, parts: Sequence[Bounds]) -> Bounds:  # noqa: PLR0911 -- one each
    least, most = [part.least for part in parts], [part.most for part in parts]
    known_least = [end for end in least if end is not None]
    known_most = [end for end in most if end is not None]
    if operator == "max":
        return Bounds(max(known_least, default=None), _if_all(max, most))
    if operator == "min":
        return Bounds(_if_all(min, least), min(known_most, default=None))
    if operator == "+":
        return Bounds(_if_all(sum, least), _if_all(sum, most))
    if operator in ("-", "negate"):
        *first, last = parts
        before = first[0] if first else NOTHING
        ends = [before.least, _negative(last.most)], [before.most, _negative(last.least)]
        return Bounds(*(_if_all(sum, each) for each in ends))
    if operator == "/" and known_least == least and min(known_least) >= 0:
        return Bounds(_quotient(least[0], most[1]) or Fraction(0), _quotient(most[0], least[1]))
    if operator == "abs":
        return _unsigned(parts[0])
    if operator == "*" and NOTHING in parts:
        return NOTHING
    if operator == "*" and known_least == least and min(known_least) >= 0:
        return Bounds(Fraction(math.prod(known_least)), _if_all(math.prod, most))
    return ANYTHING


def _unsigned(part: Bounds) -> Bounds:
    if part.least is None or part.most is None:
        return Bounds(max(Fraction(0), part.least or Fraction(0), -(part.most or Fraction(0))))
    ends = abs(part.least), abs(part.most)
    return Bounds(Fraction(0) if part.least < 0 < part.most else min(ends), max(ends))


def _negative(end: Fraction | None) -> Fraction | None:
    return None if end is None else -end


def _quotient(end: Fraction | None, divisor: Fraction | None) -> Fraction | None:
    return end / divisor if end is not None and divisor else None


def _if_all(
    of: Callable[[Iterable[Fraction]], Fraction | int], ends: Sequence[Fraction | None]
) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return Fraction(of(known)) if len(known) == len(ends) else None
