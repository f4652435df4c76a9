"""Alternating on and off periods."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from qospec.calculus.curve import bound_bursts
from qospec.catalogue.kinds import CellRate, Domain, Duration, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.two_state import LONGEST_STAY_PS, Gaps, check_state, make_two_state
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from typing import Self

    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.two_state import TwoState

Stay = Annotated[Duration, Domain("duration", 1, LONGEST_STAY_PS)]
"""A constant duration, or an exponential one."""


@arrivals(
    source="P. T. Brady, A model for generating on-off speech patterns, BSTJ 48 (1969) 2445;"
    " Heffes and Lucantoni, IEEE JSAC 4 (1986) 856 (voice sources)",
    from_contract={"at": "peak_cell_rate"},
)
@dataclass(frozen=True)
class OnOff(Arrivals):
    """Emit cells at a constant rate while on, and none while off.

    Each connection goes on and off independently. Cells are 1/at of the time on apart, exactly:
    what remains of such an interval when a connection goes off is continued when it is on again, so
    that the mean rate is exactly that share of `at`. With random phases a connection begins in its
    steady state; with even ones connection i of n goes on at i/n of a mean cycle.
    """

    rate_field = "at"

    on: Stay
    """How long a connection is on at a time."""
    off: Stay
    """How long it is then off."""
    at: CellRate
    """Cells/s while on; by default the peak rate of its contract."""

    def __post_init__(self) -> None:
        check_state("at", Fraction(self.at), self.compute_mean_rate(1), (self.off, self.on))

    @classmethod
    def from_rate(cls, rate: Fraction, **others: Any) -> Self:
        on_ps, off_ps = others["on"].mean_ps, others["off"].mean_ps
        return cls(at=rate * (on_ps + off_ps) / on_ps, **others)

    def start(self, connections: int, phases: str, draws: Draws) -> TwoState:
        gaps = Gaps(constant_ps=PS_PER_S / Fraction(self.at))
        return make_two_state((self.off, self.on), gaps, connections, phases, draws)

    def emit(self, state: TwoState, until_ps: int) -> tuple[Times, Indices]:
        return state.take_before(until_ps)

    def compute_mean_rate(self, connections: int) -> Fraction:
        on_ps, off_ps = self.on.mean_ps, self.off.mean_ps
        return connections * Fraction(self.at) * on_ps / (on_ps + off_ps)

    def bound_items(self, connections: int, phases: str) -> Curve:
        """Return that of all connections on at once: what is not sent while off is not made up."""
        return bound_bursts(PS_PER_S / Fraction(self.at)).widen(1).scale_by(connections)

    def count_most_items(self, connections: int, length_ps: int) -> None:
        return None
