"""Messages between machines: to whom each may send, and what each is told of it.

A message goes by wires and lines, as other items do, to the nearest machine that waits for it at
the input where it comes; once another machine has spoken to an instance at a port, its messages by
that port go there. Both must declare a message alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from qospec.catalogue.machine import ITEM, NO_ADDRESS, TOO_LARGE
from qospec.check.records.addresses import number_address
from qospec.dataclass import NamedTuple
from qospec.diagnostics import Diagnostic, Label
from qospec.engine.items.contract import Contract
from qospec.engine.machine.placement import Placement
from qospec.plan.assembly import assemble
from qospec.plan.paths import Classes, MemberRouting, find_start
from qospec.plan.tables import Channel, Member, Table
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import set_marks
from qospec.protocol.streams import NO_FLOW, Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from qospec.catalogue.machine import Program
    from qospec.model.expression import Value
    from qospec.model.suite import Case, Network
    from qospec.plan.assembly import Drafts
    from qospec.plan.forms import Survey
    from qospec.plan.lowering import Lowered
    from qospec.source import Span
    from qospec.units import Dimension

    Carried = tuple[tuple[str, Dimension], ...]
    """The values that a message carries, in order, with their dimensions."""

UNSPECIFIED = ("", "0.0.0.0", "::")  # noqa: S104 -- nothing is bound to it
"""Where packets go whose flow says nothing of it."""
NETWORK_CONTROL = 48
"""The code point of messages in packets, CS6. Source: RFC 4594, 3.2."""
ASKED: dict[str, tuple[tuple[str, Value], ...]] = {
    "cell": (("category", "ubr"), ("virtual_path", Fraction(0))),
    "packet": (
        ("destination_address", ""),
        ("destination_port", Fraction(0)),
        ("family", "ipv4"),
        ("inner_vlan", Fraction(0)),
        ("protocol", "udp"),
        ("source_address", ""),
        ("source_port", Fraction(0)),
        ("vlan", Fraction(0)),
    ),
}
"""What a classifier may ask of messages, besides that they are some."""


class _Port(NamedTuple):
    """An output of a machine by which it sends messages."""

    element: int
    output: int
    name: str


def list_message_members(network: Network) -> Iterator[Member]:
    """Yield a member for each two machines of which one may send messages to the other."""
    programs = list_programs(network)
    if not programs:
        return
    drafts = assemble(network)
    for port, reached in _list_reached(network, drafts, programs):
        program = programs[port.element]
        sent = program.list_sent(port.name)
        for target, entry in reached:
            if target not in programs:
                continue  # it hears pause frames
            other = programs[target]
            if any(other.waits_for(other.inputs[entry], name) for name in sent):
                yield _build_member(network, program, port, (target, entry))


def list_programs(network: Network) -> dict[int, Program]:
    """Return the program of each machine, by its element."""
    return {
        number: instance.element.program
        for number, instance in enumerate(network.elements)
        if instance.kind.duty == "machine"
    }


def _build_member(
    network: Network, program: Program, port: _Port, target: tuple[int, int]
) -> Member:
    origin = network.elements[port.element].path
    in_bytes = program.size is not None and program.size.unit == "byte"
    size_bytes = program.size.amount if program.size is not None and in_bytes else CELL_BYTES
    carries: Literal["cell", "packet"] = "packet" if in_bytes else "cell"
    return Member(
        f"{origin}.{port.name} -> {network.elements[target[0]].path}",
        -1,
        -1,
        Stream(NO_FLOW, "messages", 1),
        Contract("packets" if in_bytes else "ubr", Fraction(1), 0),
        set_marks(dscp=NETWORK_CONTROL) if in_bytes else 0,
        ASKED[carries],
        channel=Channel(port.element, port.output, *target, carries, size_bytes),
    )


def _list_reached(
    network: Network, drafts: Drafts, programs: Mapping[int, Program]
) -> Iterator[tuple[_Port, list[tuple[int, int]]]]:
    """Yield each output for messages, and the inputs of machines that it leads to."""
    ports = [
        _Port(element, output, name)
        for element, program in programs.items()
        for output, name in program.list_output_ports()
    ]
    members = tuple(_build_member(network, programs[p.element], p, (p.element, 0)) for p in ports)
    made: dict[int, Table] = {
        index: Classes(draft.instance, members)
        for index, draft in drafts.items()
        if draft.duty == "classifier"
    }
    for number, (port, member) in enumerate(zip(ports, members, strict=True)):
        walk = MemberRouting(drafts, made, network.entries, number, member, {})
        yield port, walk.list_machines(find_start(member, network))


def with_machines(lowered: Lowered, members: Sequence[Member], network: Network) -> Lowered:
    """Return the same network with its machines in their places."""
    programs = list_programs(network)
    if not programs:
        return lowered
    by_path = {network.elements[number].path: number for number in programs}
    sent = [member for member in members if member.channel is not None]
    names = dict.fromkeys(m.name for program in programs.values() for m in program.messages)
    carried = [len(m.values) for program in programs.values() for m in program.messages]
    first = min((member.stream.first for member in sent), default=_count_connections(members))
    reference, nodes, destinations = first, [], _list_destinations(members)
    numbers = _number_densely(programs.values(), destinations)
    references = first + sum(p.instances or 1 for p in programs.values() if _is_permanent(p))
    for node in lowered.nodes:
        number = by_path.get(node.path)
        if number is None:
            nodes.append(node)
            continue
        program = programs[number]
        mine = [member for member in sent if member.channel and member.channel.origin == number]
        placement = Placement(
            node.path,
            _find_peers(program, mine, programs),
            _find_replies(number, program, sent),
            tuple(names),
            max(carried, default=0),
            first,
            len(sent),
            reference,
            references,
            next((member.channel.size_bytes for member in mine if member.channel), CELL_BYTES),
            next((member.marks for member in mine), 0),
            _find_called(program, mine, programs),
            destinations,
            numbers,
        )
        if _is_permanent(program):
            reference += program.instances or 1
        nodes.append(node._replace(element=node.element.with_placement(placement)))
    return replace(lowered, nodes=tuple(nodes))


def _list_destinations(members: Sequence[Member]) -> tuple[int, ...]:
    """Return by connection of flows the number of the address to which its packets go.

    It is empty if no flow says one.
    """
    found = [NO_ADDRESS] * _count_connections(members)
    for member in members:
        address = str(dict(member.asked).get("destination_address", ""))
        is_said = address not in UNSPECIFIED
        if is_said and member.channel is None and member.stream.is_sent:
            first, number = member.stream.first, number_address(address)
            found[first : first + member.stream.connections] = [number] * member.stream.connections
    return tuple(found) if set(found) != {NO_ADDRESS} else ()


def _number_densely(programs: Iterable[Program], destinations: Iterable[int]) -> dict[int, int]:
    """Return, by number of an address that is too large for a machine, the one in its place.

    Machines calculate with numbers below 2^62, and most addresses of IPv6 are beyond. Those that a
    network names are numbered in their order, up to that: so they compare as addresses do.
    """
    named = set(destinations)
    for program in programs:
        named |= {variable.initial for variable in (*program.values, *program.counters)}
        called = [code for way in program.transitions for _, code in way.call]
        named |= {number for code in called for _, number in code}
        named |= set() if program.address is None else {program.address}
    large = sorted(number for number in named if number >= TOO_LARGE)
    return dict(zip(large, range(TOO_LARGE - len(large), TOO_LARGE), strict=True))


def _is_permanent(program: Program) -> bool:
    """Return whether its instances exist from the beginning, with references of their own."""
    return program.instances is None or program.begins


def _count_connections(members: Sequence[Member]) -> int:
    """Return how many connections flows have."""
    return sum(member.stream.connections for member in members if member.stream.is_sent)


def _find_peers(
    program: Program, mine: Sequence[Member], programs: Mapping[int, Program]
) -> dict[tuple[str, str], int]:
    """Return, by port and message, the connection to the nearest machine that waits for it."""
    found: dict[tuple[str, str], int] = {}
    for member in mine:
        assert member.channel is not None  # noqa: S101 -- `mine` are messages
        port, other = program.outputs[member.channel.output], programs[member.channel.target]
        for way in program.transitions:
            for by, name in way.send:
                if by == port and other.waits_for(other.inputs[member.channel.input], name):
                    found.setdefault((by, name), member.stream.first)
    return found


def _find_called(
    program: Program, mine: Sequence[Member], programs: Mapping[int, Program]
) -> dict[tuple[str, int], int]:
    """Return, by port and address, the connection to the nearest machine that is called so."""
    found: dict[tuple[str, int], int] = {}
    for member in mine:
        assert member.channel is not None  # noqa: S101 -- `mine` are messages
        address = programs[member.channel.target].address
        if address is not None:
            port = program.outputs[member.channel.output]
            found.setdefault((port, address), member.stream.first)
    return found


def _find_replies(number: int, program: Program, sent: Sequence[Member]) -> dict[int, int]:
    """Return, by connection of messages that arrive, the one that leads back to their sender."""
    found: dict[int, int] = {}
    for member in sent:
        channel = member.channel
        assert channel is not None  # noqa: S101 -- these are messages
        if channel.target != number:
            continue
        port = program.inputs[channel.input]
        back = [
            other.stream.first
            for other in sent
            if other.channel
            and other.channel.origin == number
            and other.channel.target == channel.origin
            and program.outputs[other.channel.output] == port
        ]
        if back:
            found[member.stream.first] = back[0]
    return found


# ---- whether they agree


class _Declared(NamedTuple):
    """A message of a machine, where it is declared, and what it carries."""

    path: str
    span: Span
    carried: Carried


def find_disagreements(network: Network, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each message that two machines declare with other values, or in other units.

    Values travel in the order in which they are declared, without their names.
    """
    programs = list_programs(network)
    reported = set[tuple[int, int, str]]()
    for member in survey.members:
        channel = member.channel
        if channel is None or channel.origin not in programs:
            continue
        sender, receiver = programs[channel.origin], programs[channel.target]
        by, to = sender.outputs[channel.output], receiver.inputs[channel.input]
        for name in sender.list_sent(by):
            if not receiver.waits_for(to, name):
                continue
            one, other = _find_carried(sender, name), _find_carried(receiver, name)
            first, last = sorted((channel.origin, channel.target))
            if one != other and (first, last, name) not in reported:
                reported.add((first, last, name))
                here, there = network.elements[channel.origin], network.elements[channel.target]
                yield _report_disagreement(
                    name,
                    _Declared(here.path, here.places[name], one),
                    _Declared(there.path, there.places[name], other),
                )


