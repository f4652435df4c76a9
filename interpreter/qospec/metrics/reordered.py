"""The number of packets that arrived too late to be in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="RFC 4737, 3.3 (Type-P-Reordered)", carries=("packet",))
class Reordered(Metric):
    """Count the packets that arrived after one that was sent later on the same connection.

    Packets are numbered in order of sending; one is reordered if its number is below the next that
    is expected, which is one above the highest that arrived. So if two packets swap places, one is
    reordered, and a lost packet reorders nothing.
    """

    dimension = "cells"
    counting = Counting("reordered", "received")
    least = 0
    exact = True
    needs = frozenset({"variation"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of packets; None if none arrived, or they were not tracked."""
        if tally.variation is None or not tally.received:
            return None
        return tally.variation.reordering.packets
