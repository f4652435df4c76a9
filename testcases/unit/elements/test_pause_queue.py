"""Pause frames: what stops, for how long, and what is told, against a program of plain events."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.pause_queue import PauseQueue
from qospec.engine.element import Told
from qospec.engine.event.process import EventProcess
from qospec.engine.items.batch import COLUMNS, FOREVER_PS
from qospec.engine.line.clock import Clock

NS = 1_000
LINE = Clock(Fraction(1_000_000_000), slotted=False)
"""It sends 125 bytes in a microsecond, and a quantum of 512 bit times lasts 512 ns."""
QUANTUM = 512 * NS
TOLD = Told(1, Fraction(1_000_000_000))
NUMBER, FLAGS = COLUMNS.index("number"), COLUMNS.index("flags")
PACKET_BYTES = 125
US = 1_000 * NS


class Seen(PauseQueue):
    """One whose frames can be read where they leave, which else only queues do."""

    def build_transition(self, setting):
        return super().build_transition(setting)._replace(columns=len(COLUMNS))


def frames(lab, told):
    """Return pause frames: of each when it comes, for how many quanta, and the priority or None."""
    batch = lab.cells([at for at, _, _ in told], size_bytes=46, connection=1)
    more = np.zeros((batch.count, len(COLUMNS)), np.int64)
    more[:, NUMBER] = [quanta for _, quanta, _ in told]
    more[:, FLAGS] = [0 if priority is None else 1 << priority for *_, priority in told]
    return batch._replace(more=more)


def carried(lab, queue, inputs, frames_at=(), *, unheard=False, stop_ps=10**9):
    """Return when each packet leaves, which are lost, what is told, when, and who waited."""
    served = {"clock": LINE}
    if queue.tells_by:
        served = {"clocks": (LINE, None), "told": None if unheard else TOLD, "stop_ps": stop_ps}
    setting = lab.setting(**served, watched=True)
    batches = [lab.cells(at, size_bytes=PACKET_BYTES, sent_ps=names) for names, at in inputs]
    heard = (frames(lab, frames_at),) if queue.hears_at else ()
    got = lab.carry(queue, setting, *batches, *heard)
    left, told = got.departures[0], []
    if queue.tells_by:
        said = got.departures[1].widen(len(COLUMNS))
        columns = said.at_ps, said.more[:, NUMBER], said.more[:, FLAGS]
        told = list(zip(*(column.tolist() for column in columns), strict=True))
    when = list(zip(left.sent_ps.tolist(), left.at_ps.tolist(), strict=True))
    return when, [number for *_, number in got.lost], told, got.waits


OBEYING = Seen(Buffer(100, "packet"))


def test_what_is_being_sent_goes_on_and_the_next_waits_for_the_quanta(lab):
    """Two packets at 0: one is sent until 1 us, and at 0.5 us it is told to stop for 10 quanta."""
    left, *_ = carried(lab, OBEYING, [((1, 2), (0, 0))], [(500 * NS, 10, None)])
    assert left == [(1, US), (2, 500 * NS + 10 * QUANTUM + US)]


def test_what_begins_in_the_ps_of_a_frame_is_not_stopped(lab):
    left, *_ = carried(lab, OBEYING, [((1, 2, 3), (0, 0, 0))], [(US, 10, None)])
    assert left == [(1, US), (2, 2 * US), (3, US + 10 * QUANTUM + US)]


def test_a_frame_replaces_the_one_before_and_one_of_zero_lets_go_on(lab):
    told = [(500 * NS, 100, None), (2 * US, 3, None)]
    assert carried(lab, OBEYING, [((1, 2), (0, 0))], told)[0][1] == (2, 2 * US + 3 * QUANTUM + US)
    told[1] = (2 * US, 0, None)
    assert carried(lab, OBEYING, [((1, 2), (0, 0))], told)[0][1] == (2, 3 * US)


def test_a_line_that_is_free_does_not_take_what_comes_while_it_is_stopped(lab):
    left, lost, _, waits = carried(lab, OBEYING, [((1,), (US,))], [(0, 10, None)])
    assert (left, lost) == ([(1, 10 * QUANTUM + US)], [])
    assert waits == [(US, 10 * QUANTUM)]


CLASSES = Seen(Buffer(2, "packet"), priorities=(("low", 3), ("high", 5)))


def test_a_frame_for_a_priority_stops_that_class_alone(lab):
    """The higher goes first; while it is stopped, the lower one does."""
    inputs = [((1, 2), (0, 0)), ((11, 12), (0, 0))]
    order = [number for number, _ in carried(lab, CLASSES, inputs)[0]]
    assert order == [1, 11, 12, 2]
    order = [number for number, _ in carried(lab, CLASSES, inputs, [(0, 9, 5)])[0]]
    assert order == [1, 2, 11, 12]
    order = [number for number, _ in carried(lab, CLASSES, inputs, [(0, 9, 4)])[0]]
    assert order == [1, 11, 12, 2]


def test_a_class_has_room_of_its_own(lab):
    inputs = [(range(1, 6), (0,) * 5), (range(11, 16), (0,) * 5)]
    assert sorted(carried(lab, CLASSES, inputs, [(0, 9, 5)])[1]) == [4, 5, 13, 14, 15]


def test_a_queue_without_classes_takes_no_notice_of_priorities(lab):
    left, *_ = carried(lab, OBEYING, [((1, 2), (0, 0))], [(500 * NS, 10, 5)])
    assert left == [(1, US), (2, 2 * US)]


def test_it_tells_at_a_level_again_at_half_of_the_time_and_below_another(lab):
    """Twelve at 0: one is sent, the fourth that waits is one too many, and 11 do at the end.

    The line sends one in a microsecond, so fewer than three wait from 9 us on. Eight quanta are
    4.096 us, of which half is 2.048.
    """
    queue = Seen(Buffer(20, "packet"), xoff=Buffer(4, "packet"), xon=Buffer(3, "packet"), quanta=8)
    left, lost, told, _ = carried(lab, queue, [(range(12), (0,) * 12)])
    assert (len(left), lost) == (12, [])
    again = 4 * QUANTUM
    assert told == [
        *((turn * again, 8, 0) for turn in range(5)),
        (9 * US, 0, 0),
    ]


def test_after_the_end_it_tells_for_as_long_as_something_goes(lab):
    """As in the test before, with an end at 1 us: a packet goes each microsecond."""
    queue = Seen(Buffer(20, "packet"), xoff=Buffer(4, "packet"), xon=Buffer(3, "packet"), quanta=8)
    told = carried(lab, queue, [(range(12), (0,) * 12)], stop_ps=US)[2]
    assert told == [*((turn * 4 * QUANTUM, 8, 0) for turn in range(5)), (9 * US, 0, 0)]


@pytest.mark.parametrize(("quanta", "times"), [(20_000, 257), (1_000, 391)])
def test_after_the_end_one_that_is_stopped_itself_tells_for_long(lab, quanta, times):
    """It is told to stop each 30 ms, for 65,535 quanta of 512 ns, and tells in vain.

    It sends a packet until 1 us, the end. 256 times half of 20,000 quanta are 1.3 s; of 1,000 they
    are 66 ms, and 100 ms are 390.6 times.
    """
    queue = Seen(Buffer(20, "packet"), obeys=True, xoff=Buffer(4, "packet"), quanta=quanta)
    stopped = [(turn * 30_000 * US, 65_535, None) for turn in range(50)]
    told = carried(lab, queue, [(range(5), (0,) * 5)], stopped, stop_ps=US)[2]
    repeated = [at for at, quanta, _ in told if quanta]
    assert repeated[:times] == [turn * quanta // 2 * QUANTUM for turn in range(times)]
    assert len(repeated) == times


def count_standing(lab, told_for_ms):
    """Return how many packets stood still of one that is told to stop each 30 ms for so long."""
    queue = Seen(Buffer(20, "packet"), obeys=True, xoff=Buffer(4, "packet"), quanta=1_000)
    setting = lab.setting(clocks=(LINE, None), told=TOLD, stop_ps=US)
    stopped = [(at_ms * 1_000 * US, 65_535, None) for at_ms in range(0, told_for_ms, 30)]
    events = EventProcess(queue, setting)
    inputs = lab.cells((0,) * 5, size_bytes=PACKET_BYTES), frames(lab, stopped)
    events.process(inputs, FOREVER_PS)
    ((_, found),) = events._component.list_reports()
    return found.waiting


def test_one_that_stood_still_says_how_many_waited(lab):
    """Five come, one is sent. A frame stops for 33.6 ms, and from 100 ms on nothing is told."""
    assert count_standing(lab, told_for_ms=60) == 0
    assert count_standing(lab, told_for_ms=120) == 4


def test_nothing_is_told_where_nobody_hears(lab):
    queue = Seen(Buffer(20, "packet"), xoff=Buffer(4, "packet"))
    assert carried(lab, queue, [(range(12), (0,) * 12)], unheard=True)[2] == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"obeys": False}, "neither stops nor tells"),
        ({"xoff": Buffer(21, "packet")}, "so much never waits"),
        ({"xoff": Buffer(1_500, "byte")}, "the limit counts packets"),
        ({"xoff": Buffer(4, "packet"), "xon": Buffer(5, "packet")}, "it is above `xoff`"),
        ({"xon": Buffer(5, "packet")}, "nobody was told to stop"),
        ({"priorities": (("a", 3), ("b", 3))}, "two classes have the same"),
        ({"priorities": (("heard", 3),)}, "is the input for pause frames"),
    ],
)
def test_what_cannot_be_is_refused(fields, said):
    with pytest.raises(ValueError, match=said):
        Seen(Buffer(20, "packet"), **fields)


# ---- against plain events


class Case(NamedTuple):
    """What comes: packets by class, and frames; and where the queue tells."""

    arrivals: list[list[int]]
    told: list[tuple[int, int, int | None]]
    limit: int
    levels: tuple[int, int] | None


@st.composite
def cases(draw):
    gaps = st.sampled_from([0, 1, 400 * NS, US, US, 2 * US, 9 * US])
    classes = draw(st.integers(1, 2))
    arrivals = [np.cumsum(draw(st.lists(gaps, max_size=25))).tolist() for _ in range(classes)]
    number = st.sampled_from([0, 1, 2, 7, 40])
    priority = st.sampled_from([None] if classes == 1 else [None, 3, 5])
    at_ps = np.cumsum(draw(st.lists(gaps, max_size=6))).tolist()
    told = [(at, draw(number), draw(priority)) for at in at_ps]
    levels = draw(st.none() | st.sampled_from([(1, 1), (3, 1), (4, 4)]))
    return Case(arrivals, told, draw(st.sampled_from([4, 6, 100])), levels)


class Imagined:
    """The queue, by a list of all that happens, one thing after the other.

    Within a ps: first what begins as the line is free, then arrivals of the classes in order, then
    frames; each is followed by what can begin then, and by what is to be told.
    """

    def __init__(self, case):
        self.case = case
        self.classes = [3, 5] if len(case.arrivals) == 2 else [None]
        self.waiting = [[] for _ in self.classes]
        self.stopped, self.again = [0] * len(self.classes), [None] * len(self.classes)
        self.free, self.left, self.lost, self.said = 0, [], [], []
        arrivals = enumerate(case.arrivals)
        self.coming = sorted(
            [(at, 0, k, 100 * k + n) for k, come in arrivals for n, at in enumerate(come)]
            + [(at, 1, n, None) for n, (at, _, _) in enumerate(case.told)]
        )
        while times := self.list_times():
            now = min(times)
            self.begin(now)
            if self.coming and self.coming[0][0] == now:
                self.take(now, *self.coming.pop(0)[1:])
            self.begin(now)
            self.tell(now)

    def list_times(self):
        waits = [k for k, some in enumerate(self.waiting) if some]
        times = [max(self.free, self.stopped[k]) for k in waits]
        times += [again for again in self.again if again is not None]
        return times + [at for at, *_ in self.coming[:1]]

    def begin(self, now):
        ready = [k for k, some in enumerate(self.waiting) if some and self.stopped[k] <= now]
        if self.free <= now and ready:
            self.left.append((self.waiting[ready[-1]].pop(0), now))
            self.free = now + US

    def take(self, now, is_frame, k, number):
        if is_frame:
            _, quanta, priority = self.case.told[k]
            for place, own in enumerate(self.classes):
                if priority in (None, own):
                    self.stopped[place] = now + quanta * QUANTUM
        elif max(self.free, self.stopped[k]) > now and len(self.waiting[k]) >= self.case.limit:
            self.lost.append(number)
        else:
            self.waiting[k].append(number)

    def tell(self, now):
        for k, priority in enumerate(self.classes if self.case.levels else ()):
            (high, low), flags = self.case.levels, 1 << priority if priority else 0
            held, again = len(self.waiting[k]), self.again[k]
            if again is not None and held < low:
                self.again[k] = None
                self.said.append((now, 0, flags))
            elif held >= high if again is None else again <= now:
                self.again[k] = now + 4 * QUANTUM
                self.said.append((now, 8, flags))


@given(case=cases())
def test_it_does_what_the_events_say(lab, case):
    priorities = (("low", 3), ("high", 5)) if len(case.arrivals) == 2 else None
    levels = {}
    if case.levels:
        xoff, xon = (Buffer(level, "packet") for level in case.levels)
        levels = {"xoff": xoff, "xon": xon, "quanta": 8}
    queue = Seen(Buffer(case.limit, "packet"), obeys=True, priorities=priorities, **levels)
    inputs = [([100 * k + n for n in range(len(at))], at) for k, at in enumerate(case.arrivals)]
    left, lost, said, _ = carried(lab, queue, inputs, case.told)
    expected = Imagined(case)
    later = 0 if queue.tells_by else US  # a line of its own, or one that stays behind it
    assert left == [(number, at + later) for number, at in expected.left]
    assert sorted(lost) == sorted(expected.lost)
    assert said == expected.said
