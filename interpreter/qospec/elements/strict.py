"""A scheduler: strict priority without preemption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from qospec.catalogue import Names, element
from qospec.engine import tail_drop, transmission
from qospec.engine.arrays import np
from qospec.engine.batch import Batch, empty, joined
from qospec.engine.element import Loss, Step, Waiting
from qospec.engine.kernel import kernel
from qospec.engine.transmission import (
    DENOMINATOR,
    FREE,
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
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Times, Truths, Whole
    from qospec.engine.clock import Clock
    from qospec.engine.element import Setting

    Served = tuple[Batch, tuple[Loss, ...]]
    """What left and what was lost."""

NO_LIMIT = 2**62

# A row per input: its slice of all cells, and of that slice what waits and what is yet to come.
HEAD, TAIL, NEXT, END, NEXT_PS, AMOUNT, LIMIT = 0, 1, 2, 3, 4, 5, 6
FIELDS = 7


@dataclass
class State:
    """What is carried from batch to batch.

    Attributes:
        line: The line that is fed; see `engine.transmission`.
        queues: The queue of each input.
        waiting: Per input, what has found room and waits.
        size_bytes: Of all that came so far; 0 before the first, -1 once sizes differ.
    """

    line: Whole
    queues: tuple[Waiting, ...]
    waiting: list[Batch]
    size_bytes: int = 0


class Service(NamedTuple):
    """What became of the cells.

    Attributes:
        lost: (n,) Which cells found no room.
        queue: (n,) Numbers of the cells that found room, within the slice of their input.
        amount: (n,) How much of its queue's limit each cell takes.
        following_ps: (n,) When the next cell of the same input comes; NO_LIMIT: none does.
        order: (n,) Numbers of the cells that were sent, in that order.
        left_ps: (n,) Their last bit at the far end, in the same order.
        began_ps: (n,) Their first bit sent.
    """

    lost: Truths
    queue: Whole
    amount: Whole
    following_ps: Times
    order: Whole
    left_ps: Times
    began_ps: Times


@element(source="RFC 3290, 7.1.2 (scheduler, strict priority)", duty="scheduler")
@dataclass(frozen=True)
class Strict:
    """Serve the first input that has a cell waiting, and finish each cell that was begun.

    The queues before it hold what waits, each to its own limit, which counts what waits, not what
    is being sent. When the line is free at some time, the cells that arrive in that very ps are
    choices too, and one that is chosen as it arrives needs no room.

    Not modelled: room that queues share; preemption within a cell.
    """

    order: Names
    """The inputs, the one that is served first in front."""

    causes: ClassVar[tuple[str, ...]] = ("overflow",)

    def __post_init__(self) -> None:
        if not self.order:
            raise ValueError("order: at least one input is needed")
        if len(set(self.order)) < len(self.order):
            raise ValueError("order: an input is named twice")

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.order

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("out",)

    def least_delay_ps(self, clock: Clock | None) -> int:
        return transmission.least_delay_ps(clock)

    def start(self, setting: Setting) -> State:
        queues = setting.queues or (Waiting("", None),) * len(self.order)
        line = transmission.line_of(setting.clock)
        return State(line, queues, [empty()] * len(self.order))

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        busy = [i for i, batch in enumerate(arrivals) if batch.count or state.waiting[i].count]
        done: Served | None = None if busy else (empty(), ())
        if len(busy) == 1:
            done = _serve_one(state, busy[0], arrivals[busy[0]], until_ps)
        sent, losses = done or _serve_all(state, arrivals, until_ps)
        return Step((sent,), (transmission.watermark_ps(state.line, until_ps),), losses)


def _serve_one(state: State, number: int, batch: Batch, until_ps: int) -> Served | None:
    """Serve a single input, like a queue of its own; return None, nothing done, if sizes differ."""
    waiting = state.waiting[number]
    first = waiting if waiting.count else batch
    size_bytes = int(first.size_bytes[0])
    if size_bytes != (state.size_bytes or size_bytes):
        return None
    before = state.line.copy()
    sent, lost = waiting, empty()
    if waiting.count:
        sent, _ = tail_drop.through(state.line, waiting, None) or (waiting, lost)
    if batch.count:
        done = tail_drop.through(state.line, batch, state.queues[number].limit)
        if done is None or int(batch.size_bytes[0]) != size_bytes:
            state.line[:] = before
            return None
        sent, lost = joined(sent, done[0]), done[1]
    # What begins now or later may yet have to stand back; that it waits, not since when, matters.
    count = tail_drop.taken_back(state.line, size_bytes, until_ps)
    state.size_bytes = size_bytes
    kept = sent.part(sent.count - count, sent.count)
    state.waiting[number] = kept.moved(np.full(count, until_ps, np.int64))
    return sent.part(0, sent.count - count), _loss(state, number, lost)


def _loss(state: State, number: int, lost: Batch) -> tuple[Loss, ...]:
    if not lost.count:
        return ()
    return (Loss("overflow", lost.connection, lost.sent_ps, state.queues[number].element),)


def _serve_all(state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Served:
    cells = joined(*(part for pair in zip(state.waiting, arrivals, strict=True) for part in pair))
    largest, smallest = int(cells.size_bytes.max()), int(cells.size_bytes.min())
    transmission.check_backlog(state.line, cells, largest)
    alike = largest == smallest == (state.size_bytes or largest)
    state.size_bytes = largest if alike else -1

    service = Service(
        np.zeros(cells.count, np.bool_),
        np.arange(cells.count),
        np.ones(cells.count, np.int64),
        np.append(cells.at_ps[1:], NO_LIMIT),
        *(np.empty(cells.count, np.int64) for _ in range(3)),
    )
    table = _table(state, arrivals, cells, service)
    count = _serve(cells, state.line, table, until_ps, service)

    sent = cells.select(service.order[:count]).moved(service.left_ps[:count])
    if state.line[STAMPS]:
        sent = sent._replace(sent_ps=service.began_ps[:count])
    losses: tuple[Loss, ...] = ()
    start = 0
    for number, (head, tail, end) in enumerate(table[:, [HEAD, TAIL, END]].tolist()):
        state.waiting[number] = cells.select(service.queue[head:tail])
        lost = start + service.lost[start:end].nonzero()[0]
        losses += _loss(state, number, cells.select(lost))
        start = end
    return sent, losses


def _table(state: State, arrivals: tuple[Batch, ...], cells: Batch, service: Service) -> Whole:
    """Return a row per input; write into `service` where a limit counts bytes and inputs end."""
    table = np.zeros((len(arrivals), FIELDS), np.int64)
    end = 0
    for row, waiting, batch, (_, limit) in zip(
        table, state.waiting, arrivals, state.queues, strict=True
    ):
        start, next_, end = end, end + waiting.count, end + waiting.count + batch.count
        if limit is not None and limit.unit == "byte":
            service.amount[start:end] = cells.size_bytes[start:end]
        if start < end:
            service.following_ps[end - 1] = NO_LIMIT
        row[HEAD], row[TAIL], row[NEXT], row[END] = start, next_, next_, end
        row[NEXT_PS] = batch.at_ps[0] if batch.count else NO_LIMIT
        row[AMOUNT] = service.amount[start:next_].sum()
        row[LIMIT] = NO_LIMIT if limit is None else limit.amount
    return table


@kernel
def _serve(  # noqa: C901, PLR0912, PLR0915
    cells: Batch, line: Whole, table: Whole, until_ps: int, service: Service
) -> int:
    """Make all decisions before `until_ps`; return how many cells were sent.

    One loop, for helpers that take several arrays would each cost more than all of it.

    Args:
        cells: n cells, input by input: what waits, then what arrives before `until_ps`.
        line: Carried on.
        table: A row per input; written.
        until_ps: Who arrives then or later is not known.
        service: (n,) Written.
    """
    _, _, _, size_bytes, _ = cells
    lost, queue, amount, following_ps, order, left_ps, began_ps = service
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted, sent, waiting = line[SLOTTED] != 0, 0, (table[:, TAIL] - table[:, HEAD]).sum()
    time, size = (line[SLOT], line[SLOT_PART]), 0
    while True:
        ready_ps = free if waiting else table[:, NEXT_PS].min()
        if ready_ps == NO_LIMIT:
            break
        if ready_ps > free:
            free, part = next_slot(pace, free, part, ready_ps) if slotted else (ready_ps, 0)
        # Who came before finds room, or not, as it then was; who comes just now is a choice first.
        decides_ps = free + (part > 0 and not slotted)
        for k in range(len(table)):
            while table[k, NEXT_PS] < decides_ps:
                i = table[k, NEXT]
                if table[k, AMOUNT] + amount[i] > table[k, LIMIT]:
                    lost[i] = True
                else:
                    queue[table[k, TAIL]] = i
                    table[k, TAIL] += 1
                    table[k, AMOUNT] += amount[i]
                    waiting += 1
                table[k, NEXT], table[k, NEXT_PS] = i + 1, following_ps[i]
        if free >= until_ps:
            break
        k = _chosen(table, free)
        if k < 0:
            continue
        if table[k, HEAD] < table[k, TAIL]:
            i = queue[table[k, HEAD]]
            table[k, HEAD] += 1
            table[k, AMOUNT] -= amount[i]
            waiting -= 1
        else:
            i = table[k, NEXT]
            table[k, NEXT], table[k, NEXT_PS] = i + 1, following_ps[i]
        if size_bytes[i] != size and not slotted:
            size = size_bytes[i]
            time = service_time(line, size)
        order[sent], began_ps[sent] = i, free
        free, part = after(free, part, time, denominator)
        left_ps[sent] = free + line[PROPAGATION]
        sent += 1
    line[FREE], line[PART] = free, part
    return sent


@kernel
def _chosen(table: Whole, now_ps: int) -> int:
    """Return the first input at which something waits or arrives now; -1 if there is none."""
    for k in range(len(table)):
        if table[k, HEAD] < table[k, TAIL] or table[k, NEXT_PS] <= now_ps:
            return k
    return -1
