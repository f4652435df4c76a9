"""Sources that answer: what endpoints send is caused by what arrives, so nothing is known ahead."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.source.arrivals import Arrivals
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws


@dataclass(frozen=True)
class ClosedLoop(Arrivals):
    """The part of a source that an endpoint leaves: a bound on what it sends.

    It has nothing ready by itself: the endpoint makes the items.

    Attributes:
        at_once: The most items that a connection sends before anything arrives, and after its end.
        rate: The most items/s that all connections of a host send after that, in answer.
        again: The most items/s that a connection sends again, whatever arrives.
        timeout_ps: How long a connection waits before it sends again.
    """

    at_once: int
    rate: Fraction
    again: Fraction
    timeout_ps: int

    def split_items(self, factor: Fraction) -> ClosedLoop:
        """Return that of more items, each of them smaller."""
        at_once = -(-self.at_once * factor // 1)
        return replace(self, at_once=at_once, rate=self.rate * factor, again=self.again * factor)

    def start(self, connections: int, phases: str, draws: Draws) -> None:
        """Have no state."""

    def emit(self, state: None, until_ps: int) -> tuple[Times, Indices]:  # noqa: ARG002
        """Return nothing."""
        return np.empty(0, np.int64), np.empty(0, np.int32)

    def compute_mean_rate(self, connections: int) -> Fraction:  # noqa: ARG002
        """Return 0: it takes what the path leaves, so it overloads no line."""
        return Fraction(0)

    def compute_highest_rate(self, connections: int) -> Fraction:
        """Return the most items/s in the long run."""
        return self.rate + connections * self.again

    def count_most_items(self, connections: int, length_ps: int) -> int:
        """Return the most items that it sends, first and again."""
        rate = self.compute_highest_rate(connections)
        return connections * self.at_once + -(-rate * length_ps // PS_PER_S)
