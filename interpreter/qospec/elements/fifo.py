"""A queue: first in, first out, up to a limit."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, NamedTuple

from qospec.catalogue.kinds import Domain, Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import (
    DONE,
    MARKS,
    SENT,
    SIZE,
    Transition,
    lose,
    send,
    waited,
)
from qospec.engine.kernel import kernel, linked, rows
from qospec.engine.line import tail_drop, transmission
from qospec.engine.line.transmission import (
    DENOMINATOR,
    FREE,
    LEAD,
    LEAP,
    PART,
    PROPAGATION,
    SLOT,
    SLOT_PART,
    SLOTTED,
    STAMPS,
    after,
    next_slot,
    service_time,
    start_of,
    transmit,
)
from qospec.engine.queue import admission, drop_policy
from qospec.engine.queue.admission import (
    ADMITTED,
    OVERFLOW,
    SINCE,
    admit,
    admit_by_limit,
    table_in,
)
from qospec.engine.queue.drop_policy import DropPolicy, Waiting
from qospec.engine.queue.losses import losses_of

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer, Carried
    from qospec.engine.arrays import Sizes, Whole
    from qospec.engine.element import Loss, Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock
    from qospec.engine.line.tail_drop import Outcome
    from qospec.engine.queue.admission import AdmissionTable
    from qospec.engine.queue.drop_policy import DropState

HEAD, TAIL, WAITING = 0, 1, 2
PLACES = 256
"""The initial size of the ring; a power of two, doubled as needed."""

Drop = Annotated[DropPolicy | None, Domain("dropping")]


class Queue(NamedTuple):
    """The waiting items, where sizes differ or a drop policy needs them.

    Attributes:
        marks: HEAD and TAIL, the numbers of the first item and after the last; WAITING, the amount.
        ring: (places, 2) When each item stops waiting, and its amount.
    """

    marks: Whole
    ring: Whole


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        line: The line that is fed; see `engine.line.transmission`.
        known_bytes: The one size of all cells, or 0.
        owns_times: Whether departures may be written over arrivals.
        size_bytes: The size of all items so far; 0 before the first.
        drop_state: The state of the drop policy.
        queue: Once sizes differ, or with a policy; before, the queue follows from the line alone.
    """

    line: Whole
    known_bytes: int
    owns_times: bool
    drop_state: DropState
    size_bytes: int = 0
    queue: Queue | None = None


