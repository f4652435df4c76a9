"""The number of cells or packets that arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="ITU-T I.356, 4.2 (cell entry event); RFC 2544, 26.3 (output count), of packets")
class Received(Metric):
    """Count the cells or packets sent within the window that reached their destination.

    They count even if they arrive after the window has closed, so that sent = received + lost.
    """

    dimension = "cells"
    better = "more"
    least = 0
    delivered = True
    exact = True
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return a number of cells or packets, or None if none were sent."""
        if not tally.sent:
            return None
        return tally.received
