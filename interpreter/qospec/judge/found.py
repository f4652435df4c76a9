"""Judging by what searches have found: a load between two bounds, not a number.

`ndr.load >= y` holds if the lower bound is at least y, does not if the upper bound is below y, and
is undecided in between. If a bound is missing, the other decides: the greatest load that is good is
the highest of the range if that is good, and there is none, below all of the range, if none is.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.model.bounds import ANYTHING, Bounds, bounds
from qospec.model.expression import Found, Operation, evaluate
from qospec.model.expression import found as found_in
from qospec.units import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.model.expression import Expression, Leaf, Reader, Value
    from qospec.model.suite import GoalResult

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "within", "within share", "in")
NEGATIONS = {"!=": "==", ">": "<=", ">=": "<"}
"""Each comparison that is judged by its negation."""
MOST = "most"
"""The part of a result that is the upper end of its interval."""


def value_of(leaf: Found, results: Mapping[str, GoalResult]) -> Value:
    """Return what was found for a goal; of the load itself, the lower bound."""
    result = results.get(leaf.goal)
    if result is None:
        return None
    if leaf.part == "regular":
        return result.regular
    if leaf.part == MOST and result.upper is None and result.complete:
        return result.lower
    return result.upper if leaf.part in ("upper", MOST) else result.lower


def loads(expression: Expression) -> list[Found]:
    """Return the loads that were found in an expression, each once."""
    return list(dict.fromkeys(leaf for leaf in found_in(expression) if leaf.part == "load"))


def decided(expression: Expression, read: Reader) -> Value:
    """Return the value of an expression as `evaluate` does, but decide by the bounds of loads."""
    if not isinstance(expression, Operation) or not loads(expression):
        return evaluate(expression, read)
    if expression.operator in ("and", "or", "not"):
        values = [decided(operand, read) for operand in expression.operands]
        return _joined(expression.operator, values)
    if expression.operator not in COMPARISONS:
        return evaluate(expression, read)
    return _compared(expression, read)


def limits(expression: Expression, read: Reader) -> Bounds | None:
    """Return the bounds of a value that depends on loads; None if something in it has no data."""
    missing = False

    def of(leaf: Leaf) -> Bounds:
        nonlocal missing
        if isinstance(leaf, Found) and leaf.part == "load":
            return limits_of(leaf, read)
        value = read(leaf)
        missing = missing or value is None
        return Bounds(value, value) if isinstance(value, Fraction) else ANYTHING

    found = bounds(expression, of)
    return None if missing else found


def limits_of(leaf: Found, read: Reader) -> Bounds:
    """Return the bounds of a load; without a lower one, 0."""
    lower, most = (_end(leaf, part, read) for part in ("lower", MOST))
    return Bounds(Fraction(0) if lower is None else lower, most)


def _end(leaf: Found, part: str, read: Reader) -> Fraction | None:
    value = read(Found(leaf.goal, part, leaf.dimension, leaf.text))
    return value if isinstance(value, Fraction) else None


def notes(expression: Expression, read: Reader) -> Iterator[str]:
    """Yield a sentence for each load: between which bounds it is."""
    for leaf in loads(expression):
        if leaf.dimension is None:
            continue
        lower, upper = (
            None if (end := _end(leaf, part, read)) is None else text_of(end, leaf.dimension)
            for part in ("lower", "upper")
        )
        name = f"`{leaf.text}`"
        if lower and upper:
            yield f"{name} is from {lower} to {upper}"
        elif lower:
            known = _end(leaf, MOST, read) is not None
            yield f"no load was bad: {name} is {'' if known else 'at least '}{lower}"
        else:
            yield f"no load was good: {name} is below {upper}" if upper else f"{name} is unknown"


def _joined(operator: str, values: list[Value]) -> Value:
    """Return what three-valued logic gives."""
    if operator == "not":
        return None if values[0] is None else not values[0]
    decisive = operator == "or"
    return decisive if decisive in values else None if None in values else not decisive


def _compared(comparison: Operation, read: Reader) -> bool | None:
    operator, operands = comparison.operator, comparison.operands
    if operator in NEGATIONS:
        negated = _compared(Operation(NEGATIONS[operator], operands), read)
        return None if negated is None else not negated
    if operator == "in":
        one, among = operands
        each = among.operands if isinstance(among, Operation) else (among,)
        equal = [_compared(Operation("==", (one, other)), read) for other in each]
        return True if True in equal else None if None in equal else False
    if operator == "==":
        sides = [limits(side, read) for side in operands]
        return None if None in sides else _equal(*sides)  # type: ignore[arg-type]
    above = limits(_excess(comparison), read)  # what must be at most 0, or below 0
    if above is None:
        return None
    strict = operator == "<"
    if above.most is not None and (above.most < 0 or (above.most == 0 and not strict)):
        return True
    fails = above.least is not None and (above.least > 0 or (above.least == 0 and strict))
    return False if fails else None


def _equal(one: Bounds, other: Bounds) -> bool | None:
    exact = None not in (*one, *other) and one.least == one.most and other.least == other.most
    if exact:
        return one.least == other.least
    for low, high in ((one, other), (other, one)):
        if low.most is not None and high.least is not None and low.most < high.least:
            return False
    return None


def _excess(comparison: Operation) -> Operation:
    """Return by how much a comparison does not hold."""
    if not comparison.operator.startswith("within"):
        return Operation("-", comparison.operands)
    value, width, target = comparison.operands
    if comparison.operator == "within share":
        width = Operation("*", (width, Operation("abs", (target,))))
    return Operation("-", (Operation("abs", (Operation("-", (value, target)),)), width))
