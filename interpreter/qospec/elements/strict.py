"""A scheduler: strict priority without preemption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

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
    next_slot,
    service_time,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Times, Whole
    from qospec.engine.clock import Clock
    from qospec.engine.element import Setting

NO_LIMIT = 2**62

# A row per input: its slice of all cells, and of that slice what waits and what is yet to come.
HEAD, TAIL, NEXT, END, AMOUNT, LIMIT, IN_BYTES = 0, 1, 2, 3, 4, 5, 6
FIELDS = 7
WAITS, SENT, LOST = 0, 1, 2


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
        fate: (n,) WAITS, SENT or LOST.
        queue: (n,) Numbers of the cells that found room, within the slice of their input.
        order: (n,) Numbers of the cells that were sent, in that order.
        left_ps: (n,) Their last bit at the far end, in the same order.
        began_ps: (n,) Their first bit sent.
    """

    fate: Marks
    queue: Whole
    order: Whole
    left_ps: Times
    began_ps: Times


@element(source="RFC 7806, 2.1 (strict priority); ITU-T I.371", duty="scheduler")
@dataclass(frozen=True)
class Strict:
    """Serve the first input that has a cell waiting, and finish each cell that was begun.

    The queues before it hold what waits, each to its own limit, which counts what waits and not what
    is being sent. When the line is free at some time, the cells that arrive in that very ps are
    choices too, and one that is chosen as it arrives needs no room.

    Not modelled: room that queues share; preemption within a cell.
    """

    order: Names
    """The inputs, the one that is served first in front."""

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
        done = (empty(), ()) if not busy else None
        if len(busy) == 1:
            done = _serve_one(state, busy[0], arrivals[busy[0]], until_ps)
        sent, losses = done or _serve_all(state, arrivals, until_ps)
        return Step((sent,), (transmission.watermark_ps(state.line, until_ps),), losses)


def _serve_one(
    state: State, number: int, batch: Batch, until_ps: int
) -> tuple[Batch, tuple[Loss, ...]] | None:
    """Serve a single input, as a queue of its own; return None, with nothing done, if sizes differ."""
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
    # What begins only now or later may yet have to stand back. That it waits, not since when, matters.
    count = tail_drop.taken_back(state.line, size_bytes, until_ps)
    state.size_bytes = size_bytes
    kept = sent.part(sent.count - count, sent.count)
    state.waiting[number] = kept.moved(np.full(count, until_ps, np.int64))
    return sent.part(0, sent.count - count), _loss(state, number, lost)


def _loss(state: State, number: int, lost: Batch) -> tuple[Loss, ...]:
    if not lost.count:
        return ()
    return (Loss("overflow", lost.connection, lost.sent_ps, state.queues[number].element),)


