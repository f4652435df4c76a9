"""A source that always sends at its peak rate."""

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


@arrivals(
    source="ITU-T I.371 (a source at its peak cell rate, without pause)",
    from_contract={"rate": "peak_cell_rate"},
)
@dataclass(frozen=True)
class Greedy(Arrivals):
    """Emit at the peak rate all the time: a cell every 1/rate, whatever the contract says.

    It differs from `constant` only in its purpose, an overload.
    """

    rate: CellRate
    """Cells/s of each connection; by default the peak rate of its contract."""

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
