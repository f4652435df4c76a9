"""A repeated list of intervals."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from qospec.catalogue.kinds import LONGEST_PS, Domain, arrivals
from qospec.dataclass import dataclass
from qospec.engine.source.periodic import Burst, Periodic

Intervals = Annotated[tuple[Fraction, ...], Domain("times", 0, LONGEST_PS)]
"""Times in order; those in whole ps are exact."""


@arrivals(source="RFC 3432, 3 (periodic sampling), for several intervals in turn")
@dataclass(frozen=True)
class Pattern(Periodic):
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
    def period_ps(self) -> Fraction:
        return Fraction(sum(self.intervals))

    @property
    def burst(self) -> Burst:
        return Burst(len(self.intervals), tuple(map(Fraction, self.intervals)))
