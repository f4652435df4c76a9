"""Intervals of values that are not known, or not yet: arithmetic on them, and comparisons."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


class Bounds(NamedTuple):
    """The inclusive bounds of a value; None if unknown."""

    least: Fraction | None = None
    most: Fraction | None = None


class Limits(NamedTuple):
    """Between what a value is; None where that is not known.

    `exclusive` says that it does not reach the only limit that is known.
    """

    least: Fraction | None
    most: Fraction | None
    exclusive: bool = False


ANYTHING = Bounds()
NOTHING = Bounds(Fraction(0), Fraction(0))


def make_bounds(value: object) -> Bounds:
    """Return a number as an interval of width 0, an interval as it is; of others anything."""
    if isinstance(value, Bounds):
        return value
    return Bounds(value, value) if isinstance(value, Fraction) else ANYTHING


def combine(operator: str, parts: Sequence[Bounds]) -> Bounds:  # noqa: PLR0911 -- one each
    """Return the bounds of what an operator of arithmetic makes of values within bounds."""
    least, most = [part.least for part in parts], [part.most for part in parts]
    known_least = [end for end in least if end is not None]
    known_most = [end for end in most if end is not None]
    if operator == "max":
        return Bounds(max(known_least, default=None), _apply_if_all(max, most))
    if operator == "min":
        return Bounds(_apply_if_all(min, least), min(known_most, default=None))
    if operator == "+":
        return Bounds(_apply_if_all(sum, least), _apply_if_all(sum, most))
    if operator in ("-", "negate"):
        *first, last = parts
        before = first[0] if first else NOTHING
        ends = [before.least, _negate(last.most)], [before.most, _negate(last.least)]
        return Bounds(*(_apply_if_all(sum, end) for end in ends))
    if operator == "abs":
        return _drop_sign(parts[0])
    if operator == "*":
        return _multiply_bounds(*parts)
    if operator == "/" and least[1] is not None and least[1] >= 0:
        return _multiply_bounds(
            parts[0], Bounds(_invert(most[1]) or Fraction(0), _invert(least[1]))
        )
    return ANYTHING


def _multiply_bounds(one: Bounds, other: Bounds) -> Bounds:
    """Return the bounds of a product: the extreme products of the ends, exact or infinite."""
    factors = [
        (
            -math.inf if factor.least is None else factor.least,
            math.inf if factor.most is None else factor.most,
        )
        for factor in (one, other)
    ]
    ends = [_multiply_ends(left, right) for left in factors[0] for right in factors[1]]
    least, most = min(ends), max(ends)
    return Bounds(
        least if isinstance(least, Fraction) else None,
        most if isinstance(most, Fraction) else None,
    )


def _multiply_ends(left: Fraction | float, right: Fraction | float) -> Fraction | float:
    """Return a product of ends, each of them exact or infinite; 0 times infinity is 0."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left * right
    if 0 in (left, right):
        return Fraction(0)
    return math.inf if (left > 0) == (right > 0) else -math.inf


def _drop_sign(part: Bounds) -> Bounds:
    if part.least is None or part.most is None:
        return Bounds(max(Fraction(0), part.least or Fraction(0), -(part.most or Fraction(0))))
    ends = abs(part.least), abs(part.most)
    return Bounds(Fraction(0) if part.least < 0 < part.most else min(ends), max(ends))


def _negate(end: Fraction | None) -> Fraction | None:
    return None if end is None else -end


def _invert(end: Fraction | None) -> Fraction | None:
    return 1 / end if end else None


def _apply_if_all(
    of: Callable[[Iterable[Fraction]], Fraction | int], ends: Sequence[Fraction | None]
) -> Fraction | None:
    known = [end for end in ends if end is not None]
    return Fraction(of(known)) if len(known) == len(ends) else None


NEGATIONS = {"!=": "==", ">": "<=", ">=": "<"}
"""Each comparison that is decided by its negation."""


def compare(operator: str, sides: Sequence[Bounds], below: Sequence[bool]) -> bool | None:
    """Return whether a comparison holds wherever its sides are; None if it depends on that.

    A side that is `below` its upper end does not reach it.
    """
    if operator in NEGATIONS:
        negated = compare(NEGATIONS[operator], sides, below)
        return None if negated is None else not negated
    if operator == "==":
        return _is_equal(*sides)
    above, strict = find_excess(operator, sides), operator == "<"
    if above.most is not None:
        at_most = not strict or below[0]
        if above.most < 0 or (above.most == 0 and at_most):
            return True
    beyond = strict or (operator == "<=" and below[-1])
    fails = above.least is not None and (above.least > 0 or (above.least == 0 and beyond))
    return False if fails else None


def find_excess(operator: str, sides: Sequence[Bounds]) -> Bounds:
    """Return by how much an order or a `within` does not hold: it must be at most 0, or below 0."""
    if not operator.startswith("within"):
        return combine("-", sides)
    value, width, target = sides
    if operator == "within share":
        width = combine("*", (width, combine("abs", (target,))))
    return combine("-", (combine("abs", (combine("-", (value, target)),)), width))


def _is_equal(one: Bounds, other: Bounds) -> bool | None:
    if None not in (*one, *other) and one.least == one.most and other.least == other.most:
        return one.least == other.least
    for low, high in ((one, other), (other, one)):
        if low.most is not None and high.least is not None and low.most < high.least:
            return False
    return None
