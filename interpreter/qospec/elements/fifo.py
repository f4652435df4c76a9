"""A queue: first in, first out, up to a limit."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAME,
    MARKS,
    SENT,
    SIZE,
    Transition,
    lose,
    report_wait,
    send,
)
from qospec.engine.items.batch import FRAME_PLACE, read_note
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, link_kernel, view_rows
from qospec.engine.line import tail_drop, transmission
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.line.transmission import FREE, LEAD, STAMPS, find_start, transmit
from qospec.engine.queue import admission, drop_policy
from qospec.engine.queue.admission import (
    ADMITTED,
    OVERFLOW,
    SINCE,
    admit,
    view_table,
)
from qospec.engine.queue.drop_policy import DropPolicy, Waiting
from qospec.engine.queue.losses import list_losses

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival, Guarantees
    from qospec.catalogue.kinds import Buffer, Carried
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Loss, Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock
    from qospec.engine.line.tail_drop import Outcome
    from qospec.engine.queue.admission import Cell, Item
    from qospec.engine.queue.drop_policy import DropState

LIMIT, IN_BYTES, HEAD, TAIL, HELD, DRAWN, TABLE, DRAWS, RING = range(transmission.FIELDS, 26)
"""The fields behind those of the line: how much may wait, and whether that counts bytes; the
numbers of the first item that waits and of that after the last, and their amount; how many random
numbers are used up; where the admission table, the random numbers and the ring begin."""
START = RING + 1
BEGINS, AMOUNT = 0, 1
"""The columns of the ring: when an item stops waiting, and what it takes of the limit."""
WIDTH = 2
PLACES = 256
"""The initial size of the ring; a power of two, doubled as needed."""
NO_PLACES, NO_DRAWS = 1, 2
"""What may be lacking."""

Drop = Annotated[DropPolicy | None, Domain("dropping")]


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        fields: See LIMIT.
        known_bytes: The one size of all cells, or 0.
        owns_times: Whether departures may be written over arrivals.
        drop_state: The state of the drop policy.
        size_bytes: The size of all items so far; 0 before the first.
        by_item: Whether the ring is in use: with a policy, or once sizes differ. Before, what waits
            follows from the line alone.
    """

    fields: Whole
    known_bytes: int
    owns_times: bool
    drop_state: DropState
    size_bytes: int = 0
    by_item: bool = False

    @property
    def line(self) -> Whole:
        """Return the line that is fed; see `engine.line.transmission`."""
        return self.fields[: transmission.FIELDS]


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
        return drop_policy.list_causes(self.drop, self.limit)

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def drop_policy(self) -> DropPolicy | None:
        return self.drop

    @property
    def accepts(self) -> tuple[Carried, ...]:
        bearer = None if self.drop is None else self.drop.carries
        return tuple(accept for accept in super().accepts if bearer in (None, accept))

    def guarantees(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0], self.limit)

    def start(self, setting: Setting) -> State:
        line, queue = transmission.build_line(setting.clock), Waiting("", self.limit, self.drop)
        clock, connections = setting.clock, setting.streams.count
        assert clock is not None  # noqa: S101 -- or there were no line
        drop_state = drop_policy.build_drop_state((queue,), setting.draws, clock, connections)
        return State(
            self._fields(line, drop_state),
            setting.size_bytes,
            setting.owns_times,
            drop_state,
            by_item=drop_state.selective,
        )

    def _fields(self, line: Whole, drop_state: DropState) -> Whole:
        """Return the fields at the beginning of a trial."""
        selective = drop_state.selective
        table = admission.as_integers(drop_state.table) if selective else np.zeros(0, np.int64)
        draws = drop_state.draws[0].take(drop_policy.BLOCK if selective else 0)
        places = [START, START + len(table), START + len(table) + len(draws)]
        own = [self.limit.amount, self.limit.unit == "byte", 0, 0, 0, 0, *places]
        return np.concatenate([line, own, table, draws, np.zeros(WIDTH * PLACES, np.int64)])

    def transition(self, setting: Setting) -> Transition:
        state = self.start(setting)
        return Transition(
            state.fields,
            _arrive_by_policy if state.by_item else _arrive,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=functools.partial(_replenish, state.drop_state),
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        losses: tuple[Loss, ...] = ()
        if batch.count:
            batch, losses = self._queued(state, batch)
        return Step((batch,), (transmission.compute_watermark_ps(state.line, until_ps),), losses)

    def _queued(self, state: State, batch: Batch) -> tuple[Batch, tuple[Loss, ...]]:
        size_bytes = int(batch.size_bytes[0])
        if not state.by_item and size_bytes == (state.size_bytes or size_bytes):
            done = tail_drop.send_through(
                state.line,
                batch,
                self.limit,
                size_bytes=state.known_bytes,
                owns_times=state.owns_times,
            )
            if done is not None:
                state.size_bytes = size_bytes
                return done[0], list_losses(done[1])
        if not state.by_item:
            state.by_item = True
            self._fill_ring(state, int(batch.at_ps[0]))
        return _queued_by_item(state, batch)

    def _fill_ring(self, state: State, at_ps: int) -> None:
        """Put what waits at `at_ps`, items of one size so far, into the ring."""
        if not state.size_bytes:
            return
        starts_ps = tail_drop.find_pending_starts_ps(state.line, state.size_bytes, at_ps)
        count, amount = len(starts_ps), state.size_bytes if self.limit.unit == "byte" else 1
        while count > (len(state.fields) - state.fields[RING]) // WIDTH:
            state.fields = _with_more_places(state.fields)
        ring = state.fields[state.fields[RING] :].reshape(-1, WIDTH)
        ring[:count, BEGINS], ring[:count, AMOUNT] = starts_ps, amount
        state.fields[TAIL], state.fields[HELD] = count, count * amount


def _queued_by_item(state: State, batch: Batch) -> tuple[Batch, tuple[Loss, ...]]:
    """Return the items that leave and the losses, given items of several sizes, or a policy."""
    sizes = batch.size_bytes
    transmission.check_load(state.line, batch, int(sizes.min()), int(sizes.max()))
    outcome = tail_drop.allocate_outcome(state.line, batch.count)
    loop = _queue_batch_by_policy if state.drop_state.selective else _queue_batch
    done = dropped = 0
    while True:
        done, more, lacking = loop(batch, done, state.fields, outcome)
        dropped += more
        if lacking == DONE:
            break
        state.fields = _replenish(state.drop_state, state.fields, lacking)
    left, lost = tail_drop.split_by_loss(batch, outcome, dropped)
    cause_codes = outcome.lost[outcome.lost != ADMITTED]
    return left, list_losses(lost, cause_codes)


def _replenish(drop_state: DropState, fields: Whole, lacking: int) -> Whole:
    """Return the fields with new random numbers, or with more places."""
    if lacking == NO_PLACES:
        return _with_more_places(fields)
    fields[fields[DRAWS] : fields[RING]] = drop_state.draws[0].take(drop_policy.BLOCK)
    fields[DRAWN] = 0
    return fields


def _with_more_places(fields: Whole) -> Whole:
    """Return the fields with a ring of twice the places."""
    before, ring = fields[: fields[RING]], fields[fields[RING] :]
    return np.concatenate([before, double_ring(ring, WIDTH, fields[HEAD], fields[TAIL])])


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item, now or when the line is free, or lose it; see `engine.event.transition`."""
    cell = items[item, CONNECTION], read_note(items, item, FRAME)
    arrival = items[item, MARKS], items[item, SIZE], now_ps, cell
    decision, begins_ps, leaves_ps = _queue(state, arrival)
    if decision < ADMITTED:
        return -decision
    if decision != ADMITTED:
        lose(out, decision - OVERFLOW, item)
        return DONE
    if begins_ps > now_ps:
        report_wait(out, 0, now_ps, begins_ps)
    if state[STAMPS]:
        items[item, SENT] = begins_ps + state[LEAD]
    send(out, 0, item, leaves_ps)
    return DONE


@kernel
def _queue_batch(batch: Batch, first: int, state: Whole, outcome: Outcome) -> tuple[int, int, int]:
    """Queue items from number `first` on, until all are done or something is lacking.

    Args:
        batch: n items.
        first: Number of the first.
        state: Updated.
        outcome: (n,) Written; `lost` is ADMITTED or the cause of the loss.

    Returns:
        The number of the next item, the number of items lost, and DONE or what is lacking.
    """
    at_ps, sent_ps, sizes, marks = batch.at_ps, batch.sent_ps, batch.size_bytes, batch.marks
    lost, left_ps, began_ps = outcome
    stamps, dropped = len(began_ps) > 0, 0
    for i in range(first, len(at_ps)):
        cell = batch.connection[i], read_note(batch.more, i, FRAME_PLACE)
        decision, begins_ps, leaves_ps = _queue(state, (marks[i], sizes[i], at_ps[i], cell))
        if decision < ADMITTED:
            return i, dropped, -decision
        lost[i], left_ps[i] = decision, leaves_ps
        dropped += decision != ADMITTED
        if stamps:
            began_ps[i] = begins_ps + state[LEAD] if decision == ADMITTED else sent_ps[i]
    return len(at_ps), dropped, DONE


@kernel
def _queue(state: Whole, arrival: tuple[int, int, int, Cell]) -> tuple[int, int, int]:
    """Admit an item that arrives now, or lose it, given its marks, its size, now, and its frame.

    Returns:
        ADMITTED, the cause of its loss, or a number below for what is lacking; when the line begins
        with it; when its last bit is at the far end.
    """
    marks, size_bytes, now_ps, cell = arrival
    places = (len(state) - state[RING]) // WIDTH
    ring = view_rows(state, state[RING], places, WIDTH)
    if state[TAIL] - state[HEAD] == places:
        return -NO_PLACES, now_ps, now_ps
    while state[HEAD] < state[TAIL] and ring[state[HEAD] & places - 1, BEGINS] <= now_ps:
        state[HELD] -= ring[state[HEAD] & places - 1, AMOUNT]
        state[HEAD] += 1
    start = find_start(state, now_ps)
    waits, amount = start[0] > now_ps, size_bytes if state[IN_BYTES] else 1
    decision = _decide(state, (marks, amount, now_ps, cell), waits)
    if decision != ADMITTED:
        return decision, now_ps, now_ps
    if waits:
        place = state[TAIL] & places - 1
        ring[place, BEGINS], ring[place, AMOUNT] = start[0], amount
        state[TAIL] += 1
        state[HELD] += amount
    return ADMITTED, start[0], transmit(state, start, size_bytes)


@kernel
def _decide(state: Whole, arrival: Item, waits: bool) -> int:  # noqa: FBT001
    """Return ADMITTED or OVERFLOW: without a policy, an item that waits needs room."""
    amount = arrival[1]
    return OVERFLOW * (waits and state[HELD] + amount > state[LIMIT])


@kernel
def _decide_by_policy(state: Whole, arrival: Item, waits: bool) -> int:  # noqa: FBT001
    """Return ADMITTED, the cause of the loss, or a number below if random numbers are lacking."""
    if state[DRAWN] == state[RING] - state[DRAWS]:
        return -NO_DRAWS
    table = view_table(state, state[TABLE])
    table.queues[0, SINCE] = state[FREE]
    state[DRAWN] += 1
    return admit(table, 0, arrival, state[HELD], waits, state[state[DRAWS] + state[DRAWN] - 1])


BY_POLICY = {"_decide": _decide_by_policy}
_arrive_by_policy = link_kernel(_arrive, "by_policy", BY_POLICY)
_queue_batch_by_policy = link_kernel(_queue_batch, "by_policy", BY_POLICY)
