"""Functions of measured values: the least, the greatest, the size, and the worst of a group."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check import arithmetic
from qospec.check.context import wrong
from qospec.check.dimensions import met
from qospec.check.values import POISON, Amount, Open, Poison, Value
from qospec.model.expression import Measured, Operation
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.source import Span

MORE_IS_BETTER = "more"
"""What a metric's class says as `better` if its least value is the worst; else its greatest is."""


def extreme(node: ast.Call, values: Sequence[Amount | Open | Poison]) -> Value:
    """Return the least or greatest of values of which some are measured; raises Refused."""
    known = [each for each in values if isinstance(each, Amount | Open)]
    if len(known) < len(values):
        return POISON
    nodes = [argument.value for argument in node.arguments]
    place = next((n for n, each in enumerate(known) if not _is_zero(each)), 0)
    like, first = known[place], nodes[place]
    for value, written in zip(known, nodes, strict=True):
        order = ast.Compare(operator="<", left=first, right=written, span=node.span)
        arithmetic.compared(order, like, value)
        layer = met(like.layer, value.layer)
        if layer != like.layer:
            like, first = replace(like, layer=layer), written
    return _open(node.path.name.text, known, [each.span for each in nodes], like)


def size(value: Open) -> Open:
    """Return a measured value without its sign."""
    made = Operation("abs", (value.expression,), value.dimension)
    return Open(made, value.dimension, value.exact, layer=value.layer)


def worst(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    """Return a metric of the member of a group for which it is worst; raises Refused."""
    if len(node.arguments) != 1 or node.arguments[0].name is not None:
        raise wrong(
            "E0105",
            "`worst` takes one metric of a group",
            node.span,
            remedy="write `worst(user.delay.p99)`",
        )
    argument = node.arguments[0].value
    value = evaluator.value(argument, scope)
    if isinstance(value, Poison):
        return value
    unfinished = value.unfinished(argument.span)
    if unfinished is not None:
        raise unfinished
    leaf = value.expression if isinstance(value, Open) else None
    if not isinstance(value, Open) or not isinstance(leaf, Measured):
        raise wrong(
            "E0204",
            "`worst` takes one metric of a group, as it is measured",
            argument.span,
            remedy="write `worst(user.delay.p99)`, and reckon with that",
        )
    if leaf.members is None:
        raise wrong(
            "E0215",
            f"`{leaf.flow}` is no group: it has no worst member",
            argument.span,
            remedy=f"write `{argument.span.text}`",
        )
    kind = evaluator.context.catalogue.find("metric", leaf.metric)
    better = getattr(kind.build, "better", "") if kind is not None else ""
    members = [value_of(value, leaf, number) for number in range(leaf.members)]
    operator = "min" if better == MORE_IS_BETTER else "max"
    return _open(operator, members, [argument.span] * len(members), value)


def value_of(value: Open, leaf: Measured, member: int) -> Open:
    """Return what is measured of one member of the group that a leaf is measured of."""
    whole = leaf.text.removeprefix(f"{leaf.network}." if leaf.network else "")
    behind = whole.removeprefix(leaf.flow)
    before = leaf.text.removesuffix(whole)
    text = f"{before}{leaf.flow}[{member}]{behind}"
    own = replace(leaf, member=member, members=None, text=text)
    return replace(value, expression=own)


def _open(
    operator: str, values: Sequence[Amount | Open], places: Sequence[Span], like: Amount | Open
) -> Open:
    operands = tuple(
        arithmetic.constant(value, place, like.dimension)
        for value, place in zip(values, places, strict=True)
    )
    exact = all(value.exact for value in values if isinstance(value, Open))
    made = Operation(operator, operands, like.dimension)
    return Open(made, like.dimension, exact, layer=like.layer)


def _is_zero(value: Amount | Open) -> bool:
    return isinstance(value, Amount) and value.value == 0
