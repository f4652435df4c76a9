"""Flows of a test: what they send, and from where to where."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from qospec.check.declarations import find_traffic
from qospec.check.device.body import build_element
from qospec.check.device.nodes import NodeArray, NodePort, NodePorts, NodeValue
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.measurements import FlowValue
from qospec.check.evaluate.values import Amount, Poison, Symbol
from qospec.check.records.record import Record
from qospec.check.test import first_hop
from qospec.check.test.first_hop import Sending
from qospec.check.test.sources import build_packet_source, build_source, find_own_load
from qospec.model.suite import Flow
from qospec.protocol.atm import CELL_BYTES, CELL_PAYLOAD_BYTES
from qospec.protocol.encapsulation import PACKET_LAYERS
from qospec.protocol.marks import LEG
from qospec.protocol.streams import list_parts

if TYPE_CHECKING:
    from qospec.check.device.nodes import Node
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.check.evaluate.values import Value
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.source import Span
    from qospec.syntax import ast

    Hosts = tuple[Node, ...]


def build_flow(
    node: ast.Flow, name: str, scope: Scope, evaluator: Evaluator
) -> tuple[Flow | None, FlowValue | None]:
    """Return a flow of that name, and what can be measured of it.

    The first is None after a mistake in it; the second if what it sends cannot be known.
    """
    origins, targets, many = _find_ends(node, scope, evaluator)
    record = evaluate_record(node, scope, evaluator)
    sending, value = None, None
    if record is not None:
        sending = _find_sending(record, node, name, (origins, targets), evaluator)
        value = _list_measured(record, name, many, evaluator)
    way = _find_way(node, name, scope, evaluator)
    if origins is None or targets is None or way is None:
        return None, value
    try:
        starts = tuple(origin.path for origin in origins)
        stops = tuple(target.path for target in targets)
        _verify(node, name, starts, stops)
        _verify_way(node, name, way, answered=sending is not None and sending.traffic.is_answered)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return None, value
    if sending is None or record is None:
        return None, value
    mixed = sending.packets is not None and not sending.packets.sizes.alike
    cells = max(sending.traffic.frame_cells) if sending.traffic.is_framed else 0
    lengths = _measure_lengths(sending)
    value = value and replace(value, lengths=lengths, is_mixed=mixed, frame_cells=cells)
    given = {field: argument.value.span for field, argument in record.given.items()}
    places = {field: place for field, place in given.items() if place in node.span}
    built = _build_flow(node, name, sending, (starts, stops), places)
    return replace(built, via=tuple(port.path for port in way)), value


def list_measured(
    node: ast.Flow, name: str, scope: Scope, evaluator: Evaluator
) -> FlowValue | None:
    """Return what can be measured of a flow; None if what it sends cannot be known."""
    *_, many = _find_ends(node, scope, evaluator)
    record = evaluate_record(node, scope, evaluator)
    return None if record is None else _list_measured(record, name, many, evaluator)


def _list_measured(record: Record, name: str, many: int | None, evaluator: Evaluator) -> FlowValue:
    """Return what can be measured of a flow of such traffic."""
    kind = record.kind
    carries = "cell" if "cell" in kind.carries else "packet"
    parts = list_parts(carries, kind.build.own_parts)
    asked = kind.build.is_call or "source" in record.given
    sending = evaluate_sent(record, evaluator) if asked else None
    tells = frozenset({"connections"} if kind.build.is_connection else _list_told(record, sending))
    whole = FlowValue("", name, many, carries=carries, has=parts, tells=tells)
    if not kind.build.is_call:
        return whole
    unrated = "" if sending is None else sending.traffic.unrated
    return replace(whole, unrated=unrated, rating_field=kind.build.rating_field)


def _list_told(record: Record, sending: Sending | None) -> set[str]:
    """Return what a source tells of itself; if there is a mistake in it, whatever one may."""
    if sending is None:
        return {"calls"} if "source" in record.given else set()
    emitted = sending.emitted and sending.emitted.record.kind.build
    source = emitted if sending.arrivals is None else sending.arrivals
    return set() if source is None else {source.tells}


def _measure_lengths(sending: Sending) -> tuple[tuple[str, Fraction], ...]:
    """Return the mean bytes of what is sent in each layer of its first link."""
    packets = sending.packets
    if packets is None:
        return (("cell", Fraction(CELL_BYTES)), ("payload", Fraction(CELL_PAYLOAD_BYTES)))
    return _measure_packets(packets.sizes, packets.encapsulation, packets.transport_bytes)


@lru_cache(1_024)  # flows and cases of a sweep have few sizes
def _measure_packets(
    sizes: Any, framed: Encapsulation, transport_bytes: int
) -> tuple[tuple[str, Fraction], ...]:
    return tuple(
        (
            layer,
            sizes.compute_mean(
                lambda size, layer=layer: framed.count_layer_bytes(size, layer, transport_bytes)
            ),
        )
        for layer in PACKET_LAYERS
    )


def _find_ends(
    node: ast.Flow, scope: Scope, evaluator: Evaluator
) -> tuple[Hosts | None, Hosts | None, int | None]:
    """Return the hosts at both ends, and their number if those of one are an array.

    One host is paired with each of an array.
    """
    origins, many = _find_hosts(node.origin, scope, evaluator)
    targets, others = _find_hosts(node.target, scope, evaluator)
    if origins and many is None and others is not None:
        origins *= others
    if targets and others is None and many is not None:
        targets *= many
    return origins, targets, others if many is None else many


def _verify(node: ast.Flow, name: str, origins: tuple[str, ...], targets: tuple[str, ...]) -> None:
    """Refuse ends that cannot be paired."""
    if len(origins) != len(targets):
        one, other = (f"an array of {len(ends)}" for ends in (origins, targets))
        raise make_error(
            "E0303",
            f"{one} cannot be paired with {other}",
            node.target.span,
            label=other,
            secondary=(node.origin.span, one),
            help="use arrays of equal length, or one host at either end",
        )
    if not origins:
        raise make_error(
            "E0303", f"`{name}` has no members: these arrays are empty", node.origin.span
        )
    same = [start for start, stop in zip(origins, targets, strict=True) if start == stop]
    if same:
        raise make_error(
            "E0304",
            f"`{name}` starts and ends at `{same[0]}`",
            node.target.span,
            secondary=(node.origin.span, "begins here"),
            help="choose another host",
        )


def _find_hosts(
    node: ast.Path, scope: Scope, evaluator: Evaluator
) -> tuple[tuple[Node, ...] | None, int | None]:
    value = evaluator.evaluate(node, scope)
    if isinstance(value, Poison):
        return None, None
    nodes = (
        value.nodes
        if isinstance(value, NodeArray)
        else (value.node,)
        if isinstance(value, NodeValue)
        else ()
    )
    if not isinstance(value, NodeArray | NodeValue) or any(
        node.template is not None for node in nodes
    ):
        if scope.may_hold(node.name.text):  # a host of a topology that is not known has the name
            return None, None
        what = "a device" if isinstance(value, NodeValue) else value.what
        mistake = make_error(
            "E0306",
            f"expected a host, found {what}",
            node.span,
            help=_suggest_host(value, node),
        )
        evaluator.context.report(mistake)
        return None, None
    return nodes, len(nodes) if isinstance(value, NodeArray) else None


def _find_way(
    node: ast.Flow, name: str, scope: Scope, evaluator: Evaluator
) -> tuple[NodePort, ...] | None:
    """Return the ports by which a flow is to leave devices; None after a mistake."""
    ports = []
    for path in node.via.ports if node.via else ():
        value = evaluator.evaluate(path, scope)
        if isinstance(value, NodePort):
            ports.append(value)
        elif isinstance(value, Poison) or scope.may_hold(path.name.text):
            return None
        else:
            where = f"`{path.span.text}[0]`" if isinstance(value, NodePorts) else "`router.east`"
            mistake = make_error(
                "E0317",
                f"expected a port of a device, found {value.what}",
                path.span,
                help=f"name the port by which `{name}` leaves a device, such as {where}",
            )
            evaluator.context.report(mistake)
            return None
    return tuple(ports)


def _verify_way(node: ast.Flow, name: str, way: tuple[NodePort, ...], *, answered: bool) -> None:
    """Refuse ports that lead nowhere, or that are passed twice."""
    if node.via is None:
        return
    if answered:
        raise make_error(
            "E0317",
            f"`{name}` is answered, and answers to it would have no way back",
            node.via.span,
            help="leave out `via`, or send packets that nobody answers",
        )
    if len(way) > LEG.highest:
        raise make_error(
            "E0317",
            f"`{name}` has more than {LEG.highest} ports",
            node.via.span,
            help=f"name at most {LEG.highest} of them",
        )
    for number, (path, port) in enumerate(zip(node.via.ports, way, strict=True)):
        if port.port not in port.node.links:
            raise make_error(
                "E0422",
                f"`{port.path}` is not linked, so `{name}` cannot leave by it",
                path.span,
                help=f"link it, as in `{port.node.write_example_link(port.port, port.path)}`,"
                " or name another port",
            )
        before = [passed.path for passed in way[:number]]
        if port.path in before:
            raise make_error(
                "E0317",
                f"`{name}` leaves by `{port.path}` twice, and would go round in a circle",
                path.span,
                secondary=(node.via.ports[before.index(port.path)].span, "the first time"),
                note="what comes by the same link a second time cannot be told from the first",
                help="name each port once",
            )


def _suggest_host(value: Value, node: ast.Path) -> str:
    """Return what to write for a host; swept and looped over are numbers and words."""
    if isinstance(value, Amount | Symbol) and not node.trail:
        of = f"h[{node.name.text}]"
        return f"number the hosts, as in `h = host(count = 4)`, and write `{of}` for one of them"
    return "name a host of the topology"


def evaluate_record(node: ast.Flow, scope: Scope, evaluator: Evaluator) -> Record | None:
    """Return the traffic of a flow, with what the flow changes; a mistake is reported."""
    try:
        value = evaluator.evaluate_one_of("traffic", node.traffic, scope)
        if node.body is not None:
            value = value.copy(node.body, scope, evaluator)
        value = find_traffic(value, node.traffic, evaluator)
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return None
    return value if isinstance(value, Record) else None


def _find_sending(
    record: Record,
    node: ast.Flow,
    name: str,
    ends: tuple[tuple[Node, ...] | None, tuple[Node, ...] | None],
    evaluator: Evaluator,
) -> Sending | None:
    sending = evaluate_sent(record, evaluator)
    origins, targets = ends
    if sending is None or origins is None:
        return sending
    try:
        return first_hop.find_sent_on_links(
            record, sending, (node, name), (origins, targets or ()), evaluator
        )
    except CheckError as mistake:
        evaluator.context.report(mistake)
        return None


def _build_flow(
    node: ast.Flow,
    name: str,
    sending: Sending,
    ends: tuple[tuple[str, ...], tuple[str, ...]],
    places: dict[str, Span],
) -> Flow:
    kind, arguments = sending.kind, sending.arguments
    defaults = {parameter.name: parameter.default for parameter in kind.parameters.values()}
    shared = {**defaults, **arguments}
    return Flow(
        name,
        kind,
        sending.traffic,
        sending.arrivals,
        *ends,
        connections=shared.get("connections", 1),
        phases=shared.get("phases", "even"),
        clp=shared.get("clp", 0),
        virtual_path=shared.get("virtual_path", 0),
        span=node.span,
        packets=sending.packets,
        places=places,
    )


def evaluate_sent(record: Record, evaluator: Evaluator) -> Sending | None:
    """Return what a record of traffic declares and what it emits; None after a mistake."""
    known: Sending | None = record.kept.get("sending")
    if known is None:
        packets = "packet" in record.kind.carries
        known = (
            _evaluate_packets(record, evaluator) if packets else _evaluate_cells(record, evaluator)
        )
        if known is not None:
            record.kept["sending"] = known
    return known


def _evaluate_cells(record: Record, evaluator: Evaluator) -> Sending | None:
    arguments, complete = record.evaluate_arguments(evaluator)
    source = build_source(record, evaluator)
    if not complete:
        build_element(record, arguments, complete=False, evaluator=evaluator)
        return None
    traffic = build_element(record, arguments, complete=True, evaluator=evaluator)
    if traffic is None or isinstance(source, Poison):
        return None
    if source is not None:
        source = source.add_contract(record)
        given, whole = source.evaluate_arguments(evaluator)
        arrivals = (
            build_element(source, given, complete=True, evaluator=evaluator) if whole else None
        )
    elif traffic.is_answered:
        arrivals = traffic.loop
    else:
        name, given = traffic.describe_conforming_source()
        kind = evaluator.context.catalogue.find("arrivals", name)
        arrivals = kind.build(**given) if kind is not None else None
    return None if arrivals is None else Sending(record.kind, traffic, arrivals, arguments)


def _evaluate_packets(record: Record, evaluator: Evaluator) -> Sending | None:
    """Return the packets that are sent; their rate may depend on the first link."""
    arguments, complete = record.evaluate_arguments(evaluator)
    emitted = build_packet_source(record, evaluator)
    arrivals = None
    if isinstance(emitted, Poison):
        complete = False
    elif emitted is not None and emitted.whole:
        given = dict(emitted.arguments)
        arrivals = build_element(emitted.record, given, complete=True, evaluator=evaluator)
        if arrivals is None:
            return None
        load, rate = find_own_load(record.kind, arrivals)
        arguments[load] = rate
    traffic = build_element(record, arguments, complete=complete, evaluator=evaluator)
    if not complete or traffic is None or isinstance(emitted, Poison):
        return None
    return Sending(record.kind, traffic, arrivals, arguments, emitted)
