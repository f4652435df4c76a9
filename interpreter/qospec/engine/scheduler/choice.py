"""Which item a tree of schedulers sends next, and from when on.

`select` and `find_opening` are those of a policy; the ones here are the defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel
from qospec.engine.scheduler.tree import (
    ARRIVAL_TAG,
    CHOICE,
    FIRST,
    HIDDEN,
    INNER,
    ITEM,
    LAST,
    LEVEL,
    NO_LIMIT,
    OPENS,
    SIZE,
    WAITS,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.scheduler.tree import Tree

TRACKS_HEADS = True
"""Whether some policy of the tree has `on_arrival` or reads the size of the first item."""
KEEPS_TAGS = True
"""Whether some policy reads the tags that it gave to items on arrival."""
NOTIFIES_IDLE = True
"""Whether some policy has `on_idle`."""
LEVELS = 1
"""How many levels of schedulers there are below the root at most."""
PAUSES = True
"""Whether some policy may hold back what waits though the line is free."""


@kernel
def find_opening_ps(tree: Tree, arrival_tags: Whole, now_ps: int) -> int:
    """Return from when on some item that waits may be sent; of a free line, where one does.

    As `find_opening`: it is asked again then. Each scheduler knows what those below it would send.
    """
    k = tree[0, INNER]
    while LEVELS and k > 0:
        if tree[k, WAITS]:
            tree[k, OPENS] = find_opening(tree, k, now_ps)
            if tree[k, OPENS] <= now_ps:
                _choose(tree, k, arrival_tags, now_ps)
        k = tree[k, INNER]
    return find_opening(tree, 0, now_ps)


@kernel
def select_queue(tree: Tree, arrival_tags: Whole, now_ps: int) -> int:
    """Return the row of the queue that is served next."""
    if LEVELS and not PAUSES:  # else they have
        _select_below_root(tree, arrival_tags)
    if KEEPS_TAGS and tree[0, LEVEL] >= 0:
        _look_up_tags(tree, 0, arrival_tags)
    k = _select_open(tree, 0, now_ps)
    for _ in range(LEVELS):
        if tree[k, FIRST]:
            k = tree[k, CHOICE]
    return k


@kernel
def _select_below_root(tree: Tree, arrival_tags: Whole) -> None:
    """Select at each scheduler below the root, the lowest ones first."""
    k = tree[0, INNER]
    while k > 0:
        if tree[k, WAITS]:
            _choose(tree, k, arrival_tags, 0)
        k = tree[k, INNER]


@kernel
def _choose(tree: Tree, scheduler: int, arrival_tags: Whole, now_ps: int) -> None:
    """Note what a scheduler below the root would send now."""
    if KEEPS_TAGS and tree[scheduler, LEVEL] >= 0:
        _look_up_tags(tree, scheduler, arrival_tags)
    choice = _select_open(tree, scheduler, now_ps)
    tree[scheduler, CHOICE] = choice
    if TRACKS_HEADS:
        tree[scheduler, ITEM], tree[scheduler, SIZE] = tree[choice, ITEM], tree[choice, SIZE]


@kernel
def _select_open(tree: Tree, scheduler: int, now_ps: int) -> int:
    """Select among the inputs that may send now: at the others nothing seems to wait."""
    if not PAUSES:
        return select(tree, scheduler)
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, OPENS] > now_ps:
            tree[k, HIDDEN], tree[k, WAITS] = tree[k, WAITS], 0
    chosen = select(tree, scheduler)
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, OPENS] > now_ps:
            tree[k, WAITS] = tree[k, HIDDEN]
    return chosen


@kernel
def _look_up_tags(tree: Tree, scheduler: int, arrival_tags: Whole) -> None:
    """Look up the tags of the items that a scheduler may choose from."""
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS]:
            tree[k, ARRIVAL_TAG] = arrival_tags[tree[k, ITEM], tree[scheduler, LEVEL]]


@kernel
def select(tree: Tree, scheduler: int) -> int:
    """Return the row of the input that is served next, among those that are not empty.

    It may be called again before anything is sent, and then finds what it has changed.
    """
    return tree[scheduler, FIRST]  # type: ignore[no-any-return]


@kernel
def select_first_waiting(tree: Tree, scheduler: int) -> int:
    """Return the first input with a waiting item."""
    k = tree[scheduler, FIRST]
    while tree[k, WAITS] == 0:
        k += 1
    return k  # type: ignore[no-any-return]


@kernel
def find_opening(tree: Tree, scheduler: int, now_ps: int) -> int:  # noqa: ARG001
    """Return when it may send an item, where one waits: by default, when one of its inputs may.

    Now or earlier if it may send one now; else later than now, and no later than when it first may
    unless something comes. OPENS of its inputs where something waits says when they may.
    """
    opens_ps = NO_LIMIT
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS]:
            opens_ps = min(opens_ps, tree[k, OPENS])
    return opens_ps
