"""The functions of the language: `min`, `max`, `abs`, `worst` of what is measured, and laws."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check import arithmetic, groups
from qospec.check.context import wrong
from qospec.check.dimensions import met
from qospec.check.laws import exponential
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
    values = _numbers(evaluator, node, scope)
    if not values:
        name = node.path.name.text
        raise wrong("E0105", f"`{name}` takes one value or more", node.span, remedy="give it some")
    if any(isinstance(value, Open) for value in values):
        return groups.extreme(node, values)
    known = [value for value in values if isinstance(value, Amount | Poison)]
    best = known[0]
    for argument, value in zip(node.arguments[1:], known[1:], strict=True):
        if isinstance(best, Poison) or isinstance(value, Poison):
            best = POISON
            continue
        comparison = ast.Compare(
            operator=">" if largest else "<",
            left=argument.value,
            right=node.arguments[0].value,
            span=node.span,
        )
        better = arithmetic.compared(comparison, value, best)
        layer, published = met(value.layer, best.layer), value.published or best.published
        unknown = None in (value.value, best.value)
        best = value if isinstance(better, Truth) and better.value else best
        best = replace(best, layer=layer, published=published)
        if unknown:
            best = replace(best, value=None, text="")
    return best


def _size(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    values = _numbers(evaluator, node, scope)
    if len(values) != 1:
        raise wrong("E0105", "`abs` takes one value", node.span)
    (value,) = values
    if isinstance(value, Poison):
        return value
    if isinstance(value, Open):
        return groups.size(value)
    known = None if value.value is None else abs(value.value)
    return Amount(known, value.dimension, value.layer, published=value.published)


def _numbers(evaluator: Evaluator, node: ast.Call, scope: Scope) -> list[Amount | Open | Poison]:
    """Return the arguments; a mistake in one is reported, and poisons it."""
    name = node.path.name.text
    found: list[Amount | Open | Poison] = []
    for argument in node.arguments:
        if argument.name is not None:
            raise wrong("E0104", f"`{name}` has no parameter `{argument.name.text}`", argument.span)
        value = evaluator.value(argument.value, scope)
        if not isinstance(value, Poison):
            value = arithmetic.number(value, argument.value.span, name)
        found.append(value)
    return found


FUNCTIONS = {
    "min": _least,
    "max": _greatest,
    "abs": _size,
    "worst": groups.worst,
    "exponential": exponential,
}
