"""Elements that are run event by event: their wiring, and what passes in and out.

The elements of a component work together from their transitions. Arrivals from outside come as
batches, one for each wire that leads in; what leaves, is lost or is to be seen goes out as batches,
each for one outlet.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.element import BrokenPromiseError
from qospec.engine.event import drive as events
from qospec.engine.event.counting import Counting, Outlet, count_nothing
from qospec.engine.event.places import DUE_PS, PLACE, Places, schedule
from qospec.engine.event.transition import (
    DONE,
    FREE,
    MORE,
    MOST_MADE,
    NEXT,
    NO_ITEMS,
    SAID_OF_ITEM,
    SPARE,
    USUAL,
)
from qospec.engine.items.batch import (
    FOREVER_PS,
    Batch,
    TooLateError,
    allocate_batch,
    join_batches,
    make_empty,
)
from qospec.engine.items.totals import (
    CAME,
    CONSUMED,
    ENTRIES,
    GREW,
    ITEMS,
    LEFT,
    LOST,
    MADE,
    UNITS,
    Totals,
)
from qospec.engine.kernel import build_function_table, build_state_table, is_compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from qospec.engine.arrays import Whole
    from qospec.engine.event.counting import Counters
    from qospec.engine.event.transition import Transition
    from qospec.protocol.streams import Streams

OUTBOX_ROWS = 1 << 15
POOL_ROWS = 1 << 10
"""At first; doubled as needed."""
MOST_EVENTS, MOST_EVENTS_OF_PYTHON = 1 << 22, 1 << 16
"""Events after which Python looks whether anything goes on, of compiled kernels and of others."""
MOST_ITEMS = 1 << 23
"""Items under way at once, in 512 MB."""
ROUNDS = 1_000
"""Events that each item inside may have on average while no more go for good than are made."""

LEAVES, SEEN, MAKES, RESIZES, CONSUMES, LOSES, WAITS, TELLS = (
    "leaves",
    "seen",
    "makes",
    "resizes",
    "consumes",
    "loses",
    "waits",
    "tells",
)
"""What goes out by an outlet: items that leave by an output, items that leave by one and stay
within, items that an element made, resized or consumed, lost items, waiting times, and samples."""
ENTERED_AS = {LEAVES: LEFT, MAKES: MADE, RESIZES: GREW, CONSUMES: CONSUMED, LOSES: LOST}
"""The entry of an account that counts what goes out by an outlet."""
FEWER = {LEAVES: 1, CONSUMES: 1, LOSES: 1, MAKES: -1}
"""By how many an item that goes out there lessens those inside."""


class Member(NamedTuple):
    """One element of a component.

    Attributes:
        transition: How it answers.
        inputs: Per input, what leads there in order: an element of the component and its output, or
            None for what comes from outside.
        outputs: The number of its outputs.
        path: Its path, for messages.
        seen: Whether what leaves it for an input within the component is to be seen.
    """

    transition: Transition
    inputs: tuple[tuple[tuple[int, int] | None, ...], ...]
    outputs: int
    path: str
    seen: bool = False


BROKEN = {
    events.TOO_MANY_ANSWERS: "answers too much at once, or makes items without asking for them",
    events.DISORDER: "sends an item that overtakes another",
    events.PAST: "acts in the past",
    events.NO_WAKE: "sets an alarm, and has no `wake`",
    events.UNSTATED: "names a cause of loss or a queue that it does not state",
    events.NOT_AT_ONCE: "does not say of an item on arrival what becomes of it",
}
"""What breaks the contract of transitions, by the code of the event loop."""


class EndlessError(ValueError):
    """Items that go round, or wait, for ever.

    Attributes:
        paths: The nodes among which they do.
    """

    def __init__(self, items: int, paths: tuple[str, ...]) -> None:
        those = f"the cycle through {', '.join(paths)}" if len(paths) > 1 else f"`{paths[0]}`"
        super().__init__(f"{items} items never leave {those}: lead them on, or discard them there")
        self.paths = paths


class CrowdedError(ValueError):
    """More items are under way at once than memory should hold.

    Attributes:
        path: The node that has made most of them, if any has, or one among which they are.
    """

    def __init__(self, items: int, path: str) -> None:
        super().__init__(
            f"{items:_} items are under way at once, most of them from `{path}`: they come faster"
            " than they can leave"
        )
        self.path = path


class Component:
    """Elements at work.

    Attributes:
        outlets: By number, what goes out there.
    """

    def __init__(
        self,
        members: Sequence[Member],
        order: Sequence[int],
        streams: Streams,
        stop_ps: int = 0,
        counting: Counting | None = None,
    ) -> None:
        """Begin a trial.

        Args:
            members: The elements.
            order: Their numbers, each before those that it feeds without delay.
            streams: Of the trial.
            stop_ps: The end of the trial, from which on no element begins anything by itself.
            counting: What is only counted; by default nothing.
        """
        self._stop_ps, self._counting = stop_ps, counting or count_nothing()
        self._paths = tuple(member.path for member in members)
        self._transitions = [member.transition for member in members]
        self._states = [transition.state for transition in self._transitions]
        for path, state in zip(self._paths, self._states, strict=True):
            _verify(path, state)
        self.outlets: list[Outlet] = []
        found = list(_list_places(members, order))
        self._outside = [
            place for place, (_, port, origin) in enumerate(found) if port >= 0 and not origin
        ]
        self._totals, self._kinds = Totals(streams), len(streams.kinds)
        self._wiring = self._build_wiring(members, found, streams.count)
        self._places = _build_empty_places(found)
        columns = max(transition.columns for transition in self._transitions)
        within = max(USUAL, columns, *(transition.within for transition in self._transitions))
        sums = len(self._wiring.to) * self._kinds, len(self.outlets) * self._kinds
        self._working = _build_working(sums, within, columns, self._counting.counters)
        self._counted = np.flatnonzero(self._wiring.counted).tolist()
        self._entries = np.array([self._totals.allocate_entries() for _ in members])
        self._elements = self._build_tables(found)
        for number, transition in enumerate(self._transitions):
            if transition.first_alarm_ps is not None:
                alarm = int(self._wiring.alarms[number])
                schedule(self._places, alarm, transition.first_alarm_ps)

    def _find_outlet(self, what: str, element: int, number: int) -> int:
        self.outlets.append(Outlet(what, element, number))
        return len(self.outlets) - 1

    def _build_wiring(
        self, members: Sequence[Member], found: Sequence[Place], connections: int
    ) -> events.Wiring:
        leads_to = {origin: place for place, (_, _, origin) in enumerate(found) if origin}
        to: list[int] = []
        seen: list[int] = []
        first, ends, waits, tells = [0], [], [], []
        for number, member in enumerate(members):
            for output in range(member.outputs):
                inside = leads_to.get((number, output))
                to.append(
                    -1 - self._find_outlet(LEAVES, number, output) if inside is None else inside
                )
                watched = member.seen and inside is not None
                seen.append(self._find_outlet(SEEN, number, output) if watched else -1)
            first.append(len(to))
            transition = member.transition
            losses = len(self.outlets)
            for cause in range(len(transition.losses)):
                self._find_outlet(LOSES, number, cause)
            waits.append(len(self.outlets) if transition.queues else -1)
            for queue in range(len(transition.queues)):
                self._find_outlet(WAITS, number, queue)
            tells.append(len(self.outlets))
            for quantity in range(len(transition.quantities)):
                self._find_outlet(TELLS, number, quantity)
            outlets = {LOST: losses}
            for what in (MAKES, RESIZES, CONSUMES):
                outlets[ENTERED_AS[what]] = self._find_outlet(what, number, 0)
            ends.append([outlets.get(entry, -1) for entry in range(ENTRIES)])
        alarms = {
            number: place
            for place, (number, port, _) in enumerate(found)
            if port == events.ALARM_PORT
        }
        columns = (
            first,
            to,
            seen,
            [alarms.get(n, -1) for n in range(len(members))],
            ends,
            waits,
            tells,
            [[len(one.losses), len(one.queues), len(one.quantities)] for one in self._transitions],
            [self._counting.is_counted(outlet) for outlet in self.outlets],
        )
        return events.Wiring(
            connections, self._kinds, *(np.array(column, np.int64) for column in columns)
        )

    def _build_tables(self, found: Sequence[Place]) -> tuple[Any, Any, Any]:
        at_places = [self._transitions[number] for number, _, _ in found]
        self._compiled = is_compiled(events.drive)
        return (
            build_function_table(
                [place.arrive for place in at_places], "arrive", compiled=self._compiled
            ),
            build_function_table(
                [place.wake for place in at_places], "wake", compiled=self._compiled
            ),
            build_state_table(self._states, compiled=self._compiled),
        )

    @property
    def inside(self) -> int:
        """Return how many items are under way or held."""
        items = self._working.items
        return len(items) - 1 - int(items[0, SPARE])

    def list_reports(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of each element that reports, and what is observed of it."""
        for number, transition in enumerate(self._transitions):
            if transition.report is not None:
                yield number, transition.report(self._states[number])

    @property
    def ledger(self) -> Whole:
        """Return (elements, ENTRIES, kinds, 2) what became of the items of each."""
        entries, shape = self._entries.copy(), (-1, self._kinds, len(UNITS))
        to, outputs = self._wiring.to, np.diff(self._wiring.outputs)
        owners, inside = np.repeat(np.arange(len(outputs)), outputs), to >= 0
        passed = self._working.passed.reshape(shape)[inside]
        np.add.at(entries[:, LEFT], owners[inside], passed)
        np.add.at(entries[:, CAME], self._places.node[to[inside]], passed)
        return entries

    def advance(
        self, arrivals: Sequence[Batch], until_ps: int, deliver: Callable[[int, Batch], None]
    ) -> None:
        """Run all events before a time.

        Args:
            arrivals: What comes from outside before then, a batch for each wire that leads in.
            until_ps: The time.
            deliver: Called with the number of an outlet, and what goes out there, in order, as new
                columns. For what waited, `at_ps` and `sent_ps` are when it came and began; for what
                grew, `sent_ps` is by how many bytes, for what is told the value.

        Raises:
            EndlessError: The trial is over or time stands still, and items go round for ever.
            CrowdedError: More than MOST_ITEMS are under way.
            TooLateError: Something would happen after more than 50 days.
            BrokenPromiseError: An element breaks the contract of transitions.
        """
        feed = self._feed_arrivals(arrivals)
        self._run(feed, until_ps, deliver)
        if until_ps == FOREVER_PS and self.inside:
            raise EndlessError(self.inside, self._paths)

    def _run(self, feed: Batch, until_ps: int, deliver: Callable[[int, Batch], None]) -> None:
        """Run all events before a time."""
        report, now_ps, idle, gone = self._working.report, -1, 0, 0
        most = MOST_EVENTS if self._compiled else MOST_EVENTS_OF_PYTHON
        limits = (until_ps, most)
        report[events.EVENTS] = 0
        while True:
            with self._blame_next():
                code = events.drive(
                    self._places, self._wiring, feed, self._elements, self._working, limits
                )
            gone += self._deliver(deliver) + self._settle()
            if code == events.IDLE:
                return
            if code == events.POOL:
                self._enlarge_pool()
            elif code == events.PYTHON:
                with self._blame_next():
                    self._answer(feed)
            elif code == events.REPLENISH:
                self._replenish(int(report[events.NODE]), int(report[events.REASON]))
            elif code == events.BUDGET:
                due_ps = int(self._places.due[1, DUE_PS])
                goes_on = gone > 0 or now_ps < due_ps < self._stop_ps
                idle = 0 if goes_on else idle + most
                if self.inside and idle > ROUNDS * self.inside:
                    raise EndlessError(self.inside, self._paths)
                if due_ps == now_ps and not self.inside:
                    raise BrokenPromiseError(self._paths[report[events.NODE]], "wakes without end")
                now_ps, gone, report[events.EVENTS] = due_ps, 0, 0
            elif code > events.REPLENISH:
                complain(code, self._paths[report[events.NODE]], int(report[events.REASON]))

    @contextmanager
    def _blame_next(self) -> Iterator[None]:
        """Say whose event is next if it uses what no array has; compiled kernels do not notice."""
        try:
            yield
        except IndexError as error:
            path = self._paths[self._places.node[self._places.due[1, PLACE]]]
            what = "uses a column that it does not state, or a row that its state has not"
            raise BrokenPromiseError(path, f"{what}: {error}") from error

    def _answer(self, feed: Batch) -> None:
        """Let an element answer the next event whose transition is Python's."""
        at_ps, place = self._places.due[1].tolist()
        element, port = int(self._places.node[place]), int(self._places.port[place])
        transition = self._transitions[element]
        reason = 1
        while reason != DONE:
            items, out, state = self._working.items, self._working.out, self._states[element]
            out[0, 0] = 0
            if port == events.ALARM_PORT:
                assert transition.wake is not None  # noqa: S101 -- or it had no alarm
                reason = transition.wake(state, items, at_ps, out)
            else:
                item = events.bring_first(self._places, place, feed, items)
                reason = transition.arrive(state, items, item, port, at_ps, out)
            if reason != DONE:
                self._replenish(element, reason)
        self._working.report[events.ANSWERED] = 1

    def _feed_arrivals(self, arrivals: Sequence[Batch]) -> Batch:
        start = 0
        for place, batch in zip(self._outside, arrivals, strict=True):
            self._entries[self._places.node[place], CAME] += self._totals.count(batch)
            self._places.fed[place] = start, start + batch.count
            start += batch.count
            if batch.count:
                schedule(self._places, place, int(batch.at_ps[0]))
        feed = join_batches(*arrivals) if arrivals else make_empty()
        items, outbox = self._working.items, self._working.outbox
        if feed.width > outbox.shape[1] - events.NOTED:
            items = _widen_rows(items, MORE + feed.width)
            outbox = _widen_rows(outbox, events.NOTED + feed.width)
            self._working = self._working._replace(items=items, outbox=outbox)
        return feed

    def _deliver(self, deliver: Callable[[int, Batch], None]) -> int:
        """Empty the outbox; return how many items have gone for good, less those that were made."""
        outbox = self._working.outbox
        count = int(outbox[0, 0])
        if not count:
            return 0
        stops = np.zeros(len(self.outlets) + 1, np.int64)
        ordered = allocate_batch(count, width=outbox.shape[1] - events.NOTED)
        events.put_in_order(outbox, stops, ordered)
        outbox[0, 0], start, gone = 0, 0, 0
        for number in np.flatnonzero(np.diff(stops[:-1], prepend=0)).tolist():
            stop, outlet = int(stops[number]), self.outlets[number]
            batch = ordered.select_range(start, stop).narrow()
            if outlet.what == RESIZES:
                before, after = map(self._totals.count, separate_resized(batch))
                self._entries[outlet.element, GREW] += after - before
            elif outlet.what in ENTERED_AS:
                self._entries[outlet.element, ENTERED_AS[outlet.what]] += self._totals.count(batch)
            deliver(number, batch)
            gone += FEWER.get(outlet.what, 0) * batch.count
            start = stop
        return gone

    def _settle(self) -> int:
        """Account for what the loop has counted; return what `_deliver` does."""
        sums, gone = self._working.sums.reshape(-1, self._kinds, len(UNITS)), 0
        # As after each answer of Python's; `any` takes thrice as long as to count.
        if not np.count_nonzero(sums):
            return 0
        for number in self._counted:
            outlet, totals = self.outlets[number], sums[number].copy()
            if totals.any():
                if outlet.what in ENTERED_AS:
                    self._entries[outlet.element, ENTERED_AS[outlet.what]] += totals
                gone += FEWER.get(outlet.what, 0) * int(totals[:, ITEMS].sum())
                self._counting.settle(outlet, totals)
        sums[:] = 0
        return gone

    def _enlarge_pool(self) -> None:
        if len(self._working.items) > MOST_ITEMS:
            maker = int(self.ledger[:, MADE, :, ITEMS].sum(axis=1).argmax())
            raise CrowdedError(self.inside, self._paths[maker])
        items, answers = _with_more_rows(self._working.items), self._working.out
        out = _build_empty_answer(items)
        said = answers[: 1 + int(answers[0, 0])]  # which Python may just have put there
        out[: len(said)] = said
        self._working = self._working._replace(items=items, out=out)

    def _replenish(self, element: int, reason: int) -> None:
        if reason == NO_ITEMS:
            self._enlarge_pool()
            return
        replenish = self._transitions[element].replenish
        if replenish is None:
            raise BrokenPromiseError(self._paths[element], "lacks something that it cannot get")
        self._set_state(element, replenish(self._states[element], reason))

    def _set_state(self, element: int, state: Whole) -> None:
        _verify(self._paths[element], state)
        self._states[element] = state
        (self._elements[2][element],) = build_state_table([state], compiled=self._compiled)


