"""The mean of repeats: between what it lies, by Student's t, or by what was counted.

The mean has a one-sided interval to either side. Source: NIST/SEMATECH e-Handbook of Statistical
Methods, 7.2.2. Where repeats are short, their means are skewed, for one of them may have met a long
queue: then Student's t alone passes false criteria up to three times too often, and the interval is
wider by the first term of its expansion: Johnson, J. Am. Stat. Assoc. 73 (1978), 536. The skewness
of a few values is hardly known from them; what is known is that it grows with their spread.
 Losses are counted, and have the bounds of their count instead; see `losses`. Of all
else, repeats that do not differ have no spread to go by, and the sign test is left: n equal values
say with 1 - ½ⁿ that most repeats would have that value.
Source: Dixon and Mood, J. Am. Stat. Assoc. 41 (1946), 557.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.check.bounds import ANYTHING, Bounds
from qospec.run.repeats import more_repeats
from qospec.run.student import quantile, root

if TYPE_CHECKING:
    from qospec.run.losses import Losses
    from qospec.run.repeats import Sureness

GRAIN = 10**21
"""Where repeats differ, their values are rounded to its inverse (of a second, a cell, a bit/s).

Exact sums of thousands of fractions would have thousands of digits.
"""

SKEWED = 13
"""How skewed means of delays are: so many times their deviation over their distance from the least.

It is 5 to 10 for queues at loads of 0.5 to 0.9; the rest is for a deviation that few repeats show
too small. Found by calibration, see docs/design.md.
"""
MOST_SKEWED = 4
"""Twice as skewed as the exponential distribution."""

Values = Sequence[Fraction]


def skewness(values: Values, least: Fraction) -> Fraction:
    """Return how skewed the values of repeats are taken to be, that cannot be below `least`."""
    deviation = root(_variance(values))
    above = _mean(values) - least
    if not deviation:
        return Fraction(0)
    if above <= 0:
        return Fraction(MOST_SKEWED)
    return min(Fraction(MOST_SKEWED), SKEWED * deviation / above)


class MeanEdge(NamedTuple):
    """Values that must lie below 0 (or, unless it is `strict`, at it) for a criterion to hold.

    `losses` are what was counted, where losses are judged; negated if it is not `rising`. `skewed`
    is how skewed what was measured is taken to be.
    """

    values: Values
    strict: bool
    losses: Losses | None = None
    rising: bool = True
    skewed: Fraction = Fraction(0)

    @classmethod
    def of(
        cls,
        values: Values,
        *,
        strict: bool,
        losses: Losses | None = None,
        rising: bool = True,
        skewed: Fraction = Fraction(0),
    ) -> MeanEdge:
        """Return the edge of values, rounded where they differ."""
        if len(set(values)) > 1:
            values = [Fraction(round(value * GRAIN), GRAIN) for value in values]
        return cls(values, strict, losses, rising, skewed)

    @property
    def mean(self) -> Fraction:
        """Return the mean of the repeats."""
        return _mean(self.values)

    @property
    def variance(self) -> Fraction:
        """Return the variance of the sample."""
        return _variance(self.values)

    @property
    def alike(self) -> bool:
        """Return whether nothing is left but to count equal values."""
        return len(set(self.values)) == 1 and self.losses is None

    def reach(self, confidence: Fraction, count: int) -> tuple[Fraction, Fraction]:
        """Return how far the interval of so many repeats goes below the mean, and above."""
        if self.losses is not None:
            below, above = self.losses.reach(confidence, count)
            return (below, above) if self.rising else (above, below)
        t = quantile(confidence, count - 1)
        wider = self.skewed * (1 + 2 * t**2) / (6 * root(Fraction(count)))
        exact = (t + wider) * root(self.variance / count)
        spread = Fraction(math.ceil(exact * GRAIN), GRAIN)
        return spread, spread

    @property
    def value(self) -> Fraction:
        """Return the mean, as an estimate beside others."""
        return self.mean

    def between(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return between what the mean lies; anything where equal values do not say enough."""
        if not self._says_enough(confidence, repeats):
            return ANYTHING
        below, above = self.reach(confidence, repeats)
        return Bounds(self.mean - below, self.mean + above)

    def holds(self, sure: Sureness) -> bool | None:
        """Return whether all of the interval is on the good side; None if that is not decided."""
        count = len(self.values)
        high = self.mean + self.reach(sure.holding, count)[1]
        if high < 0 or (high == 0 and not self.strict):
            return True if self._says_enough(sure.holding, count) else None
        low = self.mean - self.reach(sure.failing, count)[0]
        fails = low > 0 or (low == 0 and self.strict)
        return False if fails and self._says_enough(sure.failing, count) else None

    def _says_enough(self, confidence: Fraction, count: int) -> bool:
        return not self.alike or Fraction(1, 2**count) <= 1 - confidence

    def more(self, sure: Sureness) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""
        mean = self.mean
        confidence = sure.failing if mean > 0 else sure.holding

        def decides(count: int) -> bool:
            if self.alike:
                return self._says_enough(confidence, count)
            below, above = self.reach(confidence, count)
            return (below if mean > 0 else above) < abs(mean)

        return more_repeats(decides, len(self.values))


def _mean(values: Values) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _variance(values: Values) -> Fraction:
    mean = _mean(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)
