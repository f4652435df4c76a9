"""Round robin: what schedulers that serve their inputs in turn share.

The `current` input is served while `left`, which begins as `turn`, is above zero and items wait
there. Then the turn passes to the next input at which items wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.scheduler.tree import Tree

FIELDS = ("current", "left", "turn")
ROWS = ("current",)


@kernel
def select(tree: Tree, scheduler: int) -> int:
    """Return the current input, after passing the turn on if it has ended."""
    mine = tree[scheduler]
    k = mine["current"]
    if mine["left"] > 0 and tree[k]["waits"]:
        return k  # type: ignore[no-any-return]
    while True:
        k += 1
        if k < mine["first"] or k >= mine["last"]:
            k = mine["first"]
        if tree[k]["waits"]:
            mine["current"], mine["left"] = k, tree[k]["turn"]
            return k  # type: ignore[no-any-return]


@kernel
def on_idle(tree: Tree, scheduler: int, k: int) -> int:
    """End the turn of an input that has become empty."""
    if tree[scheduler]["current"] == k:
        tree[scheduler]["left"] = 0
    return 0
