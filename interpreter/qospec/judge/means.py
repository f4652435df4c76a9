"""The mean of repeats: between what it lies, by Student's t, or by what was counted.

The mean has a one-sided interval to either side. Source: NIST/SEMATECH e-Handbook of Statistical
Methods, 7.2.2. Where repeats are short, their means are skewed, for one of them may have met a long
queue: then Student's t alone passes false criteria up to three times too often, and the interval is
wider by the first term of its expansion: Johnson, J. Am. Stat. Assoc. 73 (1978), 536. The skewness
of a few values is hardly known from them; what is known is that it grows with their spread.
Losses are counted, and have the bounds of their count instead; see `losses`. Repeats that
do not differ have no spread to go by, see `repeats.equal_values`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.judge.repeats import equal_values, holds, more_to_decide
from qospec.judge.statistics import quantile, root
from qospec.model.bounds import ANYTHING, Bounds

if TYPE_CHECKING:
    from qospec.judge.losses import Losses
    from qospec.judge.repeats import Sureness

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


def spread(values: Values, skewed: Fraction, confidence: Fraction, repeats: int) -> Fraction:
    """Return how far the mean of so many repeats like these may lie from the truth, either way."""
    t = quantile(confidence, repeats - 1)
    wider = skewed * (1 + 2 * t**2) / (6 * root(Fraction(repeats)))
    exact = (t + wider) * root(_variance(values) / repeats)
    return Fraction(math.ceil(exact * GRAIN), GRAIN)


class MeanEdge(NamedTuple):
    """Values that must lie below 0 (or, unless it is `strict`, at it) for a criterion to hold.

    `losses` are what was counted, where losses are judged; negated if it is not `rising`. `skewed`
    is how skewed what was measured is taken to be, `possible` between what each value lies whatever
    is measured.
    """

    values: Values
    strict: bool
    losses: Losses | None = None
    rising: bool = True
    skewed: Fraction = Fraction(0)
    possible: Bounds = ANYTHING

    @classmethod
    def of(
        cls,
        values: Values,
        *,
        strict: bool,
        losses: Losses | None = None,
        rising: bool = True,
        skewed: Fraction = Fraction(0),
        possible: Bounds = ANYTHING,
    ) -> MeanEdge:
        """Return the edge of values, rounded where they differ."""
        if len(set(values)) > 1:
            values = [Fraction(round(value * GRAIN), GRAIN) for value in values]
        return cls(values, strict, losses, rising, skewed, possible)

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
        """Return whether the repeats do not differ in anything that would say how far they may."""
        return len(set(self.values)) == 1 if self.losses is None else self.losses.alike

    @property
    def value(self) -> Fraction:
        """Return the mean, as an estimate beside others."""
        return self.mean

    def between(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return between what the mean of so many repeats like these lies."""
        mean = self.mean
        if self.losses is not None:
            below, above = self.losses.reach(confidence, repeats)
            below, above = (below, above) if self.rising else (above, below)
            return Bounds(mean - below, mean + above)
        if self.alike:
            return equal_values(mean, self.possible, confidence, repeats)
        wide = spread(self.values, self.skewed, confidence, repeats)
        return Bounds(mean - wide, mean + wide)

    def holds(self, sure: Sureness) -> bool | None:
        """Return whether all of the interval is on the good side; None if that is not decided."""
        count = len(self.values)
        return holds(lambda each: self.between(each, count), sure, strict=self.strict)

    def more(self, sure: Sureness) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""
        return more_to_decide(self.between, self.mean, sure, len(self.values))


def _mean(values: Values) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _variance(values: Values) -> Fraction:
    mean = _mean(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)
