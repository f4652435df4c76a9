"""What the tests of elements share: batches, settings, and a way to carry cells in cut time."""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from connected import connected
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer, Load
from qospec.engine.element import Setting
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.items.batch import (
    COLUMNS,
    FOREVER_PS,
    Batch,
    build_batch,
    join_batches,
    make_empty,
)
from qospec.engine.items.contract import Contract
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.protocol.marks import MARKS
from qospec.protocol.streams import KindName
from qospec.units import PS_PER_S

CBR = Contract("cbr", Fraction(1_000), 0)
MOST_BY_EVENTS = 5_000
"""More items would take long where kernels run as Python."""


class Outcome(NamedTuple):
    """What became of all cells.

    Attributes:
        departures: By output.
        lost: Of each: cause, element, connection and `sent_ps`.
        waits: When each that waited came, and until when it did; if the setting asks for it.
        services: When the element began to work on each, and when it ended; likewise.
    """

    departures: tuple[Batch, ...]
    lost: list[tuple[str, str, int, int]]
    waits: list[tuple[int, int]]
    services: list[tuple[int, int]]

    def rows(self) -> tuple[list[Any], ...]:
        """Return all as rows, where their order says nothing in order."""
        left = [
            [column.tolist() for column in departure.widen(len(COLUMNS))]
            for departure in self.departures
        ]
        return left, sorted(self.lost), sorted(self.waits), sorted(self.services)


class Lab:
    """Where an element is tried."""

    @staticmethod
    def cells(at_ps: Sequence[int], **columns: Any) -> Batch:
        """Return a batch; a cell is known by its `sent_ps`, which is its number unless given."""
        count = len(at_ps)

        def column(name: str, usual: Any, dtype: Any) -> Any:
            return np.broadcast_to(np.array(columns.get(name, usual), dtype), count).copy()

        return build_batch(
            at_ps=np.array(at_ps, np.int64),
            sent_ps=column("sent_ps", range(count), np.int64),
            connection=column("connection", 0, np.int32),
            size_bytes=column("size_bytes", 53, np.int32),
            marks=column("marks", 0, np.uint32),
        )

    @staticmethod
    def inputs(packets: Sequence[Sequence[tuple[int, int, int]]]) -> list[Batch]:
        """Return a batch for each input, of packets given as (at, size, number)."""
        columns = [tuple(zip(*some, strict=True)) or ((), (), ()) for some in packets]
        return [Lab.cells(at, size_bytes=size, sent_ps=name) for at, size, name in columns]

    @staticmethod
    def setting(
        *,
        clock: Clock | None = None,
        contracts: Sequence[Contract] = (CBR,),
        inserted: Sequence[KindName] = ("oam",),
        **more: Any,
    ) -> Setting:
        """Return what an element finds."""
        return Setting(*connected(contracts, inserted), Draws(("test",)), clock, **more)

    @staticmethod
    def carry(
        element: Any,
        setting: Setting,
        *batches: Batch,
        cuts: Sequence[int] = (),
        by_events: bool | None = None,
    ) -> Outcome:
        """Carry cells through an element, in one piece or cut at some times.

        If it can, and they are not too many, it does so by events, too, with the same outcome.
        """
        if by_events is not None:
            return Lab._carry(element, setting, batches, cuts, by_events=by_events)
        found = Lab._carry(element, setting, batches, cuts)
        in_batches = element.process is not None or element.answers_at_once
        both = in_batches and element.build_transition is not None
        if both and sum(batch.count for batch in batches) <= MOST_BY_EVENTS:
            again = Lab._carry(element, setting, batches, cuts, by_events=True)
            assert again.rows() == found.rows()
        return found

    @staticmethod
    def _carry(
        element: Any,
        setting: Setting,
        batches: Sequence[Batch],
        cuts: Sequence[int],
        *,
        by_events: bool = False,
    ) -> Outcome:
        process = (
            EventProcess(element, setting).process if by_events else build_process(element, setting)
        )
        departures = [make_empty() for _ in element.outputs]
        lost, waits, services = [], [], []
        done = [0] * len(batches)
        for until_ps in (*sorted(cuts), FOREVER_PS):
            stops = [int(batch.at_ps.searchsorted(until_ps)) for batch in batches]
            now = tuple(b.select_range(i, j) for b, i, j in zip(batches, done, stops, strict=True))
            step = process(now, until_ps)
            departures = [
                join_batches(a, b) for a, b in zip(departures, step.departures, strict=True)
            ]
            for loss in step.losses:
                for connection, sent_ps in zip(
                    loss.batch.connection, loss.batch.sent_ps, strict=True
                ):
                    lost.append((loss.cause, loss.element, int(connection), int(sent_ps)))
            for path, times in (step.waits or {}).items():
                assert path in ("", *(queue.element for queue in setting.queues))
                waits += zip(*(column.tolist() for column in times), strict=True)
            if step.services is not None:
                services += zip(*(times.tolist() for times in step.services), strict=True)
            done = stops
        return Outcome(tuple(departures), lost, waits, services)


