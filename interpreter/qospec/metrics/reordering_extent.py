"""How far reordered packets fall behind."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="RFC 4737, 4.2 (reordering extent)", carries=("packet",))
class ReorderingExtent(Metric):
    """Count how many packets after the first that overtook it a reordered packet arrived.

    A receiver must buffer at most this many to restore the order. Of the packets that are
    `reordered`, each within its connection; `mean` and `max` are exact.
    """

    dimension = "cells"
    least = 0
    statistics = ("mean", "max")
    needs = frozenset({"variation"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return a number of packets; None if none was reordered, or they were not tracked."""
        if statistic not in self.statistics:
            raise ValueError(f"reordering_extent has no statistic `{statistic}`")
        seen = None if tally.variation is None else tally.variation.reordering
        if seen is None or not seen.packets:
            return None
        if statistic == "max":
            return seen.largest_extent
        return Fraction(seen.sum_of_extents, seen.packets)
