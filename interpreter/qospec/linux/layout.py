"""The layout of a trial on a kernel: interfaces, disciplines, and filters from one to the next.

An element that lets packets wait, takes time or loses some has a pair of interfaces: what is sent
into the near one passes its discipline, and comes out of the far one, where it is seen. A line has
a second pair, in which packets travel. From a far end, filters send each packet on to the near end
of the element that is next on the way of its connection, which its address tells, and of its DSCP.
Elements that do neither, such as classifiers and markers, are filters alone.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import read_declaration
from qospec.dataclass import NamedTuple
from qospec.engine.experiment import DISCARD, END
from qospec.engine.items.partition import MAX_OUTPUTS
from qospec.engine.source.launched import Launched
from qospec.linux import disciplines
from qospec.linux.disciplines import DSCP_MASK, EXACT, Discipline, Manner
from qospec.protocol.marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.engine.experiment import Experiment, Node, Source, Wire
    from qospec.engine.line.clock import Clock

PASSED = ("classify", "merge", "remark", "router")
"""Elements that are filters alone, where they take no time."""
MTU_BYTES = 9_000


class Step(NamedTuple):
    """A node on the way of packets.

    Attributes:
        node: Its number.
        input: The input by which they come.
        tos: The octet of the IP header with the DSCP, as they come.
        passed: Nodes that are passed before.
    """

    node: int
    input: int
    tos: int
    passed: tuple[int, ...] = ()


class Way(NamedTuple):
    """The way of some connections.

    Attributes:
        first: Index of the first connection.
        stop: Behind the last.
        marks: Their marks when they arrive.
        port: The near end that they are sent into.
        steps: The nodes with interfaces, in order.
        end: The number of the wire to where they arrive; -1 if they are discarded.
        ended: Nodes that are passed behind the last step.
        launched: Whether a program sends by it, which sets the bits of ECN as it likes.
    """

    first: int
    stop: int
    marks: int
    port: str
    steps: tuple[Step, ...]
    end: int
    ended: tuple[int, ...] = ()
    launched: bool = False

    @property
    def tos(self) -> int:
        """Return the octet of the IP header with the DSCP, as they are sent."""
        return self.steps[0].tos


class Layout(NamedTuple):
    """What a trial is on a kernel.

    Attributes:
        links: Commands of `ip`.
        commands: Commands of `tc`.
        ways: All that are used.
        near: By node, its near end.
        far: By node, its far end.
        begun: By node that drops at its head, the end where packets are seen as their turn comes.
        travel: By line along which packets do not travel on the kernel, how it sends.
    """

    links: tuple[str, ...]
    commands: tuple[str, ...]
    ways: tuple[Way, ...]
    near: dict[int, str]
    far: dict[int, str]
    begun: dict[int, str]
    travel: dict[int, Clock]


def count_timers(layout: Layout, experiment: Experiment, number: int) -> int:
    """Return at how many places of a node packets wait for a timer: in each of its pairs."""
    if _is_policer(experiment.nodes[number]):
        return 0
    _, stage = layout.far[number].split(".")
    return int(stage) + 1


def lay_out(experiment: Experiment, manner: Manner = EXACT) -> Layout:
    """Return the layout of a trial all of whose elements have a counterpart."""
    ways = tuple(way for source in experiment.sources for way in _list_ways(experiment, source))
    used = sorted({step.node for way in ways for step in way.steps})
    links: list[str] = []
    commands: list[str] = []
    near: dict[int, str] = {}
    far: dict[int, str] = {}
    for number in used:
        node = experiment.nodes[number]
        stages = _describe(node, manner)
        pairs = [(f"n{number}.{stage}", f"f{number}.{stage}") for stage in range(len(stages))]
        near[number], far[number] = pairs[0][0], pairs[-1][1]
        for (one, other), stage in zip(pairs, stages, strict=True):
            links += _write_pair(one, other, disciplines.find_mtu(node) or MTU_BYTES)
            commands += [command.format(device=one) for command in stage.commands]
            commands.append(f"qdisc add dev {other} clsact")
        for (_, before), (after, _) in itertools.pairwise(pairs):
            commands.append(
                f"filter add dev {before} ingress protocol ip pref 1 u32 match u32 0 0"
                f" action mirred egress redirect dev {after}"
            )
    commands += _write_filters(experiment, ways, near, far)
    heads = [number for number in used if disciplines.drops_at_head(experiment.nodes[number])]
    begun = {number: f"f{number}.0" for number in heads}
    lines = {number: experiment.nodes[number].clock for number in used}
    travel = {number: clock for number, clock in lines.items() if clock and not manner.travels}
    return Layout(tuple(links), tuple(commands), ways, near, far, begun, travel)


def _name(node: Node) -> str:
    return read_declaration(type(node.element)).name


def _is_policer(node: Node) -> bool:
    return _name(node) == "police"


def _is_passed(node: Node) -> bool:
    """Return whether a node is filters alone."""
    return _name(node) in PASSED and not getattr(node.element, "latency", 0)


def _describe(node: Node, manner: Manner) -> tuple[Discipline, ...]:
    """Return the disciplines of a node, one for each of its pairs."""
    name = _name(node)
    if name == "police":
        return (Discipline(()),)
    if name == "shape":
        return disciplines.describe_shaper(node, manner)
    if name == "delay":
        return disciplines.describe_delay(node.element.time)  # type: ignore[attr-defined]
    if name == "router":
        return disciplines.describe_delay(node.element.latency)  # type: ignore[attr-defined]
    return disciplines.describe_line(node, manner)


def _write_pair(one: str, other: str, mtu_bytes: int) -> Iterator[str]:
    yield f"link add {one} mtu {mtu_bytes} type veth peer name {other} mtu {MTU_BYTES}"
    yield f"link set {one} up"
    yield f"link set {other} up"


# ---- ways


def _list_ways(experiment: Experiment, source: Source) -> Iterator[Way]:
    """Yield the ways of a source, connections with the same way together."""
    wires = {
        (wire.node, wire.output): (number, wire) for number, wire in enumerate(experiment.wires)
    }
    found: list[Way] = []
    for connection in range(source.first, source.first + source.connections):
        way = _follow(experiment, source, connection, wires)
        if found and way._replace(first=0, stop=0) == found[-1]._replace(first=0, stop=0):
            found[-1] = found[-1]._replace(stop=way.stop)
        else:
            found.append(way)
    yield from found


def _follow(
    experiment: Experiment,
    source: Source,
    connection: int,
    wires: dict[tuple[int, int], tuple[int, Wire]],
) -> Way:
    """Return the way of a connection."""
    steps: list[Step] = []
    passed: list[int] = []
    number, entry, marks = source.node, source.input, source.marks
    while True:
        node = experiment.nodes[number]
        if _is_passed(node):
            passed.append(number)
        else:
            steps.append(Step(number, entry, _write_octet(marks), tuple(passed)))
            passed = []
        output = _find_output(node, connection, marks)
        if _name(node) == "remark":
            (marks,) = node.element.predict_marks(marks, experiment.contracts[connection])
        place, wire = wires[number, output]
        if wire.to in (END, DISCARD):
            end = place if wire.to == END else -1
            port = f"n{steps[0].node}.0"
            ended, launched = tuple(passed), isinstance(source.arrivals, Launched)
            return Way(connection, connection + 1, marks, port, (*steps,), end, ended, launched)
        number, entry = wire.to, wire.input


def _write_octet(marks: int) -> int:
    """Return the octet of the IP header that has the DSCP and the bits of ECN."""
    return MARKS["dscp"].read(marks) << 2 | MARKS["ecn"].read(marks)


def _find_output(node: Node, connection: int, marks: int) -> int:
    """Return the output of a node by which a connection leaves."""
    if node.outputs is None:
        return 0
    output = int(node.outputs[connection, node.columns.index(marks)])
    if output == MAX_OUTPUTS:
        raise ValueError(f"connection {connection} arrives at `{node.path}`, where none is planned")
    return output


# ---- filters


def _write_filters(
    experiment: Experiment, ways: Iterable[Way], near: dict[int, str], far: dict[int, str]
) -> Iterator[str]:
    """Yield the filters at far ends, by which packets go on."""
    preference = dict.fromkeys(far.values(), 10)
    for way in ways:
        for before, after in itertools.pairwise(way.steps):
            device = far[before.node]
            tos = after.tos & DSCP_MASK
            rewritten = () if tos == before.tos & DSCP_MASK else (disciplines.write_remark(tos),)
            more = _list_actions(experiment.nodes[after.node], after, near)
            actions = " ".join((*rewritten, *more))
            dscp = f"{before.tos & DSCP_MASK:#x} {DSCP_MASK:#x}"
            for address in list_prefixes(way.first, way.stop):
                yield (
                    f"filter add dev {device} ingress protocol ip pref {preference[device]} u32"
                    f" match ip dst {address} match ip tos {dscp} {actions}"
                )


def _list_actions(node: Node, step: Step, near: dict[int, str]) -> Iterator[str]:
    if _is_policer(node):
        yield disciplines.write_policing(node, step.node + 1)
    chosen = disciplines.find_input_class(node, step.input)
    if chosen:
        yield f"action skbedit priority {chosen}"
    yield f"action mirred egress redirect dev {near[step.node]}"


def list_prefixes(first: int, stop: int) -> Iterator[str]:
    """Yield the prefixes of the addresses 10.x.y.z of connections `first` up to `stop`."""
    while first < stop:
        bits = 0
        while first % (2 << bits) == 0 and first + (2 << bits) <= stop:
            bits += 1
        address = ".".join(map(str, (10, first >> 16 & 255, first >> 8 & 255, first & 255)))
        yield f"{address}/{32 - bits}"
        first += 1 << bits
