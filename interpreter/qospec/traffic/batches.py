"""Batches of cells at random times."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Cells, Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.source import instants
from qospec.engine.source.arrivals import Arrivals

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.instants import State

Rate = Annotated[Fraction, Domain("cell rate", Fraction(1, 1_000), 10**11)]
"""Cells/s; the times of batches, which are fewer, still fit int64."""


@arrivals(source="Gross and Harris, Fundamentals of Queueing Theory (1998), 3.1 (bulk input)")
@dataclass(frozen=True)
class Batches(Arrivals):
    """Emit `size` cells at once, at the instants of a Poisson process.

    The times between batches are exponential, rounded down to whole ps. n connections are one
    process of n times the rate, and each batch belongs to a connection that is drawn uniformly. The
    line of the source sends the cells of a batch back to back.
    """

    rate_field = "rate"

    size: Cells
    """Number of cells in a batch."""
    rate: Rate
    """Mean cells/s of each connection: `size` times the rate of batches."""

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        batch_rate = self.compute_mean_rate(connections) / self.size
        return instants.start(batch_rate, connections, draws)

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        ready_ps, sender = instants.emit(state, until_ps)
        return np.repeat(ready_ps, self.size), np.repeat(sender, self.size)

    def compute_mean_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def count_most_items(self, connections: int, length_ps: int) -> None:
        return None
