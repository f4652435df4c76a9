"""A queue: first in, first out, up to a limit."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, Transition
from qospec.engine.kernel import kernel, link_kernel
from qospec.engine.line import tail_drop, transmission
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.line.transmission import FREE
from qospec.engine.queue import admission, drop_policy
from qospec.engine.queue.admission import ADMITTED, MARKED, OVERFLOW, SINCE, admit, view_table
from qospec.engine.queue.drop_policy import DropPolicy, Waiting
from qospec.engine.queue.first_come import (
    BEGINS,
    BYTES,
    DRAWN,
    DRAWS,
    HEAD,
    HELD,
    NO_DRAWS,
    NO_PLACES,
    RING,
    TABLE,
    TAIL,
    WIDTH,
    admit_batch,
    arrive,
    build_fields,
    measure_held,
    with_more_places,
)
from qospec.engine.queue.losses import list_losses
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival, Guarantees
    from qospec.catalogue.kinds import Buffer, Carried
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Loss, Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.line.tandem import Hop
    from qospec.engine.queue.admission import Item
    from qospec.engine.queue.drop_policy import DropState

Drop = Annotated[DropPolicy | None, Domain("dropping", implied="tail")]


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        fields: See `engine.queue.first_come`.
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
    another arrives has made room for it; one that can begin on arrival needs none. Queues that
    share their room are a `shared_buffer`.
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

    @property
    def marks_written(self) -> tuple[str, ...]:
        return ("ecn",) if self.drop is not None and self.drop.marks_congestion else ()

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return (marks,) if self.drop is None else self.drop.predict_marks(marks)

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0], self.limit)

    def start(self, setting: Setting) -> State:
        line, queue = transmission.build_line(setting.clock), Waiting("", self.limit, self.drop)
        clock, connections = setting.clock, setting.streams.count
        assert clock is not None  # noqa: S101 -- or there were no line
        drop_state = drop_policy.build_drop_state((queue,), setting.draws, clock, connections)
        return State(
            self._build_fields(line, drop_state),
            setting.size_bytes,
            setting.owns_times,
            drop_state,
            by_item=drop_state.selective,
        )

    def _build_fields(self, line: Whole, drop_state: DropState) -> Whole:
        """Return the fields at the beginning of a trial."""
        selective = drop_state.selective
        table = admission.as_integers(drop_state.table) if selective else np.zeros(0, np.int64)
        draws = drop_state.draws[0].take(drop_policy.BLOCK if selective else 0)
        return build_fields(line, self.limit, table, draws)

    def as_hop(self, state: State) -> Hop | None:
        if state.by_item or not tail_drop.can_be_hop(state.line, state.known_bytes):
            return None
        return tail_drop.build_hop(state.line, state.known_bytes, self.limit)

    def build_transition(self, setting: Setting) -> Transition:
        state = self.start(setting)
        return Transition(
            state.fields,
            _arrive_by_policy if state.by_item else arrive,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=functools.partial(_replenish, state.drop_state),
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        losses: tuple[Loss, ...] = ()
        if batch.count:
            batch, losses = self._serve_queue(state, batch)
        return Step((batch,), (transmission.compute_watermark_ps(state.line, until_ps),), losses)

    def _serve_queue(self, state: State, batch: Batch) -> tuple[Batch, tuple[Loss, ...]]:
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
        return _serve_by_item(state, batch)

    def _fill_ring(self, state: State, at_ps: int) -> None:
        """Put what waits at `at_ps`, items of one size so far, into the ring."""
        if not state.size_bytes:
            return
        starts_ps = tail_drop.find_pending_starts_ps(state.line, state.size_bytes, at_ps)
        count, size_bytes = len(starts_ps), state.size_bytes
        while count > (len(state.fields) - state.fields[RING]) // WIDTH:
            state.fields = with_more_places(state.fields)
        ring = state.fields[state.fields[RING] :].reshape(-1, WIDTH)
        ring[:count, BEGINS], ring[:count, BYTES] = starts_ps, size_bytes
        state.fields[TAIL], state.fields[HELD] = count, count * size_bytes


def _serve_by_item(state: State, batch: Batch) -> tuple[Batch, tuple[Loss, ...]]:
    """Return the items that leave and the losses, given items of several sizes, or a policy."""
    sizes = batch.size_bytes
    transmission.check_load(state.line, batch, int(sizes.min()), int(sizes.max()))
    outcome = tail_drop.allocate_outcome(state.line, batch.count)
    loop = _queue_batch_by_policy if state.drop_state.selective else admit_batch
    done = dropped = 0
    while True:
        done, more, lacking = loop(batch, done, state.fields, outcome)
        dropped += more
        if lacking == DONE:
            break
        state.fields = _replenish(state.drop_state, state.fields, lacking)
    if state.drop_state.marking:
        marked = outcome.lost == MARKED
        outcome.lost[marked] = ADMITTED
        batch = batch.with_marks(batch.marks | marked * np.uint32(CONGESTION))
    left, lost = tail_drop.split_by_loss(batch, outcome, dropped)
    cause_codes = outcome.lost[outcome.lost != ADMITTED]
    return left, list_losses(lost, cause_codes)


def _replenish(drop_state: DropState, fields: Whole, lacking: int) -> Whole:
    """Return the fields with new random numbers, or with more places."""
    if lacking == NO_PLACES:
        return with_more_places(fields)
    fields[fields[DRAWS] : fields[RING]] = drop_state.draws[0].take(drop_policy.BLOCK)
    fields[DRAWN] = 0
    return fields


@kernel
def _decide_by_policy(state: Whole, arrival: Item, waits: bool) -> int:  # noqa: FBT001
    """Return what `admit` does, or a number below if random numbers are lacking."""
    if state[DRAWN] == state[RING] - state[DRAWS]:
        return -NO_DRAWS
    table = view_table(state, state[TABLE])
    table.queues[0, SINCE] = state[FREE]
    draw = state[state[DRAWS] + state[DRAWN]]
    state[DRAWN] += 1
    ahead = (measure_held(state), state[TAIL] - state[HEAD])
    return admit(table, 0, arrival, ahead, waits, draw)


BY_POLICY = {"decide": _decide_by_policy}
_arrive_by_policy = link_kernel(arrive, "by_policy", BY_POLICY)
_queue_batch_by_policy = link_kernel(admit_batch, "by_policy", BY_POLICY)
