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
)

if TYPE_CHECKING:
    from numpy import void
    from numpy.typing import NDArray

    from qospec.engine.arrays import Times, Truths, Whole
    from qospec.engine.clock import Clock
    from qospec.engine.element import Setting

    Inputs = NDArray[void]
    """Records of the fields of INPUT."""
    Served = tuple[Batch, tuple[Loss, ...]]
    """What left and what was lost."""

NO_LIMIT = 2**62

INPUT = (
    ("head", "i8"),  # place in the queue of the first that waits
    ("tail", "i8"),  # and behind the last
    ("amount", "i8"),  # what they take together
    ("limit", "i8"),
    ("next", "i8"),  # number of the cell that comes next
    ("next_ps", "i8"),  # and when; NO_LIMIT: none comes
)


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
    loss = Loss("overflow", lost.connection, lost.sent_ps, state.queues[number].element)
    return (loss,) if lost.count else ()


def _serve_all(state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Served:
    cells = joined(*(part for pair in zip(state.waiting, arrivals, strict=True) for part in pair))
    largest, smallest = int(cells.size_bytes.max()), int(cells.size_bytes.min())
    transmission.check_load(state.line, cells, smallest, largest)
    alike = largest == smallest == (state.size_bytes or largest)
    state.size_bytes = largest if alike else -1

    service = Service(
        np.zeros(cells.count, np.bool_),
        np.arange(cells.count),
        np.ones(cells.count, np.int64),
        np.append(cells.at_ps[1:], NO_LIMIT),
        *(np.empty(cells.count, np.int64) for _ in range(3)),
    )
    inputs = _inputs(state, arrivals, cells, service)
    count = _serve(cells, state.line, inputs, until_ps, service)

    sent = cells.select(service.order[:count]).moved(service.left_ps[:count])
    if state.line[STAMPS]:
        sent = sent._replace(sent_ps=service.began_ps[:count])
    losses: tuple[Loss, ...] = ()
    start = 0
    for number, (mine, batch) in enumerate(zip(inputs, arrivals, strict=True)):
        end = start + state.waiting[number].count + batch.count
        lost = start + service.lost[start:end].nonzero()[0]
        losses += _loss(state, number, cells.select(lost))
        state.waiting[number] = cells.select(service.queue[mine["head"] : mine["tail"]])
        start = end
    return sent, losses


def _inputs(state: State, arrivals: tuple[Batch, ...], cells: Batch, service: Service) -> Inputs:
    """Return the inputs; write into `service` where a limit counts bytes and where inputs end."""
    rows = []
    end = 0
    for waiting, batch, (_, limit) in zip(state.waiting, arrivals, state.queues, strict=True):
        start, first, end = end, end + waiting.count, end + waiting.count + batch.count
        if limit is not None and limit.unit == "byte":
            service.amount[start:end] = cells.size_bytes[start:end]
        if start < end:
            service.following_ps[end - 1] = NO_LIMIT
        amount = int(service.amount[start:first].sum())
        most = NO_LIMIT if limit is None else limit.amount
        next_ps = int(batch.at_ps[0]) if batch.count else NO_LIMIT
        rows.append((start, first, amount, most, first, next_ps))
    return np.array(rows, list(INPUT))


@kernel
def _serve(  # noqa: C901, PLR0912, PLR0915
    cells: Batch, line: Whole, inputs: Inputs, until_ps: int, service: Service
) -> int:
    """Make all decisions before `until_ps`; return how many cells were sent.

    One loop, for helpers that take several arrays would each cost more than all of it.

    Args:
        cells: n cells, input by input: what waits, then what arrives before `until_ps`.
        line: Carried on.
        inputs: A record per input, the one that is served first in front; written.
        until_ps: Who arrives then or later is not known.
        service: (n,) Written.
    """
    _, _, _, size_bytes, _ = cells
    lost, queue, amount, following_ps, order, left_ps, began_ps = service
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted, sent = line[SLOTTED] != 0, 0
    time, size = (line[SLOT], line[SLOT_PART]), 0
    while True:
        ready_ps = _ready_ps(inputs)
        if ready_ps == NO_LIMIT:
            break
        if ready_ps > free:
            free, part = next_slot(pace, free, part, ready_ps) if slotted else (ready_ps, 0)
        # Who came before finds room, or not, as it then was; who comes just now is a choice first.
        decides_ps = free + (part > 0 and not slotted)
        for k in range(len(inputs)):
            mine = inputs[k]
            while mine["next_ps"] < decides_ps:
                i = mine["next"]
                if mine["amount"] + amount[i] > mine["limit"]:
                    lost[i] = True
                else:
                    queue[mine["tail"]] = i
                    mine["tail"] += 1
                    mine["amount"] += amount[i]
                mine["next"], mine["next_ps"] = i + 1, following_ps[i]
        if free >= until_ps:
            break
        k = _chosen(inputs, free)
        if k < 0:
            continue
        mine = inputs[k]
        if mine["head"] < mine["tail"]:
            i = queue[mine["head"]]
            mine["head"] += 1
            mine["amount"] -= amount[i]
        else:
            i = mine["next"]
            mine["next"], mine["next_ps"] = i + 1, following_ps[i]
        if size_bytes[i] != size and not slotted:
            size, time = size_bytes[i], service_time(line, size_bytes[i])
        order[sent], began_ps[sent] = i, free + line[LEAD]
        free, part = after(free, part, time, denominator)
        left_ps[sent] = free + line[PROPAGATION]
        sent += 1
    line[FREE], line[PART] = free, part
    return sent


@kernel
def _ready_ps(inputs: Inputs) -> int:
    """Return 0 if something waits, else when the next cell comes; NO_LIMIT: none does."""
    next_ps = NO_LIMIT
    for k in range(len(inputs)):
        if inputs[k]["head"] < inputs[k]["tail"]:
            return 0
        next_ps = min(next_ps, inputs[k]["next_ps"])
    return next_ps


@kernel
def _chosen(inputs: Inputs, now_ps: int) -> int:
    """Return the first input at which something waits or comes now; -1 if there is none."""
    for k in range(len(inputs)):
        if inputs[k]["head"] < inputs[k]["tail"] or inputs[k]["next_ps"] <= now_ps:
            return k
    return -1
