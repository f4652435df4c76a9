"""A scheduler: worst-case fair weighted fair queueing, with the simpler virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Weighted, compute_fair_share
from qospec.engine.scheduler.tree import FIRST, LAST, SIZE, VIRTUAL, WAITS, list_input_fields
from qospec.engine.scheduler.virtual_time import (
    FINE,
    SEEN,
    WHOLE,
    WORK,
    build_clock_fields,
    compute_costs_by_weight,
    compute_lost_bytes,
    compute_work,
    record_service,
    restart,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.calculus.guarantee import Share
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree

START, COST = list_input_fields(2)
"""Of an input: when its first packet should begin, and the cost of a byte."""


@kernel
def _advance_virtual_time(tree: Tree, scheduler: int, now: int, arriving: int) -> None:
    """Advance virtual time by the work done, and at least to the first start of those waiting."""
    tree[scheduler, VIRTUAL] += (now - tree[scheduler, SEEN]) * tree[scheduler, WHOLE]
    tree[scheduler, SEEN] = now
    found, least = False, 0
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS] and k != arriving and (not found or tree[k, START] < least):
            found, least = True, tree[k, START]
    if found:
        tree[scheduler, VIRTUAL] = max(tree[scheduler, VIRTUAL], least)


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the input whose first packet finishes first, of those eligible by now."""
    _advance_virtual_time(tree, scheduler, tree[scheduler, WORK] << tree[scheduler, FINE], 0)
    found, least = 0, 0
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS] and tree[k, START] <= tree[scheduler, VIRTUAL]:
            end = tree[k, START] + tree[k, SIZE] * tree[k, COST]
            if found == 0 or end < least:
                found, least = k, end
    return found


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    if tree[k, WAITS] == 1:
        _advance_virtual_time(tree, scheduler, compute_work(tree, scheduler, now_ps), k)
        tree[k, START] = max(tree[k, START], tree[scheduler, VIRTUAL])
    return 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[k, START] += size_bytes * tree[k, COST]
    record_service(tree, scheduler, size_bytes, end_ps)
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    if tree[scheduler, WAITS] == 0:
        restart(tree, scheduler)
        for i in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
            tree[i, START] = 0
    return 0


@element(
    source="Bennett and Zhang 1996, WF2Q; 1997, Hierarchical packet fair queueing algorithms",
    duty="scheduler",
    name="wf2q_plus",
)
@dataclass(frozen=True)
class Wf2qPlus(Weighted):
    """Of the packets that are eligible by now, serve the one that should finish first.

    The first packet at an input should begin when the one before it should have ended or, if there
    was none, when it arrives; and end its length over its guaranteed rate later. Both are in
    virtual time, which advances with what the line has sent, and is at least the earliest start of
    all. Among equals the first input goes first. Virtual time restarts with each busy period of the
    line.

    Below another scheduler virtual time advances with what this one has sent.
    """

    weights: Weights
    """The relative share of each input."""

    policy = Policy(
        "wf2q_plus",
        _select,
        _on_arrival,
        _on_service,
        _on_idle,
        tags=(START,),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        compute_costs_by_weight(self.weights)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        return compute_fair_share(
            number, inputs, self.weights, compute_lost_bytes(self.weights, clock)
        )

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        costs, weights, whole = compute_costs_by_weight(self.weights)
        own = build_clock_fields(clock, max(costs) * sum(weights))
        fine = tuple(cost * sum(weights) << own[FINE] for cost in costs)
        return {**own, WHOLE: whole, COST: fine}
