"""A scheduler item by item: how it answers an arrival, and the alarm when its line is free.

The kernels of `serve` that call policies work here too. An item that waits is in a slot, and the
slots of a queue form a list, from its ITEM to its TAIL. Arrivals in the picosecond in which the
line becomes free come before its alarm, which decides: the first at an empty queue is a candidate,
so it is queued at once; the others are held back until one item has made room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAME,
    lose,
    report_wait,
    send,
    wake_at,
)
from qospec.engine.event.transition import MARKS as ITEM_MARKS
from qospec.engine.event.transition import SENT as ITEM_SENT
from qospec.engine.event.transition import SIZE as ITEM_SIZE
from qospec.engine.items.batch import read_note
from qospec.engine.kernel import kernel, view_rows
from qospec.engine.line import transmission
from qospec.engine.line.transmission import FREE, LEAD, PART, STAMPS, find_start, transmit
from qospec.engine.queue.admission import (
    ADMITTED,
    MARKED,
    OVERFLOW,
    PARTIAL_PACKET_DISCARD,
    SINCE,
    THRESHOLD,
    admit,
    as_integers,
    find_room,
    note_drop,
    view_table,
)
from qospec.engine.scheduler.choice import PAUSES, find_opening_ps, select_queue
from qospec.engine.scheduler.serve import count_held, notify_arrival, notify_idle, notify_service
from qospec.engine.scheduler.tree import (
    AMOUNT,
    FIELDS,
    FIRST,
    IN_BYTES,
    ITEM,
    LEVEL,
    LIMIT,
    NO_LIMIT,
    NUMBER,
    OVER_LIMIT,
    PARENT,
    SENT,
    SIZE,
    TAIL,
    WAITS,
)
from qospec.engine.scheduler.virtual_time import rebase
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Whole
    from qospec.engine.queue.drop_policy import DropState
    from qospec.engine.scheduler.tree import Tree
    from qospec.engine.scheduler.virtual_time import Tags

ROWS, WIDTH, FREE_SLOT, FIRST_HELD, LAST_HELD, SINCE_REBASE = range(
    transmission.FIELDS, transmission.FIELDS + 6
)
"""Behind the fields of the line: the number of rows of the tree; the columns of a slot; the first
slot that is free; the first and the last held back; and arrivals since virtual times were shifted.
"""
LEAVES, DRAWS, TABLE, SLOTS, TREE = range(transmission.FIELDS + 6, transmission.FIELDS + 11)
"""Where these begin: the rows of the queues by input; by queue, how many random numbers are used
up, and the numbers; the admission table; the slots. The tree begins at TREE."""
OF, AFTER, CAME, QUEUE, DRAW, TAGS = range(6)
"""The columns of a slot: the item, the slot behind it in its list, when it arrived, the row of its
queue, its random number, and the first of its arrival tags."""
NONE = -1
"""No slot."""
PLACES = 64
"""The number of slots at first; doubled as needed."""
DRAWS_AT_ONCE = 512
REBASE_EVERY = 1 << 16
NO_SLOT, NO_DRAWS, NO_REBASE = 1, 2, 3
"""What may be lacking: a free slot, a random number, small virtual times."""
KINDS_OF_LOSS = PARTIAL_PACKET_DISCARD
"""How many causes of loss each queue has."""


def build_state(line: Whole, tree: Tree, leaves: Sequence[int], drop_state: DropState) -> Whole:
    """Return the state at the beginning of a trial."""
    tree = tree.copy()
    levels = int(tree[:, LEVEL].max()) + 1
    tree[:, LEVEL] += np.where(tree[:, LEVEL] >= 0, TAGS, 0)
    table = as_integers(drop_state.table) if drop_state.selective else np.zeros(0)
    draws = np.zeros((len(leaves) if drop_state.selective else 0, 1 + DRAWS_AT_ONCE), np.int64)
    draws[:, 0] = DRAWS_AT_ONCE
    parts = (tree.ravel(), leaves, draws.ravel(), table)
    ends = np.cumsum([TREE + tree.size, *map(len, parts[1:])])
    own = [len(tree), TAGS + levels, NONE, NONE, NONE, 0, *ends]
    state = np.concatenate([line, own, *parts], dtype=np.int64, casting="unsafe")
    return _with_more_slots(state)


def replenish(drop_state: DropState, tags_of: Sequence[Tags], state: Whole, lacking: int) -> Whole:
    """Return the state with what was lacking."""
    if lacking == NO_SLOT:
        return _with_more_slots(state)
    if lacking == NO_DRAWS:
        draws = state[state[DRAWS] : state[TABLE]].reshape(-1, 1 + DRAWS_AT_ONCE)
        for own, numbers in zip(draws, drop_state.draws, strict=True):
            if own[0] == DRAWS_AT_ONCE:
                own[0], own[1:] = 0, numbers.take(DRAWS_AT_ONCE)
        return state
    tree = state[TREE : TREE + state[ROWS] * FIELDS].reshape(-1, FIELDS)
    slots = state[state[SLOTS] :].reshape(-1, state[WIDTH])
    rebase(tree, tags_of, slots[:, QUEUE], slots)
    state[SINCE_REBASE] = 0
    return state


def _with_more_slots(state: Whole) -> Whole:
    """Return the state with twice the slots."""
    before = (len(state) - state[SLOTS]) // state[WIDTH]
    more = np.zeros((max(PLACES, before), state[WIDTH]), np.int64)
    more[:, AFTER] = range(before + 1, before + len(more) + 1)
    more[-1, AFTER] = state[FREE_SLOT]
    state = np.concatenate([state, more.ravel()])
    state[FREE_SLOT] = before
    return state


@kernel
def _view_state(state: Whole) -> tuple[Tree, Whole]:
    """Return the tree and the slots."""
    tree = view_rows(state, TREE, state[ROWS], FIELDS)
    count = (len(state) - state[SLOTS]) // state[WIDTH]
    return tree, view_rows(state, state[SLOTS], count, state[WIDTH])


@kernel
def arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Queue an item or lose it; see `engine.event.transition`."""
    if state[FREE_SLOT] == NONE:
        return NO_SLOT
    if state[SINCE_REBASE] == REBASE_EVERY:
        return NO_REBASE
    draw = 0
    if state[TABLE] > state[DRAWS]:
        drawn = state[DRAWS] + port * (1 + DRAWS_AT_ONCE)
        if state[drawn] == DRAWS_AT_ONCE:
            return NO_DRAWS
        state[drawn] += 1
        draw = state[drawn + state[drawn]]
    state[SINCE_REBASE] += 1
    (tree, slots), i = _view_state(state), state[FREE_SLOT]
    k = state[state[LEAVES] + port]
    state[FREE_SLOT] = slots[i, AFTER]
    slots[i, OF], slots[i, AFTER], slots[i, CAME] = item, NONE, now_ps
    slots[i, QUEUE], slots[i, DRAW] = k, draw
    state[FREE], state[PART] = find_start(state, now_ps)
    if state[FREE] > now_ps:
        _admit(state, items, i, 1, out)
    elif tree[k, WAITS] == 0:
        _admit(state, items, i, 0, out)
    elif state[FIRST_HELD] == NONE:
        state[FIRST_HELD] = state[LAST_HELD] = i
    else:
        slots[state[LAST_HELD], AFTER] = i
        state[LAST_HELD] = i
    wake_at(out, state[FREE])
    return DONE


