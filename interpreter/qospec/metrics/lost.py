"""The number of cells or packets that did not arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Counting, Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T I.356, 5.4 (lost cell outcome); RFC 2544, 26.3 (frame loss rate), of packets",
    carries=("cell", "packet", "frame"),
)
class Lost(Metric):
    """Count the cells or packets sent within the window that were lost, whatever the cause.

    `lost.CAUSE` counts those lost for one cause, such as `lost.overflow`; causes are those of the
    elements, and `discarded` for items discarded on purpose. `lost.policed` counts what any policer
    discarded, and `lost.policed_pcr` and `lost.policed_scr` what failed one test of a `gcra`.
    """

    dimension = "cells"
    counting = Counting("lost", "sent")
    least = 0
    statistics = ("", "causes")
    exact = True
    series = ("",)

    def measure(self, tally: Tally, statistic: str = "") -> int | None:
        """Return a number of cells or packets, or None if none were sent."""
        if not tally.sent:
            return None
        if not statistic:
            return tally.lost_count
        return tally.count_lost_for(statistic)
