"""A scheduler: custom queueing, a round robin that counts bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Sizes, element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.scheduler import round_robin
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Scheduler, check_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.tree import Tree


@kernel
def _on_service(tree: Tree, scheduler: int, k: int, size_bytes: int, end_ps: int) -> int:
    tree[scheduler]["left"] -= size_bytes
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
        "custom",
        round_robin.select,
        on_service=_on_service,
        on_idle=round_robin.on_idle,
        fields=round_robin.FIELDS,
        rows=round_robin.ROWS,
    )

    def __post_init__(self) -> None:
        check_numbers("byte_counts", self.byte_counts)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.byte_counts)

    def fields(self, clock: Clock) -> Mapping[str, int | tuple[int, ...]]:
        return {"turn": tuple(count for _, count in self.byte_counts)}
