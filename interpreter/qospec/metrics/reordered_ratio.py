"""The share of packets that arrived too late to be in order."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="RFC 4737, 4.1 (reordered packet ratio)", carries=("packet",))
class ReorderedRatio(Metric):
    """Divide the reordered packets by the received packets, of those sent within the window.

    See `reordered`.
    """

    dimension = "ratio"
    counting = Counting("reordered", "received")
    least = 0
    most = 1
    needs = frozenset({"variation"})

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return a ratio; None if no packet arrived, or they were not tracked."""
        if tally.variation is None or not tally.received:
            return None
        return Fraction(tally.variation.reordering.packets, tally.received)