@pytest.fixture(scope="session")
def lab() -> Lab:
    """Return the place where elements are tried."""
    return Lab()


@pytest.fixture
def two_vcs(lab: Lab) -> Setting:
    """Return what an element finds in a trial of two VCs."""
    return lab.setting(contracts=(CBR, CBR))


# ---- schedulers against their books

STM1 = Fraction(149_760_000)
SLOT_PS = 2_831_196
LARGEST = 1_500

Cell = tuple[int, int, int]
"""When it comes, its size, and its number."""


class Scheduling(NamedTuple):
    """What a scheduler is tried with: how the line sends, its queues' limits, who comes, cuts."""

    clock: Clock
    limits: list[Buffer | None]
    inputs: list[list[Cell]]
    cuts: list[int]


@st.composite
def scheduling(draw: st.DrawFn, inputs: int, *, unlimited: bool = False) -> Scheduling:
    """Draw busy periods and idle ones, ties, sizes alike and not, small queues and large ones."""
    slotted = not unlimited and draw(st.booleans())
    sizes = [53] if slotted else draw(st.sampled_from([[53], [53, 64, 400, LARGEST]]))
    usual = [0, 0, 1, SLOT_PS - 1, SLOT_PS, 3 * SLOT_PS, 80 * SLOT_PS]
    gaps = st.one_of(st.sampled_from(usual), st.integers(0, 6 * SLOT_PS))
    found: list[list[Cell]] = []
    for _ in range(inputs):
        first = sum(map(len, found))
        at_ps = np.cumsum(draw(st.lists(gaps, max_size=20))).tolist()
        found.append([(t, draw(st.sampled_from(sizes)), first + n) for n, t in enumerate(at_ps)])
    buffers = st.one_of(
        st.none(),
        st.builds(Buffer, st.sampled_from([1, 2, 5]), st.just("cell")),
        st.builds(Buffer, st.sampled_from([LARGEST, 4_000]), st.just("byte")),
    )
    limits = [None if unlimited else draw(buffers) for _ in range(inputs)]
    cuts = draw(st.lists(st.integers(0, 60 * SLOT_PS), max_size=4))
    return Scheduling(Clock(STM1, slotted), limits, found, cuts)


class Book:
    """A line and its queues, one event after the other, in exact fractions.

    Its policy is told `arrived(k, cell, now)` and `sent(k, cell, end)`, and is asked `choose()`
    whenever the line is free; it finds what waits in `queues` and answers None if nothing does.
    """

    def __init__(self, policy: Any, case: Scheduling) -> None:
        self.clock, self.limits = case.clock, case.limits
        self.coming = [list(cells) for cells in case.inputs]
        self.queues: list[list[Cell]] = [[] for _ in case.inputs]
        self.left: list[tuple[int, int]] = []
        self.lost: list[tuple[int, int]] = []
        self.slot, self.free = 0, Fraction(0)
        self.policy = policy
        policy.queues, policy.clock = self.queues, case.clock
        self._run()

    def _run(self) -> None:
        while True:
            for _, k in sorted((cell[0], k) for k, come in enumerate(self.coming) for cell in come):
                if self.coming[k][0][0] < math.floor(self.free):
                    self._let_in(k)
            for k, queue in enumerate(self.queues):
                if not queue and self.coming[k] and self.coming[k][0][0] == math.floor(self.free):
                    self._let_in(k)
            k = self.policy.choose()
            if k is not None:
                self._send(k)
            elif any(self.coming):
                self._wait(min(cells[0][0] for cells in self.coming if cells))
            else:
                return

    def _let_in(self, k: int) -> None:
        cell, limit = self.coming[k].pop(0), self.limits[k]
        bytes_ = limit is not None and limit.unit == "byte"
        taken = sum(item[1] if bytes_ else 1 for item in (*self.queues[k], cell))
        if limit is not None and taken > limit.amount:
            self.lost.append((k, cell[2]))
        else:
            self.queues[k].append(cell)
            self.policy.arrived(k, cell, cell[0])

    def _send(self, k: int) -> None:
        cell = self.queues[k].pop(0)
        self.slot += 1
        ends = self.slot * self.clock.slot_ps
        later = self.free + cell[1] * self.clock.byte_time_ps
        self.free = Fraction(math.floor(ends)) if self.clock.slotted else later
        self.left.append((math.floor(self.free), cell[2]))
        self.policy.sent(k, cell, self.free)

    def _wait(self, until_ps: int) -> None:
        self.slot = max(self.slot, math.ceil(until_ps / self.clock.slot_ps))
        if self.clock.slotted and math.floor((self.slot - 1) * self.clock.slot_ps) >= until_ps:
            self.slot -= 1
        starts = math.floor(self.slot * self.clock.slot_ps)
        self.free = Fraction(starts if self.clock.slotted else until_ps)


