"""A scheduler: weighted round robin, in packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Counts, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler import round_robin
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.round_robin import LEFT, TURN
from qospec.engine.scheduler.scheduler import Taken, Weighted, compute_bounded_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.calculus.guarantee import Share
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[scheduler, LEFT] -= 1
    return 0


@element(
    source="Katevenis, Sidiropoulos and Courcoubetis 1991, Weighted round-robin cell multiplexing",
    duty="scheduler",
)
@dataclass(frozen=True)
class Wrr(Weighted):
    """Serve the inputs in turn, each with as many packets per turn as its weight.

    A turn ends early when nothing waits at that input; the rest of it is lost. Shares match the
    weights only if all packets have the same size.
    """

    weights: Counts
    """Number of packets that each input may send in its turn; turns are in this order."""

    policy = Policy("wrr", round_robin.select, on_service=_on_service, on_idle=round_robin.on_idle)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        """Return its packets in a turn beside those of others, whose turns may all come first.

        Up to the end of packet n, n - 1 packets were sent in full turns, and others have one more.
        """
        weights = [weight for _, weight in self.weights]

        def bound_taken(_: Competitor, other: Competitor, place: int) -> Taken:
            turn_ps = weights[place] * other.longest_ps
            return Taken(turn_ps - turn_ps / weights[number], item_ps=turn_ps / weights[number])

        return compute_bounded_share(number, inputs, clock, bound_taken)

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        return {TURN: tuple(weight for _, weight in self.weights)}