@kernel
def wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Send what is next, if the line is free; then decide about what was held back."""
    tree, slots = _view_state(state)
    if PAUSES:
        state[FREE], state[PART] = find_start(state, now_ps)
    opens_ps = now_ps
    if state[FREE] == now_ps:
        last = tree[0, SENT]
        if last and tree[last, WAITS] == 0:
            notify_idle(tree, last)
        tree[0, SENT] = 0
        if PAUSES and tree[0, WAITS]:
            opens_ps = find_opening_ps(tree, slots, now_ps)
        if tree[0, WAITS] and opens_ps <= now_ps:
            _send_next(state, items, now_ps, out)
    if tree[0, OVER_LIMIT]:
        _drop_over_limit(state, items, out)
    while state[FIRST_HELD] != NONE:
        i = state[FIRST_HELD]
        state[FIRST_HELD], slots[i, AFTER] = slots[i, AFTER], NONE
        _admit(state, items, i, 1, out)
    if state[FREE] > now_ps:
        wake_at(out, state[FREE])
    elif now_ps < opens_ps < NO_LIMIT:
        wake_at(out, opens_ps)
    return DONE


@kernel
def _admit(state: Whole, items: Whole, i: int, needs_room: int, out: Whole) -> None:
    """Put an item into its queue, or lose it."""
    tree, slots = _view_state(state)
    k, size_bytes = slots[i, QUEUE], items[slots[i, OF], ITEM_SIZE]
    cause = _decide(state, items, i, needs_room)
    if cause != ADMITTED:
        _lose(state, i, cause, out)
        return
    if tree[k, WAITS] == 0:
        tree[k, ITEM], tree[k, SIZE] = i, size_bytes
    else:
        slots[tree[k, TAIL], AFTER] = i
    tree[k, TAIL] = i
    if tree[k, IN_BYTES]:
        tree[k, AMOUNT] += size_bytes
    tree[k, WAITS] += 1
    notify_arrival(tree, slots, (k, i, slots[i, CAME]), size_bytes)
    if not needs_room and _recheck_limit(state, items, i) != ADMITTED:
        tree[0, OVER_LIMIT] = 1


@kernel
def _lose(state: Whole, i: int, cause: int, out: Whole) -> None:
    """Lose the item of a slot."""
    tree, slots = _view_state(state)
    number = tree[slots[i, QUEUE], NUMBER]
    lose(out, number * KINDS_OF_LOSS + cause - OVERFLOW, slots[i, OF])
    slots[i, AFTER] = state[FREE_SLOT]
    state[FREE_SLOT] = i


@kernel
def _send_next(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Send the item that the policies select."""
    tree, slots = _view_state(state)
    k = select_queue(tree, slots, now_ps)
    i = tree[k, ITEM]
    item, following = slots[i, OF], slots[i, AFTER]
    size_bytes = items[item, ITEM_SIZE]
    if tree[k, IN_BYTES]:
        tree[k, AMOUNT] -= size_bytes
    if tree[k, WAITS] > 1:
        tree[k, ITEM], tree[k, SIZE] = following, items[slots[following, OF], ITEM_SIZE]
    if slots[i, CAME] < now_ps:
        report_wait(out, tree[k, NUMBER], slots[i, CAME], now_ps)
    if state[STAMPS]:
        items[item, ITEM_SENT] = now_ps + state[LEAD]
    send(out, 0, item, transmit(state, (state[FREE], state[PART]), size_bytes))
    tree[0, SENT] = k
    _on_departure(state, k)
    notify_service(tree, k, size_bytes, state[FREE])
    slots[i, AFTER] = state[FREE_SLOT]
    state[FREE_SLOT] = i


