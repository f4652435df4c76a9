"""The number of connections over which cells arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(source="EANTC 2006, data plane (all PVCs up)")
class ConnectionsUp(Metric):
    """Count the connections over which any cell or packet sent within the window arrived.

    Of an interval of a series, those of which any arrived in it.
    """

    dimension = "count"
    better = "more"
    least = 0
    exact = True
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> int:
        """Return a number of connections."""
        return tally.up
