"""Cells at constant intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import CellRate, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source import periodic
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.periodic import Burst, Pattern, most_items, pattern
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.curve import Curve
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws


@arrivals(source="ITU-T I.371 (a source at its peak cell rate, one cell every T = 1/PCR)")
@dataclass(frozen=True)
class Constant(Arrivals):
    """Emit a cell every 1/rate, exactly; only the result is rounded down to whole ps.

    Connection i of n starts at a phase of its own within the first interval: drawn in whole ps, or
    at i/n of it, so that n even connections are one stream of n times the rate.
    """

    rate_field = "rate"

    rate: CellRate
    """Cells/s of each connection."""

    def start(self, connections: int, phases: str, draws: Draws) -> Pattern:
        return pattern(PS_PER_S / Fraction(self.rate), Burst(), connections, phases, draws)

    def emit(self, state: Pattern, until_ps: int) -> tuple[Times, Indices]:
        return state.before(until_ps)

    def mean_rate(self, connections: int) -> Fraction:
        return connections * Fraction(self.rate)

    def curve(self, connections: int, phases: str) -> Curve:
        return periodic.curve(PS_PER_S / Fraction(self.rate), Burst(), connections, phases)

    def most_items(self, connections: int, length_ps: int) -> int:
        return most_items(PS_PER_S / Fraction(self.rate), Burst(), connections, length_ps)
