"""Criteria that cannot fail: they test nothing, and look as if they did.

A value lies between bounds: a constant's, those that a metric's class declares, and what arithmetic
makes of them. What holds for all values between the bounds, or compares a thing with itself, always
holds. Nothing is proved beyond that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.test.vacuity.applicability import OPPOSITE, group_by_place, is_unmet
from qospec.model.claims import CONSISTENT
from qospec.model.expression import (
    Attribute,
    Counted,
    Evaluated,
    Measured,
    Operation,
    bound_expression,
    evaluate_without_readings,
    find_declared_bounds,
    is_constant,
    is_published,
    list_found,
    list_measurements,
    list_observed,
    with_leaves,
)
from qospec.model.suite import JUDGED, Point, Search
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.model.bounds import Bounds
    from qospec.model.expression import Expression, Leaf
    from qospec.model.suite import Case, Statement
    from qospec.source import Span

SAME = "both sides are the same"
EMPTY = "its list is empty"
SETTLED = "its sides can have no other values"
UNMEASURED = "it is known beforehand"
WITHOUT = "a part that is known beforehand makes it true"
SENT = "no device changes what a source sends"

EXAMPLES = {"require": "{flow}.sent within 1% of {flow}.planned", "expect": "{flow}.lost == 0"}
"""Of criteria that can fail."""
NO_LIST = Operation("list", ())
NEVER_OF_THE_SAME = ("!=", "<", ">")
MIRRORED = {">": "<", ">=": "<="}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
"""Each comparison that limits a value, and the same with its sides exchanged."""


def warn_of_criteria(cases: Sequence[Case]) -> Iterator[CheckError]:
    """Yield a warning for each criterion that holds in all cases, whatever is measured."""
    for statement, why in find_unfailing(cases):
        yield warn_of_unfailing(statement, why, cases[0])


def warn_of_unfailing(statement: Statement, why: str, case: Case) -> CheckError:
    """Return the warning that no device fails a criterion, whose help names a flow of the case."""
    if why == SENT or (is_published(statement.expression) and why == UNMEASURED):
        return _warn_of_no_criterion(statement, why)
    return warn_of_never_failing(
        statement.kind, why, statement.span, choose_example(statement, case)
    )


def choose_example(statement: Statement, case: Case) -> str:
    """Return a criterion that can fail, of a flow that a statement measures, or of any."""
    flows = [
        measurement.flow
        for measurement in list_measurements(statement.expression)
        if measurement.flow
    ]
    flows += [flow.name for flow in case.flows]
    if not flows:
        return ""
    points = [phase.name for phase in case.phases if isinstance(phase, Point)]
    if case.phases and statement.kind == "expect" and not points:
        (search, *_) = (phase for phase in case.phases if isinstance(phase, Search))
        layer = f" @{search.layer}" if search.layer else ""
        highest = format_value(search.high, search.dimension, exact=True)
        return f"{search.goals[0].name}.{search.name} >= {highest}{layer}"
    at = f"{points[0]}." if points and statement.kind == "expect" else ""
    return EXAMPLES[statement.kind].format(flow=at + flows[0])


def find_unfailing(cases: Sequence[Case]) -> Iterator[tuple[Statement, str]]:
    """Yield each criterion that holds in all cases, whatever is measured, and why."""
    for asked in _list_asked(cases):
        reasons = [
            explain_always_true(statement.expression) or _explain_source(statement)
            for statement in asked
        ]
        if all(reasons):
            yield asked[0], reasons[0]


def find_unmeetable(cases: Sequence[Case]) -> Iterator[tuple[Statement, str]]:
    """Yield each criterion that is false in all cases, whatever is measured, and why.

    Not one of published numbers alone, which says that they differ.
    """
    for asked in _list_asked(cases):
        reasons = [explain_settled_false(statement.expression) for statement in asked]
        if all(reasons) and not any(is_published(statement.expression) for statement in asked):
            yield asked[0], reasons[0]


def _list_asked(cases: Sequence[Case]) -> Iterator[list[Statement]]:
    """Yield the criteria that apply, by their places, without those that only claim consistency."""
    for statements in group_by_place(cases):
        asked = [
            statement
            for statement in statements
            if statement.kind in JUDGED and not is_unmet(statement)
        ]
        if asked and all(statement.claim != CONSISTENT for statement in asked):
            yield asked


def _explain_source(statement: Statement) -> str:
    """Return why no device fails an `expect`: it depends on what sources send, and is not measured.

    A `require` may well ask whether a source sends what the test needs.
    """
    leaves = list_observed(statement.expression)
    measured = [leaf for leaf in leaves if isinstance(leaf, Measured) and leaf.of_source]
    own = leaves and len(measured) == len(leaves) and not list_found(statement.expression)
    return SENT if own and statement.kind == "expect" else ""


def _warn_of_no_criterion(statement: Statement, why: str) -> CheckError:
    """Return the warning that published numbers are compared with each other, or what is sent."""
    label = "" if statement.label == statement.text else f"{statement.label}: "
    also = ", or `require` it if the test depends on it" if why == SENT else ""
    return make_error(
        "W0601",
        f"`{statement.kind}` says nothing about the device: {why}"
        if why == SENT
        else f"`{statement.kind}` never fails here: published numbers do not depend on the device",
        statement.span,
        help=f"write `report {label}{statement.text}`, which shows whether it holds; claim it"
        f" `as {CONSISTENT}`{also}",
    )


def warn_of_never_failing(kind: str, why: str, span: Span, example: str) -> CheckError:
    """Return the warning that a criterion always holds."""
    verb = "state" if kind == "invariant" else kind
    such = f", such as `{example}`" if example else ""
    help_text = f"{verb} something that can fail{such}"
    return make_error("W0601", f"`{kind}` never fails here: {why}", span, help=help_text)


def explain_always_true(
    expression: Expression, of: Callable[[Leaf], Bounds] = find_declared_bounds
) -> str:
    """Return why a condition never fails; "" if it may. `of` gives the bounds of unknown values."""
    if is_constant(expression):
        return UNMEASURED if evaluate_without_readings(expression) is True else ""
    return _explain_always(expression, of)


def explain_never_true(expression: Expression, of: Callable[[Leaf], Bounds]) -> str:
    """Return why a condition is never met; "" if it may be. `of` is as of `reason`."""
    return _explain_always(expression, of, expected=False)


def explain_settled_false(condition: Expression) -> str:
    """Return why a condition is false whatever is measured, on any device; "" if it may hold."""
    if evaluate_without_readings(condition) is False:
        return UNMEASURED
    return explain_never_true(condition, find_declared_bounds)


def _explain_always(
    expression: Expression, of: Callable[[Leaf], Bounds], *, expected: bool = True
) -> str:
    """Return why a condition always has the value `expected`; "" if it may not."""
    if not isinstance(expression, Operation) or is_constant(expression):
        known = is_constant(expression) and evaluate_without_readings(expression) is expected
        return WITHOUT if known else ""
    operator, operands = expression.operator, expression.operands
    if operator == "not":
        return _explain_always(operands[0], of, expected=not expected)
    if operator in ("and", "or"):
        reasons = [_explain_always(operand, of, expected=expected) for operand in operands]
        enough = any if (operator == "or") == expected else all
        return next(filter(None, reasons)) if enough(reasons) else ""
    if operator == "in" and operands[1] == NO_LIST:
        return "" if expected else EMPTY
    if _compares_the_same(expression):
        return SAME if (operator not in NEVER_OF_THE_SAME) is expected else ""
    return _explain_comparison(operator if expected else OPPOSITE.get(operator, ""), operands, of)


def _explain_comparison(
    operator: str, sides: Sequence[Expression], of: Callable[[Leaf], Bounds]
) -> str:
    """Return why a comparison holds for all values of its sides; "" if it may not."""
    if operator in ("==", "!="):
        order = "<=" if operator == "==" else "<"
        orders = [_explain_order(order, pair, of) for pair in (sides, sides[::-1])]
        enough = all if operator == "==" else any
        return next(filter(None, orders)) if enough(orders) else ""
    return _explain_order(operator, sides, of) if operator in OPPOSITE else ""


def _explain_order(operator: str, sides: Sequence[Expression], of: Callable[[Leaf], Bounds]) -> str:
    """Return why an order of two sides holds for all their values; "" if it may not."""
    if operator in MIRRORED:
        operator, sides = MIRRORED[operator], sides[::-1]
    left, right = sides
    below, above = bound_expression(left, of).most, bound_expression(right, of).least
    if below is None or above is None or below > above:
        return ""
    if below == above and operator == "<":
        return ""
    if isinstance(left, Measured):
        return f"{left.text} is at most {below}"
    if isinstance(right, Measured | Counted):
        return f"{right.text} is at least {above}"
    return SETTLED


def _compares_the_same(comparison: Operation) -> bool:
    """Return whether a value is compared with itself."""
    first, last = comparison.operands[0], comparison.operands[-1]
    if comparison.operator != "in" and type(first) is not type(last):
        return False
    first, last = _drop_spelling(first), _drop_spelling(last)
    if comparison.operator == "in":
        return isinstance(last, Operation) and first in last.operands
    return first == last


def _drop_spelling(expression: Expression) -> Expression:
    """Return an expression without how it was written."""

    def drop_text(leaf: Leaf) -> Expression:
        return leaf if isinstance(leaf, Attribute | Evaluated) else replace(leaf, text="")

    return with_leaves(expression, drop_text)
