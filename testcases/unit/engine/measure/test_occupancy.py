"""What waits, against queues of which each item is followed by hand."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from arriving import build_items
from books import in_bytes
from connected import connected
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.codel import Codel
from qospec.elements.delay import Delay
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.elements.shape import Shape
from qospec.elements.strict import Strict
from qospec.engine.element import Setting
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.event.transition import CONNECTION, DONE, SENT, SIZE, Transition, make, send
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.contract import Contract
from qospec.engine.kernel import kernel
from qospec.engine.line.clock import Clock
from qospec.engine.measure.occupancy import Occupancies, Occupancy
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.source.sizes import Sizes
from qospec.protocol.encapsulation import Encapsulation

CLOCK = Clock(Fraction(8 * 10**12), slotted=False, propagation_ps=5, encapsulation=Encapsulation())
"""A byte takes 1 ps."""
ETHERNET = Encapsulation(8, 18, 64, 12)
CLOCKS = {
    "a byte takes 1 ps": CLOCK,
    "cells of STM-1 in slots": Clock(Fraction(149_760_000), slotted=True, phase_ps=7),
    "cells of STM-1": Clock(Fraction(149_760_000), slotted=False, propagation_ps=5),
    "frames": Clock(Fraction(10**8), slotted=False, encapsulation=ETHERNET),
    "frames of a rate that divides nothing": Clock(
        Fraction(149_760_000), slotted=False, encapsulation=ETHERNET
    ),
}
CONNECTIONS = connected((Contract("packets", Fraction(1), 0),) * 2)


@st.composite
def coming(draw, inputs: int = 1, clock: Clock = CLOCK):
    """Draw for each input items in order of time, told apart by their numbers."""
    sizes = [20, 30, 100] if clock.encapsulation else [53]
    slot_ps = int(clock.slot_ps)
    gaps_ps = sorted({0, 1, slot_ps - 1, slot_ps, slot_ps + 1, 3 * slot_ps // 2, 9 * slot_ps})
    arrivals, number = [], 0
    for _ in range(inputs):
        at_ps, items = 0, []
        for gap in draw(st.lists(st.sampled_from(gaps_ps), max_size=25)):
            at_ps, number = at_ps + gap, number + 1
            items.append((at_ps, number, draw(st.integers(0, 1)), draw(st.sampled_from(sizes))))
        arrivals.append(items)
    return arrivals, sorted(draw(st.lists(st.integers(0, 45 * slot_ps), max_size=3)))


def measurement_of(clock: Clock, queues=()) -> MeasurementSpec:
    """Return one that begins and ends amid what is drawn."""
    return MeasurementSpec(int(5 * clock.slot_ps), int(100 * clock.slot_ps), (), queues=queues)


def carried(node: Node, arrivals, cuts, queues):
    """Return what was seen of the queues, the departures, and who was lost."""
    assert node.clock is not None
    watched = Occupancies(measurement_of(node.clock, queues))
    setting = Setting(*CONNECTIONS, Draws(("s",)), node.clock, node.queues, watched=True)
    process = watched.wrap_process(EventProcess(node.element, setting).process, node)
    left, lost, before = [], set(), 0
    for until_ps in (*cuts, FOREVER_PS):
        came = [[i for i in items if before <= i[0] < until_ps] for items in arrivals]
        step = process(tuple(map(build_items, came)), until_ps)
        left += step.departures[0].sent_ps.tolist()
        lost |= {int(n) for loss in step.losses for n in loss.batch.sent_ps}
        before = max(before, until_ps)
    return watched.seen, left, lost


def begun(arrivals, left, clock: Clock) -> list[tuple[int, int, Fraction]]:
    """Return of each that left, in order: its number, when it came and when it began, exactly."""
    items = {number: (at_ps, size) for arrival in arrivals for at_ps, number, _, size in arrival}
    framed = clock.encapsulation or Encapsulation(0, 0, 0, 0)
    free, slot, found = Fraction(0), 0, []
    for number in left:
        at_ps, size = items[number]
        if clock.slotted:
            while floor(slot * clock.slot_ps) + clock.phase_ps < at_ps:
                slot += 1
            began = Fraction(floor(slot * clock.slot_ps) + clock.phase_ps)
            slot += 1
        else:
            began = max(Fraction(at_ps), free)
            free = began + framed.count_line_bytes(size) * clock.byte_time_ps
        found.append((number, at_ps, began))
    return found


def by_the_book(items, left, clock: Clock, arrivals=()) -> Occupancy:
    """Return how many wait, at once and in all, and for how long, item by item."""
    measurement, mine = measurement_of(clock), {number for _, number, _, _ in items}
    all_waits = begun(arrivals or [items], left, clock)
    waits = [(at_ps, floor(began)) for number, at_ps, began in all_waits if number in mine]
    most = max(
        (
            sum(came <= now < began for came, began in waits)
            for now in {measurement.start_ps, *(came for came, _ in waits)}
            if measurement.start_ps <= now < measurement.stop_ps
        ),
        default=0,
    )
    inside = [(max(a, measurement.start_ps), min(b, measurement.stop_ps)) for a, b in waits]
    parts = [max(0, end - start) for start, end in inside]
    whole = [b - a for (a, b), part in zip(waits, parts, strict=True) if part]
    return Occupancy(most, sum(parts), max(whole, default=0), len(whole), sum(whole))


@pytest.mark.parametrize("name", CLOCKS)
@given(data=st.data(), limit=st.integers(1, 6))
def test_of_a_queue(name, data, limit):
    clock = CLOCKS[name]
    arrivals, cuts = data.draw(coming(clock=clock))
    node = Node("q", Fifo(Buffer(limit, "packet")), clock)
    seen, left, lost = carried(node, arrivals, cuts, ("q",))
    assert seen["q"] == by_the_book(arrivals[0], left, clock)
    assert seen["q"].most <= limit
    assert len(left) + len(lost) == len(arrivals[0])


@pytest.mark.parametrize("name", CLOCKS)
@given(data=st.data())
def test_of_a_line_without_a_queue(name, data):
    """What waits for the line of a source is reported too."""
    clock = CLOCKS[name]
    arrivals, cuts = data.draw(coming(clock=clock))
    seen, left, _ = carried(Node("a", Line(rate=clock.bit_rate), clock), arrivals, cuts, ("a",))
    assert seen["a"] == by_the_book(arrivals[0], left, clock)
    assert len(left) == len(arrivals[0])


@pytest.mark.parametrize("name", CLOCKS)
@given(data=st.data(), limit=st.integers(1, 4))
def test_of_queues_before_a_scheduler(name, data, limit):
    clock = CLOCKS[name]
    arrivals, cuts = data.draw(coming(inputs=2, clock=clock))
    queues = (Waiting("high", Buffer(limit, "packet")), Waiting("low", Buffer(3, "packet")))
    node = Node("top", Strict(("high", "low")), clock, queues)
    seen, left, _ = carried(node, arrivals, cuts, ("high", "low"))
    assert seen == {
        "high": by_the_book(arrivals[0], left, clock, arrivals),
        "low": by_the_book(arrivals[1], left, clock, arrivals),
    }
    assert seen["high"].most <= limit
    assert seen["low"].most <= 3


@pytest.mark.parametrize("chunk_ps", [1, 40, 1_000])
@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ((0, 1_000), Occupancy(2, 100 + 200 + 130, 200, 3, 430)),
        ((50, 160), Occupancy(2, 50 + 110, 200, 2, 300)),
        ((150, 180), Occupancy(2, 30 + 10, 200, 2, 330)),
        ((200, 1_000), Occupancy(1, 100, 130, 1, 130)),
        ((300, 1_000), Occupancy()),
    ],
)
def test_the_shaper_itself_reports_what_waits_for_tokens(chunk_ps, window, expected):
    """100 tokens, and one more each ps: three at 0 leave at 0, 100 and 200, one at 170 at 300."""
    shape = in_bytes(Shape, Fraction(8 * 10**12), 100, Buffer(9, "packet"))
    watched = Occupancies(MeasurementSpec(*window, (), queues=("pace",)))
    node = Node("pace", shape)
    setting = Setting(*CONNECTIONS, Draws(("s",)), watched=watched.is_recorded(node))
    process = watched.wrap_process(build_process(shape, setting), node)
    items = [(0, 0, 0, 100), (0, 1, 0, 100), (0, 2, 0, 100), (170, 3, 0, 100)]
    for start in range(0, 400, chunk_ps):
        until = start + chunk_ps
        process((build_items([item for item in items if start <= item[0] < until]),), until)
    assert watched.seen == {"pace": expected}


@pytest.mark.parametrize("until_ps", [15, FOREVER_PS])
def test_of_two_copies_of_a_packet_the_one_that_finds_room_waits(until_ps):
    """Both have the connection and the time of their packet, as behind two that send some twice."""
    node = Node("q", Fifo(Buffer(1, "packet")), CLOCK)
    items = [(0, 0, 0, 100), (10, 1, 1, 20), (10, 1, 1, 20), (20, 2, 0, 30), (130, 3, 0, 30)]
    watched = Occupancies(MeasurementSpec(0, 1_000, (), queues=("q",)))
    setting = Setting(*CONNECTIONS, Draws(("s",)), CLOCK, watched=True)
    process = watched.wrap_process(EventProcess(node.element, setting).process, node)
    for early in (True, False):
        part = [item for item in items if (item[0] < until_ps) is early]
        process((build_items(part),), until_ps if early else FOREVER_PS)
    # the first is sent until 100, a copy until 120; the last finds an empty queue and an idle line
    assert watched.seen == {"q": Occupancy(1, 90, 90, 1, 90)}


@kernel
def _double(state, items, item, port, now_ps, out):  # noqa: ARG001
    copy = make(items, out, items[item, CONNECTION], items[item, SIZE], 0, now_ps)
    items[copy, SENT] = items[item, SENT]
    send(out, 0, item, now_ps)
    send(out, 1, copy, now_ps)
    return DONE


class Doubling(Delay):
    """An element that sends an equal copy of each item by its other output."""

    outputs = ("", "copy")
    process = None

    def build_transition(self, setting):  # noqa: ARG002
        return Transition(np.zeros(0, np.int64), _double)


@pytest.mark.parametrize("by_events", [False, True])
def test_equal_copies_in_two_queues_of_a_scheduler_wait_where_they_are(listed, by_events):
    """That in `low` is sent from 0 to 100; that in `high` comes at 50, and waits for it.

    From outside they are one: which of them has left first only the scheduler knows.
    """
    queues = (Waiting("high", None), Waiting("low", None))
    nodes = (
        Node("twice", Doubling(0)),
        Node("later", Delay(50)),
        Node("top", Strict(("high", "low")), CLOCK, queues),
    )
    wires = (Wire(0, 0, 1), Wire(1, 0, 2, 0), Wire(0, 1, 2, 1), Wire(2, 0, END))
    sizes = Sizes((100,), (1,))
    source = Source("f", listed([(0, 0)]), 0, 1, "even", sizes, 0, 0, 0, ETHERNET)
    measured = MeasurementSpec(0, 1_000, (0, 0), queues=("high", "low"))
    experiment = Experiment(*CONNECTIONS, (source,), nodes, wires, measured, ("s",))
    seen = emulation.run(experiment, by_events=by_events)
    assert seen.occupancies == {"high": Occupancy(1, 50, 50, 1, 50), "low": Occupancy()}


@pytest.mark.parametrize("chunk", [7, 10**6])
@pytest.mark.parametrize("by_events", [False, True])
def test_what_is_dropped_at_its_head_waits_until_then(listed, by_events, chunk):
    """Packets come each 500 ps, and one is sent each 1,000 ps. Six are dropped at the head.

    With the target and the interval of RFC 8289, a millionth of each, these go 110, 210, 281, 339,
    389 and 434 ns after the beginning: see the test of the element. So 880 come in 440 ns, of which
    440 have been sent and 6 dropped, and the last finds 433 others. The sum of what waits at each
    time is 193,820 for those that come, less 97,020 for those sent and 877 for those dropped.
    """
    element = Codel(Buffer(1_000, "packet"), target=5_000, interval=100_000)
    at_ps = [(500 * number, 0) for number in range(880)]
    source = Source("f", listed(at_ps), 0, 1, "even", Sizes((1_000,), (1,)), 0, 0, 0, ETHERNET)
    measured = MeasurementSpec(0, 440_000, (0, 0), queues=("q",))
    nodes, wires = (Node("q", element, CLOCK),), (Wire(0, 0, END),)
    experiment = Experiment(*CONNECTIONS, (source,), nodes, wires, measured, ("s",))
    seen = emulation.run(experiment, by_events=by_events, chunk=chunk)
    assert seen.occupancies["q"][:2] == (434, 95_923_000)


class Inspecting(Delay):
    """Works on each packet for 7 ps, whatever else comes, and has no transition."""

    serves = True
    transition = None

    def process(self, state, arrivals, until_ps):
        """Work, and report when."""
        (came,) = arrivals
        step = super().process(state, arrivals, until_ps)
        return step._replace(services=(came.at_ps, came.at_ps + 7))


def test_an_element_without_a_transition_reports_itself_when_it_is_busy(listed):
    """Two packets in time: 14 ps of work. The third comes when the measurement is over."""
    nodes, wires = (Node("s", Inspecting(50)),), (Wire(0, 0, END),)
    source = Source(
        "f",
        listed([(5, 0), (100, 0), (2_000, 0)]),
        0,
        1,
        "even",
        Sizes((100,), (1,)),
        0,
        0,
        0,
        ETHERNET,
    )
    measured = MeasurementSpec(0, 1_000, (0, 0), servers=("s",))
    seen = emulation.run(Experiment(*CONNECTIONS, (source,), nodes, wires, measured, ("s",)))
    assert seen.busy_ps == {"s": 14}


def test_nothing_is_watched_that_nobody_asks_for():
    watched = Occupancies(MeasurementSpec(0, 10, ()))
    node = Node("q", Fifo(Buffer(1, "packet")), CLOCK)
    process = node.element.process
    assert watched.wrap_process(process, node) == process
