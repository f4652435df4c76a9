"""Schedulers before schedulers, and a whole network with them, against books level by level.

The books of schedulers are those of `conftest.py`. Whenever the line is free, one below another is
asked first; the one above sees of it what it would send next, and how many wait.

Each set of schedulers is a loop to compile, which takes seconds. So kernels run as Python, but for
two sets in the network; of others `test_transition.py` compares compiled loops with each other.
"""

import contextlib
import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from connected import connected
from definition import kernels_as_python
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.classify import Classify
from qospec.elements.custom import Custom
from qospec.elements.drr import Drr
from qospec.elements.scfq import Scfq
from qospec.elements.strict import Strict
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.elements.wrr import Wrr
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items import delay_row
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.combined import Combined
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import set_marks

ETHERNET = Encapsulation(8, 18, 64, 12)
LINES = [
    Clock(Fraction(10**8), slotted=False, propagation_ps=777, encapsulation=ETHERNET),
    Clock(Fraction(149_760_000), slotted=False, encapsulation=ETHERNET),
]
PACKET_PS = 120_000_000


class Packet(NamedTuple):
    at: int
    size: int
    name: int


# ---- books level by level


class Queue:
    """Who waits at one input, up to a limit."""

    def __init__(self, limit):
        self.limit, self.packets = limit, []

    count = property(lambda self: len(self.packets))

    def leaves(self):
        return [self]

    def ask(self):
        pass

    def next(self):
        return self.packets[0]

    def has_room(self, packet):
        if self.limit.unit == "byte":
            return sum(held.size for held in (*self.packets, packet)) <= self.limit.amount
        return self.count < self.limit.amount

    def take(self, _end):
        return self.packets.pop(0)


class Level:
    """A scheduler with its book and its inputs: queues, and schedulers with books of their own."""

    def __init__(self, book, inputs):
        self.book, self.inputs, self.choice = book, inputs, 0
        book.inputs = inputs

    count = property(lambda self: sum(child.count for child in self.inputs))

    def leaves(self):
        return [leaf for child in self.inputs for leaf in child.leaves()]

    def come(self, leaf, packet):
        for k, child in enumerate(self.inputs):
            if leaf in child.leaves():
                if isinstance(child, Level):
                    child.come(leaf, packet)
                self.book.come(k, packet, packet.at)

    def ask(self):
        self.book.settle()
        for child in self.inputs:
            child.ask()
        if self.count:
            self.choice = self.book.choose()

    def next(self):
        return self.inputs[self.choice].next()

    def take(self, end):
        packet = self.inputs[self.choice].take(end)
        self.book.sent(self.choice, packet.size, end)
        return packet


def carried(top, coming, clock):
    """Return, by packet, when its last bit is there; and who is lost."""
    arrivals = sorted(
        (packet.at, k, packet) for k, packets in enumerate(coming) for packet in packets
    )
    leaves, free, left, lost = top.leaves(), Fraction(0), {}, set()

    def enter(k, packet):
        leaves[k].packets.append(packet)
        top.come(leaves[k], packet)

    while True:
        while arrivals and arrivals[0][0] < math.floor(free):
            _, k, packet = arrivals.pop(0)
            if leaves[k].has_room(packet):
                enter(k, packet)
            else:
                lost.add(packet.name)
        for came in [arrival for arrival in arrivals if arrival[0] == math.floor(free)]:
            if not leaves[came[1]].count:
                arrivals.remove(came)
                enter(*came[1:])
        top.ask()
        if top.count:
            end = free + ETHERNET.count_line_bytes(top.next().size) * clock.byte_time_ps
            left[top.take(end).name] = math.floor(end) + clock.arrival_ps
            free = end
        elif arrivals:
            free = Fraction(arrivals[0][0])
        else:
            return left, lost


# ---- both


def by(kind, field, **more):
    return lambda names, numbers: kind(**{field: tuple(zip(names, numbers, strict=True))}, **more)


KINDS = {
    "strict": (lambda names, _numbers: Strict(tuple(names)), [1]),
    "wrr": (by(Wrr, "weights"), [1, 2, 5]),
    "custom": (by(Custom, "byte_counts"), [100, 150, 1_500, 3_100]),
    "drr": (by(Drr, "weights", quantum=1), [100, 500, 1_500, 4_500]),
    "scfq": (by(Scfq, "weights"), [1, 2, 3, 7]),
    "wfq": (by(Wfq, "weights"), [1, 2, 3, 4]),
    "wf2q_plus": (by(Wf2qPlus, "weights"), [1, 2, 3, 4]),
}
"""By kind: the element, and numbers for its inputs."""
SHAPES = [[0, [0, 0]], [[0, 0], 0], [[0, 0], [0, 0]], [0, [0, [0, 0]]], [[0, 0, 0], 0, [[0]]]]
"""Trees: 0 is a queue, a list is a scheduler."""
PAIRS = [
    ("strict", "drr"),
    ("wrr", "custom"),
    ("scfq", "wf2q_plus"),
    ("drr", "scfq"),
    ("wfq", "strict"),
    ("wfq", "wfq"),
]
"""Kinds that take turns from level to level."""
COMPILED = [{"strict", "drr"}, {"scfq", "wf2q_plus"}]
"""Without virtual times, and with those of either sort."""
ORDERS = sorted({*PAIRS, *(pair[::-1] for pair in PAIRS)})


