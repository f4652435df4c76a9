"""Cells at constant intervals."""

from __future__ import annotations

from fractions import Fraction

from qospec.catalogue.kinds import CellRate, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.periodic import Periodic
from qospec.units import PS_PER_S


@arrivals(source="ITU-T I.371 (a source at its peak cell rate, one cell every T = 1/PCR)")
@dataclass(frozen=True)
class Constant(Periodic):
    """Emit a cell every 1/rate, exactly; only the result is rounded down to whole ps.

    Connection i of n starts at a phase of its own within the first interval: drawn in whole ps, or
    at i/n of it, so that n even connections are one stream of n times the rate.
    """

    rate_field = "rate"

    rate: CellRate
    """Cells/s of each connection."""

    @property
    def period_ps(self) -> Fraction:
        return PS_PER_S / Fraction(self.rate)
