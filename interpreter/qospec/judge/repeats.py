"""Judging a criterion over all repeats: its constraints, and the confidence that each needs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol

from qospec.catalogue.statistics import GOES_ON
from qospec.judge import statistics
from qospec.model.bounds import Bounds
from qospec.model.expression import Measured
from qospec.model.suite import MAX_REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.engine.measure.tally import Delays
    from qospec.model.expression import Expression, Leaf, Value


class ConfidenceLevels(NamedTuple):
    """The confidence that each constraint of a criterion needs.

    A criterion passes if all of them hold, and fails if any of them does not: so to fail, two
    constraints have half of the significance level each (Bonferroni's inequality).
    """

    passing: Fraction
    failing: Fraction


class RepeatReadings(Protocol):
    """What was measured in one repeat."""

    @property
    def drawn(self) -> bool:
        """Return whether anything in it was drawn at random; if not, all repeats are identical."""

    def read(self, leaf: Leaf) -> Value:
        """Return the value of a measurement; None without data."""

    def delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of which a metric gives quantiles; for others, the transfer delays."""

    def series(self, expression: Expression, every_ps: int) -> list[Value]:
        """Return the value of an expression in each interval in order; None without data."""


class MeanReadings:
    """What the trials of a point measured in one repeat of the case, on average.

    They share what a search found, so they are one draw of it and not several.
    """

    def __init__(self, trials: Sequence[RepeatReadings]) -> None:
        self._trials = trials

    @property
    def drawn(self) -> bool:
        """Return whether anything was drawn at random."""
        return any(each.drawn for each in self._trials)

    def read(self, leaf: Leaf) -> Value:
        """Return the mean of the trials' values; None if one of them has no data.

        If one of them is only a lower limit, so is their mean.
        """
        values = [each.read(leaf) for each in self._trials]
        numbers = [value for value in values if isinstance(value, Fraction)]
        if len(numbers) == len(values):
            return sum(numbers, Fraction(0)) / len(numbers)
        if isinstance(leaf, Measured) and leaf.statistic == GOES_ON:
            return any(value is True for value in values)
        return None if numbers else values[0]

    def delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of the first trial."""
        return self._trials[0].delays(leaf)

    def series(self, expression: Expression, every_ps: int) -> list[Value]:
        """Return the values by interval of the first trial."""
        return self._trials[0].series(expression, every_ps)


class Constraint(Protocol):
    """A quantity that must be below 0, or at most 0, for a criterion to hold."""

    @property
    def mean(self) -> Fraction:
        """Return its estimate from all repeats."""

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ, so that their number alone counts."""

    def holds(self, levels: ConfidenceLevels) -> bool | None:
        """Return whether it holds with the confidence needed; None if that is undecided."""

    def more_repeats(self, levels: ConfidenceLevels) -> int | None:
        """Return how many more repeats like these would decide; None if too many."""


def rare_share(confidence: Fraction, repeats: int) -> Fraction:
    """Return the greatest share of repeats with other values, where all of these gave the same."""
    _, most = statistics.clopper_pearson(0, repeats, 1 - confidence)
    return most


def interval_without_spread(
    value: Fraction, possible: Bounds, confidence: Fraction, repeats: int
) -> Bounds:
    """Return a confidence interval of the mean where all repeats gave the same value.

    A value that a repeat did not give may lie anywhere within `possible`: an end that is open there
    is open here.
    """
    rare = rare_share(confidence, repeats)
    least, most = possible
    return Bounds(
        None if least is None else value - rare * (value - least),
        None if most is None else value + rare * (most - value),
    )


def decide(
    interval: Callable[[Fraction], Bounds], levels: ConfidenceLevels, *, strict: bool
) -> bool | None:
    """Return whether a quantity is below 0 with confidence; None if that is undecided.

    Unless `strict`, 0 itself is good enough. `interval` returns the quantity's confidence interval.
    """
    highest = interval(levels.passing).most
    if highest is not None and (highest < 0 or (highest == 0 and not strict)):
        return True
    lowest = interval(levels.failing).least
    fails = lowest is not None and (lowest > 0 or (lowest == 0 and strict))
    return False if fails else None


def repeats_to_decide(
    interval: Callable[[Fraction, int], Bounds],
    mean: Fraction,
    levels: ConfidenceLevels,
    repeats: int,
) -> int | None:
    """Return how many more repeats like these would decide; None if too many.

    `interval` returns the confidence interval after a number of repeats.
    """
    bad = mean > 0

    def decides(count: int) -> bool:
        found = interval(levels.failing if bad else levels.passing, count)
        end = found.least if bad else found.most
        return end is not None and (end > 0 if bad else end < 0)

    low, high = repeats, MAX_REPEATS
    if not decides(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high - repeats