@st.composite
def trees(draw, books, shape, kinds, clock, limits):
    """Return a scheduler of that shape, and its book; the kinds of its levels take turns."""
    make, usual = KINDS[kinds[0]]
    numbers = [draw(st.sampled_from(usual)) for _ in shape]
    parts = [
        (None, Queue(limits.pop(0)))
        if size == 0
        else draw(trees(books, size, kinds[::-1], clock, limits))
        for size in shape
    ]
    outer = make("abc"[: len(shape)], numbers)
    inner = tuple(element for element, _ in parts)
    element = Combined(outer, inner) if any(inner) else outer
    book = books[kinds[0]](numbers, clock)
    return element, Level(book, [below for _, below in parts])


limits = st.sampled_from([Buffer(1, "cell"), Buffer(3, "cell"), Buffer(2_000, "byte")])
gaps = st.one_of(
    st.sampled_from([0, 1, PACKET_PS, 5 * PACKET_PS]), st.integers(0, PACKET_PS), st.just(10**10)
)


@st.composite
def coming(draw, inputs):
    """Return packets for each input, no two at once."""
    found, names = [], iter(range(128))
    for _ in range(inputs):
        at = np.cumsum(draw(st.lists(gaps, max_size=14))).tolist()
        sizes = st.sampled_from([40, 64, 576, 1_500])
        found.append([Packet(t, draw(sizes), next(names)) for t in at])
    return [[p._replace(at=p.at // 128 * 128 + p.name) for p in packets] for packets in found]


@given(
    data=st.data(),
    shape=st.sampled_from(SHAPES),
    kinds=st.sampled_from(ORDERS),
    clock=st.sampled_from(LINES),
)
def test_it_serves_by_the_book(lab, books, data, shape, kinds, clock):
    places = str(shape).count("0")
    room = [data.draw(limits) for _ in range(places)]
    element, top = data.draw(trees(books, shape, kinds, clock, list(room)))
    inputs = data.draw(coming(places))
    cuts = data.draw(st.lists(st.integers(0, 40 * PACKET_PS), max_size=4))
    batches = [
        lab.cells(
            [p.at for p in packets],
            size_bytes=[p.size for p in packets],
            sent_ps=[p.name for p in packets],
        )
        for packets in inputs
    ]
    queues = tuple(Waiting(f"q{k}", limit) for k, limit in enumerate(room))
    with kernels_as_python():
        got = lab.carry(element, lab.setting(clock=clock, queues=queues), *batches, cuts=cuts)
    (out,) = got.departures
    left, lost = carried(top, inputs, clock)
    assert dict(zip(out.sent_ps.tolist(), out.at_ps.tolist(), strict=True)) == left
    assert {name for _, _, _, name in got.lost} == lost


# ---- a whole network


class Listed:
    """A source that has these packets ready, each of a connection of its own."""

    def __init__(self, packets):
        self.packets = packets
        self.size_bytes = tuple({packet.size for packet in packets})
        self.alike = len(self.size_bytes) == 1

    def start(self, *_asked):
        return Listed(self.packets)

    def emit(self, state, until_ps):
        due = [packet for packet in state.packets if packet.at < until_ps]
        first = len(self.packets) - len(state.packets)
        state.packets = state.packets[len(due) :]
        connection = np.arange(first, first + len(due), dtype=np.int32)
        return np.array([packet.at for packet in due], np.int64), connection

    def take_next(self, connection):
        return np.array([self.packets[number].size for number in connection], np.int32)

    def compute_mean(self, _length):
        return 1

    def compute_highest_rate(self, _connections):
        return 10**6 / 3


@pytest.mark.slow
@given(
    data=st.data(),
    kinds=st.sampled_from(ORDERS),
    clock=st.sampled_from(LINES),
    chunk=st.sampled_from([500, 3_000, 10**6]),
)
def test_a_network_carries_each_packet_by_the_book(books, data, kinds, clock, chunk):
    """Sources, a classifier, three queues, schedulers before schedulers, a line that frames."""
    shape, room = [0, [0, 0]], [data.draw(limits) for _ in range(3)]
    element, top = data.draw(trees(books, shape, kinds, clock, list(room)))
    inputs = data.draw(coming(3).filter(all))
    counts = [len(packets) for packets in inputs]
    firsts = [sum(counts[:n]) for n in range(3)]
    marks = [set_marks(dscp=code) for code in (0, 10, 46)]
    ways = np.repeat(
        np.diag([1, 1, 1]) * np.arange(3) + 255 * (1 - np.eye(3, dtype=int)), counts, 0
    )
    queues = tuple(Waiting(f"q{k}", limit) for k, limit in enumerate(room))
    nodes = (
        Node("classes", Classify(("a", "b", "c")), None, (), ways.astype(np.uint8), tuple(marks)),
        Node("top", element, clock, queues),
    )
    sources = tuple(
        Source(f"s{n}", Listed(packets), firsts[n], counts[n], "even", Listed(packets), marks[n], 0)
        for n, packets in enumerate(inputs)
    )
    packets = sum(counts)
    contracts = (Contract("packets", Fraction(1_000), 0),) * packets
    experiment = Experiment(
        *connected(contracts),
        sources,
        nodes,
        (*(Wire(0, n, 1, n) for n in range(3)), Wire(1, 0, END)),
        MeasurementSpec(0, 2 * 10**11, (-1,) * packets),
        ("test",),
    )
    with contextlib.nullcontext() if {*kinds} in COMPILED else kernels_as_python():
        seen = emulation.run(experiment, chunk=chunk)
    left, lost = carried(top, inputs, clock)
    together = [packet for packets in inputs for packet in packets]
    assert seen.received.tolist() == [packet.name in left for packet in together]
    took = [left[packet.name] - packet.at for packet in together if packet.name in left]
    assert seen.delays[seen.received > 0, delay_row.LEAST].tolist() == took
    assert sum(int(loss.sum()) for loss in seen.losses.values()) == len(lost)
