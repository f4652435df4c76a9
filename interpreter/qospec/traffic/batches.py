"""Batches of cells at random instants."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue import Cells, Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from typing import Self

    from numpy.random import Generator

    from qospec.engine.arrays import Indices, Times
    from qospec.engine.draws import Draws

BLOCK = 4_096
"""Batches are drawn so many at a time, however time is cut: chunks change nothing."""

Rate = Annotated[Fraction, Domain("cell rate", Fraction(1, 1_000), 10**11)]
"""Cells/s; of batches there are fewer, but none that int64 could not tell."""


@dataclass
class State:
    """What is carried from batch to batch.

    Attributes:
        connections: How many there are.
        gap_ps: The mean time between two batches of all.
        gaps: Draws the times between batches.
        choices: Draws whose batch it is.
        at_ps: When each batch is ready that was drawn and not yet given.
        connection: Whose it is.
        last_ps: When the last batch is ready that was drawn.
    """

    connections: int
    gap_ps: float
    gaps: Generator
    choices: Generator
    at_ps: Times
    connection: Indices
    last_ps: int = 0


@arrivals(source="Gross and Harris, Fundamentals of Queueing Theory (1998), 3.1 (bulk input)")
@dataclass(frozen=True)
class Batches:
    """Have `size` cells ready at once, at instants of a Poisson process.

    The times between batches are exponential, rounded down to whole ps. n connections are one
    process of n times the rate, each batch of a connection that is drawn uniformly. The source's
    line sends the cells of a batch back to back.
    """

    paced: ClassVar[str] = "rate"

    size: Cells
    """How many cells a batch has."""
    rate: Rate
    """Cells/s of each connection, on average: `size` times that of batches."""

    @classmethod
    def at_rate(cls, rate: Fraction, *, size: int) -> Self:
        """Return the one of that mean rate, per connection."""
        return cls(size, rate)

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        return State(
            connections,
            float(self.size * PS_PER_S / self.mean_cell_rate(connections)),
            draws.below("gaps").stream(),
            draws.below("connections").stream(),
            np.empty(0, np.int64),
            np.empty(0, np.int32),
        )

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        while state.last_ps < until_ps:
            _draw(state)
        count = int(state.at_ps.searchsorted(until_ps))
        ready_ps, state.at_ps = state.at_ps[:count], state.at_ps[count:]
        sender, state.connection = state.connection[:count], state.connection[count:]
        return np.repeat(ready_ps, self.size), np.repeat(sender, self.size)

    def mean_cell_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def most_cells(self, connections: int, length_ps: int) -> None:
        return None


def _draw(state: State) -> None:
    """Draw a block of batches more."""
    gaps = (state.gaps.standard_exponential(BLOCK) * state.gap_ps).astype(np.int64)
    at_ps = state.last_ps + np.cumsum(gaps)
    senders = state.choices.integers(0, state.connections, BLOCK, np.int32)
    state.at_ps = np.concatenate([state.at_ps, at_ps])
    state.connection = np.concatenate([state.connection, senders])
    state.last_ps = int(at_ps[-1])
