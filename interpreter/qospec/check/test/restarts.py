"""`at 10 s { restart = router, down = dut.west }`: what restarts and fails during a trial.

What restarts is named by nodes and elements: of a node, all elements restart that can. Links go
down and up by one of their ends: a port, or a node, with all of its links. Some time after that,
items may go round those that are down.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LONGEST_PS, Domain, Kind, Parameter
from qospec.check.device.nodes import NodeArray, NodeParts, NodePort, NodeValue
from qospec.check.device.ports import PartValue
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.values import List, Pattern, Poison, Symbol, Value
from qospec.check.records.fields import convert
from qospec.dataclass import NamedTuple
from qospec.diagnostics import suggest_name
from qospec.model.suite import LinkChange, Restart, WayChange
from qospec.syntax import ast
from qospec.units import PS_PER_S, TIME, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.model.suite import Instance, Network, Run
    from qospec.source import Span


class ChangeFields:
    """The fields of a change during a trial."""

    restart: object
    """What restarts: it loses what waits in it, and what arrives until it is up again."""
    down: object
    """Which links fail: those of a host, a device or a port. They lose what is on them, and what is
    sent until they are up again."""
    up: object
    """Which links are up again."""
    reroute: object
    """How long after this items take ways round the links that are down then, and the shortest ways
    if none is; those that are on their way already stay on it."""


AT = Kind(
    name="at",
    role="element",
    duty="element",
    summary="What changes at a time of a trial, beside variables of the point.",
    source="spec/6-procedures.md",
    parameters={
        "restart": Parameter("restart", Domain("nodes"), None),
        "down": Parameter("down", Domain("link ends"), None),
        "up": Parameter("up", Domain("link ends"), None),
        "reroute": Parameter("reroute", Domain("time", 0, LONGEST_PS), None),
    },
    build=ChangeFields,
)
"""A change has a field, and is shown in the reference as a kind is."""


_EXPECTED = {
    "restart": "a device of the topology or an element of it",
    **dict.fromkeys(("down", "up"), "an end of a link: a host, a device or a port of it"),
}
"""By field of a change, what it may name."""


class _Named(NamedTuple):
    """What restarts or fails, by its path in the network, and where it is named."""

    path: str
    span: Span


class _Down(NamedTuple):
    """An element that restarts: until when, and where that is written."""

    until_ps: int
    span: Span


def with_restarts(
    run: Run, changes: Sequence[tuple[ast.At, Scope]], network: Network | None, of: Evaluator
) -> Run:
    """Return how a trial is run, with what restarts and fails in it; mistakes are reported.

    Args:
        run: With the times of the changes; none if they are not known.
        changes: As they are written, in order, each with the names that it sees.
        network: That of the test; None if it is not known.
        of: Evaluates them.
    """
    restarts = _list_restarts(changes, run.changes_ps, network, of)
    run = replace(run, restarts=restarts, links=_list_links(changes, run.changes_ps, network, of))
    return replace(run, detours=tuple(_list_detours(changes, run, of)))


def _list_restarts(
    changes: Sequence[tuple[ast.At, Scope]],
    changes_ps: Sequence[int],
    network: Network | None,
    of: Evaluator,
) -> tuple[Restart, ...]:
    """Return what restarts at the times of changes."""
    found: list[Restart] = []
    down: dict[str, _Down] = {}
    for number, (node, scope) in enumerate(changes):
        elements: dict[str, None] = {}
        at_ps = changes_ps[number] if changes_ps else 0
        for named in _list_named("restart", node, scope, of):
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


def _list_links(
    changes: Sequence[tuple[ast.At, Scope]],
    changes_ps: Sequence[int],
    network: Network | None,
    of: Evaluator,
) -> tuple[LinkChange, ...]:
    """Return which links go down and up at the times of changes."""
    found: list[LinkChange] = []
    down: dict[str, Span] = {}
    for number, (node, scope) in enumerate(changes):
        for field in ("up", "down"):
            lines: dict[str, None] = {}
            for named in _list_named(field, node, scope, of):
                try:
                    mine = [] if network is None else _list_lines(named, network)
                    if mine and down.keys().isdisjoint(mine) == (field == "up"):
                        raise _explain_state(named, field, node, down)
                    lines |= dict.fromkeys(mine)
                    down |= dict.fromkeys(mine, node.time.span)
                except CheckError as mistake:
                    of.context.report(mistake)
            if field == "up":
                down = {line: span for line, span in down.items() if line not in lines}
            if lines and changes_ps:
                found.append(LinkChange(changes_ps[number], tuple(lines), field == "up"))
    return tuple(found)


def _list_detours(
    changes: Sequence[tuple[ast.At, Scope]], run: Run, of: Evaluator
) -> Iterator[WayChange]:
    """Yield what items go round some time after links went down or up."""
    found = set[int]()
    for number, (node, scope) in enumerate(changes):
        written = _find_field("reroute", node)
        if written is None:
            continue
        try:
            value, parameter = of.require_plain(written, scope), AT.parameters["reroute"]
            reroute_ps = convert(value, parameter, AT, written.span)
            if not (_find_field("down", node) or _find_field("up", node)):
                raise make_error(
                    "E0523",
                    "no link goes down or up here, so nothing takes another way",
                    written.span,
                    help="write it beside that: `down = …, reroute = 50 ms`",
                )
            if reroute_ps is not None and run.changes_ps:
                found.add(run.changes_ps[number] + reroute_ps)
                if max(found) >= run.measure_ps:
                    raise explain_end(run.measure_ps, written.span)
        except CheckError as mistake:
            of.context.report(mistake)
    for at_ps in sorted(found):
        down = set[str]()
        for change in run.links:
            if change.at_ps <= at_ps:
                down = down - {*change.lines} if change.is_up else down | {*change.lines}
        yield WayChange(at_ps, tuple(sorted(down)))


def explain_end(measure_ps: int, span: Span) -> CheckError:
    """Return the mistake of a change that is due when a trial is over."""
    shown = format_value(Fraction(measure_ps, PS_PER_S), TIME)
    return make_error(
        "E0523",
        f"the measurement is over by then: it lasts {shown}",
        span,
        note="the times of changes count from the beginning of the measurement",
        help="write an earlier time, or a longer `measure`",
    )


def _list_lines(named: _Named, network: Network) -> list[str]:
    """Return the lines of the links at a host, a device or a port, in both directions.

    Raises:
        CheckError: There is none.
    """
    below = (f"{named.path}.", f"{named.path}[")
    found = dict.fromkeys(line for side, line in network.sides.items() if side.startswith(below))
    if not found:
        ends = [side.removesuffix(".tx") for side in network.sides if side.endswith(".tx")]
        raise make_error(
            "E0523",
            f"no link is at `{named.path}`",
            named.span,
            note=f"links of `{network.name}` are at: {' '.join(ends)}" if ends else "",
            near=suggest_name(named.path, ends),
        )
    return list(found)


def _explain_state(named: _Named, field: str, node: ast.At, down: Mapping[str, Span]) -> CheckError:
    """Return the mistake of a link that fails while it is down, or comes back while it is up."""
    since = next((span for span in down.values()), None) if field == "down" else None
    return make_error(
        "E0523",
        f"a link at `{named.path}` is down already then"
        if field == "down"
        else f"no link at `{named.path}` is down then",
        node.time.span,
        secondary=(since, "it goes down here") if since else None,
        help="let it go up before: `up = …`" if field == "down" else "let it go down before",
    )


def _list_named(field: str, change: ast.At, scope: Scope, of: Evaluator) -> Iterator[_Named]:
    """Yield what a field of a change names; mistakes are reported."""
    node = _find_field(field, change)
    if node is None:
        return
    value = of.require_known(of.evaluate(node, scope, may_be_kind=False), node)
    items = value.items if isinstance(value, List) else (value,)
    places = node.items if isinstance(node, ast.ListLiteral) else (node,) * len(items)
    for item, place in zip(items, places, strict=True):
        try:
            path = _find_path(item, field, place.span, scope, of)
        except CheckError as mistake:
            of.context.report(mistake)
            continue
        if path:
            yield _Named(path, item.span if isinstance(item, Symbol) else place.span)


def _find_field(field: str, change: ast.At) -> ast.Expression | None:
    """Return the value of a field of a change; None if it has none."""
    binds = (statement for statement in change.body.statements if isinstance(statement, ast.Bind))
    named = (bind.value for bind in binds if field in [name.text for name in bind.names])
    return next(named, None)


def _find_node_path(value: Value) -> str:
    """Return the path of a host or a device, or the stem of an array of them; "" if it is none."""
    if isinstance(value, NodeValue):
        return value.node.path
    named = isinstance(value, NodeArray) or (isinstance(value, Symbol) and value.resolved)
    return getattr(value, "name", "") if named else ""


def _find_element_path(value: Value) -> str:
    """Return the path of an element of a device, or the stem of several; "" if it is none."""
    if isinstance(value, NodeParts):
        return f"{value.node.path}.{value.name}"
    whole = isinstance(value, PartValue) and value.device and not value.name
    return value.path if isinstance(value, PartValue) and whole else ""


def _find_path(value: Value, field: str, span: Span, scope: Scope, of: Evaluator) -> str:
    """Return the path of what a field names, of one of several its stem; "" if not known."""
    if isinstance(value, Poison):
        return ""
    path = _find_node_path(value) or (
        _find_element_path(value)
        if field == "restart"
        else value.path
        if isinstance(value, NodePort)
        else ""
    )
    if path:
        return path
    if isinstance(value, Pattern):
        of.refuse_pattern(value, span, scope)
    unfinished = value.explain_unfinished(span) if isinstance(value, Symbol) else None
    raise unfinished or make_error(
        "E0204",
        f"`{field}` is {_EXPECTED[field]}, not {value.what}",
        span,
        help=f"name one: `{field} = …`",
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
