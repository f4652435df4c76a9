"""Confidence intervals of the mean over repeats, by Student's t or by counts.

Each side of the interval is a one-sided test. Source: NIST/SEMATECH e-Handbook of Statistical
Methods, 7.2.2. Where repeats are short, their means are skewed, because one of them may have met a
long queue: Student's t alone then passes false criteria up to three times too often, so the
interval is widened by the first term of its expansion: Johnson, J. Am. Stat. Assoc. 73 (1978), 536.
A few values hardly show their skewness; what is known is that it grows with their spread.
Losses are counted and have the bounds of a proportion instead: see `losses`. Repeats that do not
differ show no spread: see `repeats.interval_without_spread`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.judge.repeats import decide, interval_without_spread, repeats_to_decide
from qospec.judge.statistics import RESOLUTION, Values, half_width, mean, variance
from qospec.model.bounds import ANYTHING, Bounds

if TYPE_CHECKING:
    from qospec.judge.losses import Losses
    from qospec.judge.repeats import ConfidenceLevels


class MeanConstraint(NamedTuple):
    """Values whose mean must be below 0 (or, unless `strict`, at most 0) for a criterion to hold.

    Attributes:
        values: One of each repeat.
        strict: Whether 0 is not good enough.
        losses: What was counted, where losses are judged.
        increasing: Whether the values grow with the losses.
        skewness: What is assumed of the values' distribution.
        possible: What each value can be, whatever is measured.
    """

    values: Values
    strict: bool
    losses: Losses | None = None
    increasing: bool = True
    skewness: Fraction = Fraction(0)
    possible: Bounds = ANYTHING

    @classmethod
    def of(
        cls,
        values: Values,
        *,
        strict: bool,
        losses: Losses | None = None,
        increasing: bool = True,
        skewness: Fraction = Fraction(0),
        possible: Bounds = ANYTHING,
    ) -> MeanConstraint:
        """Return the constraint, with its values rounded where they differ."""
        if len(set(values)) > 1:
            values = [Fraction(round(value * RESOLUTION), RESOLUTION) for value in values]
        return cls(values, strict, losses, increasing, skewness, possible)

    @property
    def mean(self) -> Fraction:
        """Return the mean over the repeats."""
        return mean(self.values)

    @property
    def variance(self) -> Fraction:
        """Return the sample variance."""
        return variance(self.values)

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ in anything that would show their spread."""
        return len(set(self.values)) == 1 if self.losses is None else self.losses.identical

    @property
    def value(self) -> Fraction:
        """Return the mean, as other estimates name it."""
        return self.mean

    def interval(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return the confidence interval of the mean of `repeats` such repeats."""
        middle = self.mean
        if self.losses is not None:
            below, above = self.losses.margins_of_error(confidence, repeats)
            below, above = (below, above) if self.increasing else (above, below)
            return Bounds(middle - below, middle + above)
        if self.identical:
            return interval_without_spread(middle, self.possible, confidence, repeats)
        wide = half_width(self.values, self.skewness, confidence, repeats)
        return Bounds(middle - wide, middle + wide)

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether the whole interval is on the good side; None if that is undecided."""
        count = len(self.values)
        return decide(lambda each: self.interval(each, count), levels, strict=self.strict)

    def more_repeats(self, levels: ConfidenceLevels) -> int | None:
        """Return how many more repeats like these would decide; None if too many."""
        return repeats_to_decide(self.interval, self.mean, levels, len(self.values))
