"""A Poisson process whose rate changes at random."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, Duration, Ratio, arrivals
from qospec.dataclass import dataclass
from qospec.engine.random import NEVER
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.two_state import LONGEST_STAY_PS, Gaps, check_state, make_two_state
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.two_state import TwoState

Rate = Annotated[Fraction, Domain("cell rate", Fraction(1, 1_000), 10**11)]
"""Cells/s."""
Stay = Annotated[int, Domain("time", 1, LONGEST_STAY_PS)]
"""A mean duration."""


@arrivals(
    source="Fischer and Meier-Hellstern, The Markov-modulated Poisson process (MMPP) cookbook,"
    " Performance Evaluation 18 (1993) 149 (two states); Heffes and Lucantoni, IEEE JSAC 4"
    " (1986) 856",
)
@dataclass(frozen=True)
class Mmpp(Arrivals):
    """Emit cells at random, as a Poisson process that alternates between a calm and a busy rate.

    A Markov-modulated Poisson process of two states, each of which lasts for an exponential time.
    Each connection is an independent process and begins in its steady state. Times are drawn as
    doubles and rounded down to whole ps, so that an interval is half a ps short on average.
    """

    rate_field = "rate"

    rate: Rate
    """Mean cells/s of each connection, over both states."""
    calm: Stay
    """Mean time in the calm state."""
    busy: Stay
    """Mean time in the busy state."""
    share: Ratio
    """The share of all cells that are emitted in the busy state; at 100 % none are in the calm one.
    """

    def __post_init__(self) -> None:
        rate = Fraction(self.rate)
        check_state("rate", rate, rate, (Duration(self.calm), Duration(self.busy)))

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Return the cells/s while calm and while busy, by the share of each period."""
        share, each_turn = Fraction(self.share), Fraction(self.rate) * (self.calm + self.busy)
        return each_turn * (1 - share) / self.calm, each_turn * share / self.busy

    def start(self, connections: int, phases: str, draws: Draws) -> TwoState:
        stays = Duration(self.calm, "exponential"), Duration(self.busy, "exponential")
        calm_ps, busy_ps = (float(PS_PER_S / rate) if rate else NEVER for rate in self.rates)
        gaps = Gaps(means_ps=(calm_ps, busy_ps))
        return make_two_state(stays, gaps, connections, "random", draws)

    def emit(self, state: TwoState, until_ps: int) -> tuple[Times, Indices]:
        return state.take_before(until_ps)

    def compute_mean_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def count_most_items(self, connections: int, length_ps: int) -> None:
        return None
