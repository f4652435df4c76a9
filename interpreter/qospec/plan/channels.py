"""Messages between machines: to whom each may send, and what each is told of it.

A message goes by wires and lines, as other items do, to the nearest machine that waits for it at
the input where it comes; once another machine has spoken to an instance at a port, its messages by
that port go there.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.items.connections import Contract
from qospec.engine.machine.placement import Placement
from qospec.plan.assembly import assemble
from qospec.plan.paths import Classes, MemberRouting, start_of
from qospec.plan.tables import NO_FLOW, Channel, Member, Table
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import marked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qospec.catalogue.machine import Program
    from qospec.model.expression import Value
    from qospec.model.suite import Network
    from qospec.plan.assembly import Drafts
    from qospec.plan.lowering import Lowered

NETWORK_CONTROL = 48
"""The code point of messages in packets, CS6. Source: RFC 4594, 3.2."""
ASKED: dict[str, tuple[tuple[str, Value], ...]] = {
    "cell": (("category", "ubr"), ("virtual_path", Fraction(0))),
    "packet": (
        ("destination_address", ""),
        ("destination_port", Fraction(0)),
        ("family", "ipv4"),
        ("protocol", "udp"),
        ("source_address", ""),
        ("source_port", Fraction(0)),
    ),
}
"""What a classifier may ask of messages, besides that they are some."""


class _Port(NamedTuple):
    """An output of a machine by which it sends messages."""

    element: int
    output: int
    name: str


def message_members(network: Network) -> Iterator[Member]:
    """Yield a member for each two machines of which one may send messages to the other."""
    programs = programs_of(network)
    if not programs:
        return
    drafts = assemble(network)
    for port, reached in _reached(network, drafts, programs):
        program = programs[port.element]
        sent = {name for way in program.transitions for by, name in way.send if by == port.name}
        for target, entry in reached:
            other = programs[target]
            if any(other.hears(other.inputs[entry], name) for name in sent):
                yield _member(network, program, port, (target, entry))


def programs_of(network: Network) -> dict[int, Program]:
    """Return the program of each machine, by its element."""
    return {
        number: each.element.program
        for number, each in enumerate(network.elements)
        if each.kind.duty == "machine"
    }


def _member(network: Network, program: Program, port: _Port, target: tuple[int, int]) -> Member:
    origin = network.elements[port.element].path
    in_bytes = program.size is not None and program.size.unit == "byte"
    size_bytes = program.size.amount if program.size is not None and in_bytes else CELL_BYTES
    carries = "packet" if in_bytes else "cell"
    return Member(
        NO_FLOW,
        f"{origin}.{port.name} -> {network.elements[target[0]].path}",
        -1,
        -1,
        0,
        1,
        Contract("packets" if in_bytes else "ubr", Fraction(1), 0),
        marked(dscp=NETWORK_CONTROL) if in_bytes else 0,
        ASKED[carries],
        "messages",
        None,
        Channel(port.element, port.output, *target, "packet" if in_bytes else "cell", size_bytes),
    )


def _reached(
    network: Network, drafts: Drafts, programs: Mapping[int, Program]
) -> Iterator[tuple[_Port, list[tuple[int, int]]]]:
    """Yield each output for messages, and the inputs of machines that it leads to."""
    ports = [
        _Port(element, output, name)
        for element, program in programs.items()
        for output, name in program.output_ports()
    ]
    members = tuple(_member(network, programs[p.element], p, (p.element, 0)) for p in ports)
    made: dict[int, Table] = {
        index: Classes(draft.instance, members)
        for index, draft in drafts.items()
        if draft.duty == "classifier"
    }
    for number, (port, member) in enumerate(zip(ports, members, strict=True)):
        walk = MemberRouting(drafts, made, network.entries, number, member)
        yield port, walk.machines(start_of(member, network))


def with_machines(lowered: Lowered, members: Sequence[Member], network: Network) -> Lowered:
    """Return the same network with its machines in their places."""
    programs = programs_of(network)
    if not programs:
        return lowered
    by_path = {network.elements[number].path: number for number in programs}
    sent = [each for each in members if each.channel is not None]
    names = dict.fromkeys(m.name for program in programs.values() for m in program.messages)
    carried = [len(m.values) for program in programs.values() for m in program.messages]
    first = min((each.first for each in sent), default=_beyond(members))
    reference, nodes = first, []
    references = first + sum(p.instances or 1 for p in programs.values() if _is_permanent(p))
    for node in lowered.nodes:
        number = by_path.get(node.path)
        if number is None:
            nodes.append(node)
            continue
        program = programs[number]
        mine = [each for each in sent if each.channel and each.channel.origin == number]
        placement = Placement(
            node.path,
            _peers(program, mine, programs),
            _replies(number, program, sent),
            tuple(names),
            max(carried, default=0),
            first,
            len(sent),
            reference,
            references,
            next((each.channel.size_bytes for each in mine if each.channel), CELL_BYTES),
            next((each.marks for each in mine), 0),
        )
        if _is_permanent(program):
            reference += program.instances or 1
        nodes.append(node._replace(element=node.element.placed(placement)))
    return replace(lowered, nodes=tuple(nodes))


def _is_permanent(program: Program) -> bool:
    """Return whether its instances exist from the beginning, with references of their own."""
    return program.instances is None or program.begins


def _beyond(members: Sequence[Member]) -> int:
    """Return how many connections flows have."""
    return sum(each.connections for each in members if each.is_sent)


def _peers(
    program: Program, mine: Sequence[Member], programs: Mapping[int, Program]
) -> dict[tuple[str, str], int]:
    """Return, by port and message, the connection to the nearest machine that waits for it."""
    found: dict[tuple[str, str], int] = {}
    for member in mine:
        assert member.channel is not None  # noqa: S101 -- `mine` are messages
        port, other = program.outputs[member.channel.output], programs[member.channel.target]
        for way in program.transitions:
            for by, name in way.send:
                if by == port and other.hears(other.inputs[member.channel.input], name):
                    found.setdefault((by, name), member.first)
    return found


def _replies(number: int, program: Program, sent: Sequence[Member]) -> dict[int, int]:
    """Return, by connection of messages that arrive, the one that leads back to their sender."""
    found: dict[int, int] = {}
    for member in sent:
        channel = member.channel
        assert channel is not None  # noqa: S101 -- these are messages
        if channel.target != number:
            continue
        port = program.inputs[channel.input]
        back = [
            each.first
            for each in sent
            if each.channel
            and each.channel.origin == number
            and each.channel.target == channel.origin
            and program.outputs[each.channel.output] == port
        ]
        if back:
            found[member.first] = back[0]
    return found
