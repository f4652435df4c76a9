"""The loads that a search may try for a goal, and how far they are apart.

A distance is measured in halvings: the number of loads that bisection tries, at most, until the
bounds are as close as the goal's width. All of it is exact, since a rounded logarithm may differ
from one computer to another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qospec.model.suite import Goal, Search

FINENESS = 50
"""Loads are rounded to a power of ten that is at most the width divided by this."""
BITS = 64
"""Ratios of loads are whole multiples of 2^-64."""
ONE = 1 << BITS


class Scale(ABC):
    """The loads between the ends of a search, for one goal."""

    def __init__(self, search: Search, goal: Goal) -> None:
        self.low, self.high = search.low, search.high
        self._width = goal.width
        self._absolute = goal.absolute

    def is_near(self, lower: Fraction, upper: Fraction) -> bool:
        """Return whether two loads are as close as the goal's width."""
        return upper - lower <= (self._width if self._absolute else self._width * upper)

    @abstractmethod
    def count_halvings(self, lower: Fraction, upper: Fraction) -> int:
        """Return how many loads bisection tries between these, at most, until two are near."""

    @abstractmethod
    def find_middle(self, lower: Fraction, upper: Fraction) -> Fraction:
        """Return the load in the middle between two that are not near."""

    @abstractmethod
    def move_below(self, load: Fraction, halvings: int) -> Fraction:
        """Return the lowest load that is at most so many halvings below another."""

    @abstractmethod
    def move_above(self, load: Fraction, halvings: int) -> Fraction:
        """Return the highest load that is at most so many halvings above another."""

    @abstractmethod
    def center_on(self, load: Fraction) -> Fraction:
        """Return the lower one of two near loads with `load` in their middle; or the lowest."""


class Ratios(Scale):
    """A scale of ratios, for a width that is a share of the upper bound.

    The middle is the geometric mean. Loads are rounded, so that reports can show them in full.
    """

    def __init__(self, search: Search, goal: Goal) -> None:
        super().__init__(search, goal)
        self._half = 1 - goal.width / 2
        spans = [int(ONE / (1 - goal.width))]
        # A middle is rounded down twice, each time by less than width / FINENESS.
        shrunk = int(ONE * (1 - 2 * goal.width / FINENESS))
        most = self._compute_ratio(self.low, self.high)
        while spans[-1] < most:
            half = spans[-1] * shrunk >> BITS
            spans.append(half * half >> BITS)
        self._spans = spans

    def count_halvings(self, lower: Fraction, upper: Fraction) -> int:
        return bisect_left(self._spans, self._compute_ratio(lower, upper))

    def find_middle(self, lower: Fraction, upper: Fraction) -> Fraction:
        unit = self._round_to_unit(lower)
        return self._round_down(isqrt(int(lower * upper / (unit * unit))) * unit)

    def move_below(self, load: Fraction, halvings: int) -> Fraction:
        exact = load * Fraction(ONE, self._compute_span(halvings))
        unit = self._round_to_unit(exact)
        return max(self.low, -(-exact // unit) * unit)

    def move_above(self, load: Fraction, halvings: int) -> Fraction:
        return min(self.high, self._round_down(load * Fraction(self._compute_span(halvings), ONE)))

    def center_on(self, load: Fraction) -> Fraction:
        return max(self.low, self._round_down(max(self.low, load) * self._half))

    def _compute_span(self, halvings: int) -> int:
        return self._spans[min(halvings, len(self._spans) - 1)]

    @staticmethod
    def _compute_ratio(lower: Fraction, upper: Fraction) -> int:
        """Return a ratio of loads in units of 2^-64, rounded up."""
        low = lower.numerator * upper.denominator
        return -(-(upper.numerator * lower.denominator << BITS) // low)

    def _round_to_unit(self, load: Fraction) -> Fraction:
        return find_power_of_ten(load * self._width / FINENESS)

    def _round_down(self, load: Fraction) -> Fraction:
        unit = self._round_to_unit(load)
        return load // unit * unit


class Steps(Scale):
    """A scale of equal steps: those of the search or, for an absolute width, parts of it.

    Loads are counted from the lowest; the highest may be less than a step above the one before.
    """

    def __init__(self, search: Search, goal: Goal) -> None:
        super().__init__(search, goal)
        self._gridded = search.step is not None
        self._step = search.step or find_power_of_ten(goal.width / FINENESS)
        self._wide = max(1, int(goal.width / self._step)) if goal.absolute else 1
        self._last = self._number_load(self.high)

    def is_near(self, lower: Fraction, upper: Fraction) -> bool:
        adjacent = self._gridded and self._number_load(upper) - self._number_load(lower) <= 1
        return adjacent or super().is_near(lower, upper)

    def count_halvings(self, lower: Fraction, upper: Fraction) -> int:
        apart = self._number_load(upper) - self._number_load(lower)
        return (-(-apart // self._wide) - 1).bit_length() if apart else 0

    def find_middle(self, lower: Fraction, upper: Fraction) -> Fraction:
        return self._load((self._number_load(lower) + self._number_load(upper)) // 2)

    def move_below(self, load: Fraction, halvings: int) -> Fraction:
        return self._load(self._number_load(load) - (self._wide << halvings))

    def move_above(self, load: Fraction, halvings: int) -> Fraction:
        return self._load(self._number_load(load) + (self._wide << halvings))

    def center_on(self, load: Fraction) -> Fraction:
        return self._load((load - self.low) // self._step - self._wide // 2)

    def _number_load(self, load: Fraction) -> int:
        """Return the number of a load, from 0 at the lowest, rounded up."""
        return int(-((self.low - load) // self._step))

    def _load(self, index: int) -> Fraction:
        return min(self.low + max(0, index) * self._step, self.high)


def make_scale(search: Search, goal: Goal) -> Scale:
    """Return the scale on which a goal's bounds are searched."""
    kind = Steps if goal.absolute or search.step is not None else Ratios
    return kind(search, goal)


def find_power_of_ten(most: Fraction) -> Fraction:
    """Return the greatest power of ten that is at most a positive number."""
    if most >= 1:
        return Fraction(10 ** (len(str(int(most))) - 1))
    times = -(-most.denominator // most.numerator)
    return Fraction(1, 10 ** len(str(times - 1)))
