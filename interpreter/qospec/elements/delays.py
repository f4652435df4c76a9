"""A delay for each cell or packet, from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import Guarantee, Guarantees
from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, MOST_ANSWERS, Transition, send, wake_at
from qospec.engine.items.batch import FOREVER_PS, Batch, empty, joined
from qospec.engine.kernel import kernel, rows

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

Delaying = Annotated[tuple[int, ...], Domain("times", 0, LONGEST_PS)]
"""Whole picoseconds."""


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        each_ps: The delays, in order.
        passed: The number of items that have arrived.
        waiting: Items that have not left yet, in order of departure.
    """

    each_ps: Times
    passed: int
    waiting: Batch


@element(source="RFC 4737, 3 (reordering), by delays that are written out")
@dataclass(frozen=True)
class Delays(Element):
    """Delay the k-th cell or packet by the k-th time of a list; after the last, start again.

    An item may be overtaken by one with a shorter delay. Of those that leave at the same time, the
    one that arrived first goes first. Any number may wait.
    """

    each: Delaying
    """The delays, in order of arrival."""

    def __post_init__(self) -> None:
        if not self.each:
            raise ValueError("each: at least one delay is needed")

    def lookahead_ps(self, clock: Clock | None) -> int:
        return min(self.each)

    def guarantees(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return Guarantees((Guarantee(min(self.each), max(self.each)),))

    def start(self, setting: Setting) -> State:
        return State(np.array(self.each, np.int64), 0, empty())

    def transition(self, setting: Setting) -> Transition:
        count = len(self.each)
        own = [count, min(self.each), 0, 0, DELAYS + count, *self.each]
        state = np.array([*own, *[0] * (PLACES * WIDTH)], np.int64)
        return Transition(state, _arrive, _wake, replenish=_with_more_places)

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        leaving_ps = min(until_ps + self.lookahead_ps(None), FOREVER_PS)
        if batch.count:
            turn = np.arange(state.passed, state.passed + batch.count) % len(state.each_ps)
            state.passed += batch.count
            state.waiting = _in_order(state.waiting, batch.moved(batch.at_ps + state.each_ps[turn]))
        count = int(state.waiting.at_ps.searchsorted(leaving_ps))
        left = state.waiting.part(0, count)
        state.waiting = state.waiting.part(count, state.waiting.count)
        return Step((left,), (leaving_ps,))


def _in_order(waiting: Batch, late: Batch) -> Batch:
    """Merge by departure time; items that waited already precede new ones at equal times."""
    both = joined(waiting, late)
    return both.select(np.argsort(both.at_ps, kind="stable"))


# ---- item by item

COUNT, SHORTEST, ARRIVED, HELD, HEAP, DELAYS = range(6)
"""The state: how many delays there are, and the shortest; how many items have arrived, and how many
of them are held; where the heap begins; the delays. What is held is a heap of rows, the earliest
departure on top."""
LEAVES, ARRIVAL, ITEM = range(3)
"""The columns of the heap: when an item leaves, its place in the order of arrival, its number."""
WIDTH = 3
PLACES = 64
"""The initial size of the heap, doubled as needed."""
NO_PLACES = 1
"""What may be lacking."""


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Hold an item until no other can overtake it; see `engine.event.transition`."""
    heap = rows(state, state[HEAP], (len(state) - state[HEAP]) // WIDTH, WIDTH)
    if state[HELD] == len(heap):
        return NO_PLACES
    leaves_ps = now_ps + state[DELAYS + state[ARRIVED] % state[COUNT]]
    _push(heap, state[HELD], (leaves_ps, state[ARRIVED], item))
    state[ARRIVED] += 1
    state[HELD] += 1
    wake_at(out, heap[0, LEAVES] - state[SHORTEST])
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Send what leaves before anything that arrives from now on; see `engine.event.transition`."""
    heap = rows(state, state[HEAP], (len(state) - state[HEAP]) // WIDTH, WIDTH)
    for _ in range(MOST_ANSWERS - 1):
        if state[HELD] == 0 or heap[0, LEAVES] - state[SHORTEST] > now_ps:
            break
        send(out, 0, heap[0, ITEM], heap[0, LEAVES])
        state[HELD] -= 1
        _pop(heap, state[HELD])
    if state[HELD]:
        wake_at(out, heap[0, LEAVES] - state[SHORTEST])
    return DONE


@kernel
def _push(heap: Whole, count: int, row: tuple[int, int, int]) -> None:
    """Add a row to a heap of `count` rows: those above that leave later move down."""
    k = count
    while k > 0 and row[LEAVES] < heap[(k - 1) >> 1, LEAVES]:
        _move(heap, (k - 1) >> 1, k)
        k = (k - 1) >> 1
    heap[k, LEAVES], heap[k, ARRIVAL], heap[k, ITEM] = row


@kernel
def _pop(heap: Whole, count: int) -> None:
    """Remove the top; `count` rows are left, of which the last moves down to where it belongs."""
    k, child = 0, 1
    while child < count:
        if child + 1 < count and _is_before(heap, child + 1, child):
            child += 1
        if not _is_before(heap, child, count):
            break
        _move(heap, child, k)
        k, child = child, 2 * child + 1
    _move(heap, count, k)


@kernel
def _is_before(heap: Whole, one: int, other: int) -> bool:
    """Return whether one row leaves before another: at the same time, the first to arrive."""
    if heap[one, LEAVES] != heap[other, LEAVES]:
        return heap[one, LEAVES] < heap[other, LEAVES]  # type: ignore[no-any-return]
    return heap[one, ARRIVAL] < heap[other, ARRIVAL]  # type: ignore[no-any-return]


@kernel
def _move(heap: Whole, source: int, target: int) -> None:
    """Copy a row of the heap to another place."""
    for column in range(WIDTH):
        heap[target, column] = heap[source, column]


def _with_more_places(state: Whole, lacking: int) -> Whole:
    """Return the state with a heap of twice the places."""
    return np.concatenate([state, np.zeros(len(state) - int(state[HEAP]), np.int64)])
