"""A queue: first in, first out, up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

from qospec.catalogue.kinds import Domain, Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.kernel import kernel, linked
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
    after,
    next_slot,
    service_time,
)
from qospec.engine.queue import admission, drop_policy
from qospec.engine.queue.admission import ADMITTED, OVERFLOW, SINCE, admit, admit_by_limit
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
        amount = sizes[i] if in_bytes else 1
        item = (item_marks[i], amount, at_ps[i])
        decision = admit(table, 0, item, waiting, free > at_ps[i], draws[i])
        lost[i] = decision
        dropped += decision != ADMITTED
        if stamps:
            began_ps[i] = sent_ps[i] if decision != ADMITTED else free + line[LEAD]
        if decision == ADMITTED:
            if free > at_ps[i]:
                ring[tail & mask, 0], ring[tail & mask, 1] = free, amount
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
