"""A source whose clock runs fast or slow."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.calculus.curve import Curve
from qospec.dataclass import dataclass
from qospec.engine.source.arrivals import Arrivals
from qospec.engine.source.changing import Changing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Times
    from qospec.engine.random import Draws
    from qospec.engine.source.arrivals import Told


@dataclass(frozen=True)
class Skewed(Arrivals):
    """Emit what a process emits by a clock that shows `pace` seconds in each second.

    The times of the process are whole ps of that clock, and are rounded down to whole ps once more.
    Source: RFC 2330, 10.1 (skew).

    Attributes:
        process: What is emitted by that clock.
        pace: 1 and the skew; numerator and denominator below 2**31.
    """

    process: Arrivals
    pace: Fraction

    def start(self, connections: int, phases: str, draws: Draws) -> Any:
        """Return the state of the process."""
        return self.process.start(connections, phases, draws)

    def emit(self, state: Any, until_ps: int) -> tuple[Times, Indices]:
        """Return all items ready before `until_ps` that were not yet emitted, in order of time."""
        shown_ps, connection = self.process.emit(state, self._find_shown_ps(until_ps))
        return self._find_true_ps(shown_ps), connection

    def tell(self, state: Any) -> Iterator[Told]:
        """Yield what the process tells, in true time."""
        for told in self.process.tell(state):
            yield told._replace(at_ps=self._find_true_ps(told.at_ps))

    def _find_true_ps(self, shown_ps: Times) -> Times:
        """Return when the clock shows times, in whole ps."""
        shown, true = self.pace.numerator, self.pace.denominator
        # In two steps, since the product of a time and a numerator overflows.
        whole, rest = shown_ps // shown, shown_ps % shown
        return whole * true + rest * true // shown

    def _find_shown_ps(self, true_ps: int) -> int:
        """Return the first whole ps of the clock that are not before a time."""
        return -(-true_ps * self.pace.numerator // self.pace.denominator)

    def compute_mean_rate(self, connections: int) -> Fraction:
        """Return the items/s in true time."""
        return self.pace * self.process.compute_mean_rate(connections)

    def compute_highest_rate(self, connections: int) -> Fraction:
        """Return the items/s in true time that windows are made for."""
        return self.pace * self.process.compute_highest_rate(connections)

    def bound_items(self, connections: int, phases: str) -> Curve:
        """Return a bound of the items in any closed interval, with rounded ends."""
        shown = self.process.bound_items(connections, phases)
        lines = ((burst, rate * self.pace) for burst, rate in shown.lines)
        return Curve.from_lines(lines).widen(1)

    def count_most_items(self, connections: int, length_ps: int) -> int | None:
        """Return the most items that are ready within a time; None if that is random."""
        return self.process.count_most_items(connections, self._find_shown_ps(length_ps))

    def count_offered(self, length_ps: int) -> int:
        """Return how many calls are offered within a time."""
        return self.process.count_offered(self._find_shown_ps(length_ps))


def skew(process: Arrivals, by: Fraction) -> Arrivals:
    """Return a process by a clock that is fast by a ratio; its changes keep true time."""
    if not by:
        return process
    if isinstance(process, Changing):
        return Changing(tuple((at_ps, skew(inner, by)) for at_ps, inner in process.processes))
    return Skewed(process, 1 + by)
