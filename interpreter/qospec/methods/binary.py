"""Bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import method
from qospec.dataclass import dataclass
from qospec.search.method import Narrowing, find_undecided

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.search.progress import Progress


@method(source="RFC 2544, 26.1, by bisection")
@dataclass(frozen=True)
class Binary(Narrowing):
    """Halve the interval between a good and a bad load.

    The first load is the highest, the last one the lowest, if no other was good. Each load is
    decided before another is tried. The middle is the geometric mean if the width is a share of the
    upper bound, and the arithmetic mean if it is an amount or the range has a step.
    """

    def choose_next_load(self, progress: Progress, goal: int) -> Fraction | None:
        bounds = progress.find_apparent_bounds(goal)
        return find_undecided(bounds) or super().choose_next_load(progress, goal)

    def choose_between(
        self, progress: Progress, goal: int, lower: Fraction, upper: Fraction
    ) -> Fraction:
        return progress.scales[goal].find_middle(lower, upper)
