"""Judges what searches have found over all repeats: an interval of each repeat, not a number.

A criterion passes if it would do so with the worse end of each interval, and fails if it would do
so with the better one: confidence intervals of the mean of either, by Student's t.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.judge import quantiles
from qospec.judge.found import limits
from qospec.judge.means import MeanConstraint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.judge.repeats import ConfidenceLevels, RepeatReadings
    from qospec.model.expression import Operation


class FoundConstraint(NamedTuple):
    """What must be below 0, or at most 0, by its `least` and its `most`; None: not known."""

    least: MeanConstraint | None
    most: MeanConstraint | None

    @property
    def is_open(self) -> bool:
        """Return whether no number of repeats decides, since a bound that could is missing.

        That is a load that may be anything above the range, or the difference of two such loads.
        """
        if self.most is None:
            return self.least is None or self.least.mean <= 0
        return self.least is None and self.most.mean > 0

    @property
    def mean(self) -> Fraction:
        """Return what decides whether more repeats can help: the end that is nearer to failing."""
        known = self.most or self.least
        return Fraction(0) if known is None else known.mean

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ."""
        return all(each is None or each.identical for each in self)

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether it holds with the confidence needed; None if that is undecided."""
        if self.most is not None and self.most.holds(levels) is True:
            return True
        return False if self.least is not None and self.least.holds(levels) is False else None

    def more_repeats(self, levels: ConfidenceLevels) -> int | None:
        """Return how many more repeats would decide; None if too many, or a narrower search."""
        if self.most is not None and self.most.mean <= 0:
            return self.most.more_repeats(levels)
        if self.least is not None and self.least.mean > 0:
            return self.least.more_repeats(levels)
        return None


def found_constraints(
    expression: Operation, repeats: Sequence[RepeatReadings]
) -> list[FoundConstraint]:
    """Return the constraints of a comparison of loads that were found."""
    constraints = []
    for each in quantiles.constraints(expression, {}, len(repeats)):
        ends = [limits(each.expression, repeat.read) for repeat in repeats]
        least = [end.least for end in ends if end is not None and end.least is not None]
        most = [end.most for end in ends if end is not None and end.most is not None]
        constraints.append(
            FoundConstraint(
                *(
                    MeanConstraint.of(values, strict=each.strict)
                    if len(values) == len(repeats)
                    else None
                    for values in (least, most)
                )
            )
        )
    return constraints