def complain(code: int, path: str, connection: int) -> None:
    """Raise the error of the element at a path; the connection is that of an item that it sent."""
    if code == events.MISROUTED:
        astray = f"an item of connection {connection} arrived where none was planned"
        raise ValueError(f"`{path}`: {astray}")
    if code == events.TOO_LATE:
        raise TooLateError(path)
    raise BrokenPromiseError(path, BROKEN[code])


def _verify(path: str, state: Whole) -> None:
    """Raise BrokenPromiseError if compiled code cannot read a state by its address."""
    if state.ndim != 1 or state.dtype != np.int64 or not state.flags.c_contiguous:
        raise BrokenPromiseError(path, "has a state that is no row of int64")


Place = tuple[int, int, tuple[int, int] | None]
"""The element; its input, or ALARM_PORT; which output leads there, None: none within."""


def _list_places(members: Sequence[Member], order: Sequence[int]) -> Iterator[Place]:
    """Yield all places, in their order."""
    for number in order:
        member = members[number]
        for port in member.transition.ports or range(len(member.inputs)):
            for origin in member.inputs[port]:
                yield number, port, origin
        if member.transition.wake is not None:
            yield number, events.ALARM_PORT, None


def _build_empty_places(found: Sequence[Place]) -> Places:
    """Return the places, with no event."""
    node, port = (np.array([place[k] for place in found], np.int64) for k in (0, 1))
    row, first, last = (np.zeros(len(found), np.int64) for _ in range(3))
    due, fed = np.zeros((len(found) + 1, 2), np.int64), np.zeros((len(found), 2), np.int64)
    return Places(due, row, first, last, node, port, fed)


