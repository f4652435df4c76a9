"""A scheduler: self-clocked fair queueing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Weighted
from qospec.engine.scheduler.virtual_time import costs_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.tree import Tree


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the input whose first packet has the smallest tag."""
    found, least = 0, 0
    for k in range(tree[scheduler]["first"], tree[scheduler]["last"]):
        if tree[k]["waits"]:
            tag = tree[k]["start"] + tree[k]["size"] * tree[k]["cost"]
            if found == 0 or tag < least:
                found, least = k, tag
    return found


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    if tree[k]["waits"] == 1:
        tree[k]["start"] = max(tree[scheduler]["virtual"], tree[k]["start"])
    return 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[k]["start"] += size_bytes * tree[k]["cost"]
    tree[scheduler]["virtual"] = tree[k]["start"]
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    mine = tree[scheduler]
    if mine["waits"] == 0:
        mine["virtual"] = 0
        for each in range(mine["first"], mine["last"]):
            tree[each]["start"] = 0
    return 0


@element(source="Golestani 1994, A self-clocked fair queueing scheme", duty="scheduler")
@dataclass(frozen=True)
class Scfq(Weighted):
    """Serve the packet with the least service tag; virtual time is the tag of the one being sent.

    A packet's tag is its length over its input's weight, added to the tag of the one before it at
    that input, or to the virtual time of its arrival if that is later. Among equal tags the first
    input goes first. Virtual time restarts with each busy period of the line.
    """

    weights: Weights
    """The relative share of each input."""

    policy = Policy(
        "scfq",
        _select,
        _on_arrival,
        _on_service,
        _on_idle,
        ("virtual", "start", "cost"),
        ("start",),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        costs_of(self.weights)

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:
        return {"cost": costs_of(self.weights).costs}
