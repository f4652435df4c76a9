"""A scheduler: weighted fair queueing, in the order in which a fluid server would finish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Weighted, compute_fair_share
from qospec.engine.scheduler.tree import (
    ARRIVAL_TAG,
    FIRST,
    LAST,
    SIZE,
    VIRTUAL,
    WAITS,
    list_input_fields,
    list_own_fields,
)
from qospec.engine.scheduler.virtual_time import (
    CLOCK,
    FINE,
    SEEN,
    WHOLE,
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

REST, BUSY = list_own_fields(2, after=CLOCK)
"""Work that has not yet advanced virtual time; the weights of all inputs that are busy in the fluid
server, added up."""
WEIGHT, COST, FLUID, FINISH = list_input_fields(4)
"""Of an input: its weight, the cost of a byte, and the virtual times when the fluid server finishes
the last packet that arrived, and the last that was sent."""


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the input whose first packet the fluid server would finish first."""
    found, least = 0, 0
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS]:
            tag = max(tree[k, ARRIVAL_TAG], tree[k, FINISH]) + tree[k, SIZE] * tree[k, COST]
            if found == 0 or tag < least:
                found, least = k, tag
    return found


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    """Return the virtual time, after adding the packet to the fluid server."""
    now = compute_work(tree, scheduler, now_ps)
    work = (now - tree[scheduler, SEEN]) * tree[scheduler, WHOLE]
    _serve_fluid(tree, scheduler, work + tree[scheduler, REST])
    tree[scheduler, SEEN] = now
    if tree[k, FLUID] <= tree[scheduler, VIRTUAL]:
        tree[k, FLUID] = tree[scheduler, VIRTUAL]
        tree[scheduler, BUSY] += tree[k, WEIGHT]
        tree[scheduler, REST] = 0
    tree[k, FLUID] += size_bytes * tree[k, COST]
    return tree[scheduler, VIRTUAL]  # type: ignore[no-any-return]


@kernel
def _serve_fluid(tree: Tree, scheduler: int, work: int) -> None:
    """Let the fluid server do `work`; the more inputs are busy, the slower virtual time goes."""
    while tree[scheduler, BUSY] > 0:
        least = tree[scheduler, VIRTUAL] + work // tree[scheduler, BUSY]
        for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
            if tree[k, FLUID] > tree[scheduler, VIRTUAL]:
                least = min(least, tree[k, FLUID])
        work -= (least - tree[scheduler, VIRTUAL]) * tree[scheduler, BUSY]
        left = 0
        for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
            if tree[k, FLUID] > least:
                left += tree[k, WEIGHT]
        same = left == tree[scheduler, BUSY]
        tree[scheduler, VIRTUAL], tree[scheduler, BUSY] = least, left
        if same:
            break
    tree[scheduler, REST] = work if tree[scheduler, BUSY] > 0 else 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    began = max(tree[k, ARRIVAL_TAG], tree[k, FINISH])
    tree[k, FINISH] = began + size_bytes * tree[k, COST]
    record_service(tree, scheduler, size_bytes, end_ps)
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    if tree[scheduler, WAITS] == 0:
        restart(tree, scheduler)
        tree[scheduler, REST], tree[scheduler, BUSY] = 0, 0
        for i in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
            tree[i, FLUID], tree[i, FINISH] = 0, 0
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
        tags=(FLUID, FINISH),
        keeps_tags=True,
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
        own = build_clock_fields(clock, max(costs))
        fine = tuple(cost << own[FINE] for cost in costs)
        return {**own, WHOLE: whole, WEIGHT: weights, COST: fine}
