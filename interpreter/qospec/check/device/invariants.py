"""`invariant`: what holds in every run of a device, counted where cells enter, end and leave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.device.machine_values import MachineValue
from qospec.check.device.observables import describe_kind, explain_not_observed
from qospec.check.device.ports import SIDES, Invariant, LoopArray, PartValue, PortValue
from qospec.check.evaluate.clauses import refuse_clauses
from qospec.check.evaluate.context import CheckError, join_mistakes, make_error
from qospec.check.evaluate.criteria import build_condition, explain_duplicate_label
from qospec.model.expression import Counted, with_leaves
from qospec.model.suite import Statement
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qospec.check.device.ports import Template
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.evaluate.values import Value
    from qospec.model.expression import Expression, Leaf
    from qospec.model.suite import Network

Port = tuple[str, int]
OF_PORTS = tuple(f"{side}.count" for side in SIDES)
"""What is observed of a port, as authors write it."""


def add(
    node: ast.Criterion, scope: Scope, subscripts: str, template: Template, evaluator: Evaluator
) -> None:
    """Add an invariant to a device; a mistake in it is reported."""
    try:
        refuse_clauses(node, "an invariant", "holds in every run")
        unobservable = list(_find_unobservable(node.condition, scope, evaluator))
        if unobservable:
            raise join_mistakes(unobservable)
        expression = build_condition(node.condition, scope, evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return
    text = " ".join(node.condition.span.text.split())
    label = f"{node.label.text if node.label else text}{subscripts}"
    known = next((invariant for invariant in template.invariants if invariant.label == label), None)
    if known is not None:
        evaluator.context.report(
            explain_duplicate_label(label, node.label or node.condition, known.span)
        )
    elif expression is not None:
        template.invariants.append(Invariant(label, text, expression, node.span))


def _find_unobservable(node: ast.Node, scope: Scope, evaluator: Evaluator) -> Iterator[CheckError]:
    """Yield a mistake for each thing that is not observed of an element or a port."""
    if isinstance(node, ast.Path):
        known = scope.find(node.name.text)
        value = known.evaluate(evaluator.context) if known is not None else None
        if isinstance(value, PartValue | PortValue | LoopArray):
            yield from _explain_not_offered(node, value)
    for child in node.list_children():
        yield from _find_unobservable(child, scope, evaluator)


def _explain_not_offered(node: ast.Path, value: Value) -> Iterator[CheckError]:
    while isinstance(value, LoopArray):
        value = next(iter(value.iterations.values()))
    names = [step for step in node.trail if isinstance(step, ast.Name)]
    if isinstance(value, MachineValue) and names and names[0].text in value.offered:
        return  # its fields say the rest
    whose = ("a port", OF_PORTS)
    if isinstance(value, MachineValue):
        whose = value.what, value.offered
    elif isinstance(value, PartValue):
        whose = describe_kind(value.part.kind)
    what, offered = whose
    text = node.span.text
    if not names:
        yield make_error(
            "E0423",
            f"`{text}` cannot be observed",
            node.span,
            note=f"observed of {what}: {' '.join(offered) or 'nothing'}",
            help=f"write `{text}.{offered[0]}`" if offered else "",
        )
    elif ".".join(name.text for name in names) not in offered:
        begin = names[0].span.start - node.span.start
        yield explain_not_observed(whose, text[: begin - 1], text[begin:], node.span)


def list_device_invariants(
    template: Template, node: str, line: Callable[[Port, str], str]
) -> Iterator[Statement]:
    """Yield the invariants of a device at `node`.

    `line` gives the path of the line that feeds a port (rx) or that it feeds (tx).
    """
    if not template.invariants:
        return
    paths = {part.path: f"{node}.{part.path}" for part in template.parts}
    for ports in template.ports.values():
        for index in range(1 if ports.count is None else ports.count):
            for side in SIDES:
                name = ports.name if ports.count is None else f"{ports.name}[{index}]"
                paths[f"{name}.{side}"] = line((ports.name, index), side)

    def write_whole(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Counted):
            return leaf
        return replace(leaf, path=paths[leaf.path], text=f"{node}.{leaf.text}")

    for invariant in template.invariants:
        expression = with_leaves(invariant.condition, write_whole)
        yield Statement(
            "invariant", f"{node}: {invariant.label}", invariant.text, expression, invariant.span
        )


def list_invariants(networks: Mapping[str, Network]) -> Iterator[Statement]:
    """Yield the invariants of all devices of a case, those of a control under its name."""
    for name, network in networks.items():
        yield from _rename_for_control(network.invariants, name) if name else network.invariants


def _rename_for_control(statements: tuple[Statement, ...], network: str) -> Iterator[Statement]:

    def move_there(leaf: Leaf) -> Expression:
        if not isinstance(leaf, Counted):
            return leaf
        return replace(leaf, network=network, text=f"{network}.{leaf.text}")

    for statement in statements:
        expression = with_leaves(statement.expression, move_there)
        yield replace(statement, label=f"{network}.{statement.label}", expression=expression)