def _serve_all(
    state: State, arrivals: tuple[Batch, ...], until_ps: int
) -> tuple[Batch, tuple[Loss, ...]]:
    parts = [part for pair in zip(state.waiting, arrivals, strict=True) for part in pair]
    cells = Batch(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    largest, smallest = int(cells.size_bytes.max()), int(cells.size_bytes.min())
    transmission.check_backlog(state.line, cells, largest)
    alike = largest == smallest == (state.size_bytes or largest)
    state.size_bytes = largest if alike else -1

    table = _table(state, arrivals)
    service = Service(
        np.zeros(cells.count, np.uint8),
        np.arange(cells.count),
        *(np.empty(cells.count, np.int64) for _ in range(3)),
    )
    count = _serve(cells, state.line, table, until_ps, service)

    sent = cells.select(service.order[:count]).moved(service.left_ps[:count])
    if state.line[STAMPS]:
        sent = sent._replace(sent_ps=service.began_ps[:count])
    losses: tuple[Loss, ...] = ()
    start = 0
    for number, end in enumerate(table[:, END].tolist()):
        mine, fate = cells.part(start, end), service.fate[start:end]
        state.waiting[number] = mine.select(fate == WAITS)
        losses += _loss(state, number, mine.select(fate == LOST))
        start = end
    return sent, losses


def _table(state: State, arrivals: tuple[Batch, ...]) -> Whole:
    table = np.zeros((len(arrivals), FIELDS), np.int64)
    end = 0
    for row, waiting, batch, queue in zip(
        table, state.waiting, arrivals, state.queues, strict=True
    ):
        limit = queue.limit
        in_bytes = limit is not None and limit.unit == "byte"
        row[HEAD] = end
        row[TAIL] = row[NEXT] = end + waiting.count
        row[END] = end = end + waiting.count + batch.count
        row[AMOUNT] = waiting.size_bytes.sum() if in_bytes else waiting.count
        row[LIMIT] = NO_LIMIT if limit is None else limit.amount
        row[IN_BYTES] = in_bytes
    return table


@kernel
def _serve(cells: Batch, line: Whole, table: Whole, until_ps: int, service: Service) -> int:
    """Make all decisions before `until_ps`; return how many cells were sent.

    Args:
        cells: n cells, input by input: what waits, then what arrives before `until_ps`.
        line: Carried on.
        table: A row per input; written.
        until_ps: Who arrives then or later is not known.
        service: (n,) Written.
    """
    at_ps, _, _, size_bytes, _ = cells
    fate, _, order, left_ps, began_ps = service
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted, sent = line[SLOTTED] != 0, 0
    time, time_part = line[SLOT], line[SLOT_PART]
    while True:
        next_ps = _next_choice(at_ps, table)
        if next_ps == NO_LIMIT:
            break
        if next_ps > free and slotted:
            free, part = next_slot(pace, free, part, next_ps)
        elif next_ps > free:
            free, part = next_ps, 0
        # Who came before finds room, or not, as it then was; who comes in this very ps is a choice first.
        for k in range(len(table)):
            if table[k, NEXT] < table[k, END]:
                _let_in(cells, table, k, free + (part > 0 and not slotted), service)
        if free >= until_ps:
            break
        i = _chosen(cells, table, free, service)
        if i < 0:
            continue
        fate[i] = SENT
        order[sent] = i
        began_ps[sent] = free
        if not slotted:
            time, time_part = service_time(line, size_bytes[i])
        free += time
        part += time_part
        if part >= denominator:
            part -= denominator
            free += 1
        left_ps[sent] = free + line[PROPAGATION]
        sent += 1
    line[FREE], line[PART] = free, part
    return sent


@kernel
def _next_choice(at_ps: Times, table: Whole) -> int:
    """Return 0 if something waits, else the next arrival, or NO_LIMIT if there is none."""
    next_ps = NO_LIMIT
    for k in range(len(table)):
        if table[k, HEAD] < table[k, TAIL]:
            return 0
        if table[k, NEXT] < table[k, END]:
            next_ps = min(next_ps, at_ps[table[k, NEXT]])
    return next_ps


@kernel
def _let_in(cells: Batch, table: Whole, k: int, before_ps: int, service: Service) -> None:
    """Let what arrives at input `k` before that time into its queue, as far as there is room."""
    at_ps, _, _, size_bytes, _ = cells
    i = table[k, NEXT]
    while i < table[k, END] and at_ps[i] < before_ps:
        amount = size_bytes[i] if table[k, IN_BYTES] else 1
        if table[k, AMOUNT] + amount > table[k, LIMIT]:
            service.fate[i] = LOST
        else:
            service.queue[table[k, TAIL]] = i
            table[k, TAIL] += 1
            table[k, AMOUNT] += amount
        i += 1
    table[k, NEXT] = i


@kernel
def _chosen(cells: Batch, table: Whole, now_ps: int, service: Service) -> int:
    """Take the first cell of the first input that has one, and return its number; -1: none has."""
    at_ps, _, _, size_bytes, _ = cells
    for k in range(len(table)):
        i = table[k, NEXT]
        if table[k, HEAD] < table[k, TAIL]:
            waits = service.queue[table[k, HEAD]]
            table[k, HEAD] += 1
            table[k, AMOUNT] -= size_bytes[waits] if table[k, IN_BYTES] else 1
            return waits
        if i < table[k, END] and at_ps[i] <= now_ps:
            table[k, NEXT] += 1
            return i
    return -1
