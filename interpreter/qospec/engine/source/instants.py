"""Instants at random, independently of each other: a Poisson process of several connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.random import Generator

    from qospec.engine.arrays import Doubles, Indices, Times
    from qospec.engine.random import Draws

BLOCK = 4_096
"""Instants are drawn in blocks of so many, however time is cut: chunks change nothing."""
MOST_AT_ONCE = 8 * BLOCK
"""So that they are still in the second cache when gaps become times."""


@dataclass
class State:
    """What is carried from batch to batch.

    Attributes:
        connections: How many there are.
        gap_ps: The mean time between two instants of all.
        gaps: Draws the times between instants.
        choices: Draws whose it is.
        at_ps: Each that was drawn and not yet given.
        connection: Whose it is, if there are several.
        last_ps: The last that was drawn.
    """

    connections: int
    gap_ps: float
    gaps: Generator
    choices: Generator
    at_ps: Times
    connection: Indices
    last_ps: int = 0


def start(rate: Fraction, connections: int, draws: Draws) -> State:
    """Return the state of connections that together have `rate` instants per second."""
    return State(
        connections,
        float(PS_PER_S / rate),
        draws.below("gaps").stream(),
        draws.below("connections").stream(),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
    )


def emit(state: State, until_ps: int) -> tuple[Times, Indices]:
    """Return the instants before `until_ps` that were not yet given, and whose each is."""
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
