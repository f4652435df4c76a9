"""Whose turn it is, for schedulers that go round: the part that they share.

The input whose turn it is, `current`, is served as long as `left`, which its turn began with as
`turn`, is above zero, and something waits there. Then comes the next input at which something does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.scheduler.tree import Tree

FIELDS = ("current", "left", "turn")
ROWS = ("current",)


@kernel
def chosen(tree: Tree, scheduler: int) -> int:
    """Return whose turn it is, having begun the next one if this has ended."""
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
def finished(tree: Tree, scheduler: int, k: int) -> int:
    """End the turn of an input at which nothing waits any more."""
    if tree[scheduler]["current"] == k:
        tree[scheduler]["left"] = 0
    return 0
