"""Cells at random, independently of each other."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue import Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from typing import Self

    from numpy.random import Generator

    from qospec.engine.arrays import Doubles, Indices, Times
    from qospec.engine.draws import Draws

BLOCK = 4_096
"""Cells are drawn in blocks of so many, however time is cut: chunks change nothing."""
MOST_BLOCKS = 8
"""So many at once: their columns stay in the second cache."""

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


@arrivals(source="Kingman, Poisson Processes (1993), superposition and colouring")
@dataclass(frozen=True)
class Poisson:
    """Have cells ready at random, so many per second on average.

    n connections are one process of n times the rate, each cell of a connection that is drawn
    uniformly. The time between two cells is exponential, drawn as a double and rounded down to
    whole ps, so that an interval is half a ps short on average; times are exact sums of these.
    """

    paced: ClassVar[str] = "rate"

    rate: Rate
    """Cells/s of each connection, on average."""

    @classmethod
    def at_rate(cls, rate: Fraction) -> Self:
        """Return the one of that mean rate, per connection."""
        return cls(rate)

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
            missing = int((until_ps - state.last_ps) / state.gap_ps)
            count = BLOCK * min(missing // BLOCK + 1, MOST_BLOCKS)
            gaps = state.gaps.standard_exponential(count)
            at_ps.append(gaps.view(np.int64))
            state.last_ps = _added_up(gaps, state.gap_ps, state.last_ps, at_ps[-1])
            connection.append(_senders(state, count))
        ready_ps, sender = np.concatenate(at_ps), np.concatenate(connection)
        count = int(ready_ps.searchsorted(until_ps))
        state.at_ps, state.connection = ready_ps[count:], sender[count:]
        return ready_ps[:count], sender[:count]

    def mean_cell_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def most_cells(self, connections: int, length_ps: int) -> None:
        return None


def _senders(state: State, count: int) -> Indices:
    if state.connections == 1:
        return np.zeros(count, np.int32)
    return state.choices.integers(0, state.connections, count, np.int32)


@kernel
def _added_up(gaps: Doubles, gap_ps: float, last_ps: int, at_ps: Times) -> int:
    """Write when cells are ready, and return when the last one is.

    Args:
        gaps: (n,) Times between cells, as multiples of the mean.
        gap_ps: The mean.
        last_ps: When the cell ahead of these is ready.
        at_ps: (n,) Written; may be the same memory as `gaps`.
    """
    for i in range(len(gaps)):
        last_ps += int(gaps[i] * gap_ps)
        at_ps[i] = last_ps
    return last_ps
