"""A sender and a receiver of TCP over a path whose losses are known, and what probes see there."""

from collections import Counter
from fractions import Fraction

from connected import connected

from qospec.elements.clamp_mss import ClampMss
from qospec.elements.line import Line
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.event.transition import (
    DONE,
    FIRST_BLOCK,
    FLAGS,
    MARKS,
    NUMBER,
    SIZE,
    STAMP,
    WINDOW,
    Transition,
    lose,
    send,
)
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph.emulation import run
from qospec.protocol.streams import Stream, Streams, number_streams
from qospec.traffic.tcp import Tcp

MS, S = 10**9, 10**12
RTT = 100 * MS
MSS = 1_000
HEADERS = 40
BULK = Tcp(mss=MSS, ack_every=1)
STEADY = Tcp(mss=MSS, ack_every=1, initial_window=8, send_buffer=8 * MSS)
"""Eight segments in each round trip."""


class Probe(Element):
    """Note what passes: when, its number, its size, its window. Lose some by their order from 0.

    Those `held` leave behind so many that come after them; those `marked` are left with CE.
    """

    causes = ("policed",)

    def __init__(self, lost=(), held=None, marked=()):
        self.seen, self.windows, self.blocks, self.stamps, self.flags = [], [], [], [], []
        self._lost, self._held = frozenset(lost), dict(held or {})
        self._marked = frozenset(marked)

    def build_transition(self, _setting):
        """Return a transition of Python."""
        waiting = {}

        def arrive(_state, items, item, _port, now_ps, out):
            order = len(self.seen)
            is_lost = order in self._lost
            columns = range(FIRST_BLOCK, min(FIRST_BLOCK + 3, items.shape[1]))
            self.blocks.append([int(items[item, k]) for k in columns if items[item, k]])
            if items.shape[1] > STAMP:
                self.stamps.append((int(items[item, NUMBER]), int(items[item, STAMP])))
            if items.shape[1] > FLAGS:
                self.flags.append((int(items[item, MARKS]) >> 23, int(items[item, FLAGS])))
            if order in self._marked:
                items[item, MARKS] |= 3 << 23
            self.windows.append((now_ps, int(items[item, NUMBER]), int(items[item, WINDOW])))
            self.seen.append((now_ps, int(items[item, NUMBER]), int(items[item, SIZE]), is_lost))
            if is_lost:
                lose(out, 0, item)
            elif order in self._held:
                waiting[order + self._held[order]] = item
            else:
                send(out, 0, item, now_ps)
            if order in waiting:
                send(out, 0, waiting.pop(order), now_ps)
            return DONE

        return Transition(np.zeros(1, np.int64), arrive, losses=(("", "policed"),))

    @property
    def data(self):
        """Return the segments: when they passed, and their number among all, from 0."""
        size = MSS + HEADERS
        return [(at, (number - 1) // MSS) for at, number, found, _ in self.seen if found == size]


def observe(traffic, stop, there=(), back=(), rtt=RTT, **given):
    """Run a sender and a receiver over a path without queues; return what the probes have seen.

    The probes stand at the far ends: what would arrive at the receiver, and at the sender, each
    half of a round trip after it was sent. There packets may be lost. `clamps` are what the path
    lets be announced, there and back; `tells` are the elements at the far end, one behind the
    other, that tell the sender of packets that are too large.
    """
    held = given.get("held")
    # A line that fast could carry so much that windows of the usual length would hold nothing.
    chunk = given.get("chunk", 10**9)
    line = Line(Fraction(10**12), length=Fraction(rtt // 2 // 5_000), carries="packet")
    clock = line.build_clock(stamps=True)
    sent = traffic.describe_exchange(clock, clock)
    n = traffic.connections
    clamps = given.get("clamps", (None, None))
    tells = given.get("tells", ())
    full = sent.sizes.size_bytes[-1]
    told = {mtu for tell in tells for mtu in tell.list_told_bytes(full)}
    carried = traffic.limit_segments(sent, clamps[::-1], told)
    ends = traffic.build_endpoints(Exchange(n, 0, n, 2 * n, sent, carried))
    marked, marked_back = given.get("marked", ()), given.get("marked_back", ())
    probes = Probe(there, held, marked), Probe(back, marked=marked_back)
    nodes = (
        Node("to", line, clock),
        Node("probe", probes[0]),
        Node("server", ends.server),
        Node("from", line, clock),
        Node("eborp", probes[1]),
        Node("client", ends.client),
    )
    wires = [Wire(k, 0, (k + 1) % 6) for k in range(6)]
    for k, mss in ((k, mss) for k, mss in zip((0, 3), clamps, strict=True) if mss):
        wires[k] = Wire(k, 0, len(nodes))
        wires.append(Wire(len(nodes), 0, k + 1))
        nodes += (Node(f"clamp {k}", ClampMss(mss)),)
    for k, tell in enumerate(tells):  # each ahead of the probe there, and of the one back
        for side, probe in enumerate((1, 4)):
            last = next(wire for wire in wires if wire.to == probe)
            wires.remove(last)
            wires += [last._replace(to=len(nodes), input=side), Wire(len(nodes), side, probe)]
        nodes += (Node(f"tell {k}", tell),)
    wires += [Wire(2, 1, END), Wire(5, 1, END), Wire(5, 2, END)]
    streams = [(carried, 0, 0), (carried.answers, n, 3)]
    sources = tuple(
        Source("ask", stream.loop, first, n, "even", stream.sizes, 0, node, 0, stream.encapsulation)
        for stream, first, node in streams
    )
    connections = connected((sent.contract,) * (3 * n), exchanges=n)
    rows = tuple(np.repeat(range(3), n).tolist())
    if tells:
        kinds = ("user", "answers", "exchanges")
        own = tuple(number_streams(Stream(0, kind, n) for kind in kinds))
        connections = connections[0], Streams(("f",), own, ("notices",))
        rows += (-1,) * (3 * n)
    followed, series = given.get("followed", ()), given.get("series", ())
    measured = MeasurementSpec(given.get("start", 0), stop, rows, followed, series=series)
    experiment = Experiment(*connections, sources, nodes, tuple(wires), measured, ("0",))
    seen = run(experiment, chunk=chunk)
    return seen, *probes


def rounds(probe, rtt=RTT):
    """Return how many segments passed in each round trip, from the first on."""
    first = probe.data[0][0]
    counted = Counter((at - first + rtt // 10) // rtt for at, _ in probe.data)
    return [counted[k] for k in range(max(counted) + 1)]
