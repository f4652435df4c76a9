"""The longest time without arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="RFC 6201, 4 (reset time: from the last packet received before to the first after)",
)
class LongestOutage(Metric):
    """Find the longest time between two successive arrivals of a connection, in ps.

    Of the items sent within the window, however late they arrive. Each connection is measured by
    itself, and the longest time of any counts. Where no arrival precedes an outage, it begins when
    its first lost item was sent; where none follows, it ends when its last was, and a report says
    `>=`, since it may be longer. Without an outage the value is the largest time between arrivals:
    it resolves nothing shorter.
    """

    dimension = "time"
    least = 0
    needs = frozenset({"outages"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return ps; None if no connection had two arrivals, or it was not recorded."""
        return None if tally.outages is None else tally.outages.longest_ps

    def goes_on(self, tally: Tally) -> bool:
        """Return whether nothing arrived any more after the longest time."""
        return tally.outages is not None and tally.outages.goes_on
