"""The functions of the language: `min`, `max` and `abs`, of values known before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check import arithmetic
from qospec.check.context import wrong
from qospec.check.values import POISON, Amount, Open, Poison, Truth, Value
from qospec.syntax import ast

if TYPE_CHECKING:
    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope


def _least(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    return _extreme(evaluator, node, scope, largest=False)


def _greatest(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    return _extreme(evaluator, node, scope, largest=True)


def _extreme(evaluator: Evaluator, node: ast.Call, scope: Scope, *, largest: bool) -> Value:
    best: Value = POISON
    for argument in node.arguments:
        value = evaluator.strict(argument.value, scope)
        if isinstance(value, Open):
            raise wrong(
                "E0190", f"`{node.path.name.text}` of measured values is not built yet", node.span
            )
        if isinstance(best, Poison):
            best = value
            continue
        sign = ">" if largest else "<"
        comparison = ast.Compare(
            operator=sign, left=argument.value, right=node.arguments[0].value, span=node.span
        )
        better = arithmetic.compared(comparison, value, best)
        if isinstance(better, Truth) and better.value:
            best = value
    return best


def _size(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    if len(node.arguments) != 1:
        raise wrong("E0105", "`abs` takes one value", node.span)
    value = evaluator.strict(node.arguments[0].value, scope)
    if isinstance(value, Poison):
        return value
    amount = arithmetic.number(value, node.arguments[0].value.span, "abs")
    if isinstance(amount, Open):
        raise wrong("E0190", "`abs` of measured values is not built yet", node.span)
    known = None if amount.value is None else abs(amount.value)
    return Amount(known, amount.dimension, amount.layer, published=amount.published)


FUNCTIONS = {"min": _least, "max": _greatest, "abs": _size}
