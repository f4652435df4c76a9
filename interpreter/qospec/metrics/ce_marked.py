"""The number of packets that arrived with a mark of congestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="RFC 3168, 5 (CE); RFC 6679, 5.1 (ECN-CE counter)", carries=("packet",))
class CeMarked(Metric):
    """Count the packets sent within the window that arrived with CE: congestion experienced.

    Queues mark them in place of a loss, if they are sent as capable of it.
    """

    dimension = "cells"
    counting = Counting("marked", "received")
    least = 0
    exact = True
    needs = frozenset({"marks"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of packets; None if none arrived, or marks were not read."""
        if not tally.received:
            return None
        return tally.count_marked(lambda marks: marks & CONGESTION == CONGESTION)
