"""A scheduler item by item, by itself: what it answers, by numbers that are known by hand."""

from fractions import Fraction

import numpy as np
import pytest
from connected import connected
from definition import kernels_as_python

from qospec.catalogue.kinds import Buffer
from qospec.dropping.threshold import Threshold
from qospec.elements.drr import Drr
from qospec.elements.strict import Strict
from qospec.elements.wfq import Wfq
from qospec.engine.element import Setting
from qospec.engine.event import transition as events
from qospec.engine.items import totals
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.scheduler import transition
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import set_marks

MEGABYTE = Clock(Fraction(8 * 10**6), slotted=False)
"""A byte takes 1 us."""
US = 10**6
POOL = 200
WORDS = {
    totals.LEFT: "left",
    totals.LOST: "lost",
    events.WAITED: "waited",
    events.ALARM: "alarm",
}


class Alone:
    """A scheduler by itself; its answers are tuples, without the alarm."""

    def __init__(self, element, *queue, clock=MEGABYTE):
        queues = tuple(Waiting(name, *(queue or (None,))) for name in element.inputs)
        connections = connected((Contract("packets", Fraction(1), 0),))
        setting = Setting(*connections, Draws(("test",)), clock, queues, watched=True)
        self.transition = element.build_transition(setting)
        self.memory, self.names = self.transition.state, element.inputs
        self.items = np.zeros((POOL, events.MORE + events.USUAL), np.int64)
        self.items[1:, events.NEXT] = range(2, POOL + 1)
        self.items[0, [events.FREE, events.SPARE]] = 1, POOL - 1
        self.out = np.zeros((events.SAID_OF_ITEM * POOL, 4), np.int64)
        self.code, self.alarm_ps = events.DONE, None

    def arrive(self, name, now_ps, size_bytes=100, marks=0):
        """Let an item arrive; return its number, and the answers."""
        item = int(events.acquire(self.items, 0, size_bytes, marks, 0))
        port = self.names.index(name)
        self.out[0, 0] = 0
        event = item, port, now_ps, self.out
        self.code = self.transition.arrive(self.memory, self.items, *event)
        if self.code in {transition.NO_DRAWS, transition.NO_SLOT}:
            self.memory = self.transition.replenish(self.memory, self.code)
            self.code = self.transition.arrive(self.memory, self.items, *event)
        return item, self._answers()

    def wake(self):
        """Let the alarm go off in its time; return the answers."""
        now_ps, self.alarm_ps, self.out[0, 0] = self.alarm_ps, None, 0
        self.code = self.transition.wake(self.memory, self.items, now_ps, self.out)
        return self._answers()

    def run(self):
        """Let alarms go off while any is set; return who leaves or is lost, and when it leaves."""
        found = []
        while self.alarm_ps is not None:
            found += [event for event in self.wake() if event[0] != "waited"]
        return found

    def _answers(self):
        assert self.out[0, 0] < len(self.out)
        found = []
        for what, *rest in self.out[1 : 1 + self.out[0, 0]].tolist():
            if what == events.ALARM:
                self.alarm_ps = rest[2]
            else:
                found.append((WORDS[what], *(rest[:2] if what == totals.LOST else rest)))
        return found


@pytest.fixture
def alone():
    """Return the maker of schedulers by themselves, whose kernels run as Python."""
    with kernels_as_python():
        yield Alone


def test_an_item_that_is_sent_at_once_has_not_waited(alone):
    line = alone(Strict(("a", "b")))
    item, answers = line.arrive("b", 5)
    assert (answers, line.alarm_ps) == ([], 5)
    assert line.wake() == [("left", 0, item, 5 + 100 * US)]
    waits, _ = line.arrive("b", 6)
    assert line.wake() == [
        ("waited", 1, 6, 5 + 100 * US),
        ("left", 0, waits, 5 + 200 * US),
    ]


def test_the_first_line_of_a_flow_writes_when_the_first_bit_was_sent(alone):
    """Behind the preamble of its frame."""
    frames = Encapsulation(preamble_bytes=8)
    framed = Clock(Fraction(8 * 10**6), slotted=False, stamps=True, encapsulation=frames)
    line = alone(Strict(("a", "b")), clock=framed)
    item, _ = line.arrive("a", 5)
    line.wake()
    assert line.items[item, events.SENT] == 5 + 8 * US


def test_of_those_that_come_at_once_to_queues_without_room_one_is_sent(alone):
    """The first queue is not the one that is served, and its packet leaves nothing behind."""
    line = alone(Wfq((("a", Fraction(1)), ("b", Fraction(3)))), Buffer(100, "byte"))
    lost, _ = line.arrive("a", 0, 101)
    first, _ = line.arrive("b", 0)
    assert line.wake() == [("left", 0, first, 100 * US), ("lost", 0, lost)]
    second, _ = line.arrive("a", 1 * US, 100)
    assert line.run() == [("left", 0, second, 200 * US)]
    third, _ = line.arrive("a", 300 * US, 101)
    assert line.run() == [("left", 0, third, 401 * US)]


def test_many_queues_without_room_lose_what_came_at_once(alone):
    names = tuple(f"q{number}" for number in range(100))
    line = alone(Strict(names), Buffer(0, "packet"))
    items = [line.arrive(name, 0)[0] for name in names]
    lost = [("lost", number * transition.KINDS_OF_LOSS, item) for number, item in enumerate(items)]
    assert line.run() == [("left", 0, items[0], 100 * US), *lost[1:]]
    again, _ = line.arrive("q9", 200 * US)
    assert line.run() == [("left", 0, again, 300 * US)]


THRESHOLD = Threshold("dscp", (("46", Buffer(1, "packet")), ("10", Buffer(0, "packet"))))


@pytest.mark.parametrize(("dscp", "lost"), [(46, False), (10, True), (0, False)])
def test_one_that_comes_beside_another_needs_the_room_of_its_class(alone, dscp, lost):
    line = alone(Strict(("a", "b")), Buffer(1, "packet"), THRESHOLD)
    first, _ = line.arrive("a", 0)
    second, _ = line.arrive("b", 0, marks=set_marks(dscp=dscp))
    threshold = transition.KINDS_OF_LOSS + transition.THRESHOLD - transition.OVERFLOW
    fate = ("lost", threshold, second) if lost else ("left", 0, second, 200 * US)
    assert line.run() == [("left", 0, first, 100 * US), fate]


def test_an_idle_line_has_nothing_to_end(alone):
    shares = (("a", Fraction(1)), ("b", Fraction(1)))
    line = alone(Drr(shares, quantum=100), Buffer(1, "packet"))
    line.arrive("b", 0)
    line.run()
    second, _ = line.arrive("b", 200 * US)
    assert line.wake() == [("left", 0, second, 300 * US)]
    third, _ = line.arrive("b", 201 * US)
    fourth, _ = line.arrive("a", 202 * US)  # whose turn it is
    assert line.run() == [("left", 0, fourth, 400 * US), ("left", 0, third, 500 * US)]


def test_virtual_times_are_made_small_after_so_many_arrivals(alone):
    line = alone(Wfq((("a", Fraction(1)), ("b", Fraction(3)))))
    line.memory[transition.SINCE_REBASE] = transition.REBASE_EVERY - 1
    line.arrive("a", 0)
    assert line.code == events.DONE
    line.arrive("a", 1)
    assert line.code == transition.NO_REBASE
