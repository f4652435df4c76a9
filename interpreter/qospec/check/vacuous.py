"""Criteria that cannot fail: they guard nothing, and look as if they did.

A value lies between bounds: a constant's, those that a metric's class declares, and what arithmetic
makes of them. What holds for all values between the bounds, or compares a thing with itself, always
holds. Nothing is proved beyond that.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.check.context import Refused, wrong
from qospec.conditions import (
    Attribute,
    Constant,
    Counted,
    Measured,
    Operation,
    evaluate,
    with_leaves,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qospec.catalogue import Catalogue
    from qospec.conditions import Expression, Leaf
    from qospec.model import Case, Statement
    from qospec.source import Span

JUDGED = ("require", "expect")

SAME = "both sides are the same"
SETTLED = "its sides can come to nothing else"
UNMEASURED = "it measures nothing"
WITHOUT = "it holds without what is measured"

NEVER_OF_THE_SAME = ("!=", "<", ">")
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
MIRRORED = {">": "<", ">=": "<="}


class Bounds(NamedTuple):
    """Between what a value lies, inclusive; None where nothing is known."""

    least: Fraction | None = None
    most: Fraction | None = None


ANYTHING = Bounds()
NOTHING = Bounds(Fraction(0), Fraction(0))


def criteria(cases: Sequence[Case], catalogue: Catalogue) -> Iterator[Refused]:
    """Yield a warning for each criterion that holds in all cases, whatever is measured."""
    of_place: dict[tuple[str, int], list[Statement]] = {}
    for case in cases:
        for each in case.statements:
            if each.kind in JUDGED:
                place = (each.span.source.name, each.span.start)
                of_place.setdefault(place, []).append(each)
    for statements in of_place.values():
        reasons = [reason(each.expression, catalogue) for each in statements]
        if all(reasons):
            kind, example = statements[0].kind, "user.sent within 1% of user.planned"
            if kind == "expect":
                example = "user.lost == 0"
            yield never_fails(kind, reasons[0], statements[0].span, example)


def never_fails(kind: str, why: str, span: Span, example: str) -> Refused:
    """Return the warning of a criterion that holds whatever happens."""
    remedy = f"{kind} what may turn out otherwise, such as `{example}`"
    return wrong("W0601", f"`{kind}` never fails here: {why}", span, remedy=remedy)


def reason(expression: Expression, catalogue: Catalogue) -> str:
    """Return why a condition never fails; nothing if it may, or if it judges published numbers."""
    if _constants_only(expression):
        holds = evaluate(expression, lambda _: None) is True
        return UNMEASURED if holds and not _published(expression) else ""
    return _Folding(catalogue).always(expression)


class _Folding:
    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def always(self, expression: Expression, *, wanted: bool = True) -> str:
        """Return why a condition is never other than `wanted`; nothing if it may be."""
        if not isinstance(expression, Operation) or _constants_only(expression):
            known = _constants_only(expression) and evaluate(expression, lambda _: None) is wanted
            return WITHOUT if known else ""
        operator, operands = expression.operator, expression.operands
        if operator == "not":
            return self.always(operands[0], wanted=not wanted)
        if operator in ("and", "or"):
            reasons = [self.always(each, wanted=wanted) for each in operands]
            enough = any if (operator == "or") == wanted else all
            return next(filter(None, reasons)) if enough(reasons) else ""
        if _of_the_same(expression):
            return SAME if (operator not in NEVER_OF_THE_SAME) is wanted else ""
        if operator not in OPPOSITE:
            return ""
        return self._ordered(operator if wanted else OPPOSITE[operator], *operands)

    def _ordered(self, operator: str, left: Expression, right: Expression) -> str:
        """Return why `left < right` and its like hold for all values between their bounds."""
        if operator in MIRRORED:
            operator, left, right = MIRRORED[operator], right, left
        below, above = self._bounds(left).most, self._bounds(right).least
        if below is None or above is None or below > above:
            return ""
        if below == above and operator == "<":
            return ""
        if isinstance(left, Measured):
            return f"{left.text} is at most {below}"
        if isinstance(right, Measured | Counted):
            return f"{right.text} is at least {above}"
        return SETTLED

    def _bounds(self, expression: Expression) -> Bounds:
        if isinstance(expression, Constant):
            value = expression.value
            return Bounds(value, value) if isinstance(value, Fraction) else ANYTHING
        if isinstance(expression, Measured):
            kind = self._catalogue.find("metric", expression.metric)
            ends = (getattr(kind.build if kind else None, end, None) for end in Bounds._fields)
            return Bounds(*(None if end is None else Fraction(end) for end in ends))
        if isinstance(expression, Counted):
            return Bounds(least=Fraction(0))
        if not isinstance(expression, Operation):
            return ANYTHING
        return _combined(expression.operator, [self._bounds(each) for each in expression.operands])


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


def _of_the_same(comparison: Operation) -> bool:
    """Return whether a thing is compared with itself."""
    first, last = _bare(comparison.operands[0]), _bare(comparison.operands[-1])
    if comparison.operator == "in":
        return isinstance(last, Operation) and first in last.operands
    return first == last


def _bare(expression: Expression) -> Expression:
    """Return an expression without how it was written."""

    def unwritten(leaf: Leaf) -> Expression:
        return leaf if isinstance(leaf, Attribute) else replace(leaf, text="")

    return with_leaves(expression, unwritten)


def _constants_only(expression: Expression) -> bool:
    if isinstance(expression, Operation):
        return all(map(_constants_only, expression.operands))
    return isinstance(expression, Constant)


def _published(expression: Expression) -> bool:
    if isinstance(expression, Operation):
        return any(map(_published, expression.operands))
    return isinstance(expression, Constant) and expression.published
