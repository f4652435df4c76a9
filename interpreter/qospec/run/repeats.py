"""Criteria judged over all repeats: what an edge of a criterion answers, however it is reckoned."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from qospec.model import MOST_REPEATS

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from qospec.conditions import Leaf, Measured, Value
    from qospec.engine.tally import Delays


class Sureness(NamedTuple):
    """How sure a verdict must be. Where either of two sides may fail, each has half the doubt."""

    holding: Fraction
    failing: Fraction


class Repeat(Protocol):
    """What was measured in one repeat."""

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


def more_repeats(decides: Callable[[int], bool], repeats: int) -> int | None:
    """Return how many more repeats it takes until `decides` is true of all; None if too many."""
    low, high = repeats, MOST_REPEATS
    if not decides(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high - repeats
