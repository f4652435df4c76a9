"""What a policy is asked and told, each as it is where a policy leaves it out.

`engine.service` calls these by name; `engine.policy` puts those of a tree in their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.scheduler_tree import Tree


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