@kernel
def _drop_over_limit(state: Whole, items: Whole, out: Whole) -> None:
    """Drop arrivals that exceed the limit of their queue and were not sent at once."""
    tree, _ = _view_state(state)
    for k in range(1, len(tree)):
        if tree[k, FIRST] == 0 and tree[k, WAITS] == 1:
            i = tree[k, ITEM]
            cause = _recheck_limit(state, items, i)
            if cause != ADMITTED:
                _on_drop(state, items, i)
                _lose(state, i, cause, out)
                tree[k, AMOUNT] = 0
                tree[k, WAITS], above = 0, k
                while above > 0:
                    above = tree[above, PARENT]
                    tree[above, WAITS] -= 1
    tree[0, OVER_LIMIT] = 0


# ---- by limits


@kernel
def _decide(state: Whole, items: Whole, i: int, needs_room: int) -> int:
    """Return ADMITTED, or the cause for which an arrival is lost."""
    tree, slots = _view_state(state)
    k = slots[i, QUEUE]
    amount = items[slots[i, OF], ITEM_SIZE] if tree[k, IN_BYTES] else 1
    return OVERFLOW * (needs_room != 0 and count_held(tree, k) + amount > tree[k, LIMIT])


@kernel
def _recheck_limit(state: Whole, items: Whole, i: int) -> int:  # noqa: ARG001
    """Return ADMITTED, or the cause of loss of an item that is alone in its queue and not sent."""
    tree, slots = _view_state(state)
    k = slots[i, QUEUE]
    return OVERFLOW * (count_held(tree, k) > tree[k, LIMIT])  # type: ignore[no-any-return]


@kernel
def _on_drop(state: Whole, items: Whole, i: int) -> int:  # noqa: ARG001
    """Handle the loss of an item that had been admitted; the return value is unused."""
    return 0


@kernel
def _on_departure(state: Whole, k: int) -> int:  # noqa: ARG001
    """Handle the service of an item of a queue; the return value is unused."""
    return 0


# ---- by policies


@kernel
def _decide_by_policy(state: Whole, items: Whole, i: int, needs_room: int) -> int:
    tree, slots = _view_state(state)
    k, item = slots[i, QUEUE], slots[i, OF]
    amount = items[item, ITEM_SIZE] if tree[k, IN_BYTES] else 1
    cell = items[item, CONNECTION], read_note(items, item, FRAME)
    arrival = (items[item, ITEM_MARKS], amount, slots[i, CAME], cell)
    table, draw = view_table(state, state[TABLE]), slots[i, DRAW]
    ahead = (count_held(tree, k), tree[0, WAITS])
    found = admit(table, tree[k, NUMBER], arrival, ahead, needs_room != 0, draw)
    if found == MARKED:
        items[item, ITEM_MARKS] |= CONGESTION
        found = ADMITTED
    return found


@kernel
def _recheck_limit_by_policy(state: Whole, items: Whole, i: int) -> int:
    tree, slots = _view_state(state)
    k, marks = slots[i, QUEUE], items[slots[i, OF], ITEM_MARKS]
    if count_held(tree, k) > tree[k, LIMIT]:
        return OVERFLOW
    return THRESHOLD * (
        count_held(tree, k) > find_room(view_table(state, state[TABLE]), tree[k, NUMBER], marks)
    )


@kernel
def _on_drop_by_policy(state: Whole, items: Whole, i: int) -> int:
    tree, slots = _view_state(state)
    number, item = tree[slots[i, QUEUE], NUMBER], slots[i, OF]
    cell = items[item, CONNECTION], read_note(items, item, FRAME)
    note_drop(view_table(state, state[TABLE]), number, items[item, ITEM_MARKS], cell)
    return 0


@kernel
def _on_departure_by_policy(state: Whole, k: int) -> int:
    tree, _ = _view_state(state)
    view_table(state, state[TABLE]).queues[tree[k, NUMBER], SINCE] = state[FREE]
    return 0


BY_POLICY = {
    "_decide": _decide_by_policy,
    "_recheck_limit": _recheck_limit_by_policy,
    "_on_drop": _on_drop_by_policy,
    "_on_departure": _on_departure_by_policy,
}
"""By name, the kernels that queues with drop policies use instead."""