def find_shared_addresses(network: Network, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each two machines of one address that another can call by the same port."""
    programs = list_programs(network)
    first: dict[tuple[int, str, int], int] = {}
    reported = set[tuple[int, int]]()
    for member in survey.members:
        channel = member.channel
        if channel is None or channel.origin not in programs or channel.target not in programs:
            continue
        caller, address = programs[channel.origin], programs[channel.target].address
        port = caller.outputs[channel.output]
        if address is None or all(port != by for way in caller.transitions for by, _ in way.call):
            continue
        other = first.setdefault((channel.origin, port, address), channel.target)
        pair = min(other, channel.target), max(other, channel.target)
        if other != channel.target and pair not in reported:
            reported.add(pair)
            one, two = (network.elements[number] for number in pair)
            span = two.span or one.span
            assert span is not None  # noqa: S101 -- a machine is written in a device
            yield Diagnostic(
                "E0424",
                f"`{one.path}` and `{two.path}` have the same address",
                span,
                notes=(f"`{network.elements[channel.origin].path}` calls by it",),
                help="give each machine that can be called there an address of its own",
            )


def find_missing_places(case: Case, network: Network, survey: Survey) -> Iterator[Diagnostic]:
    """Yield each flow with more connections than a machine can follow that its items begin.

    Those of calls begin and end, and may have their places one after the other.
    """
    many = Counter[tuple[int, int]]()
    programs = list_programs(network)
    for element in programs.keys() & survey.reach.any.keys():
        for member in (survey.members[number] for number in survey.reach.any[element]):
            if member.stream.kind == "user":
                many[member.stream.flow, element] += member.stream.connections
    for (number, element), connections in sorted(many.items()):
        flow, program = case.flows[number], programs[element]
        first = program.states[0]
        begins = any(way.event == ITEM for way in first.transitions)
        if flow.arrivals.tells or not begins or connections <= (program.instances or connections):
            continue
        yield Diagnostic(
            "W0639",
            f"`{flow.name}` has {connections:_} connections, and"
            f" `{network.elements[element].path}` room for {program.instances:_} at a time",
            flow.span,
            notes=(f"what is `refused` there passes as in `{first.name}`",),
            help="give the machine more `instances`, or the flow fewer `connections`",
        )


def _find_carried(program: Program, name: str) -> Carried:
    message = program.find_message(name)
    dimensions = {value.name: value.dimension for value in program.values}
    return tuple((value, dimensions[value]) for value in message.values) if message else ()


def _report_disagreement(name: str, here: _Declared, there: _Declared) -> Diagnostic:
    """Return the error, at that of both machines that is not of the library, if one is."""
    if here.span.source.is_of_library and not there.span.source.is_of_library:
        here, there = there, here
    return Diagnostic(
        "E0315",
        f"`{here.path}` and `{there.path}` exchange `{name}`, and declare it with different values",
        here.span,
        label=f"`{name}` carries {_describe_carried(here.carried)}",
        secondary=(Label(there.span, f"`{name}` carries {_describe_carried(there.carried)}"),),
        help=f"declare `{name}` in both machines with the same values, in the same order and units",
    )


def _describe_carried(carried: Carried) -> str:
    named = (f"`{name}` ({dimension.name})" for name, dimension in carried)
    return ", ".join(named) or "nothing"