class Rounds:
    """Visit one queue after the other, and send from each until its number is used up."""

    queues: list[list[Cell]]

    def __init__(self, numbers: Sequence[int], cost: Callable[[int], int]) -> None:
        self._visits = self._visit(numbers, cost)

    def _visit(self, numbers: Sequence[int], cost: Callable[[int], int]) -> Iterator[int | None]:
        while True:
            for k, number in enumerate(numbers):
                while not any(self.queues):
                    yield None
                sent = 0
                while sent < number and self.queues[k]:
                    sent += cost(self.queues[k][0][1])
                    yield k

    def choose(self) -> int | None:
        return next(self._visits)

    def arrived(self, k: int, cell: Cell, now: int) -> None:
        pass

    def sent(self, k: int, cell: Cell, end: Fraction) -> None:
        pass


class Schedulers:
    """Where a scheduler is compared with its book."""

    case = staticmethod(scheduling)
    book = staticmethod(Book)
    rounds = staticmethod(Rounds)

    @staticmethod
    def carried(element: Any, case: Scheduling) -> tuple[list[Any], list[Any]]:
        """Return when each cell leaves with its number, and the queue and number of who is lost."""
        queues = tuple(Waiting(f"q{k}", limit) for k, limit in enumerate(case.limits))
        setting = Lab.setting(clock=case.clock, queues=queues)
        got = Lab.carry(element, setting, *Lab.inputs(case.inputs), cuts=case.cuts)
        (left,) = got.departures
        lost = sorted((int(path[1:]), name) for _, path, _, name in got.lost)
        return list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)), lost

    def agree(self, element: Any, policy: Any, case: Scheduling) -> None:
        """Hold an element to its book."""
        book = Book(policy, case)
        left, lost = self.carried(element, case)
        assert left == book.left
        assert lost == sorted(book.lost)


@pytest.fixture(scope="session")
def schedulers() -> Schedulers:
    """Return the place where schedulers are compared with their books."""
    return Schedulers()


# ---- meters against their books

LONGEST_PS = 2**62 // 2
GREEN, YELLOW, RED = range(3)


class Bucket:
    """Tokens of bytes that come at a rate, up to a size; full at first.

    Times are rounded down to whole ps: a packet may have come at the very end of one.
    """

    def __init__(self, rate: Load, size: Buffer) -> None:
        self.rate, self.size = rate.amount / 8 / PS_PER_S, size.amount
        self.tokens = Fraction(size.amount)

    def add(self, tokens: Fraction) -> Fraction:
        """Add tokens, and return those that are too many."""
        over = max(self.tokens + tokens - self.size, Fraction(0))
        self.tokens += tokens - over
        return over

    def covers(self, size: int) -> bool:
        """Return whether there are tokens for a packet before this ps ends."""
        return self.tokens + self.rate > size


class Said(NamedTuple):
    """What an author said of a meter besides its buckets.

    Attributes:
        outcomes: What becomes of packets of a colour, "mark" or "drop".
        aware: Whether the colour of an arriving packet counts.
    """

    outcomes: dict[int, str]
    aware: bool = False


