"""What waits, against queues of which each item is followed by hand."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.catalogue import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.strict import Strict
from qospec.engine import occupancy
from qospec.engine.batch import FOREVER_PS, Batch
from qospec.engine.clock import Clock
from qospec.engine.connections import Connections, Contract
from qospec.engine.draws import Draws
from qospec.engine.element import Setting, Waiting
from qospec.engine.encapsulation import Encapsulation
from qospec.engine.experiment import Node, Watch
from qospec.engine.occupancy import Occupancies, Occupancy

drawn = settings(deadline=None, max_examples=max(200, settings().max_examples))
CLOCK = Clock(Fraction(8 * 10**12), slotted=False, propagation_ps=5, encapsulation=Encapsulation())
"""A byte takes 1 ps."""
START_PS, STOP_PS = 100, 2_000
CONNECTIONS = Connections((Contract("packets", Fraction(1), 0),) * 2, (0, 0))


def batch(items) -> Batch:
    """Return (at, number, connection, size) as a batch; its number is when it was sent."""
    columns = list(zip(*items, strict=True)) or [(), (), (), ()]
    kinds = (np.int64, np.int64, np.int32, np.int32)
    at, sent, connection, size = (np.array(c, k) for c, k in zip(columns, kinds, strict=True))
    return Batch(at, sent, connection, size, np.zeros(len(at), np.uint16))


@st.composite
def coming(draw, inputs: int = 1):
    """Draw for each input items in order of time, told apart by their numbers."""
    arrivals, number = [], 0
    for _ in range(inputs):
        at_ps, items = 0, []
        for gap in draw(st.lists(st.sampled_from([0, 1, 20, 30, 300]), max_size=25)):
            at_ps, number = at_ps + gap, number + 1
            size = draw(st.sampled_from([20, 30, 100]))
            items.append((at_ps, number, draw(st.integers(0, 1)), size))
        arrivals.append(items)
    return arrivals, sorted(draw(st.lists(st.integers(0, 900), max_size=3)))


def carried(node: Node, arrivals, cuts, queues):
    """Return what was seen of the queues, the departures, and who was lost."""
    watched = Occupancies(Watch(START_PS, STOP_PS, (), queues=queues))
    setting = Setting(CONNECTIONS, Draws(("s",)), node.clock, node.queues, owns_times=True)
    state = node.element.start(setting)
    process = watched.watching(lambda came, until: node.element.process(state, came, until), node)
    left, lost, before = [], set(), 0
    for until_ps in (*cuts, FOREVER_PS):
        came = [[i for i in items if before <= i[0] < until_ps] for items in arrivals]
        step = process(tuple(map(batch, came)), until_ps)
        gone = step.departures[0]
        left += zip(gone.at_ps.tolist(), gone.sent_ps.tolist(), strict=True)
        lost |= {int(n) for loss in step.losses for n in loss.sent_ps}
        before = max(before, until_ps)
    return watched.seen, left, lost


def by_the_book(items, left) -> Occupancy:
    """Return the most that wait at once and for how long, item by item."""
    sizes = {number: (at_ps, size) for at_ps, number, _, size in items}
    waits = []
    for at_ps, number in left:
        if number in sizes:
            came_ps, size = sizes[number]
            waits.append((came_ps, at_ps - CLOCK.propagation_ps - size))
    most = max(
        (
            sum(came <= now < began for came, began in waits)
            for now in {START_PS, *(came for came, _ in waits)}
            if START_PS <= now < STOP_PS
        ),
        default=0,
    )
    waited = sum(max(0, min(b, STOP_PS) - max(a, START_PS)) for a, b in waits)
    return Occupancy(most, waited)


@drawn
@given(drawn=coming(), limit=st.integers(1, 6))
def test_of_a_queue(drawn, limit):
    arrivals, cuts = drawn
    node = Node("q", Fifo(Buffer(limit, "packet")), CLOCK)
    seen, left, lost = carried(node, arrivals, cuts, ("q",))
    assert seen["q"] == by_the_book(arrivals[0], left)
    assert seen["q"].most <= limit
    assert len(left) + len(lost) == len(arrivals[0])


@drawn
@given(drawn=coming(inputs=2), limit=st.integers(1, 4))
def test_of_queues_before_a_scheduler(drawn, limit):
    arrivals, cuts = drawn
    queues = (Waiting("high", Buffer(limit, "packet")), Waiting("low", Buffer(3, "packet")))
    node = Node("top", Strict(("high", "low")), CLOCK, queues)
    seen, left, _ = carried(node, arrivals, cuts, ("high", "low"))
    assert seen == {
        "high": by_the_book(arrivals[0], left),
        "low": by_the_book(arrivals[1], left),
    }


def test_a_queue_that_is_starved_keeps_nothing_of_what_it_loses():
    """However much is lost, only what waits is kept."""
    queues = (Waiting("high", None), Waiting("low", Buffer(1, "packet")))
    node = Node("top", Strict(("high", "low")), CLOCK, queues)
    service = occupancy._Service(("high", "low"), CLOCK)
    state = node.element.start(Setting(CONNECTIONS, Draws(("s",)), CLOCK, queues))
    for round_ps in range(0, 100_000, 1_000):
        high = batch([(round_ps + 20 * n, 2 * (round_ps + n), 0, 20) for n in range(50)])
        low = batch([(round_ps + 20 * n, 2 * (round_ps + n) + 1, 1, 20) for n in range(50)])
        step = node.element.process(state, (high, low), round_ps + 1_000)
        service.served((high, low), step)
    assert sum(held.count for held in service._pending) <= 4


def test_nothing_is_watched_that_nobody_asks_for():
    watched = Occupancies(Watch(0, 10, ()))
    node = Node("q", Fifo(Buffer(1, "packet")), CLOCK)
    process = node.element.process
    assert watched.watching(process, node) == process
