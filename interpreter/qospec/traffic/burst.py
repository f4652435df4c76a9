"""Bursts of cells at constant intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from qospec.catalogue.kinds import LONGEST_PS, Cells, Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.periodic import Burst as Shape
from qospec.engine.source.periodic import Periodic
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from typing import Self

Interval = Annotated[Fraction, Domain("time", 1, LONGEST_PS)]
"""Exact: an interval computed from two rates need not be whole ps."""
PeakRate = Annotated[Fraction | None, Domain("cell rate", Fraction(1, 10**6), 10**11)]
"""Cells per second, exact; None: unlimited."""


@arrivals(source="ATM Forum TM 4.1 (af-tm-0121), MBS: a burst at PCR, then silence")
@dataclass(frozen=True)
class Burst(Periodic):
    """Emit a burst of `size` cells once every interval, exactly.

    Connection i of n starts at a phase of its own within the first interval: drawn in whole ps, or
    at i/n of it.
    """

    rate_field = "every"

    size: Cells
    """Number of cells in a burst."""
    every: Interval
    """Time from the start of a burst to the start of the next."""
    at: PeakRate = None
    """Cells/s within a burst; by default all are ready at once, and back to back on the line."""

    def __post_init__(self) -> None:
        if self.size * self._compute_apart_ps() > self.every:
            raise ValueError("every: the next burst begins before this one is over")

    @classmethod
    def from_rate(cls, rate: Fraction, **others: Any) -> Self:
        return cls(every=others["size"] * PS_PER_S / rate, **others)

    def _compute_apart_ps(self) -> Fraction:
        return Fraction(0) if self.at is None else PS_PER_S / Fraction(self.at)

    @property
    def period_ps(self) -> Fraction:
        return Fraction(self.every)

    @property
    def burst(self) -> Shape:
        return Shape(self.size, (self._compute_apart_ps(),))
