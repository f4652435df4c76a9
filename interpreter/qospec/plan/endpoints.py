"""The endpoints of flows that exchange packets: elements at their hosts, and wires to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.endpoint.host import Host
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.experiment import END, Node, Wire
from qospec.plan.tables import list_members

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from qospec.engine.element import Element
    from qospec.model.suite import Flow, Network
    from qospec.plan.lowering import Lowered
    from qospec.plan.tables import Member
    from qospec.protocol.streams import KindName


MIXED: frozenset[KindName] = frozenset({"copies", "notices"})
"""What arrives among the packets of an exchange, and is none of them."""


class _Endpoint(NamedTuple):
    """An endpoint: its element, and the member whose items it takes; `flow` sends from its host."""

    element: Element
    takes: int
    flow: str


def with_endpoints(
    lowered: Lowered,
    flows: Sequence[Flow],
    members: Sequence[Member],
    network: Network,
    inserted: Collection[KindName] = (),
) -> Lowered:
    """Return the same network with the endpoints of all flows at its hosts.

    What arrives at a host for an endpoint goes there; what else arrives has arrived. Elements may
    insert some kinds of items.
    """
    is_mixed = not MIXED.isdisjoint(inserted)
    found = list(_list_endpoints(flows, members))
    if not found:
        return lowered
    nodes, wires, reach = list(lowered.nodes), list(lowered.wires), list(lowered.reach)
    at: dict[int, list[tuple[int, int]]] = {}
    for endpoint in found:
        taken = members[endpoint.takes]
        place, host = len(nodes), taken.target
        at.setdefault(host, []).append((endpoint.takes, place))
        nodes.append(Node(f"{network.hosts[host].path}.{endpoint.flow}", endpoint.element))
        reach.append(frozenset({endpoint.takes}))
        wires.append(Wire(place, 0, lowered.entry[host]))
        ends = range(1, len(endpoint.element.outputs))
        wires += [Wire(place, output, END) for output in ends]
    for host, endpoints in at.items():
        arriving = {n for n, m in enumerate(members) if m.target == host and m.stream.is_routed}
        place = endpoints[0][1]
        if is_mixed or arriving != {endpoints[0][0]}:
            place = len(nodes)
            streams = (members[number].stream for number, _ in endpoints)
            ranges = tuple((stream.first, stream.stop) for stream in streams)
            nodes.append(Node(network.hosts[host].path, Host(ranges)))
            reach.append(frozenset(arriving))
            wires += [Wire(place, 1 + k, to) for k, (_, to) in enumerate(endpoints)]
            wires.append(Wire(place, 0, END))
        for number, arrives_at in enumerate(lowered.arrives_at):
            if arrives_at == host:
                wires[number] = wires[number]._replace(to=place)
    return replace(lowered, nodes=tuple(nodes), wires=tuple(wires), reach=tuple(reach))


def _list_endpoints(flows: Sequence[Flow], members: Sequence[Member]) -> Iterator[_Endpoint]:
    """Yield the endpoints of each member: where its answers arrive, and where its requests do."""
    for number, flow in enumerate(flows):
        if not flow.traffic.is_answered:
            continue
        requests = list_members(members, number, "user")
        answers = list_members(members, number, "answers")
        exchanges = [members[n].stream.first for n in list_members(members, number, "exchanges")]
        firsts = exchanges or [-1] * len(requests)
        for request, answer, first in zip(requests, answers, firsts, strict=True):
            between = Exchange(
                flow.connections,
                members[request].stream.first,
                members[answer].stream.first,
                first,
                flow.packets,
                members[request].packets,
            )
            client, server = flow.traffic.build_endpoints(between)
            name = members[request].name
            yield _Endpoint(client, answer, name)
            yield _Endpoint(server, request, name)
