"""A scheduler: strict priority without preemption."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.calculus.curve import NOTHING, Curve
from qospec.calculus.guarantee import Share
from qospec.calculus.service import find_residual
from qospec.catalogue.kinds import Names, element
from qospec.dataclass import dataclass
from qospec.engine.line.guarantee import cost_sizes
from qospec.engine.scheduler.choice import select_first_waiting
from qospec.engine.scheduler.policy import Policy
from qospec.engine.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Competitor


@element(source="RFC 3290, 7.1.2 (scheduler, strict priority)", duty="scheduler")
@dataclass(frozen=True)
class Strict(Scheduler):
    """Serve the first input at which a cell or packet waits, without preemption.

    The queues before it hold what waits, each up to its own limit, which does not count what is
    being sent. When the line becomes free, items that arrive in the same ps are candidates too, and
    one that is chosen on arrival needs no room.

    Not modelled: buffer space that queues share; preemption.
    """

    order: Names
    """The inputs, highest priority first."""

    def bound_share(self, number: int, inputs: Sequence[Competitor | None], clock: Clock) -> Share:
        above = [competitor.work for competitor in inputs[:number] if competitor is not None]
        below = [
            competitor.longest_ps for competitor in inputs[number + 1 :] if competitor is not None
        ]
        before = functools.reduce(Curve.add, above, NOTHING)
        service = find_residual(before, max(below, default=Fraction(0)))
        return Share(service, functools.partial(cost_sizes, clock), always=not above)

    policy = Policy("strict", select_first_waiting, forgets=True)
    passes_over = True

    def __post_init__(self) -> None:
        if not self.order:
            raise ValueError("order: at least one input is needed")
        if len(set(self.order)) < len(self.order):
            raise ValueError("order: an input is named twice")

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.order