def _build_working(
    sums: tuple[int, int], within: int, columns: int, counters: Counters
) -> events.Working:
    """Return the state at the beginning, with so many columns of items inside and as they leave.

    And so many sums of what passes within, and of what is counted.
    """
    pool = _with_more_rows(np.zeros((1, MORE + within), np.int64), POOL_ROWS)
    return events.Working(
        pool,
        _build_empty_answer(pool),
        np.zeros((OUTBOX_ROWS, events.NOTED + columns), np.int64),
        np.zeros(sums[0] * len(UNITS), np.int64),
        np.zeros(sums[1] * len(UNITS), np.int64),
        counters,
        np.zeros(4, np.int64),
    )


def _widen_rows(rows: Whole, width: int) -> Whole:
    """Return rows of at least so many columns, the new ones 0."""
    return np.pad(rows, ((0, 0), (0, max(0, width - rows.shape[1]))))


def _build_empty_answer(pool: Whole) -> Whole:
    """Return an empty answer, with room for all that may be said of the items of a pool."""
    return np.zeros((1 + MOST_MADE + SAID_OF_ITEM * len(pool), 4), np.int64)


def _with_more_rows(pool: Whole, rows: int = 0) -> Whole:
    """Return a pool with the same items, and twice the rows or as many as given."""
    before, count = len(pool), rows or 2 * len(pool)
    larger = np.zeros((count, pool.shape[1]), np.int64)
    larger[:before] = pool
    larger[before:, NEXT] = range(before + 1, count + 1)
    larger[-1, NEXT] = pool[0, FREE]
    larger[0, FREE] = before
    larger[0, SPARE] += count - before
    return larger


def separate_resized(after: Batch) -> tuple[Batch, Batch]:
    """Return what grew, as it goes out, before its size was changed and after."""
    before_bytes = after.size_bytes - after.sent_ps
    return after.with_sizes(before_bytes.astype(after.size_bytes.dtype)), after
