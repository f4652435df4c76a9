"""The policy of a scheduler, and the scheduling loop compiled for the policies of a tree.

A policy is up to five kernels, called as in `scheduler.serve`. What they remember is in fields of
the tree, which `tree.list_own_fields` and `tree.list_input_fields` number, each 0 when a trial
begins: those of the scheduler in its own row, and those of its inputs in theirs.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.engine.kernel import kernel, link_kernel
from qospec.engine.scheduler import choice, serve, transition
from qospec.engine.scheduler.tree import POLICY

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.scheduler.tree import Tree

    Serve = Callable[..., int]


class Policy(NamedTuple):
    """How a scheduler chooses; `engine.scheduler.serve` documents the arguments of the kernels.

    Attributes:
        name: An identifier, another for each policy.
        select: Chooses the input that is served next.
        on_arrival: Called for each arrival.
        on_service: Called when an item is sent.
        on_idle: Called when the last item of an input has been sent.
        find_opening: Says from when on it may send what waits, if it may leave a free line idle.
        tags: The fields of its inputs in units of the virtual time that its own row holds.
        keeps_tags: Whether `select` reads what `on_arrival` returned, in ARRIVAL_TAG.
        forgets: Whether no choice depends on the past.
    """

    name: str
    select: Callable[..., int]
    on_arrival: Callable[..., int] = serve.on_arrival
    on_service: Callable[..., int] = serve.on_service
    on_idle: Callable[..., int] = serve.on_idle
    find_opening: Callable[..., int] = choice.find_opening
    tags: tuple[int, ...] = ()
    keeps_tags: bool = False
    forgets: bool = False

    @property
    def kernels(self) -> dict[str, Callable[..., int]]:
        """Return its kernels, by the names that `serve.serve` calls them by."""
        return {
            "select": self.select,
            "on_arrival": self.on_arrival,
            "on_service": self.on_service,
            "on_idle": self.on_idle,
            "find_opening": self.find_opening,
        }

    @property
    def pauses(self) -> bool:
        """Return whether it may send nothing though something waits and the line is free."""
        return self.find_opening is not choice.find_opening


@functools.cache
def link_loop(policies: tuple[Policy, ...], levels: int, *, with_policies: bool) -> Serve:
    """Return `serve.serve`, compiled for a tree of these policies, numbered in that order.

    Parts that the tree has no use for are left out.

    Args:
        policies: That of the root, then those of the schedulers below it.
        levels: How many levels there are below the root.
        with_policies: Whether some queue has a drop policy.
    """
    label = f"{_label_policies(policies, levels)}_{'policies' if with_policies else 'limits'}"
    hooks = serve.BY_POLICY if with_policies else {}
    return link_kernel(serve.serve, label, {**_link_policies(policies, levels), **hooks})


@functools.cache
def link_transition(
    policies: tuple[Policy, ...], levels: int, *, with_policies: bool
) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return `transition.arrive` and `transition.wake`, compiled likewise."""
    label = f"{_label_policies(policies, levels)}_{'policies' if with_policies else 'limits'}"
    hooks = transition.BY_POLICY if with_policies else {}
    names = {**_link_policies(policies, levels), **hooks}
    arrive, wake = (
        link_kernel(hook, label, names) for hook in (transition.arrive, transition.wake)
    )
    return arrive, wake


@functools.cache
def _link_policies(policies: tuple[Policy, ...], levels: int) -> dict[str, Any]:
    """Return by name the kernels of `serve` that call these policies, and what the tree needs."""
    names = {name: _link_by_number(policies, name) for name in policies[0].kernels}
    pauses = any(policy.pauses for policy in policies)
    tracks = any(policy.on_arrival is not serve.on_arrival for policy in policies)
    flags = {
        "TRACKS_HEADS": tracks or pauses,
        "PAUSES": pauses,
        "KEEPS_TAGS": any(policy.keeps_tags for policy in policies),
        "NOTIFIES_IDLE": any(policy.on_idle is not serve.on_idle for policy in policies),
        "LEVELS": levels,
    }
    calling = (serve.notify_arrival, choice.select_queue, serve.notify_service, serve.notify_idle)
    label = _label_policies(policies, levels)
    kernels = {
        function.__name__: link_kernel(function, label, {**names, **flags})
        for function in (*calling, choice.find_opening_ps)
    }
    return {**flags, **kernels}


def _label_policies(policies: tuple[Policy, ...], levels: int) -> str:
    return "_".join([*(policy.name for policy in policies), str(levels)])


def _link_by_number(policies: tuple[Policy, ...], name: str, first: int = 0) -> Any:
    """Return the kernel that dispatches on the number of a scheduler's policy."""
    this = policies[first].kernels[name]
    if all(policy.kernels[name] is this for policy in policies[first + 1 :]):
        return this
    label = "_".join([name, *(policy.name for policy in policies[first:]), str(first)])
    others = _link_by_number(policies, name, first + 1)
    dispatch = _dispatch if first else _dispatch_by_place
    return link_kernel(
        dispatch, label, {"_call_this": this, "_call_other": others, "_NUMBER": first}
    )


_NUMBER = 0


@kernel
def _call_this(tree: Tree, scheduler: int, *more: int) -> int:  # noqa: ARG001
    """Placeholder for a kernel of one policy."""
    return 0


@kernel
def _call_other(tree: Tree, scheduler: int, *more: int) -> int:  # noqa: ARG001
    """Placeholder for the same kernel of the other policies."""
    return 0


@kernel
def _dispatch(tree: Tree, scheduler: int, *more: int) -> int:
    """Call the kernel of policy `_NUMBER` or, if the scheduler has another policy, the others'."""
    if tree[scheduler, POLICY] == _NUMBER:
        return _call_this(tree, scheduler, *more)
    return _call_other(tree, scheduler, *more)


@kernel
def _dispatch_by_place(tree: Tree, scheduler: int, *more: int) -> int:
    """Call the kernel of the root's policy or, below the root, the others'.

    Where a scheduler is the root or below it is known when compiling, nothing is looked up.
    """
    if scheduler == 0:
        return _call_this(tree, scheduler, *more)
    return _call_other(tree, scheduler, *more)
