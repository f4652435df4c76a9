"""The base of elements that delay each item by a time of its own, whether they keep order or not.

Of items that leave at the same time, the one that arrived first goes first. Any number may wait.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from qospec.calculus.guarantee import Guarantee, Guarantees
from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    Transition,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS, Batch, join_batches, make_empty
from qospec.engine.kernel import kernel, view_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock


class Delaying(NamedTuple):
    """How long items are delayed in one trial: for batches, and item by item.

    Attributes:
        of: Returns the delays of a batch, which comes behind all earlier ones.
        own: What the kernel keeps from one item to the next.
        arrive: The kernel for arrivals: `arrive`, linked with a `_delay` where that is another.
        replenish: Writes further delays into `own`; None: they are never used up.
    """

    of: Callable[[Batch], Times]
    own: Whole
    arrive: Callable[..., int]
    replenish: Callable[[Whole], None] | None = None


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        delays: Returns those of a batch.
        last_ps: When the last item leaves, of those that arrived.
        waiting: Items that have not left yet, in order of departure.
    """

    delays: Callable[[Batch], Times]
    last_ps: int
    waiting: Batch


class VaryingDelay(Element):
    """An element that delays each item by a time of its own."""

    @property
    @abstractmethod
    def shortest_ps(self) -> int:
        """Return the least of all delays."""

    @property
    @abstractmethod
    def longest_ps(self) -> int:
        """Return the greatest of all delays."""

    @property
    def keeps_order(self) -> bool:
        """Return whether an item waits for those that came before it, if these leave later."""
        return False

    @abstractmethod
    def start_delays(self, setting: Setting) -> Delaying:
        """Return the delays from the beginning of a trial."""

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        return self.shortest_ps

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return Guarantees((Guarantee(self.shortest_ps, self.longest_ps),))

    def start(self, setting: Setting) -> Any:
        return State(self.start_delays(setting).of, 0, make_empty())

    def build_transition(self, setting: Setting) -> Transition:
        delays = self.start_delays(setting)
        fields = [self.shortest_ps, self.keeps_order, 0, 0, 0, OWN + len(delays.own)]
        state = np.array([*fields, *delays.own.tolist(), *[0] * (PLACES * WIDTH)], np.int64)

        def replenish(state: Whole, lacking: int) -> Whole:
            if lacking == NO_PLACES:
                return np.concatenate([state, np.zeros(len(state) - int(state[HEAP]), np.int64)])
            assert delays.replenish is not None  # noqa: S101 -- or nothing would be lacking
            delays.replenish(state[OWN : state[HEAP]])
            return state

        return Transition(state, delays.arrive, wake, replenish=replenish)

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        leaving_ps = min(until_ps + self.shortest_ps, FOREVER_PS)
        if batch.count:
            leaves_ps = batch.at_ps + state.delays(batch)
            if self.keeps_order:
                leaves_ps[0] = max(leaves_ps[0], state.last_ps)
                leaves_ps = np.maximum.accumulate(leaves_ps)
                state.last_ps = int(leaves_ps[-1])
            state.waiting = _merge_in_order(state.waiting, batch.with_times(leaves_ps))
        count = int(state.waiting.at_ps.searchsorted(leaving_ps))
        left = state.waiting.select_range(0, count)
        state.waiting = state.waiting.select_range(count, state.waiting.count)
        return Step((left,), (leaving_ps,))


def _merge_in_order(waiting: Batch, late: Batch) -> Batch:
    """Merge by departure time; items that waited already precede new ones at equal times."""
    both = join_batches(waiting, late)
    return both.select(np.argsort(both.at_ps, kind="stable"))


def give_in_turn(more_ps: Callable[[], Times]) -> Delaying:
    """Return delays that do not depend on what is delayed.

    Args:
        more_ps: Returns the next of them, in order of arrival: so many each time.
    """
    first_ps = ahead_ps = more_ps()

    def take_delays(batch: Batch) -> Times:
        nonlocal ahead_ps
        blocks, known = [ahead_ps], len(ahead_ps)
        while known < batch.count:
            blocks.append(more_ps())
            known += len(blocks[-1])
        all_ps = np.concatenate(blocks)
        ahead_ps = all_ps[batch.count :]
        return all_ps[: batch.count]

    def replenish(own: Whole) -> None:
        own[USED], own[FIRST:] = 0, more_ps()

    return Delaying(take_delays, np.concatenate([[0], first_ps]), arrive, replenish)


# ---- item by item

SHORTEST, KEEPS_ORDER, LAST, ARRIVED, HELD, HEAP, OWN = range(7)
"""The state: the shortest delay; whether items wait for those before them, and when the last one
leaves; how many items have arrived, and how many of them are held; where the heap begins; what the
delays are made of. What is held is a heap of rows, the earliest departure on top."""
USED, FIRST = 0, 1
"""What delays in turn are made of: how many are used up, and all that are known."""
LEAVES, ARRIVAL, ITEM = range(3)
"""The columns of the heap: when an item leaves, its place in the order of arrival, its number."""
WIDTH = 3
PLACES = 64
"""The initial size of the heap, doubled as needed."""
NO_PLACES, NO_DELAYS = 1, 2
"""What may be lacking."""


@kernel
def arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Hold an item until no other can overtake it; see `engine.event.transition`."""
    heap = view_rows(state, state[HEAP], (len(state) - state[HEAP]) // WIDTH, WIDTH)
    if state[HELD] == len(heap):
        return NO_PLACES
    delay_ps = _delay(state[OWN : state[HEAP]], items[item, CONNECTION])
    if delay_ps < 0:
        return NO_DELAYS
    leaves_ps = now_ps + delay_ps
    if state[KEEPS_ORDER]:
        leaves_ps = max(leaves_ps, state[LAST])
        state[LAST] = leaves_ps
    _push(heap, state[HELD], (leaves_ps, state[ARRIVED], item))
    state[ARRIVED] += 1
    state[HELD] += 1
    wake_at(out, heap[0, LEAVES] - state[SHORTEST])
    return DONE


@kernel
def _delay(own: Whole, connection: int) -> int:
    """Return the delay of an item of a connection index, or -1 if no more are known: in turn."""
    if own[USED] == len(own) - FIRST:
        return -1
    own[USED] += 1
    return own[own[USED]]  # type: ignore[no-any-return]


@kernel
def wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Send what leaves before anything that arrives from now on; see `engine.event.transition`."""
    heap = view_rows(state, state[HEAP], (len(state) - state[HEAP]) // WIDTH, WIDTH)
    while state[HELD] > 0 and heap[0, LEAVES] - state[SHORTEST] <= now_ps:
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
