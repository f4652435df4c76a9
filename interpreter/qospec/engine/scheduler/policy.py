"""What one scheduler decides by, and the loop with the policies of a whole tree in it.

A policy is up to four kernels, called as in `scheduler.serve`, and the fields that they keep in the
rows of the tree: of the scheduler itself, and of each of its inputs. All are whole numbers.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.engine.kernel import kernel, linked
from qospec.engine.scheduler import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.scheduler.tree import Tree

    Serve = Callable[..., int]

KERNELS = ("chosen", "arrived", "served", "finished")


class Policy(NamedTuple):
    """How a scheduler chooses; see `engine.scheduler.serve` for what the kernels are told.

    Attributes:
        name: An identifier, another for each policy.
        chosen: Whom to serve.
        arrived: What to note of who comes; the other kernels likewise.
        served: See there.
        finished: See there.
        fields: What it keeps in the rows of the tree, each 0 at the beginning of a trial.
        tags: Those that are in the virtual time which it keeps in its own row's `virtual`.
        rows: Those that are rows of the tree.
        marks: Whether it asks for what `arrived` returned, in `came`.
    """

    name: str
    chosen: Callable[..., int]
    arrived: Callable[..., int] = serve.arrived
    served: Callable[..., int] = serve.served
    finished: Callable[..., int] = serve.finished
    fields: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    marks: bool = False

    @property
    def forgets(self) -> bool:
        """Return whether no choice depends on what was before."""
        return not self.fields


@functools.cache
def loop_of(policies: tuple[Policy, ...], *, deep: bool, guarded: bool) -> Serve:
    """Return `service.serve` for a tree of these policies, numbered in that order.

    What a tree has no use for is left out.

    Args:
        policies: Of all schedulers of the tree.
        deep: Whether there are schedulers below the root.
        guarded: Whether some queue has a drop policy.
    """
    names = {name: _by_number(policies, name) for name in KERNELS}
    flags = {
        "WATCHED": any(policy.arrived is not serve.arrived for policy in policies),
        "NOTED": any(policy.marks for policy in policies),
        "TOLD": any(policy.finished is not serve.finished for policy in policies),
        "DEEP": deep,
    }
    doors = serve.BY_POLICY if guarded else {}
    kind = ("deep" if deep else "flat", "guarded" if guarded else "open")
    label = "_".join([*(policy.name for policy in policies), *kind])
    return linked(serve.serve, label, {**names, **flags, **doors})


def _by_number(policies: tuple[Policy, ...], name: str, first: int = 0) -> Any:
    """Return the kernel that calls the one of that name that a scheduler's own policy has."""
    mine = getattr(policies[first], name)
    if first == len(policies) - 1:
        return mine
    label = "_".join([name, *(policy.name for policy in policies[first:]), str(first)])
    other = _by_number(policies, name, first + 1)
    return linked(_own, label, {"_mine": mine, "_other": other, "_NUMBER": first})


_NUMBER = 0


@kernel
def _mine(tree: Tree, scheduler: int, *more: int) -> int:  # noqa: ARG001
    """Stand for a kernel of one policy."""
    return 0


@kernel
def _other(tree: Tree, scheduler: int, *more: int) -> int:  # noqa: ARG001
    """Stand for the same kernel of the other policies."""
    return 0


@kernel
def _own(tree: Tree, scheduler: int, *more: int) -> int:
    """Call the kernel of the policy of that number or, if the scheduler has another, of that."""
    if tree[scheduler]["policy"] == _NUMBER:
        return _mine(tree, scheduler, *more)
    return _other(tree, scheduler, *more)
