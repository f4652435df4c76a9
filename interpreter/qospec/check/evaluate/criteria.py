"""Criteria: conditions whose leaves are constants and measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate import arithmetic
from qospec.check.evaluate.context import make_all, make_error
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension
from qospec.check.evaluate.measurements import DeferredMetric
from qospec.check.evaluate.values import (
    Amount,
    Boolean,
    Deferred,
    DeferredBoolean,
    List,
    Poison,
    Value,
)
from qospec.diagnostics import Edit
from qospec.model.expression import Constant, Expression, Operation
from qospec.source import Span
from qospec.syntax import ast
from qospec.units import TIME

if TYPE_CHECKING:
    from qospec.check.evaluate.context import CheckError
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope


def build_condition(  # noqa: PLR0911 -- one return per kind of condition
    node: ast.Expression, scope: Scope, evaluator: Evaluator
) -> Expression | None:
    """Return the condition of `expect` or `require`; None after a mistake; raises CheckError."""
    if isinstance(node, ast.Binary) and node.operator in ("and", "or"):
        return _combine(node.operator, (node.left, node.right), scope, evaluator)
    if isinstance(node, ast.Unary) and node.operator == "not":
        return _combine("not", (node.operand,), scope, evaluator)
    if isinstance(node, ast.Compare):
        return _build_comparison(
            node, evaluator.evaluate(node.left, scope), evaluator.evaluate(node.right, scope)
        )
    if isinstance(node, ast.Within):
        value = evaluator.evaluate(node.value, scope)
        tolerance = evaluator.evaluate(node.tolerance, scope)
        return arithmetic.compare_within(
            node, value, tolerance, evaluator.evaluate(node.target, scope)
        )
    if isinstance(node, ast.Member):
        return _build_membership(
            node, evaluator.evaluate(node.item, scope), evaluator.evaluate(node.collection, scope)
        )
    if isinstance(node, ast.Conditional):
        chosen = evaluator.require_truth(node.condition, scope)
        return (
            None
            if chosen is None
            else build_condition(node.value if chosen else node.otherwise, scope, evaluator)
        )
    return _require_truth(node, evaluator.evaluate(node, scope))


def build_reported(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> Expression | None:
    """Return what `report` shows: a number, measured or not, or a condition."""
    if isinstance(node, ast.Compare | ast.Within | ast.Member):
        return build_condition(node, scope, evaluator)
    if isinstance(node, ast.Binary) and node.operator in ("and", "or"):
        return build_condition(node, scope, evaluator)
    value = evaluator.evaluate(node, scope)
    if isinstance(value, Amount | Deferred):
        return arithmetic.make_constant(value, node.span)
    unfinished = value.explain_unfinished(node.span)
    if unfinished is not None:
        raise unfinished
    if isinstance(value, Boolean | DeferredBoolean):
        return _require_truth(node, value)
    if isinstance(value, Poison):
        return None
    raise make_error("E0504", f"expected a number to report, found {value.what}", node.span)


def _combine(
    operator: str, nodes: tuple[ast.Expression, ...], scope: Scope, evaluator: Evaluator
) -> Expression | None:
    made = make_all(lambda node: build_condition(node, scope, evaluator), nodes)
    sides = [side for side in made if side is not None]
    return Operation(operator, tuple(sides)) if len(sides) == len(nodes) else None


def _build_comparison(node: ast.Compare, left: Value, right: Value) -> Expression | None:
    result = arithmetic.compare_values(node, left, right)
    if isinstance(result, Operation):
        return result
    if isinstance(left, Amount) and isinstance(right, Amount):
        dimension = right.dimension if left.value == 0 else left.dimension
        sides = (
            arithmetic.make_constant(left, node.left.span, dimension),
            arithmetic.make_constant(right, node.right.span, dimension),
        )
        return Operation(node.operator, sides)
    return _require_truth(node, result)


def _build_membership(node: ast.Member, item: Value, collection: Value) -> Expression | None:
    if isinstance(item, Poison) or isinstance(collection, Poison):
        return None
    if not isinstance(collection, List):
        raise make_error(
            "E0204", f"expected a list after `in`, found {collection.what}", node.collection.span
        )
    if not isinstance(item, Amount | Deferred):
        found = any(arithmetic.is_equal(item, value) for value in collection.items)
        return Constant(found, None, node.span.text)
    pairs: list[Expression] = []
    for value in collection.items:
        if isinstance(value, Poison):
            return None
        as_equal = ast.Compare(operator="==", left=node.item, right=node.collection, span=node.span)
        arithmetic.compare_values(as_equal, item, value)
        pairs.append(
            arithmetic.make_constant(
                arithmetic.require_number(value, node.collection.span, "in"), node.collection.span
            )
        )
    leaf = arithmetic.make_constant(item, node.item.span)
    return Operation("in", (leaf, Operation("list", tuple(pairs))))


def _require_truth(node: ast.Expression, value: Value) -> Expression | None:
    if isinstance(value, Poison):
        return None
    if isinstance(value, DeferredBoolean):
        return value.expression
    if isinstance(value, Boolean):
        if value.value is None:
            return None
        return Constant(value.value, None, node.span.text, published=value.published is not None)
    unfinished = value.explain_unfinished(node.span)
    if unfinished is not None:
        raise unfinished
    if not isinstance(value, Deferred | Amount):
        raise make_error("E0504", f"expected a condition, found {value.what}", node.span)
    raise make_error(
        "E0504",
        f"expected a condition, found {describe_dimension(value.dimension)}",
        node.span,
        help=f"compare it, as in `{node.span.text} {_choose_example_bound(value)}`",
    )


def _choose_example_bound(value: Deferred | Amount) -> str:
    if value.dimension == TIME:
        return "< 1 ms"
    if isinstance(value, DeferredMetric) and value.dimension == NUMBER and not value.exact:
        return "< 1%" if value.metric.kind.build.better == "less" else "> 0"
    return "== 0" if isinstance(value, Deferred) and value.exact else "> 0"


def explain_duplicate_label(label: str, place: ast.Node, first: Span) -> CheckError:
    """Return the mistake of a second statement with a label."""
    return make_error(
        "E0509",
        f"two statements are called `{label}`",
        place.span,
        secondary=(first, "first here"),
        help="give one of them another label",
    )


def explain_second(first: ast.Bind, second: ast.Bind) -> CheckError:
    """Return the mistake of a second condition; they are joined if nothing else is between them."""
    source = first.span.source
    both = (
        f"({bind.value.span.text})"
        if isinstance(bind.value, ast.Binary) and bind.value.operator == "or"
        else bind.value.span.text
        for bind in (first, second)
    )
    whole = Span(source, first.value.span.start, second.value.span.end)
    apart = source.text[first.span.end : second.span.start].strip(", \n")
    return make_error(
        "E0114",
        f"`{second.names[0].text}` is given twice",
        second.span,
        secondary=(first.span, "first here"),
        help="join them by `and`",
        fix=() if apart else (Edit(whole, " and ".join(both)),),
    )
