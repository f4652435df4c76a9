"""Transitions: how an element answers one event, written with the words of this module.

An element has an `arrive` kernel and, if it acts by itself, a `wake` kernel:

    arrive(state, items, item, port, now_ps, out) -> DONE
    wake(state, items, now_ps, out) -> DONE

`state` is the element's own array of int64. `items` is the pool of all items, a row each, whose
columns are below; `item` is the number of the one that has arrived at input `port`. The answer goes
into `out`: what leaves, what is lost, when to wake it. An element keeps an item by noting its
number in its state, until it sends or drops it.

An element has one alarm: `wake_at` sets it, and sets it anew if it was set. It goes off after all
arrivals of its picosecond. A kernel that lacks something that only Python can give (random numbers,
interruptions not yet computed, room for what waits) returns the reason, a number above DONE, before
it has changed anything: `Transition.replenish` provides it, and the event is repeated. One that
makes more than MOST_MADE items at once returns NO_ITEMS likewise if fewer rows of the pool are
SPARE. What it says of items takes any room: `out` grows with the pool.

Both may be plain functions of Python, for logic of thousands, not millions, of events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.items.batch import COLUMNS
from qospec.engine.items.totals import CAME, CONSUMED, ENTRIES, GREW, LEFT, LOST, MADE
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Whole

SENT, CONNECTION, SIZE, MARKS, AT, NEXT, MORE = range(7)
"""The columns of an item: those of a batch; for the driver, its time of arrival at the next
element, and the item that arrives there after it; from MORE on, those of `Batch.more`."""
FRAME, SEAL, NUMBER, FRAGMENT, WINDOW, FLAGS, STAMP, FIRST_BLOCK, SECOND_BLOCK, THIRD_BLOCK = (
    MORE + place for place in range(len(COLUMNS))
)
USUAL = 3
"""How many of these the pool has in any case: endpoints number what they send."""
FREE, SPARE = 0, 1
"""In row 0 of the pool, which is no item: the first row that is free, and how many are."""

DONE = 0
"""What a transition returns if it has answered; anything else is a reason to replenish."""

ALARM, WAITED, TOLD = CAME, ENTRIES, ENTRIES + 1
"""What a row of `out` says, if not what becomes of an item: MADE, GREW, LEFT, CONSUMED, LOST."""
IN_SERVICE = "in service"
"""In place of the path of a queue: what is served, so that a wait is the time of a service."""
NO_ITEMS = -1
"""In place of a reason: the event makes more items than are spare."""
MOST_MADE = 64
"""So many rows of the pool are always spare."""
SAID_OF_ITEM = 4
"""How many rows an event may write for each row of the pool, on average: that an item has waited,
has grown, and is no more, and one for what is no item's."""
PENDING, ANSWERS_OF, ANSWERED_AT = 1, 2, 3
"""In row 0 of `out`, behind the number of its rows: the driver's part, while it does what they say.
"""


class Transition(NamedTuple):
    """How an element answers events in one trial.

    Attributes:
        state: (n,) int64; see `arrive`.
        arrive: The kernel for arrivals.
        wake: The kernel for its alarm; None if it never sets it.
        losses: What the numbers of causes stand for: the path of the queue or "", and the cause.
        queues: The paths of the queues for which it reports what waited; `IN_SERVICE` of none.
        quantities: What it tells of connections, by name.
        ports: In which order it takes simultaneous arrivals of its inputs; by default, theirs.
        first_alarm_ps: When it wakes first; None: an arrival comes first.
        replenish: Given the state and a reason, returns the state, or a larger one to use from now
            on, with what was lacking.
        columns: How many columns of `Batch.more` it reads or writes. Only so many go with what
            leaves the elements that run together, unless more have come; the USUAL ones are there
            in any case.
        within: How many columns it reads or writes of what goes between elements that run together.
        report: Given the state at the end of the trial, returns what is observed of the element.
    """

    state: Whole
    arrive: Callable[..., int]
    wake: Callable[..., int] | None = None
    losses: tuple[tuple[str, str], ...] = ()
    queues: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    ports: tuple[int, ...] | None = None
    first_alarm_ps: int | None = None
    replenish: Callable[[Whole, int], Whole] | None = None
    columns: int = 0
    within: int = 0
    report: Callable[[Whole], object] | None = None


