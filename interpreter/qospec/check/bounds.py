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

    from qospec.conditions import Expression


class Bounds(NamedTuple):
    """Between what a value lies, inclusive; None where nothing is known."""

    least: Fraction | None = None
    most: Fraction | None = None


ANYTHING = Bounds()
NOTHING = Bounds(Fraction(0), Fraction(0))


def bounds(expression: Expression) -> Bounds:
    """Return between what the value of an expression lies, whatever is measured."""
    if isinstance(expression, Constant):
        value = expression.value
        return Bounds(value, value) if isinstance(value, Fraction) else ANYTHING
    if isinstance(expression, Measured):
        return Bounds(expression.least, expression.most)
    if isinstance(expression, Counted):
        return Bounds(least=Fraction(0))
    if not isinstance(expression, Operation):
        return ANYTHING
    return _combined(expression.operator, [bounds(each) for each in expression.operands])


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
        return Bounds(Fraction(0))
    if operator == "*" and NOTHING in parts:
        return NOTHING
    if operator == "*" and known_least == least and min(known_least) >= 0:
        return Bounds(Fraction(math.prod(known_least)), _if_all(math.prod, most))
    return ANYTHING


def _negative(end: Fraction | None) -> Fraction | None:
    return None if end is None else -end


def _quotient(end: Fraction | None, divisor: Fraction | None) -> Fraction | None:
    return end / divisor if end is not None and divisor else None


def _if_all(
    of: Callable[[Iterable[Fraction]], Fraction | int], ends: Sequence[Fraction | None]
) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return Fraction(of(known)) if len(known) == len(ends) else None
