"""Judging a criterion over all repeats: its constraints, and the confidence that each needs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from qospec.catalogue.statistics import GOES_ON
from qospec.dataclass import NamedTuple
from qospec.judge import statistics
from qospec.model.bounds import NOTHING, Bounds, combine, make_bounds
from qospec.model.expression import Measured
from qospec.model.suite import MAX_REPEATS, MIN_REPEATS

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


class MoreRepeats(NamedTuple):
    """From how many to how many more repeats decide, in at least 8 of 10 cases.

    `least` is more than `MAX_REPEATS` if no number decides. `most` is None if nothing is known of
    it, since the repeats may yet turn out to be on the other side.
    """

    least: int
    most: int | None


class RepeatReadings(Protocol):
    """What was measured in one repeat."""

    @property
    def drawn(self) -> bool:
        """Return whether anything in it was drawn at random; if not, all repeats are identical."""

    def read(self, leaf: Leaf) -> Value:
        """Return the value of a measurement; None without data."""

    def read_delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of which a metric gives quantiles; for others, the transfer delays."""

    def read_series(self, expression: Expression, every_ps: int) -> list[Value]:
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
        return any(trial.drawn for trial in self._trials)

    def read(self, leaf: Leaf) -> Value:
        """Return the mean of the trials' values; None if one of them has no data.

        If one of them is only a lower limit, so is their mean.
        """
        values = [trial.read(leaf) for trial in self._trials]
        numbers = [value for value in values if isinstance(value, Fraction)]
        if any(isinstance(value, Bounds) for value in values):
            return _compute_mean_bounds([make_bounds(value) for value in values])
        if len(numbers) == len(values):
            return sum(numbers, Fraction(0)) / len(numbers)
        if isinstance(leaf, Measured) and leaf.statistic == GOES_ON:
            return any(value is True for value in values)
        return None if numbers else values[0]

    def read_delays(self, leaf: Measured) -> Delays | None:
        """Return the delays of the first trial."""
        return self._trials[0].read_delays(leaf)

    def read_series(self, expression: Expression, every_ps: int) -> list[Value]:
        """Return the values by interval of the first trial."""
        return self._trials[0].read_series(expression, every_ps)


def _compute_mean_bounds(parts: Sequence[Bounds]) -> Bounds:
    share = Fraction(1, len(parts))
    return combine("*", (combine("+", (NOTHING, *parts)), Bounds(share, share)))


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

    def count_more_repeats(self, levels: ConfidenceLevels) -> MoreRepeats:
        """Return how many more repeats like these would decide."""


def bound_rare_share(confidence: Fraction, repeats: int) -> Fraction:
    """Return the greatest share of repeats with other values, where all of these gave the same."""
    _, most = statistics.compute_clopper_pearson(0, repeats, 1 - confidence)
    return most


MOST_STEPS = 40
"""Up to so many repeats, what fewer of them have shown is looked at as well.

Further ones change the design effect so little that they cannot weaken what the others show.
"""


def looks_back(repeats: int) -> bool:
    """Return whether what the repeats before the last have shown is looked at as well."""
    return MIN_REPEATS < repeats <= MOST_STEPS


def compute_markov_share(confidence: Fraction, repeats: int) -> Fraction:
    """Return the share of the least value of all repeats that their mean is at least.

    Values are at least 0. The product of independent values over their mean has a mean of 1, so
    with a probability of at most s it reaches 1 / s (Markov's inequality), whatever they are.
    """
    return 1 - bound_rare_share(confidence, repeats)


def compute_interval_without_spread(
    value: Fraction, possible: Bounds, confidence: Fraction, repeats: int
) -> Bounds:
    """Return a confidence interval of the mean where all repeats gave the same value.

    A value that a repeat did not give may lie anywhere within `possible`: an end that is open there
    is open here.
    """
    rare = bound_rare_share(confidence, repeats)
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


LIKELY = Fraction(8, 10)
"""The confidence of each end of what is likely, for the number of repeats that would decide.

By calibration, that number is then within its range in more than 8 of 10 cases.
"""


def count_repeats_to_decide(
    interval: Callable[[Fraction, int], Bounds],
    mean: Fraction,
    levels: ConfidenceLevels,
    repeats: int,
    *,
    alike: bool = False,
    effect: bool = False,
) -> MoreRepeats:
    """Return how many more repeats like these would decide.

    `interval` returns the confidence interval after a number of repeats. The quantity itself is as
    uncertain as these repeats leave it: the farther from 0 it may be, the fewer are needed. If they
    are `alike`, such as without any loss, it is taken that all are. If a design `effect` is part of
    it, half or six times as many may do, since few repeats hardly tell it.
    """

    def find_more(value: Fraction) -> int:
        def decide(count: int) -> bool:
            found = interval(levels.failing if value > 0 else levels.passing, count)
            end = found.least if value > 0 else found.most
            return end is not None and (value + end - mean) * (1 if value > 0 else -1) > 0

        return find_first_to_decide(decide, repeats)

    ends = Bounds(mean, mean) if alike else interval(LIKELY, repeats)
    far, near = (ends.most, ends.least) if mean > 0 else ends
    least = find_more(mean if far is None else far)
    most = None if near is None or (near > 0) != (mean > 0) else find_more(near)
    if effect and least <= MAX_REPEATS:
        least, most = (least + 1) // 2, None if most is None else 6 * most
    return MoreRepeats(least, None if most is None or most > MAX_REPEATS >= least else most)


def find_first_to_decide(decides: Callable[[int], bool], repeats: int) -> int:
    """Return how many more than these repeats decide first; too many if even the most do not."""
    low, high = repeats, MAX_REPEATS
    if not decides(high):
        return MAX_REPEATS + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high - repeats
