"""Random networks: routers with hosts, flows both ways, shared processors, endpoints: cycles."""

from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from connected import connected
from endpoints import ROUTED, Conversation, Path, conversations, endpoints_at, place, sources_of
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.red import Red
from qospec.elements.classify import Classify
from qospec.elements.codel import Codel
from qospec.elements.fifo import Fifo
from qospec.elements.fq_codel import FqCodel
from qospec.elements.line import Line
from qospec.elements.processor import Processor
from qospec.elements.router import Router
from qospec.engine.experiment import Experiment, MeasurementSpec, Node, Source, Tap, Wire
from qospec.engine.items.partition import MAX_OUTPUTS
from qospec.engine.queue.controlled_delay import ControlledDelay
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.source.sizes import Sizes
from qospec.engine.switching import Multiplexer
from qospec.traffic.replay import Replay

SHAPES = {"one": (1, ()), "pair": (2, ((0, 1),)), "ring": (3, ((0, 1), (1, 2), (2, 0)))}
"""The number of routers, each with two hosts, and the links between them."""
HOST = -1
MARKS = (0, 2, 4)
"""Of packets, as meters colour them."""
RATES = (Fraction(10**8), Fraction(10**8, 3), Fraction(149_760_000))
SERVICE_PS = (5_000_000, 20_000_000)
STEP_PS = 8_000_000
"""Sources send at multiples, so that much is simultaneous."""

Middle = Callable[[], st.SearchStrategy[Any]]
"""Draws elements with one input and one output."""


