"""The loop that schedulers share: admit what arrives, then send one item after the other.

Schedulers form a tree: its root serves the line, an input of a scheduler is a queue or another
scheduler. A row of the tree is one of these; the root comes first, then the inputs of each
scheduler side by side. What a scheduler decides by is its policy, four kernels that the loop calls
by name; those here are what a policy has that leaves one out. `scheduler.policy` puts those of a
tree in their place.

Items get into the queues by limits alone, or by drop policies: the loop calls the kernels of
the one by name, and those of the other take their place where some queue has a policy.

Items held are few as a rule, and to put them in front of those that come would be to move all of
these: so the n that come are numbered from 0, and the m that wait already from n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import Batch, empty
from qospec.engine.kernel import kernel, unsigned
from qospec.engine.line.transmission import (
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
from qospec.engine.queue.admission import (
    LET_IN,
    OVERFLOW,
    SINCE,
    THRESHOLD,
    fate,
    forget_count,
    room,
)
from qospec.engine.scheduler.tree import NO_LIMIT

if TYPE_CHECKING:
    from qospec.engine.arrays import Bits, Marks, Rows, Sizes, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.queue.admission import Gate
    from qospec.engine.scheduler.arrivals import Turns
    from qospec.engine.scheduler.tree import Tree

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


@kernel
def chosen(tree: Tree, scheduler: int) -> int:
    """Return the row of the input that is served next, among those at which something waits.

    It may be asked again before anything is sent, and then finds what it has changed.
    """
    return tree[scheduler]["first"]  # type: ignore[no-any-return]


@kernel
def arrived(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:  # noqa: ARG001
    """Take note that a cell has come to input `k`; return what is kept as its `came`."""
    return 0


@kernel
def served(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:  # noqa: ARG001
    """Take note that a cell of input `k` is being sent until `end_ps`; what is returned is unused.

    `waits` no longer counts it.
    """
    return 0


@kernel
def finished(tree: Tree, scheduler: int, k: int) -> int:  # noqa: ARG001
    """Take note that a cell of input `k` has been sent, and that nothing more waits there.

    Where nothing waits at the scheduler at all, it forgets what it knew, but for whose turn it is.
    """
    return 0


@kernel
def held(tree: Tree, k: int) -> int:
    """Return how much waits at a queue, as its limit counts."""
    return tree[k]["amount"] if tree[k]["bytes"] else tree[k]["waits"]  # type: ignore[no-any-return]


# ---- by limits


@kernel
def decided(tree: Tree, size_bytes: Any, service: Service, who: Comer, needs_room: int) -> int:  # noqa: ARG001
    """Return for what a cell that comes is lost, or LET_IN.

    Args:
        tree: Carried on.
        size_bytes: (n,)
        service: Carried on.
        who: The cell.
        needs_room: 0 if the cell may be sent at once; whether it is shows later.
    """
    k, i, _ = who
    leaf = tree[k]
    if not needs_room:
        return LET_IN
    if leaf["bytes"]:
        return OVERFLOW * (leaf["amount"] + size_bytes[i] > leaf["limit"])  # type: ignore[no-any-return]
    return OVERFLOW * (leaf["waits"] >= leaf["limit"])  # type: ignore[no-any-return]


@kernel
def outgrown(tree: Tree, service: Service, k: int, i: int) -> int:  # noqa: ARG001
    """Return for what cell `i` is lost, which is alone in its queue, unless it is sent at once."""
    return OVERFLOW * (held(tree, k) > tree[k]["limit"])  # type: ignore[no-any-return]


@kernel
def turned_away(tree: Tree, service: Service, k: int, i: int) -> int:  # noqa: ARG001
    """Take note that cell `i` was lost so; what is returned is unused."""
    return 0


@kernel
def leaves(tree: Tree, service: Service, k: int, until_ps: int) -> int:  # noqa: ARG001
    """Take note that a cell of a queue is being sent until then; what is returned is unused."""
    return 0


# ---- by policies


@kernel
def _decided(tree: Tree, size_bytes: Any, service: Service, who: Comer, needs_room: int) -> int:
    k, i, now_ps = who
    leaf = tree[k]
    item = (service.marks[i], size_bytes[i] if leaf["bytes"] else 1, now_ps)
    draw = service.draws[i]
    return fate(service.gate, leaf["number"], item, held(tree, k), needs_room != 0, draw)


@kernel
def _outgrown(tree: Tree, service: Service, k: int, i: int) -> int:
    leaf = tree[k]
    if held(tree, k) > leaf["limit"]:
        return OVERFLOW
    return THRESHOLD * (held(tree, k) > room(service.gate, leaf["number"], service.marks[i]))


@kernel
def _turned_away(tree: Tree, service: Service, k: int, i: int) -> int:
    forget_count(service.gate, tree[k]["number"], service.marks[i])
    return 0


@kernel
def _leaves(tree: Tree, service: Service, k: int, until_ps: int) -> int:
    service.gate.queues[tree[k]["number"], SINCE] = until_ps
    return 0


BY_POLICY = {
    "decided": _decided,
    "outgrown": _outgrown,
    "turned_away": _turned_away,
    "leaves": _leaves,
}
"""By name, the kernels for queues with drop policies."""


class Held(NamedTuple):
    """What has found room and waits.

    Attributes:
        cells: m cells, input by input; their times do not matter.
        counts: How many of each input.
        came: (levels, m) What was noted of each.
    """

    cells: Batch
    counts: list[int]
    came: Whole


def nothing_held(inputs: int, levels: int) -> Held:
    """Return what is held where nothing waits."""
    return Held(empty(), [0] * inputs, np.zeros((levels, 0), np.int64))


Comer = tuple[int, int, int]
"""A cell that comes: the row of its queue, its number, and when."""


class Service(NamedTuple):
    """What became of the cells.

    Attributes:
        turns: Who comes, in order of time, then of rows; written.
        lost: (n,) For what each that comes is lost; see `engine.queue.admission`.
        queue: (n + m) Numbers of cells, within the slice of their input: from the front those that
            found room, from the back those that were lost.
        came: (levels, n + m) What `arrived` returned for each cell, per level that keeps it.
        left: n + m cells: who was sent, in that order, with their last bit at the far end; then who
            waits, and then who was lost, queue by queue; of the lost without a time.
        rows: (inputs,) The row of each queue.
        ends: (inputs,) The place behind those of each queue.
        gate: What the queues' drop policies know.
        marks: (n,) What those that come are marked with.
        draws: (n,) A random number for each that comes, if there are drop policies; else (0,).
    """

    turns: Turns
    lost: Marks
    queue: Rows
    came: Whole
    left: Batch
    rows: Rows
    ends: Rows
    gate: Gate
    marks: Bits
    draws: Sizes


@kernel
def size_of(sizes: tuple[Any, Any], i: int) -> int:
    """Return the size of a cell, one that comes or one that waits already."""
    comers, held = sizes
    return comers[i] if i < len(comers) else held[i - len(comers)]  # type: ignore[no-any-return]


@kernel
def carry(comers: Batch, held: Batch, i: int, left: Batch, place: int) -> None:
    """Write a cell, one that comes or one that waits already, but for its time."""
    _, sent_ps, connection, size_bytes, marks = left
    _, sent_1, connection_1, size_1, marks_1 = comers
    _, sent_2, connection_2, size_2, marks_2 = held
    if i < len(sent_1):
        sent_ps[place], connection[place] = sent_1[i], connection_1[i]
        size_bytes[place], marks[place] = size_1[i], marks_1[i]
    else:
        j = i - len(sent_1)
        sent_ps[place], connection[place] = sent_2[j], connection_2[j]
        size_bytes[place], marks[place] = size_2[j], marks_2[j]


@kernel
def sort_out(
    comers: Batch, held: Batch, tree: Tree, until_ps: int, sent: tuple[int, Service]
) -> None:
    """Write who waits and who was lost behind those who were sent."""
    place, service = sent
    queue, left, at_ps = service.queue, service.left, service.left[0]
    for k in service.rows:
        for each in range(tree[k]["head"], tree[k]["head"] + tree[k]["waits"]):
            at_ps[place] = until_ps
            carry(comers, held, queue[each], left, place)
            place += 1
    for number in range(len(service.rows)):
        end, tail = service.ends[number], tree[service.rows[number]]["tail"]
        for back in range(1, end - tail + 1):  # from the back, where the first that was lost is
            carry(comers, held, queue[end - back], left, place)
            place += 1