@element(source="RFC 3290, 7.1.1 (FIFO queue) and 7.1.3 (tail drop)", duty="queue")
@dataclass(frozen=True)
class Fifo(Element):
    """Queue cells or packets for the line, first come, first served; drop what finds no room.

    The limit counts what waits, not what is being sent. An item that begins in the same ps in which
    another arrives has made room for it; one that can begin on arrival needs none.

    Not modelled: buffer space that is shared with other queues.
    """

    limit: Limit
    """How much may wait: cells, packets or bytes."""
    drop: Drop = None
    """What is dropped before the queue is full; by default nothing: `tail`."""

    causes = admission.CAUSES[OVERFLOW:]

    def __post_init__(self) -> None:
        if self.drop is not None:
            drop_policy.verify(self.drop, self.limit)

    @property
    def discards_for(self) -> tuple[str, ...]:
        return drop_policy.causes(self.drop, self.limit)

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def drop_policy(self) -> DropPolicy | None:
        return self.drop

    @property
    def accepts(self) -> tuple[Carried, ...]:
        bearer = None if self.drop is None else self.drop.carries
        return tuple(each for each in super().accepts if bearer in (None, each))

    def lookahead_ps(self, clock: Clock | None) -> int:
        return transmission.lookahead_ps(clock)

    def start(self, setting: Setting) -> State:
        line = transmission.line_of(setting.clock)
        assert setting.clock is not None  # noqa: S101 -- or there were no line
        queue = Waiting("", self.limit, self.drop)
        drop_state = drop_policy.initial_drop_state([queue], setting.draws, setting.clock)
        state = State(line, setting.size_bytes, setting.owns_times, drop_state)
        if drop_state.selective:
            state.queue = self._queue_of(state, 0)
        return state

    def transition(self, setting: Setting) -> Transition:
        (queue,) = setting.queues or (Waiting("", self.limit, self.drop),)
        assert setting.clock is not None  # noqa: S101 -- or there were no line
        drop_state = drop_policy.initial_drop_state((queue,), setting.draws, setting.clock)
        return Transition(
            _initial_state(transmission.line_of(setting.clock), drop_state, self.limit),
            _arrive_by_policy if drop_state.selective else _arrive,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=functools.partial(_replenish, drop_state),
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        losses: tuple[Loss, ...] = ()
        if batch.count:
            batch, losses = self._queued(state, batch)
        return Step((batch,), (transmission.watermark_ps(state.line, until_ps),), losses)

    def _queued(self, state: State, batch: Batch) -> tuple[Batch, tuple[Loss, ...]]:
        size_bytes = int(batch.size_bytes[0])
        if state.queue is None and size_bytes == (state.size_bytes or size_bytes):
            done = tail_drop.send_through(
                state.line,
                batch,
                self.limit,
                size_bytes=state.known_bytes,
                owns_times=state.owns_times,
            )
            if done is not None:
                state.size_bytes = size_bytes
                return done[0], losses_of(done[1].connection, done[1].sent_ps)
        if state.queue is None:
            state.queue = self._queue_of(state, int(batch.at_ps[0]))
        return self._queued_by_size(state, state.queue, batch)

    def _queue_of(self, state: State, at_ps: int) -> Queue:
        """Return the queue at `at_ps`, with items of one size so far."""
        if not state.size_bytes:
            return Queue(np.zeros(3, np.int64), np.zeros((PLACES, 2), np.int64))
        starts_ps = tail_drop.pending_starts_ps(state.line, state.size_bytes, at_ps)
        amount = state.size_bytes if self.limit.unit == "byte" else 1
        ring = np.zeros((max(PLACES, 1 << len(starts_ps).bit_length()), 2), np.int64)
        ring[: len(starts_ps), 0] = starts_ps
        ring[: len(starts_ps), 1] = amount
        return Queue(np.array([0, len(starts_ps), len(starts_ps) * amount], np.int64), ring)

    def _queued_by_size(
        self, state: State, queue: Queue, batch: Batch
    ) -> tuple[Batch, tuple[Loss, ...]]:
        sizes = batch.size_bytes
        transmission.check_load(state.line, batch, int(sizes.min()), int(sizes.max()))
        outcome = tail_drop.new_outcome(state.line, batch.count)
        in_bytes, draws = self.limit.unit == "byte", state.drop_state.draws[0].take(batch.count)
        done = count = 0
        while True:
            carried = (state.line, *queue, state.drop_state.table)
            loop = _queue if state.drop_state.selective else _queue_by_limit
            done, more = loop(batch, done, carried, (in_bytes, draws), outcome)
            count += more
            if done == batch.count:
                left, lost = tail_drop.split_by_loss(batch, outcome, count)
                cause_codes = outcome.lost[outcome.lost != ADMITTED]
                return left, losses_of(lost.connection, lost.sent_ps, cause_codes)
            state.queue = queue = _with_more_places(queue)


def _with_more_places(queue: Queue) -> Queue:
    places = len(queue.ring)
    ring = np.zeros((2 * places, 2), np.int64)
    numbers = np.arange(queue.marks[HEAD], queue.marks[TAIL])
    ring[numbers % len(ring)] = queue.ring[numbers % places]
    return queue._replace(ring=ring)


@kernel
def _queue(
    batch: Batch,
    first: int,
    state: tuple[Whole, Whole, Whole, AdmissionTable],
    options: tuple[bool, Sizes],
    outcome: Outcome,
) -> tuple[int, int]:
    """Admit items from number `first` on, until all are done or the ring is full.

    Args:
        batch: n items.
        first: Number of the first.
        state: The line, the marks and ring of the queue, and its admission table; updated.
        options: Whether the limit counts bytes; (n,) random numbers.
        outcome: (n,) Written; `lost` is ADMITTED or the cause of the loss.

    Returns:
        The number of the next item, and the number of items lost.
    """
    at_ps, sent_ps, sizes, item_marks = batch.at_ps, batch.sent_ps, batch.size_bytes, batch.marks
    line, marks, ring, table = state
    in_bytes, draws = options
    lost, left_ps, began_ps = outcome
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    propagation = line[PROPAGATION]
    slotted, stamps = line[SLOTTED] != 0, len(began_ps) > 0
    slot = (line[SLOT], line[SLOT_PART])
    pace = (slot[0], slot[1], denominator, line[LEAP])
    head, tail, waiting = marks[HEAD], marks[TAIL], marks[WAITING]
    mask, dropped, i = len(ring) - 1, 0, first
    while i < len(at_ps) and tail - head <= mask:
        while head < tail and ring[head & mask, 0] <= at_ps[i]:
            waiting -= ring[head & mask, 1]
            head += 1
        if at_ps[i] > free and slotted:
            free, part = next_slot(pace, free, part, at_ps[i])
        elif at_ps[i] > free:
            free, part = at_ps[i], 0
        begun = free + (part > 0 and not slotted)
        amount = sizes[i] if in_bytes else 1
        item = (item_marks[i], amount, at_ps[i])
        decision = admit(table, 0, item, waiting, begun > at_ps[i], draws[i])
        lost[i] = decision
        dropped += decision != ADMITTED
        if stamps:
            began_ps[i] = sent_ps[i] if decision != ADMITTED else free + line[LEAD]
        if decision == ADMITTED:
            if begun > at_ps[i]:
                ring[tail & mask, 0], ring[tail & mask, 1] = begun, amount
                tail += 1
                waiting += amount
            time = service_time(line, sizes[i]) if not slotted else slot
            free, part = after(free, part, time, denominator)
            table.queues[0, SINCE] = free
        left_ps[i] = free + propagation
        i += 1
    line[FREE], line[PART] = free, part
    marks[HEAD], marks[TAIL], marks[WAITING] = head, tail, waiting
    return i, dropped


_queue_by_limit = linked(_queue, "by_limit", {"admit": admit_by_limit})


# ---- item by item

LIMIT, IN_BYTES, FIRST, LAST, HELD, DRAWN, TABLE, DRAWS, RING = range(transmission.FIELDS, 25)
"""Behind the fields of the line: how much may wait, and whether that counts bytes; the numbers of
the first item that waits and of that after the last, and their amount; how many random numbers are
used up; where the admission table, the random numbers and the ring begin."""
NO_PLACES, NO_DRAWS = 1, 2
"""What may be lacking."""
BEGINS, AMOUNT = 0, 1
"""The columns of the ring."""


def _initial_state(line: Whole, drop_state: DropState, limit: Buffer) -> Whole:
    table = admission.as_integers(drop_state.table) if drop_state.selective else np.zeros(0)
    draws = drop_state.draws[0].take(drop_policy.BLOCK if drop_state.selective else 0)
    start = RING + 1
    own = [limit.amount, limit.unit == "byte", 0, 0, 0, 0]
    own += [start, start + len(table), start + len(table) + len(draws)]
    return np.concatenate(
        [line, own, table, draws, np.zeros(2 * PLACES)], dtype=np.int64, casting="unsafe"
    )


def _replenish(drop_state: DropState, state: Whole, lacking: int) -> Whole:
    """Return the state with new random numbers, or with a ring of twice the places."""
    if lacking == NO_DRAWS:
        state[state[DRAWS] : state[RING]] = drop_state.draws[0].take(drop_policy.BLOCK)
        state[DRAWN] = 0
        return state
    before = state[state[RING] :].reshape(-1, 2)
    ring = np.zeros((2 * len(before), 2), np.int64)
    numbers = np.arange(state[FIRST], state[LAST])
    ring[numbers % len(ring)] = before[numbers % len(before)]
    return np.concatenate([state[: state[RING]], ring.ravel()])


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item, now or when the line is free, or lose it; see `engine.event.transition`."""
    places = (len(state) - state[RING]) // 2
    ring = rows(state, state[RING], places, 2)
    if state[LAST] - state[FIRST] == places:
        return NO_PLACES
    while state[FIRST] < state[LAST] and ring[state[FIRST] & places - 1, BEGINS] <= now_ps:
        state[HELD] -= ring[state[FIRST] & places - 1, AMOUNT]
        state[FIRST] += 1
    start = start_of(state, now_ps)
    waits, size_bytes = start[0] > now_ps, items[item, SIZE]
    amount = size_bytes if state[IN_BYTES] else 1
    decision = _decide(state, (items[item, MARKS], amount, now_ps), waits)
    if decision < ADMITTED:
        return NO_DRAWS
    if decision != ADMITTED:
        lose(out, decision - OVERFLOW, item)
        return DONE
    if waits:
        place = state[LAST] & places - 1
        ring[place, BEGINS], ring[place, AMOUNT] = start[0], amount
        state[LAST] += 1
        state[HELD] += amount
        waited(out, 0, now_ps, start[0])
    if state[STAMPS]:
        items[item, SENT] = start[0] + state[LEAD]
    send(out, 0, item, transmit(state, start, size_bytes))
    return DONE


@kernel
def _decide(state: Whole, arrival: tuple[int, int, int], waits: bool) -> int:  # noqa: FBT001
    """Return ADMITTED or OVERFLOW: there is no policy."""
    return OVERFLOW * (waits and state[HELD] + arrival[1] > state[LIMIT])


@kernel
def _decide_by_policy(state: Whole, arrival: tuple[int, int, int], waits: bool) -> int:  # noqa: FBT001
    """Return ADMITTED or the cause of the loss; a negative number if random numbers are lacking."""
    if state[DRAWN] == state[RING] - state[DRAWS]:
        return -1
    table = table_in(state, state[TABLE])
    table.queues[0, SINCE] = state[FREE]
    state[DRAWN] += 1
    draw = state[state[DRAWS] + state[DRAWN] - 1]
    return admit(table, 0, arrival, state[HELD], waits, draw)


_arrive_by_policy = linked(_arrive, "by_policy", {"_decide": _decide_by_policy})
