"""A scheduler: self-clocked fair queueing."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Weights, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Taken, Weighted, compute_bounded_share
from qospec.engine.scheduler.tree import FIRST, LAST, SIZE, VIRTUAL, WAITS, list_input_fields
from qospec.engine.scheduler.virtual_time import compute_costs_by_weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.calculus.guarantee import Share
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree

START, COST = list_input_fields(2)
"""The tag from which the first packet's service starts, and what a byte adds to it."""


@kernel
def _select(tree: Tree, scheduler: int) -> int:
    """Return the input whose first packet has the smallest tag."""
    found, least = 0, 0
    for k in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
        if tree[k, WAITS]:
            tag = tree[k, START] + tree[k, SIZE] * tree[k, COST]
            if found == 0 or tag < least:
                found, least = k, tag
    return found


@kernel
def _on_arrival(tree: Tree, scheduler: int, k: int, size_bytes: int, now_ps: int) -> int:
    if tree[k, WAITS] == 1:
        tree[k, START] = max(tree[scheduler, VIRTUAL], tree[k, START])
    return 0


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[k, START] += size_bytes * tree[k, COST]
    tree[scheduler, VIRTUAL] = tree[k, START]
    return 0


@kernel
def _on_idle(tree: Tree, scheduler: int, k: int) -> int:
    if tree[scheduler, WAITS] == 0:
        tree[scheduler, VIRTUAL] = 0
        for i in range(tree[scheduler, FIRST], tree[scheduler, LAST]):
            tree[i, START] = 0
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
        tags=(START,),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        compute_costs_by_weight(self.weights)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        """Return its share by weight; Golestani 1994 bounds what others have beside it.

        While this input is served x bytes, up to the end of a packet, virtual time grows by x / w
        at most, and another input sends its weight times that, and a packet.
        """
        weights = [Fraction(weight) for _, weight in self.weights]

        def bound_taken(_: Competitor, other: Competitor, place: int) -> Taken:
            ratio = weights[place] / weights[number]
            return Taken(other.largest_bytes * other.dearest_ps, byte_ps=ratio * other.dearest_ps)

        return compute_bounded_share(number, inputs, clock, bound_taken)

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        return {COST: compute_costs_by_weight(self.weights).costs}
