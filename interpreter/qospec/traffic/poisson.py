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
MOST_AT_ONCE = 8 * BLOCK
"""So that they are still in the second cache when gaps become times."""

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
        connection: Whose it is, if there are several.
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
        while state.last_ps < until_ps:
            missing = (until_ps - state.last_ps) / state.gap_ps
            blocks = int(missing + 3 * missing**0.5) // BLOCK + 1  # seldom will it take more
            _draw(state, blocks * BLOCK)
        count = int(state.at_ps.searchsorted(until_ps))
        ready_ps, state.at_ps = state.at_ps[:count], state.at_ps[count:]
        if state.connections == 1:
            return ready_ps, np.zeros(count, np.int32)
        sender, state.connection = state.connection[:count], state.connection[count:]
        return ready_ps, sender

    def mean_cell_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def most_cells(self, connections: int, length_ps: int) -> None:
        return None


def _draw(state: State, count: int) -> None:
    """Draw so many more cells, a number of blocks."""
    done = len(state.at_ps)
    at_ps = np.empty(done + count, np.int64)
    at_ps[:done] = state.at_ps
    for first in range(done, done + count, MOST_AT_ONCE):
        part = at_ps[first : first + MOST_AT_ONCE]
        gaps = state.gaps.standard_exponential(out=part.view(np.float64))
        state.last_ps = _added_up(gaps, state.gap_ps, state.last_ps, part)
    state.at_ps = at_ps
    if state.connections > 1:
        senders = state.choices.integers(0, state.connections, count, np.int32)
        state.connection = np.concatenate([state.connection, senders])


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
