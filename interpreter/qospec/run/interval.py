"""The interval of what repeats come to, as it is shown: not beyond what its values can be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.model.bounds import ANYTHING, bounds
from qospec.model.expression import Operation, observed
from qospec.run.quantity import compared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.document import Document
    from qospec.model.bounds import Bounds
    from qospec.model.suite import Statement
    from qospec.run.verdict import Interval, Judgement, Side


def interval_document(statement: Statement, shown_one: Judgement | None) -> Document | None:
    """Return the interval, its ends with so many digits that they look unequal if they are."""
    if shown_one is None or shown_one.interval is None:
        return None
    found = _possible(shown_one.interval, statement, shown_one)
    lower, upper = compared(found.lower, found.upper)
    return {"lower": lower, "upper": upper, "repeats": found.repeats}


def _possible(found: Interval, statement: Statement, shown_one: Judgement) -> Interval:
    """Return the part of an interval that values can have: a count is never below 0.

    Student's t knows of no least and no most. This is for display only: judged is by the whole
    interval, and where an end beyond decides, it is shown as it is.
    """
    ends = _bounds(statement)
    low, high = found.lower.value, found.upper.value
    edges = list(_edges(statement, shown_one))
    if ends.least is not None and all(_is_above(ends.least, *edge) for edge in edges):
        low = max(low, ends.least) if isinstance(low, Fraction) else ends.least
    if ends.most is not None and all(_is_below(ends.most, *edge) for edge in edges):
        high = min(high, ends.most) if isinstance(high, Fraction) else ends.most
    return replace(
        found, lower=replace(found.lower, value=low), upper=replace(found.upper, value=high)
    )


def _bounds(statement: Statement) -> Bounds:
    """Return between what the value lies that is shown; the difference of two may be anything."""
    expression = statement.expression
    if statement.kind == "report" or not isinstance(expression, Operation):
        return bounds(expression)
    sides = (expression.operands[0], expression.operands[-1])
    measuring = [side for side in sides if observed(side)]
    return bounds(measuring[0]) if len(measuring) == 1 else ANYTHING


def _edges(statement: Statement, shown_one: Judgement) -> Iterator[tuple[str, Fraction]]:
    """Yield what the interval was held against, each with its comparison; nothing of a report."""
    if shown_one.bound is None:
        return
    bound = _exact(shown_one.bound)
    if shown_one.tolerance is None:
        yield shown_one.comparison, bound
        return
    width = _exact(shown_one.tolerance)
    expression = statement.expression
    if isinstance(expression, Operation) and expression.operator == "within share":
        width *= abs(bound)
    yield ">=", bound - width
    yield "<=", bound + width


def _is_above(least: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether it decides nothing how far the interval goes below the least value."""
    return edge > least or (edge == least and comparison in ("<=", ">"))


def _is_below(most: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether it decides nothing how far the interval goes above the most."""
    return edge < most or (edge == most and comparison in (">=", "<"))


def _exact(side: Side) -> Fraction:
    if not isinstance(side.value, Fraction):
        raise TypeError("what has an interval is a number")
    return side.value
