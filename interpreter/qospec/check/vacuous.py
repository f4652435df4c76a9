"""Requirements that cannot fail: they guard nothing, and look as if they did."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.context import Refused, wrong
from qospec.conditions import Constant, Measured, Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.conditions import Expression
    from qospec.model import Case, Statement

COUNTS = ("sent", "planned", "received", "lost", "policed", "connections_up")
"""Metrics that are never below 0, whatever happens."""


def requires(cases: Sequence[Case]) -> Iterator[Refused]:
    """Yield a warning for each `require` that holds in all cases, whatever is measured."""
    of_place: dict[tuple[str, int], list[Statement]] = {}
    for case in cases:
        for each in case.statements:
            if each.kind == "require":
                place = (each.span.source.name, each.span.start)
                of_place.setdefault(place, []).append(each)
    for statements in of_place.values():
        reasons = [_reason(each.expression) for each in statements]
        if all(reasons):
            yield wrong(
                "W0601",
                f"`require` never fails here: {reasons[0]}",
                statements[0].span,
                remedy="require what the test depends on, such as"
                " `user.sent within 1% of user.planned`",
            )


def _reason(expression: Expression) -> str:
    """Return why a condition always holds; nothing if it may fail."""
    if not isinstance(expression, Operation) or expression.operator not in (">", ">="):
        return ""
    left, right = expression.operands
    if not (isinstance(left, Measured) and left.metric in COUNTS and isinstance(right, Constant)):
        return ""
    bound = right.value
    low = isinstance(bound, Fraction) and (
        bound < 0 or (bound == 0 and expression.operator == ">=")
    )
    return f"{left.text} is at least 0" if low else ""