class Standstill(NamedTuple):
    """How a queue stood still at the end of a trial, which `Transition.report` may return.

    Attributes:
        waiting: How many items waited in it then, so that they neither arrived nor were lost.
    """

    waiting: int


@kernel
def send(out: Whole, output: int, item: int, at_ps: int) -> None:
    """Let an item leave by an output at a time, now or later; what left there before goes first."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = LEFT, output, item, at_ps
    out[0, 0] = n


@kernel
def lose(out: Whole, cause: int, item: int) -> None:
    """Lose an item now, for the cause of this number in `Transition.losses`."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 1], out[n, 2] = LOST, cause, item
    out[0, 0] = n


@kernel
def tell(out: Whole, quantity: int, connection: int, value: int) -> None:
    """Tell a number of a connection now: the quantity of this number in `Transition.quantities`."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = TOLD, quantity, connection, value
    out[0, 0] = n


@kernel
def wake_at(out: Whole, at_ps: int) -> None:
    """Set the alarm, which is thereby no longer set for another time."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 3] = ALARM, at_ps
    out[0, 0] = n


@kernel
def report_wait(out: Whole, queue: int, arrived_ps: int, began_ps: int) -> None:
    """Report that an item waited, or will, in a queue of `Transition.queues`."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = WAITED, queue, arrived_ps, began_ps
    out[0, 0] = n


@kernel
def make(
    items: Whole, out: Whole, connection: int, size_bytes: int, marks: int, now_ps: int
) -> int:
    """Return a new item, its number 0; none, 0, if the pool has no row for it."""
    item, n = 0, out[0, 0] + 1 if items[0, SPARE] else len(out)
    if n < len(out):
        item = acquire(items, connection, size_bytes, marks, now_ps)
        out[n, 0], out[n, 1], out[n, 2] = MADE, 0, item
    out[0, 0] = n
    return item


@kernel
def grow(out: Whole, item: int, by_bytes: int) -> None:
    """Make an item longer, or shorter if `by_bytes` is below 0; `send` comes behind that."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 1], out[n, 2] = GREW, by_bytes, item
    out[0, 0] = n


@kernel
def consume(out: Whole, item: int) -> None:
    """End an item here, neither lost nor delivered: it has done what it was sent for."""
    n = out[0, 0] + 1
    if n < len(out):
        out[n, 0], out[n, 1], out[n, 2] = CONSUMED, 0, item
    out[0, 0] = n


@kernel
def acquire(items: Whole, connection: int, size_bytes: int, marks: int, sent_ps: int) -> int:
    """Return a row of the pool, filled in: the driver's part, as items come from outside."""
    item = items[0, FREE]
    items[0, FREE] = items[item, NEXT]
    items[0, SPARE] -= 1
    items[item, SENT], items[item, CONNECTION] = sent_ps, connection
    items[item, SIZE], items[item, MARKS] = size_bytes, marks
    for column in range(MORE, items.shape[1]):
        items[item, column] = 0
    return item  # type: ignore[no-any-return]


@kernel
def note_alike(items: Whole, item: int, other: int) -> None:
    """Note of another item what is noted of one."""
    for column in range(MORE, items.shape[1]):
        items[other, column] = items[item, column]


@kernel
def release(items: Whole, item: int) -> None:
    """Give the row of an item back to the pool: the driver's part, as items leave and are lost."""
    items[item, NEXT] = items[0, FREE]
    items[0, FREE] = item
    items[0, SPARE] += 1
