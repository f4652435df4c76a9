"""Round robin: what schedulers that serve their inputs in turn share.

The CURRENT input is served while LEFT, which begins as its TURN, is above zero and items wait
there. Then the turn passes to the next input at which items wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel
from qospec.engine.scheduler.tree import FIRST, LAST, WAITS, list_input_fields, list_own_fields

if TYPE_CHECKING:
    from qospec.engine.scheduler.tree import Tree

CURRENT, LEFT = list_own_fields(2)
(TURN,) = list_input_fields(1)


@kernel
def select(tree: Tree, scheduler: int) -> int:
    """Return the current input, after passing the turn on if it has ended."""
    k = tree[scheduler, CURRENT]
    if tree[scheduler, LEFT] > 0 and tree[k, WAITS]:
        return k  # type: ignore[no-any-return]
    while True:
        k += 1
        if k < tree[scheduler, FIRST] or k >= tree[scheduler, LAST]:
            k = tree[scheduler, FIRST]
        if tree[k, WAITS]:
            tree[scheduler, CURRENT], tree[scheduler, LEFT] = k, tree[k, TURN]
            return k  # type: ignore[no-any-return]


@kernel
def on_idle(tree: Tree, scheduler: int, k: int) -> int:
    """End the turn of an input that has become empty."""
    if tree[scheduler, CURRENT] == k:
        tree[scheduler, LEFT] = 0
    return 0
