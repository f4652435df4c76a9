"""FQ-CoDel against the text of RFC 8290, and against numbers that were worked out by hand."""

from collections import defaultdict, deque
from fractions import Fraction

import numpy as np
import pytest
from books import ControlledDelay
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.codel import Codel
from qospec.elements.fq_codel import FqCodel
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock

MS = 10**9
"""Picoseconds."""
LINE = Clock(Fraction(10_000_000), slotted=False)
"""It sends 1,250 bytes in 1 ms."""
FAST = Clock(Fraction(8 * 10**12), slotted=False)
"""It sends a byte in a ps."""
NO_LIMIT = Buffer(2**40, "packet")
MANY = 65_536
"""So many queues that the few connections of a test have one each."""


def setting(lab, flows, clock=LINE):
    contracts = [Contract("packets", Fraction(1_000), 0)] * flows
    return lab.setting(clock=clock, contracts=contracts, inserted=(), watched=True)


def carried(lab, element, packets, clock=LINE):
    """Return what becomes of packets, each (time, connection, bytes), in order of time."""
    at_ps, connection, size_bytes = zip(*packets, strict=True)
    batch = lab.cells(at_ps, connection=connection, size_bytes=size_bytes)
    return lab.carry(element, setting(lab, max(connection) + 1, clock), batch)


# ---- by hand


