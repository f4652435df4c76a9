"""What the tests of drop policies share: a queue as the books have it, with a policy's words."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from connected import connected
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.engine.element import Setting
from qospec.engine.items.batch import FOREVER_PS, Batch, build_batch, join_batches, make_empty
from qospec.engine.items.contract import Contract
from qospec.engine.items.piece import MORE_FOLLOW, note_piece
from qospec.engine.line.clock import Clock
from qospec.engine.random import Draws
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.marks import ALL

RATE = Fraction(100_000_000)
ETHERNET = Encapsulation(8, 18, 64, 12)
LINE = Clock(RATE, slotted=False, encapsulation=ETHERNET)
CELLS = Clock(Fraction(149_760_000), slotted=True)
DRAWS = Draws(("test",))
CERTAIN = 2**30
CONTRACT = Contract("cbr", Fraction(1_000), 0)
CONNECTIONS = (0, 1, 2)


NO_FRAME, MORE, LAST = "no frame", "more", "last"
"""What a cell is of a frame."""
NOT_ECT, ECT1, ECT0, CE = (codepoint << 23 for codepoint in range(4))
"""Marks with each codepoint of ECN, as RFC 3168, 5, numbers them."""
MARKED = "marked"
"""In place of a cause: let in, with CE."""


class Came(NamedTuple):
    """Who comes: when, how large, and with which marks; on which connection, in which frame."""

    at_ps: int
    size: int
    marks: int
    connection: int = 0
    frame: str = NO_FRAME


class Traffic(NamedTuple):
    """Who comes, over which line, and where time is cut."""

    clock: Clock
    items: list[Came]
    cuts: list[int]


class Average:
    """The average as it is defined: 20 binary places, rounded down at each step."""

    def __init__(self, weight: Fraction, typical_ps: int) -> None:
        self.value = Fraction(0)
        self.weight, self.typical_ps, self.since_ps = weight, typical_ps, 0

    def follow(self, waiting: int, at_ps: int) -> None:
        if waiting == 0 and at_ps > self.since_ps:
            idle = (at_ps - self.since_ps) // self.typical_ps
            for n in range(idle.bit_length()):
                if idle >> n & 1:
                    self.value = floored(self.value * self.power(n), 20)
        self.value = floored(self.value + (waiting - self.value) * self.weight, 20)

    def power(self, n: int) -> Fraction:
        power = 1 - self.weight
        for _ in range(n):
            power = floored(power * power, 62)
        return floored(power, 30)


class Curve:
    """The probability of an early drop, in 30 binary places, and who was let in since the last."""

    def __init__(
        self, low: int, high: int, p: Fraction, *, gentle: bool, is_spaced: bool = True
    ) -> None:
        self.low, self.high, self.p, self.gentle = low, high, floored(p, 30), gentle
        self.is_spaced = is_spaced
        self.count = 0

    def drops(self, average: Fraction, draw: int) -> bool:
        if average < self.low:
            self.count = 0
            return False
        likely = self.likely(average)
        early = likely is None or Fraction(draw, CERTAIN) * (1 - self.count * likely) < likely
        return early or self.count * (likely or 0) >= 1

    def likely(self, average: Fraction) -> Fraction | None:
        if average < self.high:
            return floored(self.p * (average - self.low) / (self.high - self.low), 30)
        if self.gentle and average < 2 * self.high:
            return self.p + floored((1 - self.p) * (average - self.high) / self.high, 30)
        return None


class Frames:
    """Early packet discard from `at` on, partial packet discard, or both, by connection."""

    def __init__(self, at: int | None = None, *, partial: bool = False) -> None:
        self.at, self.partial = at, partial
        self.begun: dict[int, str] = {}

    def cause(self, came: Came, waiting: int) -> str:
        if came.frame == NO_FRAME:
            return ""
        if came.connection not in self.begun:
            starts_late = self.at is not None and waiting >= self.at
            return "early_packet_discard" if starts_late else ""
        dropped = self.begun[came.connection]
        is_kept = came.frame == LAST and dropped == "partial_packet_discard"
        return "" if is_kept else dropped

    def note(self, came: Came, cause: str) -> None:
        if came.frame == LAST:
            self.begun.pop(came.connection, None)
        elif came.frame == MORE:
            dropped = self.begun.setdefault(came.connection, "")
            if cause == "early_packet_discard":
                self.begun[came.connection] = cause
            elif cause and not dropped and self.partial:
                self.begun[came.connection] = "partial_packet_discard"


class Rules(NamedTuple):
    """What a policy is, by the book: a threshold and a curve for some values of a mark; frames."""

    mark: str
    rooms: Mapping[int, int]
    curves: Mapping[int, Curve]
    average: Average | None
    frames: Frames = Frames()
    ecn: bool = False
    congested: Mapping[int, int] = {}

    def cause(
        self, came: Came, limit: Buffer, waiting: int, draw: int, *, waits: bool, ahead: int
    ) -> str:
        """Return for what somebody is lost who finds so much waiting; "" and MARKED: let in.

        `ahead` are all who wait for the line.

        RFC 3168, 5: who would be dropped early, while there is room, is marked if capable of it.
        """
        value = ALL[self.mark].read(came.marks) if self.mark else 0
        amount = came.size if limit.unit == "byte" else 1
        if self.average is not None:
            self.average.follow(waiting, came.at_ps)
        curve, cause = self.curves.get(value), self.frames.cause(came, waiting)
        is_early = not cause and curve is not None and curve.drops(self.average.value, draw)
        is_marked = is_early and self.ecn and came.marks & CE != NOT_ECT
        if cause:
            pass
        elif is_early and not is_marked:
            cause = "early"
        elif waits and waiting + amount > limit.amount:
            cause = "overflow"
        elif (waits and waiting + amount > self.rooms.get(value, limit.amount)) or (
            ahead >= self.congested.get(value, ahead + 1)
        ):
            cause = "threshold"
        elif is_marked:
            cause = MARKED
        if curve is not None and self.average.value >= curve.low:
            curve.count = curve.count + 1 if curve.is_spaced and not cause else 0
        self.frames.note(came, "" if cause == MARKED else cause)
        return cause

    def outgrown(self, came: Came, limit: Buffer) -> str:
        """Return for what somebody is lost who was let in to be sent at once, and was not."""
        value = ALL[self.mark].read(came.marks) if self.mark else 0
        amount = came.size if limit.unit == "byte" else 1
        if amount <= min(limit.amount, self.rooms.get(value, limit.amount)):
            return ""
        if value in self.curves:
            self.curves[value].count = 0
        self.frames.note(came, "overflow")
        return "overflow" if amount > limit.amount else "threshold"

    def sent(self, until_ps: Fraction) -> None:
        """Take note until when the last was sent."""
        if self.average is not None:
            self.average.since_ps = math.floor(until_ps)


class Sending:
    """A line, and when it is free."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.free, self.slot = clock, Fraction(0), 0

    def begins(self, at_ps: int) -> Fraction:
        """Return when somebody who comes then would begin."""
        if not self.clock.slotted:
            return max(Fraction(at_ps), self.free)
        self.slot = max(self.slot, math.ceil(at_ps / self.clock.slot_ps))
        return Fraction(math.floor(self.slot * self.clock.slot_ps))

    def send(self, at_ps: int, size: int) -> int:
        """Send somebody; return when the last bit is there."""
        if self.clock.slotted:
            self.slot += 1
            self.free = Fraction(math.floor(self.slot * self.clock.slot_ps))
        else:
            framed = self.clock.encapsulation
            self.free = self.begins(at_ps) + framed.count_line_bytes(size) * self.clock.byte_time_ps
        return math.floor(self.free) + self.clock.arrival_ps


