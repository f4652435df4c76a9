"""The loop that schedulers share: who comes finds room or not, and one after the other is sent.

Schedulers form a tree: its root serves the line, an input of a scheduler is a queue or another
scheduler. A row of the tree is one of these; the root comes first, then the inputs of each
scheduler side by side. What a scheduler decides by is its policy, four kernels that the loop calls
by the names in `engine.decisions`; `linked` puts those of a tree in their place. Who gets into a
queue is for `engine.entrance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.engine.admission import LET_IN
from qospec.engine.decisions import arrived, chosen, finished, served
from qospec.engine.entrance import decided, leaves, outgrown, turned_away
from qospec.engine.kernel import kernel, unsigned
from qospec.engine.outcome import carry, size_of, sort_out
from qospec.engine.scheduler_tree import NO_LIMIT
from qospec.engine.transmission import (
    BYTE,
    BYTE_PART,
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
    framing_of,
    next_slot,
    time_of,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Rows, Whole
    from qospec.engine.batch import Batch
    from qospec.engine.outcome import Comer, Service
    from qospec.engine.scheduler_tree import Tree

WATCHED = True
"""Whether some policy of the tree notes who comes, or asks for sizes; else less need be kept."""
NOTED = True
"""Whether some policy asks for what it noted of those who wait."""
TOLD = True
"""Whether some policy is to be told that nothing more waits at an input."""
DEEP = True
"""Whether there are schedulers below the root."""


@kernel
def serve(
    comers: Batch, held: Batch, line: Whole, tree: Tree, until_ps: int, service: Service
) -> int:
    """Make all decisions before `until_ps`; return how many cells were sent.

    Args:
        comers: n cells: what arrives before `until_ps`.
        held: m cells: what waits.
        line: Carried on.
        tree: Carried on.
        until_ps: Who arrives then or later is not known.
        service: Written.
    """
    sizes = (comers.size_bytes, held.size_bytes)
    queue, came, left = service.queue, service.came, service.left
    left_at, left_sent = left.at_ps, left.sent_ps
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted, stamps = line[SLOTTED] != 0, line[STAMPS] != 0
    lead, way, sent = line[LEAD], line[PROPAGATION], 0
    of_bytes = (slotted, line[BYTE_PART] == 0, line[BYTE], framing_of(line))
    size, time = 0, (line[SLOT], line[SLOT_PART])
    root, told, coming = tree[0], tree[0]["sent"], _next(service.turns.at_ps, 0)
    while True:
        if coming[1] <= free:
            coming = _come(comers, tree, coming, (free, free + (part > 0 and not slotted)), service)
        if free >= until_ps:
            break
        if TOLD and told and tree[unsigned(told)]["waits"] == 0:
            _finish(tree, told)
        told = 0
        if not root["waits"]:
            if coming[1] == NO_LIMIT:
                break
            free, part = next_slot(pace, free, part, coming[1]) if slotted else (coming[1], 0)
            continue
        k = unsigned(_whom(tree, came))
        i, now = _taken(tree[k], queue, sizes)
        carry(comers, held, i, left, sent)
        size, time = time_of(line, of_bytes, (size, time), now)
        if stamps:
            left_sent[sent] = free + lead
        free, part = after(free, part, time, denominator)
        left_at[sent] = free + way
        sent, told = sent + 1, k
        leaves(tree, service, k, free)
        _send(tree, k, now, free + (part > 0 and not slotted))
        if root["doomed"]:
            _turn_away(tree, service)
    line[FREE], line[PART], root["sent"] = free, part, told
    sort_out(comers, held, tree, until_ps, (sent, service))
    return sent


@kernel
def _whom(tree: Tree, came: Whole) -> int:
    """Return the row of the queue that is served next."""
    if DEEP:
        _ask(tree, came)
    if NOTED and tree[0]["level"] >= 0:
        _recall(tree, 0, came)
    k = chosen(tree, 0)
    while DEEP and tree[unsigned(k)]["first"]:
        k = tree[unsigned(k)]["choice"]
    return k


@kernel
def _taken(leaf: Any, queue: Rows, sizes: tuple[Any, Any]) -> tuple[int, int]:
    """Take the first cell out of a queue; return its number and size. `waits` still counts it."""
    i = queue[leaf["head"]]
    size = leaf["size"] if WATCHED else size_of(sizes, i)
    leaf["head"] += 1
    if leaf["bytes"]:
        leaf["amount"] -= size
    if WATCHED and leaf["waits"] > 1:
        leaf["item"] = queue[leaf["head"]]
        leaf["size"] = size_of(sizes, leaf["item"])
    return i, size


@kernel
def _come(
    comers: Batch, tree: Tree, coming: tuple[int, int], free: tuple[int, int], service: Service
) -> tuple[int, int]:
    """Let in who comes before the line is free, and then, where nothing waits, who comes just then.

    Return who comes next, as `_next` does; so `coming` was given. `free` is when the line is free,
    in whole ps, rounded down and up.
    """
    size_bytes = comers.size_bytes
    order, row, at_ps = service.turns
    turn, now_ps = coming
    free_ps, bound_ps = free
    while now_ps < bound_ps:
        _admit(tree, size_bytes, service, (row[unsigned(turn)], order[unsigned(turn)], now_ps), 1)
        turn, now_ps = _next(at_ps, turn + 1)
    last = turn
    while now_ps == free_ps:
        i, k = order[last], row[last]
        if tree[k]["waits"] == 0:
            _admit(tree, size_bytes, service, (k, i, now_ps), 0)
            for each in range(last, turn, -1):  # who comes just then and must wait stays in turn
                order[each], row[each] = order[each - 1], row[each - 1]
            order[turn], row[turn] = i, k
            turn += 1
        last, now_ps = _next(at_ps, last + 1)
    return _next(at_ps, turn)


@kernel
def _next(at_ps: Any, turn: int) -> tuple[int, int]:
    """Return a turn, and when the cell comes whose it is; NO_LIMIT: there is none."""
    return turn, at_ps[unsigned(turn)] if turn < len(at_ps) else NO_LIMIT


@kernel
def _admit(tree: Tree, size_bytes: Any, service: Service, who: Comer, needs_room: int) -> None:
    """Let a cell in, or lose it."""
    k, i, _ = who
    fate = decided(tree, size_bytes, service, who, needs_room)
    if fate == LET_IN:
        _enter(tree, size_bytes, service, who)
        if not needs_room and outgrown(tree, service, k, i) != LET_IN:
            tree[0]["doomed"] = 1
    else:
        _lose(tree[k], service, i, fate)


@kernel
def _lose(leaf: Any, service: Service, i: int, fate: int) -> None:
    """Note that a cell is lost, where no cell of its queue will need the place."""
    leaf["tail"] -= 1
    service.queue[leaf["tail"]] = i
    service.lost[i] = fate


@kernel
def _enter(tree: Tree, size_bytes: Any, service: Service, who: Comer) -> None:
    """Let a cell into its queue, and tell the schedulers above that."""
    queue, came = service.queue, service.came
    k, i, now_ps = who
    leaf = tree[k]
    waits, size = leaf["waits"], size_bytes[i]
    queue[unsigned(leaf["head"] + waits)] = i
    if leaf["bytes"]:
        leaf["amount"] += size
    leaf["waits"] = waits + 1
    if WATCHED and waits == 0:
        leaf["item"], leaf["size"] = i, size
    while k > 0:
        scheduler = tree[k]["parent"]
        tree[scheduler]["waits"] += 1
        mark = arrived(tree, scheduler, k, size, now_ps)
        if NOTED and tree[scheduler]["level"] >= 0:
            came[tree[scheduler]["level"], i] = mark
        k = scheduler if DEEP else 0


@kernel
def _finish(tree: Tree, k: int) -> None:
    """Tell the schedulers above a queue, one of whose cells has been sent, where nothing waits."""
    while k > 0:
        scheduler = tree[k]["parent"]
        if tree[k]["waits"] == 0:
            finished(tree, scheduler, k)
        k = scheduler if DEEP else 0


@kernel
def _ask(tree: Tree, came: Whole) -> None:
    """Ask each scheduler below the root what it would send, the lowest ones first."""
    k = tree[0]["inner"]
    while k > 0:
        if tree[k]["waits"]:
            if NOTED and tree[k]["level"] >= 0:
                _recall(tree, k, came)
            choice = unsigned(chosen(tree, k))
            tree[k]["choice"] = choice
            if WATCHED:
                tree[k]["item"], tree[k]["size"] = tree[choice]["item"], tree[choice]["size"]
        k = tree[k]["inner"]


@kernel
def _recall(tree: Tree, scheduler: int, came: Whole) -> None:
    """Look up when, in its virtual time, the cells came that a scheduler may choose from."""
    for k in range(tree[scheduler]["first"], tree[scheduler]["last"]):
        if tree[k]["waits"]:
            tree[k]["came"] = came[tree[scheduler]["level"], tree[k]["item"]]


@kernel
def _send(tree: Tree, k: int, size_bytes: int, end_ps: int) -> None:
    """Count off a cell of a queue, and tell the schedulers above it."""
    tree[k]["waits"] -= 1
    while k > 0:
        scheduler = tree[k]["parent"]
        tree[scheduler]["waits"] -= 1
        served(tree, scheduler, k, size_bytes, end_ps)
        k = scheduler if DEEP else 0


@kernel
def _turn_away(tree: Tree, service: Service) -> None:
    """Lose who came to a queue that is too small for them, and was not sent at once."""
    tree[0]["doomed"] = 0
    for k in range(1, len(tree)):
        leaf = tree[k]
        if leaf["first"] == 0 and leaf["waits"] == 1:
            i = service.queue[leaf["head"]]
            came = i < len(service.lost)  # who waits since before has found room
            fate = outgrown(tree, service, k, i) if came else LET_IN
            if fate != LET_IN:
                turned_away(tree, service, k, i)
                _lose(leaf, service, i, fate)
                leaf["amount"] = 0
                leaf["waits"], above = 0, k
                while above > 0:
                    above = tree[above]["parent"]
                    tree[above]["waits"] -= 1
