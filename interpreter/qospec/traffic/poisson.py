"""Cells at random, independently of each other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue import Domain, arrivals
from qospec.engine.arrays import np
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from numpy.random import Generator

    from qospec.engine.arrays import Indices, Times
    from qospec.engine.draws import Draws

BLOCK = 4_096
"""So many cells are drawn at a time, however time is cut: chunks change nothing."""

Rate = Annotated[Fraction, Domain("cell rate", Fraction(1, 1_000), 10**11)]
"""Cells/s; at one in 1000 s a block still ends within what int64 can tell."""


@dataclass
class State:
    """What is carried from batch to batch.

    Attributes:
        connections: How many there are.
        gap_ps: The mean time between two cells of all.
        gaps: Draws the times between cells.
        choices: Draws whose cell it is.
        at_ps: When each cell is ready that was drawn and not yet given.
        connection: Whose it is.
        last_ps: When the last cell is ready that was drawn.
    """

    connections: int
    gap_ps: float
    gaps: Generator
    choices: Generator
    at_ps: Times
    connection: Indices
    last_ps: int = 0


@arrivals(source="Kingman, Poisson Processes (1993), 2.2 (superposition) and 5.1 (colouring)")
@dataclass(frozen=True)
class Poisson:
    """Have cells ready at random, so many per second on average.

    n connections are one process of n times the rate, each cell of a connection that is drawn
    uniformly. The time between two cells is exponential, drawn as a double and rounded down to
    whole ps, so that an interval is half a ps short on average; times are exact sums of these.
    """

    rate: Rate
    """Cells/s of each connection, on average."""

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        return State(
            connections,
            float(PS_PER_S / self.mean_cell_rate(connections)),
            draws.below("gaps").stream(),
            draws.below("connections").stream(),
            np.empty(0, np.int64),
            np.empty(0, np.int32),
        )

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        at_ps, connection = [state.at_ps], [state.connection]
        while state.last_ps < until_ps:
            gaps_ps = state.gaps.exponential(state.gap_ps, BLOCK).astype(np.int64)
            at_ps.append(state.last_ps + gaps_ps.cumsum())
            connection.append(state.choices.integers(0, state.connections, BLOCK, np.int32))
            state.last_ps = int(at_ps[-1][-1])
        ready_ps, sender = np.concatenate(at_ps), np.concatenate(connection)
        count = int(ready_ps.searchsorted(until_ps))
        state.at_ps, state.connection = ready_ps[count:], sender[count:]
        return ready_ps[:count], sender[:count]

    def mean_cell_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def most_cells(self, connections: int, length_ps: int) -> None:
        return None
