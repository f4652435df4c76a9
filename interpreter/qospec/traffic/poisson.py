"""Cells at random, independently of each other."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source import instants
from qospec.engine.source.arrivals import Arrivals

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.instants import State

Rate = Annotated[Fraction, Domain("cell rate", Fraction(1, 1_000), 10**11)]
"""Cells/s; at one in 1000 s the times of a block still fit int64."""


@arrivals(source="Kingman, Poisson Processes (1993), superposition and colouring")
@dataclass(frozen=True)
class Poisson(Arrivals):
    """Emit cells at random, with a mean rate.

    n connections are one process of n times the rate, and each cell belongs to a connection that is
    drawn uniformly. The time between two cells is exponential, drawn as a double and rounded down
    to whole ps, so that an interval is half a ps short on average; times are exact sums of these.
    """

    rate_field = "rate"

    rate: Rate
    """Mean cells/s of each connection."""

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        return instants.start(self.compute_mean_rate(connections), connections, draws)

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        return instants.emit(state, until_ps)

    def compute_mean_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def count_most_items(self, connections: int, length_ps: int) -> None:
        return None