def floored(number: Fraction, places: int) -> Fraction:
    return Fraction(math.floor(number * 2**places), 2**places)


def by_the_book(traffic: Traffic, limit: Buffer, rules: Rules) -> tuple[dict, list]:
    """Return (departure and marks by number, (cause, number) of the lost)."""
    line, draws = Sending(traffic.clock), drawn(len(traffic.items), "drop", "")
    waiting, left, lost = [], {}, []
    for number, came in enumerate(traffic.items):
        waiting = [
            (begins, amount) for begins, amount in waiting if math.floor(begins) > came.at_ps
        ]
        before, begins = sum(amount for _, amount in waiting), line.begins(came.at_ps)
        waits = math.floor(begins) > came.at_ps
        draw, ahead = draws[number], len(waiting)
        cause = rules.cause(came, limit, before, draw, waits=waits, ahead=ahead)
        if cause not in ("", MARKED):
            lost.append((cause, number))
            continue
        if waits:
            waiting.append((begins, came.size if limit.unit == "byte" else 1))
        left[number] = line.send(came.at_ps, came.size), came.marks | CE * (cause == MARKED)
        rules.sent(line.free)
    return left, lost


def drawn(count: int, *names: str) -> Sequence[int]:
    stream = DRAWS.derive(*names).open_stream()
    blocks = [stream.integers(0, CERTAIN, 4_096, np.int32) for _ in range(count // 4_096 + 1)]
    return np.concatenate(blocks)[:count].tolist()


@st.composite
def traffic(
    draw: st.DrawFn,
    marks: Sequence[int] = (0,),
    clock: Clock = LINE,
    frames: Sequence[str] = (NO_FRAME,),
) -> Traffic:
    """Draw busy periods and idle ones, ties, and sizes alike or not."""
    sizes = [53] if clock.slotted else draw(st.sampled_from([[500], [40, 500, 1_500]]))
    time_ps = math.floor(clock.slot_ps) if clock.slotted else 43_040_000
    gaps = st.one_of(
        st.sampled_from([0, 1, time_ps, time_ps + 1, 10**9, 10**13]),
        st.integers(0, 2 * time_ps),
    )
    at_ps = np.cumsum(draw(st.lists(gaps, min_size=1, max_size=60)), dtype=np.int64).tolist()
    rest = (sizes, marks, CONNECTIONS, frames)
    items = [Came(t, *(draw(st.sampled_from(values)) for values in rest)) for t in at_ps]
    cuts = draw(st.lists(st.integers(0, at_ps[-1] + 1), max_size=4))
    return Traffic(clock, items, sorted(cuts))


@st.composite
def long_traffic(
    draw: st.DrawFn, marks: Sequence[int], clock: Clock, frames: Sequence[str] = (NO_FRAME,)
) -> Traffic:
    """Draw bursts and pauses from a seed: long enough for an average to rise and fall."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    time_ps, count = math.floor(clock.slot_ps) if clock.slotted else 43_040_000, 60
    gaps = np.array([0, 0, 0, 0, 1, time_ps // 2, time_ps, 2 * time_ps, 9 * time_ps])
    at_ps = random.choice(gaps, count).cumsum().tolist()
    sizes = random.choice([53] if clock.slotted else [40, 500, 1_500], count).tolist()
    rest = (random.choice(values, count).tolist() for values in (marks, CONNECTIONS, frames))
    items = [Came(*facts) for facts in zip(at_ps, sizes, *rest, strict=True)]
    return Traffic(clock, items, sorted(draw(st.lists(st.integers(0, at_ps[-1] + 1), max_size=4))))


def batch_of(items: Sequence[Came], first: int = 0) -> Batch:
    """Return items as a batch; `sent_ps` is the number of each, from `first` on."""
    at_ps, sizes, marks, connections, frames = zip(*items, strict=True)
    batch = build_batch(
        at_ps=np.array(at_ps, np.int64),
        sent_ps=np.arange(first, first + len(items)),
        connection=np.array(connections, np.int32),
        size_bytes=np.array(sizes, np.int32),
        marks=np.array(marks, np.uint32),
    )
    noted = {NO_FRAME: 0, MORE: note_piece(1, 1, MORE_FOLLOW), LAST: note_piece(1, 2, 0)}
    if set(frames) == {NO_FRAME}:
        return batch
    return batch.with_column("frame", np.array([noted[frame] for frame in frames]))


limits = st.one_of(
    st.builds(Buffer, st.integers(1, 12), st.just("packet")),
    st.builds(Buffer, st.integers(1, 9_000), st.just("byte")),
)


class Bench:
    """Where a policy is compared with its book."""

    traffic = staticmethod(traffic)
    long_traffic = staticmethod(long_traffic)
    limits = limits
    batch_of = staticmethod(batch_of)
    average = Average
    curve = Curve
    rules = Rules
    frames = Frames
    no_frame, more, last = NO_FRAME, MORE, LAST
    codepoints, congested, marked = (NOT_ECT, ECT1, ECT0, CE), CE, MARKED
    of_frames = (NO_FRAME, MORE, MORE, MORE, LAST)
    came = Came
    sending = Sending
    drawn = staticmethod(drawn)
    line = LINE
    cells = CELLS
    clocks = st.sampled_from([LINE, CELLS])

    @staticmethod
    def typical_ps(clock: Clock, size: int) -> int:
        """Return the time of a typical packet, or of a cell, in whole ps."""
        return (
            math.floor(clock.slot_ps) if clock.slotted else ETHERNET.count_line_bytes(size) * 80_000
        )

    @staticmethod
    def packets(amount: int) -> Buffer:
        return Buffer(amount, "packet")

    @staticmethod
    def all_at_once(marks: Sequence[int]) -> Traffic:
        """Return packets of 500 bytes with these marks."""
        return Traffic(LINE, [Came(0, 500, mark) for mark in marks], [])

    @staticmethod
    def sending_of(items: list[Came]) -> Traffic:
        """Return cells before a line with slots."""
        return Traffic(CELLS, items, [])

    def lost(self, limit: Buffer, policy: Any, marks: Sequence[int]) -> list:
        """Return (cause, number) of the lost among some that come at once."""
        _, lost = self.carry(self.all_at_once(marks), limit, policy)
        return sorted(lost, key=lambda pair: pair[1])

    @staticmethod
    def carry(traffic: Traffic, limit: Buffer, policy: Any) -> tuple[dict, list]:
        """Return (departure and marks by number, (cause, number) of the lost)."""
        batch = batch_of(traffic.items)
        fifo = Fifo(limit, policy)
        connections = connected((CONTRACT,) * len(CONNECTIONS))
        state = fifo.start(Setting(*connections, DRAWS, traffic.clock))
        done, left, lost = 0, make_empty(), []
        for until_ps in (*traffic.cuts, FOREVER_PS):
            stop = int(batch.at_ps.searchsorted(until_ps))
            step = fifo.process(state, (batch.select_range(done, stop),), until_ps)
            left, done = join_batches(left, *step.departures), stop
            for loss in step.losses:
                lost += [(loss.cause, name) for name in loss.batch.sent_ps.tolist()]
        there = zip(left.at_ps.tolist(), left.marks.tolist(), strict=True)
        return dict(zip(left.sent_ps.tolist(), there, strict=True)), lost

    def agree(self, traffic: Traffic, limit: Buffer, policy: Any, rules: Rules) -> None:
        """Hold a policy to its book."""
        left, lost = self.carry(traffic, limit, policy)
        book_left, book_lost = by_the_book(traffic, limit, rules)
        assert left == book_left
        assert sorted(lost, key=lambda pair: pair[1]) == book_lost


@pytest.fixture(scope="session")
def bench() -> Bench:
    """Return the place where policies are tried."""
    return Bench()