def test_a_flow_that_begins_waits_for_no_other(lab):
    """Thirty packets of one flow come at once, and 1 ms each is sent; one of another at 2.5 ms.

    It is sent when the third of the others has been: it leaves at 4 ms, not at 31 ms.
    """
    packets = [*[(0, 0, 1_250)] * 30, (5 * MS // 2, 1, 1_250)]
    left = carried(lab, FqCodel(NO_LIMIT, flows=MANY), packets).departures[0]
    assert left.connection.tolist() == [0, 0, 0, 1, *[0] * 27]
    assert left.at_ps[3] == 4 * MS


def test_a_flow_that_begins_has_one_quantum_before_the_others(lab):
    """A quantum of 2,500 bytes is two packets. The other flow has sent one of its second quantum
    when this one begins: it sends two, the other the rest of its quantum, and then two for each.
    """
    packets = [*[(0, 0, 1_250)] * 9, *[(5 * MS // 2, 1, 1_250)] * 6]
    element = FqCodel(NO_LIMIT, flows=MANY, quantum=2_500)
    left = carried(lab, element, packets).departures[0].connection.tolist()
    assert left == [0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0, 0]


def test_queues_share_the_line_by_bytes(lab):
    """Flows of 1,500 and 500 bytes, and a quantum of 1,500: one packet, then three."""
    packets = [*[(0, 0, 1_500)] * 10, *[(0, 1, 500)] * 30]
    left = carried(lab, FqCodel(NO_LIMIT, flows=MANY, quantum=1_500), packets).departures[0]
    assert left.connection.tolist() == [0, 1, 1, 1] * 10


def test_the_longest_queue_makes_room(lab):
    """A line that is busy with the first of 9 packets of one flow, and room for 10.

    With three of the other 11 wait: half of the first flow's 8 go, from its head.
    """
    packets = [*[(0, 0, 1_250)] * 9, *[(0, 1, 100)] * 3]
    got = carried(lab, FqCodel(Buffer(10, "packet"), flows=MANY), packets)
    assert got.lost == [("overflow", "", 0, number) for number in (1, 2, 3, 4)]


def test_no_more_than_64_are_dropped_at_once(lab):
    got = carried(lab, FqCodel(Buffer(200, "packet"), flows=MANY), [(0, 0, 1_250)] * 202)
    assert [number for cause, *_, number in got.lost if cause == "overflow"] == [*range(1, 65)]


def test_what_is_lost_for_room_has_waited(lab):
    """It is full at 0.5 ms, and drops one that came at 0."""
    packets = [*[(0, 0, 1_250)] * 3, (MS // 2, 0, 1_250)]
    got = carried(lab, FqCodel(Buffer(2, "packet"), flows=MANY), packets)
    assert got.waits[0] == (0, MS // 2)
    assert got.lost == [("overflow", "", 0, 1), ("overflow", "", 0, 2)]


def test_connections_are_spread_over_the_queues_at_random(lab):
    """Each of 2,000 connections sends a packet at once. The first of each queue go first, in order.

    Of 1,024 queues 1,024 (1 - (1 - 1/1024)^2000) = 878.9 are used; the deviation is 9.2.
    """
    packets = [(0, connection, 100) for connection in range(2_000)]
    left = carried(lab, FqCodel(NO_LIMIT, quantum=1), packets).departures[0]
    used = int((np.diff(left.sent_ps) < 0).argmax()) + 1
    assert abs(used - 878.9) < 4 * 9.2


@pytest.mark.parametrize("capable", [0, 1])
def test_with_one_queue_it_drops_as_codel_does(lab, capable):
    """Two flows at twice the rate of the line, for 900 packets; see the test of CoDel."""
    at_ps = [number * MS // 2 for number in range(900)]
    batch = lab.cells(at_ps, connection=np.arange(900) % 2, size_bytes=1_250, marks=capable << 23)
    where = setting(lab, 2)
    one = lab.carry(FqCodel(NO_LIMIT, flows=1, quantum=1), where, batch)
    assert one.rows() == lab.carry(Codel(NO_LIMIT, ecn=True), where, batch).rows()
    assert bool(one.lost) is not bool(capable)


# ---- by the book, in Python


class FairQueues:
    """RFC 8290, 4.1 and 4.2, with its words.

    "At least a quantum" dequeued, as 4.2 explains "a negative number of credits", is 0 or less.
    """

    def __init__(self, element, capable):
        self.element = element
        codel = element.target, element.interval, element.mtu, capable
        self.queues = defaultdict(lambda: ControlledDelay(*codel))
        self.credits, self.new, self.old = {}, deque(), deque()
        self.overflowed = []

    def enqueue(self, flow, packet):
        self.queues[flow].queue.append(packet)
        self.queues[flow].bytes += packet[2]
        if flow not in (*self.new, *self.old):
            self.new.append(flow)
            self.credits[flow] = self.element.quantum

    def held(self):
        if self.element.limit.unit == "byte":
            return sum(queue.bytes for queue in self.queues.values())
        return sum(len(queue.queue) for queue in self.queues.values())

    def make_room(self, now):
        while self.held() > self.element.limit.amount:
            longest = max((*self.new, *self.old), key=lambda flow: self.queues[flow].bytes)
            queue = self.queues[longest]
            for _ in range(min(-(-len(queue.queue) // 2), 64)):
                number, came, size = queue.queue.popleft()
                queue.bytes -= size
                queue.waits += [(came, now)] * (came < now)
                self.overflowed.append(number)

    def dequeue(self, now):
        while self.new or self.old:
            served = self.new or self.old
            flow = served[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.element.quantum
                self.old.append(served.popleft())
                continue
            packet = self.queues[flow].dequeue(now)
            if packet is not None:
                self.credits[flow] -= packet[2]
                return packet
            served.popleft()
            if served is self.new:
                self.old.append(flow)
        return None


def by_the_book(element, packets, capable):
    """Return what leaves by number and when, and the queues, on a line that sends a byte in a ps.

    Packets are (time, flow, bytes).
    """
    fair, left, free, is_busy = FairQueues(element, capable), {}, 0, False
    coming = deque(enumerate(packets))
    while coming or is_busy:
        if is_busy and (not coming or free <= coming[0][1][0]):
            now, is_busy = free, False
        else:
            number, (now, flow, size) = coming.popleft()
            fair.enqueue(flow, (number, now, size))
        if is_busy:
            fair.make_room(now)
            continue
        packet = fair.dequeue(now)
        if packet is not None:
            number, _, size = packet
            left[number] = free = now + size
            is_busy = True
    return left, fair


FLOWS = 4


@st.composite
def arrivals(draw):
    """Draw packets of some flows that come in bursts, and slowly."""
    packets, now = [], 0
    for _ in range(draw(st.integers(1, 8))):
        gap = draw(st.sampled_from([0, 1, 400, 900, 5_000, 100_000]))
        flows = draw(st.lists(st.integers(0, FLOWS - 1), min_size=1, max_size=3))
        for number in range(draw(st.integers(1, 40))):
            now += gap
            size = draw(st.sampled_from([100, 1_000, 1_500]))
            packets.append((now, flows[number % len(flows)], size))
    return packets


@given(
    packets=arrivals(),
    element=st.builds(
        FqCodel,
        st.builds(Buffer, st.sampled_from([1, 30, 2**40]), st.just("packet"))
        | st.builds(Buffer, st.sampled_from([1_500, 20_000]), st.just("byte")),
        target=st.sampled_from([1, 500, 3_000]),
        interval=st.sampled_from([1, 1_000, 10_000]),
        mtu=st.sampled_from([1, 1_500]),
        ecn=st.booleans(),
        flows=st.sampled_from([1, MANY]),
        quantum=st.sampled_from([1, 300, 1_514]),
    ),
    cuts=st.lists(st.integers(0, 60_000), max_size=4),
    every=st.integers(1, 3),
)
def test_it_serves_and_drops_by_the_book(lab, packets, element, cuts, every):
    """Of codepoints 0 is not capable of ECN, and 3 is CE: RFC 3168, 5."""
    at_ps, flows, sizes = map(list, zip(*packets, strict=True))
    codepoints = np.arange(len(at_ps)) // every % 4
    capable = {int(number) for number in np.flatnonzero(codepoints)} if element.ecn else set()
    batch = lab.cells(at_ps, connection=flows, size_bytes=sizes, marks=codepoints << 23)
    got = lab.carry(element, setting(lab, FLOWS, FAST), batch, cuts=cuts)
    own_queue = [flow * (element.flows > 1) for flow in flows]
    left, book = by_the_book(element, list(zip(at_ps, own_queue, sizes, strict=True)), capable)
    (departures,) = got.departures
    numbers = departures.sent_ps.tolist()
    assert dict(zip(numbers, departures.at_ps.tolist(), strict=True)) == left
    queues = book.queues.values()
    marked = {number for queue in queues for number in queue.marked}
    expected = [3 if number in marked else codepoints[number] for number in numbers]
    assert (departures.marks >> 23).tolist() == expected
    lost = {cause: {n for c, *_, n in got.lost if c == cause} for cause in ("early", "overflow")}
    assert lost["early"] == {number for queue in queues for number, *_ in queue.drops}
    assert lost["overflow"] == {*book.overflowed}
    assert sorted(got.waits) == sorted(wait for queue in queues for wait in queue.waits)
