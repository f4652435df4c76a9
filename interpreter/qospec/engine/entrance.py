"""Who gets into the queues before a scheduler: by their limits alone, or by their drop policies.

`engine.service` calls the kernels of the first half by name; where some queue has a drop policy,
those of the second half take their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.engine.admission import (
    LET_IN,
    OVERFLOW,
    SINCE,
    THRESHOLD,
    fate,
    forget_count,
    room,
)
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.outcome import Comer, Service
    from qospec.engine.scheduler_tree import Tree


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
