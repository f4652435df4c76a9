"""Random instants, independent of each other: a Poisson process of several connections."""

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
"""Instants are drawn in blocks of this size, so that the size of time steps changes nothing."""
MAX_AT_ONCE = 8 * BLOCK
"""Few enough to stay in the second-level cache while gaps become times."""


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        connections: The number of connections.
        gap_ps: The mean time between two instants of the process.
        gaps: Draws the times between instants.
        senders: Draws the connection of each instant.
        at_ps: Instants that were drawn and not yet emitted.
        connection: The connection of each; of one alone, as many as were needed so far.
        last_ps: The last instant that was drawn.
    """

    connections: int
    gap_ps: float
    gaps: Generator
    senders: Generator
    at_ps: Times
    connection: Indices
    last_ps: int = 0


def start(rate: Fraction, connections: int, draws: Draws) -> State:
    """Return the state of connections that together have `rate` instants per second."""
    return State(
        connections,
        float(PS_PER_S / rate),
        draws.derive("gaps").open_stream(),
        draws.derive("connections").open_stream(),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
    )


def emit(state: State, until_ps: int) -> tuple[Times, Indices]:
    """Return the instants before `until_ps` that were not yet emitted, and their connections."""
    while state.last_ps < until_ps:
        expected = (until_ps - state.last_ps) / state.gap_ps
        blocks = int(expected + 3 * expected**0.5) // BLOCK + 1  # rarely more than once
        _draw(state, blocks * BLOCK)
    count = int(state.at_ps.searchsorted(until_ps))
    ready_ps, state.at_ps = state.at_ps[:count], state.at_ps[count:]
    if state.connections == 1:
        if len(state.connection) < count:
            state.connection = np.zeros(count + count // 8, np.int32)
        return ready_ps, state.connection[:count]
    sender, state.connection = state.connection[:count], state.connection[count:]
    return ready_ps, sender


def _draw(state: State, count: int) -> None:
    """Draw `count` more instants, a multiple of the block size."""
    done = len(state.at_ps)
    at_ps = np.empty(done + count, np.int64)
    at_ps[:done] = state.at_ps
    for first in range(done, done + count, MAX_AT_ONCE):
        part = at_ps[first : first + MAX_AT_ONCE]
        gaps = state.gaps.standard_exponential(out=part.view(np.float64))
        state.last_ps = _accumulate(gaps, state.gap_ps, state.last_ps, part)
    state.at_ps = at_ps
    if state.connections > 1:
        senders = state.senders.integers(0, state.connections, count, np.int32)
        state.connection = np.concatenate([state.connection, senders])


@kernel
def _accumulate(gaps: Doubles, gap_ps: float, last_ps: int, at_ps: Times) -> int:
    """Write the times of cells; return the last.

    Args:
        gaps: (n,) Times between cells, as multiples of the mean.
        gap_ps: The mean.
        last_ps: The time of the cell before these.
        at_ps: (n,) Written; may be the same memory as `gaps`.
    """
    for i in range(len(gaps)):
        last_ps += int(gaps[i] * gap_ps)
        at_ps[i] = last_ps
    return last_ps
