"""A scheduler: custom queueing, a round robin that counts bytes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Sizes, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler import round_robin
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.round_robin import LEFT, TURN
from qospec.engine.scheduler.scheduler import Scheduler, Taken, check_numbers, compute_bounded_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.calculus.guarantee import Share
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor
    from qospec.engine.scheduler.tree import Tree


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[scheduler, LEFT] -= size_bytes
    return 0


@element(source="custom (class-based) queueing, as routers' manuals describe it", duty="scheduler")
@dataclass(frozen=True)
class Custom(Scheduler):
    """Serve the inputs in turn, each until it has sent its byte count.

    Packets are sent whole. The last one of a turn may exceed the byte count, which the next turn
    does not make up for: if packets are large compared with the byte counts, shares differ from
    theirs. A turn ends early when nothing waits at that input.
    """

    byte_counts: Sizes
    """How much each input may send in its turn; turns are in this order."""

    policy = Policy(
        "custom", round_robin.select, on_service=_on_service, on_idle=round_robin.on_idle
    )

    def __post_init__(self) -> None:
        check_numbers("byte_counts", self.byte_counts)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.byte_counts)

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        """Return its byte count in a turn beside those of others, each exceeded by a packet.

        Up to the end of a packet, all bytes but its own were sent in full turns, at most.
        """
        counts = [count for _, count in self.byte_counts]

        def bound_taken(mine: Competitor, other: Competitor, place: int) -> Taken:
            turn_ps = (counts[place] + other.largest_bytes - 1) * other.dearest_ps
            more_ps = turn_ps / counts[number]
            return Taken(max(turn_ps - more_ps * mine.smallest_bytes, Fraction(0)), byte_ps=more_ps)

        return compute_bounded_share(number, inputs, clock, bound_taken)

    def build_fields(self, clock: Clock) -> Mapping[int, int | tuple[int, ...]]:
        return {TURN: tuple(count for _, count in self.byte_counts)}