class Plan:
    """A network as it is drawn: nodes, wires, and the end of the path into each port."""

    def __init__(self, indices: int) -> None:
        self.indices = indices
        self.nodes: list[Node] = []
        self.wires: list[Wire] = []

    def node(self, path: str, element: Any, **fields: Any) -> int:
        self.nodes.append(Node(path, element, **fields))
        return len(self.nodes) - 1

    def chain(self, path: str, elements: list[Any], start: tuple[int, int]) -> tuple[int, int]:
        """Put elements behind an output; return the output of the last."""
        for number, element in enumerate(elements):
            node = self.node(f"{path}[{number}]", element)
            self.wires.append(Wire(*start, node))
            start = node, 0
        return start

    def served(self, path: str, element: Any, queues: tuple[Waiting, ...], **fields: Any) -> Any:
        """Put a queue in place, or a scheduler with a classifier; return its way in and out."""
        node = self.node(f"queue[{path}]", element, queues=queues, **fields)
        if not queues:
            return node, node
        names = element.inputs
        rows = [[index % len(names)] * len(MARKS) for index in range(self.indices)]
        table = np.array(rows, np.uint8)
        classes = self.node(f"class[{path}]", Classify(names), outputs=table, columns=MARKS)
        self.wires += [Wire(classes, number, node, number) for number in range(len(names))]
        return classes, node

    def fabric(
        self, router: int, ways: int, table: Any, drawn: tuple[int, str]
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Put a router in place; return the node of each input, and the output of each port.

        It is one node, or as the planner has it: one for each input, and one where outputs meet.
        """
        latency, arbitration = drawn
        element, fields = Router(ways, latency=latency), {"outputs": table, "columns": MARKS}
        if not arbitration:
            node = self.node(f"fabric[{router}]", element, **fields)
            return [node] * ways, [(node, port) for port in range(ways)]
        parts = [self.node(f"fabric[{router}.{n}]", element, **fields) for n in range(ways)]
        meeting = Multiplexer(ways, arbitration)
        merges = [self.node(f"merge[{router}.{n}]", meeting) for n in range(ways)]
        self.wires += [
            Wire(part, port, merge, entry)
            for entry, part in enumerate(parts)
            for port, merge in enumerate(merges)
        ]
        return parts, [(merge, 0) for merge in merges]


@st.composite
def networks(draw: st.DrawFn, middle: Middle, schedulers: Middle) -> Experiment:
    """Draw a network of packets with flows and endpoints at its hosts."""
    count, links = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    neighbours = [[HOST, HOST] for _ in range(count)]
    for a, b in links:
        neighbours[a].append(b)
        neighbours[b].append(a)
    hosts = [(router, port) for router in range(count) for port in range(2)]
    pairs = st.tuples(st.sampled_from(hosts), st.sampled_from(hosts)).filter(
        lambda pair: pair[0] != pair[1]
    )
    flows, rate = draw(st.lists(pairs, max_size=4)), draw(st.sampled_from(RATES))
    clock = line_of(rate).build_clock(stamps=False)
    asked = draw(conversations(pairs, len(flows), clock))
    paths = [*flows, *(path for conversation in asked for path in conversation.paths)]
    plan = Plan(len(paths) + sum(conversation.exchange.connections for conversation in asked))
    few = st.lists(middle(), max_size=1)
    entries, exits, lines = {}, {}, {}
    for router, ports in enumerate(neighbours):
        ways = len(ports)
        table = _table(plan.indices, paths, router, neighbours)
        into, out_of = plan.fabric(router, ways, table, draw(fabrics))
        if draw(st.booleans()):
            shared = plan.node(f"cpu[{router}]", draw(processors(ways)))
            plan.wires += [Wire(shared, port, into[port], port) for port in range(ways)]
            into = [shared] * ways
        for port in range(ways):
            entries[router, port] = into[port]
            start = plan.chain(f"out[{router}.{port}]", draw(few), out_of[port])
            served, waiting = draw(servers(schedulers)), ()
            if not isinstance(served, Fifo | ControlledDelay):
                waiting = tuple(
                    Waiting(f"{router}.{port}.{name}", *draw(limits)) for name in served.inputs
                )
            enters, leaves = plan.served(f"{router}.{port}", served, waiting, clock=clock)
            plan.wires.append(Wire(*start, enters))
            exits[router, port] = leaves
    for number, host in enumerate(hosts):
        line = plan.node(
            f"host[{number}]", line_of(rate), clock=line_of(rate).build_clock(stamps=True)
        )
        start = plan.chain(f"in[{number}]", draw(few), (line, 0))
        plan.wires.append(Wire(*start, entries[host], host[1]))
        arriving = sum(path[1] == host for path in paths)
        endpoints = endpoints_at(host, asked)
        end = place(plan.nodes, plan.wires, f"peer[{number}]", line, endpoints, arriving)
        plan.wires.append(Wire(exits[host], 0, end))
        lines[host] = line
    for router, ports in enumerate(neighbours):
        for port in range(2, len(ports)):
            other = ports[port]
            back = neighbours[other].index(router)
            plan.wires.append(Wire(exits[router, port], 0, entries[other, back], back))
    return _experiment(draw, plan, flows, asked, lines)


def _table(indices: int, paths: list[Path], router: int, neighbours: list[list[int]]) -> Any:
    """Return the outputs of a router by connection index and marks."""
    ways = [_output(path, router, neighbours) for path in paths]
    ways += [MAX_OUTPUTS] * (indices - len(paths))
    return np.array([[way] * len(MARKS) for way in ways], np.uint8)


def _output(path: Path, router: int, neighbours: list[list[int]]) -> int:
    """Return the port by which items of a path leave a router, on the shortest way."""
    _, (last, host) = path
    if router == last:
        return int(host)
    before = {router: router}
    waiting = deque([router])
    while waiting:
        here = waiting.popleft()
        for there in neighbours[here]:
            if there != HOST and there not in before:
                before[there] = here
                waiting.append(there)
    if last not in before:
        return MAX_OUTPUTS
    while before[last] != router:
        last = before[last]
    return neighbours[router].index(last)


def line_of(rate: Fraction) -> Line:
    return Line(rate, carries="packet", preamble=8, header=18, min_frame=64, gap=12)


fabrics = st.tuples(
    st.sampled_from([0, 1, 700_001]), st.sampled_from(["", "", "round_robin", "random"])
)
"""The latency of a router, and the arbitration of its multiplexers, if it has any."""
buffers = st.one_of(
    st.builds(Buffer, st.sampled_from([1, 3, 64]), st.just("packet")),
    st.builds(Buffer, st.sampled_from([200, 1_600]), st.just("byte")),
)
RED = Red(Buffer(1, "packet"), Buffer(2, "packet"), Fraction(1, 2), weight=Fraction(1, 2))
limits = buffers.map(lambda limit: (limit, None)) | st.just((Buffer(3, "packet"), RED))
"""Of a queue, with its drop policy."""
queues = limits.map(lambda pair: Fifo(*pair)) | st.builds(
    lambda kind, *fields: kind(*fields),
    st.sampled_from([Codel, FqCodel]),
    buffers,
    st.sampled_from([1, STEP_PS]),
    st.sampled_from([1, 4 * STEP_PS]),
    st.sampled_from([1, 1_500]),
)
"""One that drops on arrival, or that drops at its head: one, or one for each flow."""


def servers(schedulers: Middle) -> st.SearchStrategy[Any]:
    return queues | schedulers()


def restarts(stop_ps: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Draw when an element is told to restart; mostly never."""
    some = st.lists(st.integers(0, stop_ps), min_size=1, max_size=3)
    return st.just(()) | st.just(()) | some.map(lambda chosen: tuple(sorted(chosen)))


def processors(ports: int) -> st.SearchStrategy[Processor]:
    return st.builds(
        Processor,
        st.sampled_from(SERVICE_PS),
        st.builds(Buffer, st.sampled_from([2, 32]), st.just("packet")),
        ports=st.just(ports),
        shared=st.booleans(),
        per_byte=st.sampled_from([0, 777]),
        housekeeping=st.sampled_from([0, 30_000_000]),
        housekeeping_every=st.just(10**9),
        restart_time=st.sampled_from([0, 10**8]),
        watchdog_timeout=st.sampled_from([0, 10**8]),
    )


def restarted(draw: st.DrawFn, node: Node, stop_ps: int) -> Node:
    """Draw when an element that can is told to restart."""
    if not node.element.down_ps:
        return node
    return node._replace(restarts_ps=draw(restarts(stop_ps)))


def _experiment(
    draw: st.DrawFn, plan: Plan, flows: list[Path], asked: list[Conversation], lines: dict[Any, int]
) -> Experiment:
    steps = st.integers(1, 40).flatmap(
        lambda count: st.lists(st.integers(0, 20), min_size=count, max_size=count)
    )
    sources = []
    stop_ps = draw(st.sampled_from([1, 10**8, 4 * 10**8])) if asked else 1
    for number, (sender, _) in enumerate(flows):
        at_ps = np.cumsum(draw(steps)) * STEP_PS
        sizes = draw(st.sampled_from([(200,), (46, 1_500)]))
        arrivals = Replay(tuple(at_ps.tolist()))
        mix = Sizes(sizes, (1,) * len(sizes))
        sources.append(Source(f"f{number}", arrivals, number, 1, "even", mix, 0, lines[sender]))
        stop_ps = max(stop_ps, int(at_ps[-1]) + 1)
    queues = [
        n.path for n in plan.nodes if isinstance(n.element, Fifo | ControlledDelay | Processor)
    ]
    if draw(st.booleans()):  # else classifiers are fused with the schedulers behind them
        queues += [queue.element for node in plan.nodes for queue in node.queues]
    outputs = [
        Tap(f"{node.path} {number}.{output}", number, output)
        for number, node in enumerate(plan.nodes)
        for output in range(len(node.element.outputs))
    ]
    taps = tuple(draw(st.lists(st.sampled_from(outputs), max_size=4, unique=True)))
    row = (0,) * plan.indices
    measured = MeasurementSpec(0, stop_ps, row, queues=tuple(queues), taps=taps)
    nodes = tuple(restarted(draw, node, stop_ps) for node in plan.nodes)
    return Experiment(
        *connected(
            (ROUTED,) * plan.indices,
            exchanges=sum(conversation.exchange.connections for conversation in asked),
        ),
        (*sources, *sources_of(asked, lines)),
        nodes,
        tuple(plan.wires),
        measured,
        ("s", str(draw(st.integers(0, 3)))),
    )
