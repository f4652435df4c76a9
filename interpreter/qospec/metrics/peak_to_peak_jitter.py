"""The spread of latencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Tally


@metric(
    source="Chadda, QoS Testing Methodology, University of New Hampshire 2004, 2.5.4 (method 1)",
    aliases=("jitter_1",),
    carries=("packet",),
)
class PeakToPeakJitter(Metric):
    """Subtract the smallest latency of all packets from the largest, in ps.

    Lost packets do not count, and the order does not matter. It does not distinguish one late
    packet from many: a spike, a step and a sawtooth of the same height have the same value.
    """

    dimension = "time"
    least = 0
    needs = frozenset({"latencies"})

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return ps; None if no packet arrived, or latencies were not recorded."""
        seen = tally.latencies
        if seen is None or seen.min_ps is None or seen.max_ps is None:
            return None
        return seen.max_ps - seen.min_ps
