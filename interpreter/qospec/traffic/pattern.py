"""A repeated list of intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source import periodic
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.periodic import Burst, most_items, pattern
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.periodic import Pattern as State

Intervals = Annotated[tuple[Fraction, ...], Domain("times", 0, LONGEST_PS)]
"""Times in order; those in whole ps are exact."""


@arrivals(source="RFC 3432, 3 (periodic sampling), for several intervals in turn")
@dataclass(frozen=True)
class Pattern(Arrivals):
    """Emit cells at the listed intervals, repeated forever, exactly.

    It describes a generator with uneven gaps. Connection i of n begins at a phase of its own within
    the first round of intervals: drawn in whole ps, or at i/n of it.
    """

    intervals: Intervals
    """Times from the start of a cell to the start of the next, in order."""

    def __post_init__(self) -> None:
        if not sum(self.intervals):
            raise ValueError("intervals: at least one of them must be more than 0")

    @property
    def _round_ps(self) -> Fraction:
        return Fraction(sum(self.intervals))

    @property
    def _burst(self) -> Burst:
        return Burst(len(self.intervals), tuple(map(Fraction, self.intervals)))

    def start(self, connections: int, phases: str, draws: Draws) -> State:
        return pattern(self._round_ps, self._burst, connections, phases, draws)

    def emit(self, state: State, until_ps: int) -> tuple[Times, Indices]:
        return state.before(until_ps)

    def mean_rate(self, connections: int) -> Fraction:
        return connections * len(self.intervals) * PS_PER_S / self._round_ps

    def curve(self, connections: int, phases: str) -> Curve:
        return periodic.curve(self._round_ps, self._burst, connections, phases)

    def most_items(self, connections: int, length_ps: int) -> int:
        return most_items(self._round_ps, self._burst, connections, length_ps)
