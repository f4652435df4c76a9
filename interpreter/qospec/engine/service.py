"""The loop that schedulers share: who comes finds room or not, and one after the other is sent.

Schedulers form a tree: its root serves the line, an input of a scheduler is a queue or another
scheduler. A row of the tree is one of these; the root comes first, then the inputs of each
scheduler side by side. What a scheduler decides by is its policy, four kernels that the loop calls
by the names below; `linked` puts those of a tree in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.engine.kernel import kernel
from qospec.engine.scheduler_tree import NO_LIMIT
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
    after,
    next_slot,
    service_time,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Times, Truths, Whole
    from qospec.engine.batch import Batch
    from qospec.engine.scheduler_tree import Tree

WATCHED = True
"""Whether some policy of the tree notes who comes, or asks for sizes; else less need be kept."""


class Service(NamedTuple):
    """What became of the cells.

    Attributes:
        lost: (n,) Which cells found no room.
        queue: (n + 1,) Numbers of the cells that found room, within the slice of their input.
        amount: (n,) How much of its queue's limit each cell takes.
        following_ps: (n,) When the next cell of the same input comes; NO_LIMIT: none does.
        came: (levels, n) What `arrived` returned for each cell, per level that keeps it.
        order: (n,) Numbers of the cells that were sent, in that order.
        left_ps: (n,) Their last bit at the far end, in the same order.
        began_ps: (n,) Their first bit sent.
    """

    lost: Truths
    queue: Whole
    amount: Whole
    following_ps: Times
    came: Whole
    order: Whole
    left_ps: Times
    began_ps: Times


# ---- what a policy may leave out


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


# ---- the loop


@kernel
def serve(  # noqa: C901, PLR0912, PLR0915
    cells: Batch, line: Whole, tree: Tree, until_ps: int, service: Service
) -> int:
    """Make all decisions before `until_ps`; return how many cells were sent.

    Args:
        cells: n cells, input by input: what waits, then what arrives before `until_ps`.
        line: Carried on.
        tree: Carried on.
        until_ps: Who arrives then or later is not known.
        service: (n,) Written.
    """
    _, _, _, size_bytes, _ = cells
    _, queue, amount, _, came, order, left_ps, began_ps = service
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted, sent = line[SLOTTED] != 0, 0
    time, size = (line[SLOT], line[SLOT_PART]), 0
    root, next_ps, flat = tree[0], 0, len(tree) == tree[0]["last"]
    while True:
        if next_ps <= free:
            next_ps = _come(tree, size_bytes, service, free, free + (part > 0 and not slotted))
        if free >= until_ps:
            break
        if root["sent"]:
            _finish(tree, root["sent"])
            root["sent"] = 0
        if not root["waits"]:
            if next_ps == NO_LIMIT:
                break
            free, part = next_slot(pace, free, part, next_ps) if slotted else (next_ps, 0)
            continue
        if not flat:
            _ask(tree, came)
        if WATCHED and root["level"] >= 0:
            _recall(tree, 0, came)
        k = chosen(tree, 0)
        while tree[k]["first"]:
            k = tree[k]["choice"]
        leaf = tree[k]
        i = queue[leaf["head"]]
        leaf["head"] += 1
        leaf["amount"] -= amount[i]
        if WATCHED:
            leaf["item"] = queue[leaf["head"]]
            leaf["size"] = size_bytes[leaf["item"]]
        if size_bytes[i] != size and not slotted:
            size = size_bytes[i]
            time = service_time(line, size)
        order[sent], began_ps[sent] = i, free + line[LEAD]
        free, part = after(free, part, time, denominator)
        left_ps[sent] = free + line[PROPAGATION]
        sent += 1
        root["sent"] = k
        _send(tree, k, size_bytes[i], free + (part > 0 and not slotted))
        if root["doomed"]:
            _turn_away(tree, service)
    line[FREE], line[PART] = free, part
    return sent


@kernel
def _come(tree: Tree, size_bytes: Any, service: Service, free_ps: int, bound_ps: int) -> int:
    """Let in who comes before the line is free, and then, where nothing waits, who comes just then.

    Return a time before which nobody else comes, if not the very time; NO_LIMIT: nobody comes.

    Args:
        tree: Carried on.
        size_bytes: (n,)
        service: Carried on.
        free_ps: When the line is free, in whole ps, rounded down,
        bound_ps: and rounded up.
    """
    while True:
        k, at_ps = 0, NO_LIMIT
        for row in range(1, len(tree)):
            # Where no policy notes who comes, their order among the inputs does not matter.
            while not WATCHED and tree[row]["next_ps"] < bound_ps:
                _admit(tree, size_bytes, service, row)
            if tree[row]["next_ps"] < at_ps:
                k, at_ps = row, tree[row]["next_ps"]
        if at_ps >= bound_ps:
            break
        _admit(tree, size_bytes, service, k)
    if at_ps == free_ps:
        for row in range(1, len(tree)):
            if tree[row]["next_ps"] == free_ps and tree[row]["waits"] == 0:
                _enter(tree, size_bytes, service, row)
                tree[0]["doomed"] |= tree[row]["amount"] > tree[row]["limit"]
    return at_ps


@kernel
def _admit(tree: Tree, size_bytes: Any, service: Service, k: int) -> None:
    """Let the next cell of a queue in, if there is room."""
    leaf = tree[k]
    i = leaf["next"]
    if leaf["amount"] + service.amount[i] <= leaf["limit"]:
        _enter(tree, size_bytes, service, k)
    else:
        service.lost[i] = True
        leaf["next"], leaf["next_ps"] = i + 1, service.following_ps[i]


@kernel
def _enter(tree: Tree, size_bytes: Any, service: Service, k: int) -> None:
    """Let the next cell of a queue in, and tell the schedulers above it."""
    _, queue, amount, following_ps, came, _, _, _ = service
    leaf = tree[k]
    i, at_ps = leaf["next"], leaf["next_ps"]
    leaf["next"], leaf["next_ps"] = i + 1, following_ps[i]
    queue[leaf["tail"]] = i
    leaf["tail"] += 1
    leaf["amount"] += amount[i]
    leaf["waits"] += 1
    if WATCHED:
        leaf["item"] = queue[leaf["head"]]
        leaf["size"] = size_bytes[leaf["item"]]
    while k > 0:
        scheduler = tree[k]["parent"]
        tree[scheduler]["waits"] += 1
        mark = arrived(tree, scheduler, k, size_bytes[i], at_ps)
        if WATCHED and tree[scheduler]["level"] >= 0:
            came[tree[scheduler]["level"], i] = mark
        k = scheduler


@kernel
def _finish(tree: Tree, k: int) -> None:
    """Tell the schedulers above a queue, one of whose cells has been sent, where nothing waits."""
    while k > 0:
        scheduler = tree[k]["parent"]
        if tree[k]["waits"] == 0:
            finished(tree, scheduler, k)
        k = scheduler


@kernel
def _ask(tree: Tree, came: Whole) -> None:
    """Ask each scheduler below the root what it would send, the lowest ones first."""
    for k in range(len(tree) - 1, 0, -1):
        if tree[k]["first"] and tree[k]["waits"]:
            if tree[k]["level"] >= 0:
                _recall(tree, k, came)
            choice = chosen(tree, k)
            tree[k]["choice"] = choice
            tree[k]["item"], tree[k]["size"] = tree[choice]["item"], tree[choice]["size"]


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
        k = scheduler


@kernel
def _turn_away(tree: Tree, service: Service) -> None:
    """Lose who came to a queue that is too small for them, and was not sent at once."""
    tree[0]["doomed"] = 0
    for k in range(1, len(tree)):
        leaf = tree[k]
        if leaf["amount"] > leaf["limit"]:
            service.lost[service.queue[leaf["head"]]] = True
            leaf["tail"] = leaf["head"]
            leaf["amount"] = 0
            above = k
            while above >= 0:
                tree[above]["waits"] -= 1
                above = tree[above]["parent"]