class Meters:
    """Where a meter is compared with its book, which is told `passed(ps)` and asked `colour`.

    What becomes of a colour follows from what was said, and is never asked of the meter.
    """

    said = Said

    bucket = Bucket
    colours = MARKS["colour"]
    rates = st.one_of(
        st.sampled_from([Fraction(8), Fraction(8_000), Fraction(12 * 10**6), Fraction(8 * 10**12)]),
        st.sampled_from([Fraction(10**8, 3), Fraction(49_999_999), Fraction(10**9, 7)]),
        st.fractions(8, 10**10, max_denominator=10**3),
    )
    bursts = st.sampled_from([0, 1, 40, 1_500, 3_000, 65_535])
    outcomes = st.sampled_from(["mark", "drop"])

    def three(self, draw: st.DrawFn) -> tuple[dict[str, Any], Said]:
        """Draw what all meters of three colours have: as fields, and as it is to be read.

        Yellow exceeds and red violates. Source: RFC 2697, 1, and the names of its bursts.
        """
        exceed, violate, aware = draw(self.outcomes), draw(self.outcomes), draw(st.booleans())
        fields = {"aware": aware, "exceed": exceed, "violate": violate}
        return fields, Said({GREEN: "mark", YELLOW: exceed, RED: violate}, aware)

    @staticmethod
    def coming(draw: st.DrawFn, meter: Any) -> list[tuple[int, int, int]]:
        """Draw time, size and colour of packets: about when their tokens are there."""
        packets, now = [], 0
        for _ in range(draw(st.integers(0, 25))):
            size = draw(st.sampled_from([1, 40, 576, 1_500, 65_535]))
            time = int(size * 8 * PS_PER_S // meter.committed_information_rate.amount)
            usual = st.sampled_from([0, 0, 1, time, time + 1, max(time - 1, 0)])
            now += draw(usual | st.integers(0, 2 * time))
            if now < LONGEST_PS:
                packets.append((now, size, draw(st.integers(0, 2))))
        return packets

    def agree(self, draw: st.DrawFn, meter: Any, book: Any, said: Said) -> None:
        """Hold a meter to its book, in time that is cut; it changes nothing but the colour."""
        packets, last, kept, lost = self.coming(draw, meter), 0, [], []
        for number, (t, size, came) in enumerate(packets):
            book.passed(t - last)
            last, colour = t, book.colour(size, came if said.aware else GREEN)
            (kept if said.outcomes[colour] == "mark" else lost).append((number, colour))
        cuts = draw(st.lists(st.sampled_from([t for t, _, _ in packets] or [0]), max_size=4))
        others = MARKS["dscp"].put(0, 46)
        columns = {"size_bytes": [size for _, size, _ in packets]}
        columns["marks"] = [self.colours.put(others, came) for _, _, came in packets]
        batch = Lab.cells([t for t, _, _ in packets], **columns)
        setting = Lab.setting()
        got = Lab.carry(meter, setting, batch, cuts=cuts)
        (left,) = got.departures
        marks = [self.colours.put(others, colour) for _, colour in kept]
        assert left.sent_ps.tolist() == [number for number, _ in kept]
        assert left.marks.tolist() == marks
        assert left.at_ps.tolist() == [packets[number][0] for number, _ in kept]
        assert sorted((n, cause) for cause, *_, n in got.lost) == [(n, "policed") for n, _ in lost]
        for number, (_, _, came) in enumerate(packets):
            least = came if said.aware else GREEN  # worse or alike, never better
            may = [
                c
                for c, actions in sorted(said.outcomes.items())
                if c >= least and actions == "mark"
            ]
            expected = tuple(self.colours.put(others, colour) for colour in may)
            arriving = batch.marks.item(number)
            assert meter.predict_marks(arriving, setting.contracts[0]) == expected
            assert dict(kept).get(number, least) >= least

    def vector(self, meter: Any) -> str:
        """Return the colours of the vector: 4 x 1500 bytes, 2 at 1 s, 2 at 3 s, and one of 500.

        In place of who is lost is a dot.
        """
        at_ps = [t * PS_PER_S for t in (0, 0, 0, 0, 1, 1, 3, 3, 3)]
        batch = Lab.cells(at_ps, size_bytes=[1_500] * 8 + [500])
        (left,) = Lab.carry(meter, Lab.setting(), batch).departures
        colours = map(self.colours.read, left.marks.tolist())
        found = dict(zip(left.sent_ps.tolist(), colours, strict=True))
        return "".join("GYR"[found[n]] if n in found else "." for n in range(batch.count))


@pytest.fixture(scope="session")
def meters() -> Meters:
    """Return the place where meters are compared with their books."""
    return Meters()
