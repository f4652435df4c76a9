"""Criteria judged over all repeats: what an edge of a criterion answers, however it is reckoned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from qospec.judge import statistics
from qospec.model.bounds import Bounds
from qospec.model.suite import MAX_REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays
    from qospec.model.expression import Leaf, Measured, Value


class Sureness(NamedTuple):
    """How sure a verdict must be. Where either of two sides may fail, each has half the doubt."""

    holding: Fraction
    failing: Fraction


class Repeat(Protocol):
    """What was measured in one repeat."""

    @property
    def drawn(self) -> bool:
        """Return whether anything in it was drawn at random; else all repeats are this one."""

    def read(self, leaf: Leaf) -> Value:
        """Return the value of a measurement; None without data."""

    def delays(self, leaf: Measured) -> Delays | None:
        """Return the delays that a metric's quantiles are of; of any other, its transfer delays."""


class Edge(Protocol):
    """A value that must lie below 0, or at it, for a criterion to hold."""

    @property
    def mean(self) -> Fraction:
        """Return what the repeats come to together."""

    @property
    def alike(self) -> bool:
        """Return whether nothing is left but to count equal values."""

    def holds(self, sure: Sureness) -> bool | None:
        """Return whether all that is not excluded is on the good side; None if not decided."""

    def more(self, sure: Sureness) -> int | None:
        """Return how many more repeats would decide if they are like these; None if too many."""


def equal_values(value: Fraction, possible: Bounds, confidence: Fraction, repeats: int) -> Bounds:
    """Return between what the mean lies where so many repeats all had this value.

    Other values then come in no larger a share of repeats than none of so many excludes, and they
    are anywhere in what is `possible`: where that has no end, neither has the mean.
    """
    _, rare = statistics.bounds(0, repeats, 1 - confidence)
    least, most = possible
    return Bounds(
        None if least is None else value - rare * (value - least),
        None if most is None else value + rare * (most - value),
    )


def holds(between: Callable[[Fraction], Bounds], sure: Sureness, *, strict: bool) -> bool | None:
    """Return whether all between the ends, which must be below 0, is; None if not decided.

    If it is not `strict`, 0 will do. `between` returns the ends at a confidence.
    """
    highest = between(sure.holding).most
    if highest is not None and (highest < 0 or (highest == 0 and not strict)):
        return True
    lowest = between(sure.failing).least
    fails = lowest is not None and (lowest > 0 or (lowest == 0 and strict))
    return False if fails else None


def more_to_decide(
    between: Callable[[Fraction, int], Bounds], mean: Fraction, sure: Sureness, repeats: int
) -> int | None:
    """Return how many more repeats would decide if they are like these; None if too many.

    `between` returns the ends at a confidence, after so many repeats.
    """
    bad = mean > 0

    def decides(count: int) -> bool:
        found = between(sure.failing if bad else sure.holding, count)
        end = found.least if bad else found.most
        return end is not None and (end > 0) == bad and end != 0

    return more_repeats(decides, repeats)


def more_repeats(decides: Callable[[int], bool], repeats: int) -> int | None:
    """Return how many more repeats it takes until `decides` is true of all; None if too many."""
    low, high = repeats, MAX_REPEATS
    if not decides(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high - repeats
