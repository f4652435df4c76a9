"""Cells or packets at listed times."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.curve import bound_instants
from qospec.catalogue.kinds import LONGEST_PS, Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.source.arrivals import Arrivals
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws

Instants = Annotated[Sequence[int], Domain("times", 0, LONGEST_PS)]
"""Whole picoseconds."""


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        at_ps: When all items are ready; each time once for each connection.
        connections: The number of connections.
        emitted: The number of items emitted so far.
    """

    at_ps: Times
    connections: int
    emitted: int = 0


@arrivals(source="RFC 2330, 11.1 (collecting samples), at times that are written out")
@dataclass(frozen=True)
class Replay(Arrivals):
    """Emit cells at the listed instants, once, and then no more.

    Several connections emit at the same instants, in order of the connections; `phases` does not
    apply. As a load it counts at its mean interval, or one second if there is none.
    """

    at: Instants = field(repr=False)
    """The instants since the start of the trial, in ascending order."""

    def __post_init__(self) -> None:
        if not self.at:
            raise ValueError("at: at least one time is needed")
        if any(after < before for before, after in pairwise(self.at)):
            raise ValueError("at: a time is before the previous one")

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        at_ps = np.array(self.at, np.int64)
        return State(at_ps if connections == 1 else at_ps.repeat(connections), connections)

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        first, stop = state.emitted, int(state.at_ps.searchsorted(until_ps))
        stop = max(first, stop)
        state.emitted = stop
        connection = np.arange(first, stop, dtype=np.int64) % state.connections
        return state.at_ps[first:stop].copy(), connection.astype(np.int32)

    def compute_mean_rate(self, connections: int) -> Fraction:
        span_ps = self.at[-1] - self.at[0]
        intervals = (len(self.at) - 1) if span_ps else len(self.at)
        return Fraction(connections * intervals * PS_PER_S, span_ps or PS_PER_S)

    def bound_items(self, connections: int, phases: str) -> Curve:
        return bound_instants(self.at, connections)

    def count_most_items(self, connections: int, length_ps: int) -> int:
        return connections * bisect_left(self.at, length_ps)
