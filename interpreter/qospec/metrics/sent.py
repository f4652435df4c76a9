"""The number of cells or packets that were sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T I.356, 4.2 (cell exit event); RFC 2285, 3.5.2 (offered load), of packets",
    carries=("cell", "packet", "frame"),
)
class Sent(Metric):
    """Count the cells or packets whose first bit left the source's own line within the window.

    OAM cells count where they are inserted. In I.356 these are the cell exit events at the first
    measurement point.
    """

    dimension = "cells"
    better = "more"
    least = 0
    when_absent = 0
    exact = True
    of_source = True
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> int:
        """Return a number of cells or packets."""
        return tally.sent
