"""A source that always sends at its peak rate."""

from __future__ import annotations

from fractions import Fraction

from qospec.catalogue.kinds import CellRate, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.periodic import Periodic
from qospec.units import PS_PER_S


@arrivals(
    source="ITU-T I.371 (a source at its peak cell rate, without pause)",
    from_contract={"rate": "peak_cell_rate"},
)
@dataclass(frozen=True)
class Greedy(Periodic):
    """Emit at the peak rate all the time: a cell every 1/rate, whatever the contract says.

    It differs from `constant` only in its purpose, an overload.
    """

    rate: CellRate
    """Cells/s of each connection; by default the peak rate of its contract."""

    @property
    def period_ps(self) -> Fraction:
        return PS_PER_S / Fraction(self.rate)
