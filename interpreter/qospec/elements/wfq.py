"""A scheduler: weighted fair queueing, in the order in which a fluid server would finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Weighted
from qospec.engine.scheduler.virtual_time import (
    CLOCK,
    clock_fields,
    costs_of,
    position,
    record_service,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.tree import Tree


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the input whose first packet the fluid server would finish first."""
    found, least = 0, 0
    for k in range(tree[scheduler]["first"], tree[scheduler]["last"]):
        if tree[k]["waits"]:
            tag = max(tree[k]["arrival_tag"], tree[k]["finish"]) + tree[k]["size"] * tree[k]["cost"]
            if found == 0 or tag < least:
                found, least = k, tag
    return found


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    """Return the virtual time, after adding the packet to the fluid server."""
    mine = tree[scheduler]
    now = position(tree, scheduler, now_ps)
    _flow(tree, scheduler, (now - mine["seen"]) * mine["whole"] + mine["rest"])
    mine["seen"] = now
    if tree[k]["fluid"] <= mine["virtual"]:
        tree[k]["fluid"] = mine["virtual"]
        mine["busy"] += tree[k]["weight"]
        mine["rest"] = 0
    tree[k]["fluid"] += size_bytes * tree[k]["cost"]
    return mine["virtual"]  # type: ignore[no-any-return]


@kernel
def _flow(tree: Tree, scheduler: int, work: int) -> None:
    """Let the fluid server do `work`; the more inputs are busy, the slower virtual time goes."""
    mine = tree[scheduler]
    while mine["busy"] > 0:
        least = mine["virtual"] + work // mine["busy"]
        for k in range(mine["first"], mine["last"]):
            if tree[k]["fluid"] > mine["virtual"]:
                least = min(least, tree[k]["fluid"])
        work -= (least - mine["virtual"]) * mine["busy"]
        left = 0
        for k in range(mine["first"], mine["last"]):
            if tree[k]["fluid"] > least:
                left += tree[k]["weight"]
        same = left == mine["busy"]
        mine["virtual"], mine["busy"] = least, left
        if same:
            break
    mine["rest"] = work if mine["busy"] > 0 else 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    began = max(tree[k]["arrival_tag"], tree[k]["finish"])
    tree[k]["finish"] = began + size_bytes * tree[k]["cost"]
    record_service(tree, scheduler, size_bytes, end_ps)
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    mine = tree[scheduler]
    if mine["waits"] == 0:
        mine["virtual"], mine["rest"], mine["busy"], mine["seen"] = 0, 0, 0, 0
        mine["work"], mine["begun"], mine["end_ps"] = 0, 0, 0
        for each in range(mine["first"], mine["last"]):
            tree[each]["fluid"], tree[each]["finish"] = 0, 0
    return 0


@element(
    source="Parekh and Gallager 1993, A generalized processor sharing approach: the single-node "
    "case, III (PGPS); Demers, Keshav and Shenker 1989",
    duty="scheduler",
)
@dataclass(frozen=True)
class Wfq(Weighted):
    """Serve the packet that a fluid server, serving all inputs at once by weight, finishes first.

    The fluid server is simulated exactly, event by event. Virtual time is a whole number: it is
    rounded down, by less than 2^-16 of a byte as a rule, when an input becomes busy there while
    others are, since no fixed fraction is always exact. Among equals the first input goes first.
    Virtual time restarts with each busy period of the line.

    Below another scheduler the fluid server works at the rate at which this one is served.
    """

    weights: Weights
    """The relative share of each input."""

    policy = Policy(
        "wfq",
        _select,
        _on_arrival,
        _on_service,
        _on_idle,
        ("virtual", "rest", "busy", "seen", "whole", "weight", "cost", "fluid", "finish", *CLOCK),
        ("fluid", "finish"),
        keeps_tags=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        costs_of(self.weights)

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:
        costs, weights, whole = costs_of(self.weights)
        own = clock_fields(clock, max(costs))
        fine = tuple(cost << own["fine"] for cost in costs)
        return {**own, "whole": whole, "weight": weights, "cost": fine}
