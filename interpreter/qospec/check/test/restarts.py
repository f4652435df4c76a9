"""`at 10 s { restart = router }`: what of the topology restarts during a trial.

It names nodes and elements. Of a node, all elements restart that can.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Domain, Kind, Parameter
from qospec.check.device.nodes import NodeArray, NodeParts, NodeValue
from qospec.check.device.ports import PartValue
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import List, Pattern, Poison, Symbol, Value
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.model.suite import Restart
from qospec.syntax import ast
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.suite import Instance, Network
    from qospec.source import Span


class ChangeFields:
    """The fields of a change during a trial."""

    restart: object
    """What restarts: it loses what waits in it, and what arrives until it is up again."""


AT = Kind(
    name="at",
    role="element",
    duty="element",
    summary="What changes at a time of a trial, beside variables of the point.",
    source="spec/6-procedures.md",
    parameters={"restart": Parameter("restart", Domain("nodes"), None)},
    build=ChangeFields,
)
"""A change has a field, and is shown in the reference as a kind is."""


class _Named(NamedTuple):
    """What restarts, by its path in the network, and where it is named."""

    path: str
    span: Span


class _Down(NamedTuple):
    """An element that restarts: until when, and where that is written."""

    until_ps: int
    span: Span


def list_restarts(
    changes: Sequence[tuple[ast.At, Scope]],
    changes_ps: Sequence[int],
    network: Network | None,
    of: Evaluator,
) -> tuple[Restart, ...]:
    """Return what restarts at the times of changes; mistakes are reported.

    Args:
        changes: As they are written, in order, each with the names that it sees.
        changes_ps: Their times, since the measurement began; none if they are not known.
        network: That of the test; None if it is not known.
        of: Evaluates them.
    """
    found: list[Restart] = []
    down: dict[str, _Down] = {}
    for number, (node, scope) in enumerate(changes):
        elements: dict[str, None] = {}
        at_ps = changes_ps[number] if changes_ps else 0
        for named in _list_named(node, scope, of):
            if network is None or not changes_ps:
                continue
            try:
                for path, down_ps in _list_elements(named, network):
                    if path not in elements:
                        _verify_up(path, at_ps, node, down)
                    down[path] = _Down(at_ps + down_ps, node.time.span)
                    elements[path] = None
            except CheckError as mistake:
                of.context.report(mistake)
        found += [Restart(at_ps, tuple(elements))] if elements else []
    return tuple(found)


def is_field(name: ast.Name) -> bool:
    """Return whether what a change binds is a field of it, not a variable."""
    return name.text in AT.parameters


def _list_named(change: ast.At, scope: Scope, of: Evaluator) -> Iterator[_Named]:
    """Yield what the `restart` of a change names; mistakes are reported."""
    binds = (statement for statement in change.body.statements if isinstance(statement, ast.Bind))
    node = next((bind.value for bind in binds if any(map(is_field, bind.names))), None)
    if node is None:
        return
    value = of.require_plain(node, scope)
    items = value.items if isinstance(value, List) else (value,)
    places = node.items if isinstance(node, ast.ListLiteral) else (node,) * len(items)
    for item, place in zip(items, places, strict=True):
        try:
            path = _find_path(item, place.span, scope, of)
        except CheckError as mistake:
            of.context.report(mistake)
            continue
        if path:
            yield _Named(path, item.span if isinstance(item, Symbol) else place.span)


def _find_path(value: Value, span: Span, scope: Scope, of: Evaluator) -> str:
    """Return the path of a node or an element, of one of several its stem; "" if not known."""
    if isinstance(value, Poison):
        return ""
    if isinstance(value, NodeValue):
        return value.node.path
    if isinstance(value, NodeArray):
        return value.name
    if isinstance(value, NodeParts):
        return f"{value.node.path}.{value.name}"
    if isinstance(value, PartValue) and value.device and not value.name:
        return value.path
    if isinstance(value, Symbol) and value.resolved:
        return value.name
    if isinstance(value, Pattern):
        of.refuse_pattern(value, span, scope)
    unfinished = value.explain_unfinished(span) if isinstance(value, Symbol) else None
    raise unfinished or make_error(
        "E0204",
        f"`restart` is a device of the topology or an element of it, not {value.what}",
        span,
        help="write its name: `restart = …`",
    )


def _list_elements(named: _Named, network: Network) -> Iterator[tuple[str, int]]:
    """Yield the elements that restart, by their paths, and how long they are down.

    Raises:
        CheckError: There is nothing of that name, or it cannot restart.
    """
    below = (f"{named.path}.", f"{named.path}[")
    known = [element for element in network.elements if f"{element.path}.".startswith(below)]
    nodes = dict.fromkeys(element.path.partition(".")[0] for element in network.elements)
    hosts = [host.path for host in network.hosts]
    if not known and named.path not in [path.partition("[")[0] for path in (*nodes, *hosts)]:
        devices = [path for path in nodes if " " not in path and path not in hosts]
        raise make_error(
            "E0101",
            f"no device of `{network.name}` is named `{named.path}`",
            named.span,
            note=f"its devices: {' '.join(devices)}" if devices else "it has no devices",
            near=suggest_name(named.path, devices),
        )
    able = [
        (instance.path, instance.element.down_ps) for instance in known if instance.element.down_ps
    ]
    if not able:
        raise _explain_cannot(
            named, [instance for instance in known if " -> " not in instance.path]
        )
    yield from able


def _explain_cannot(named: _Named, elements: Sequence[Instance]) -> CheckError:
    kinds = dict.fromkeys(element.kind.name for element in elements)
    help_text = "name a device with a processor, or such an element"
    if "processor" in kinds:
        help_text = "give its processor the time that it takes, such as `restart_time = 5 s`"
    return make_error(
        "E0523",
        f"`{named.path}` cannot restart",
        named.span,
        note="a processor with a `restart_time` can"
        + (f"; this is made of: {' '.join(kinds)}" if kinds else "; this is a host"),
        help=help_text,
    )


def _verify_up(path: str, at_ps: int, node: ast.At, down: dict[str, _Down]) -> None:
    """Refuse a restart during a restart; raises CheckError."""
    before = down.get(path)
    if before is not None and at_ps < before.until_ps:
        up = format_value(Fraction(before.until_ps, PS_PER_S), TIME)
        raise make_error(
            "E0523",
            f"`{path}` is still restarting then: it is up at {up}",
            node.time.span,
            secondary=(before.span, "it restarts here"),
            help="write a later time, or one restart",
        )
