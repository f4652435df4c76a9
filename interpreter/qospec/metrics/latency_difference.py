"""How latency changes from packet to packet, in the order of sending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Packet, Tally


@metric(
    source="Chadda, QoS Testing Methodology, University of New Hampshire 2004, 2.5.4 (method 3)",
    aliases=("jitter_3",),
    carries=("packet",),
)
class LatencyDifference(Metric):
    """Compare the latency of each packet with that of the packet sent before it, in ps.

    |L_n - L_(n-1)|. Packets are taken in order of sending, and lost ones are left out: their
    neighbours are consecutive. So it equals the jitter of RFC 4689 where nothing is reordered. Each
    connection is measured separately. `mean` and `max` are exact; quantiles `pN` come from a
    histogram, with an error of up to 0.1 %. `packet_N` is the value of the N-th packet sent, up to
    10,000, of a flow of one connection; the first has none.
    """

    dimension = "time"
    sized = True
    least = 0
    statistics = ("mean", "max", "p*", "packet_*")
    needs = frozenset({"variation"})

    def select_delays(self, tally: Tally) -> Delays | None:
        return None if tally.variation is None else tally.variation.latencies

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if fewer than two packets arrived, or they were not tracked."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"latency_difference has no statistic `{statistic}`")
        seen = tally.variation
        return None if seen is None else seen.read_change(seen.latencies, statistic, _select_last)


def _select_last(packets: tuple[Packet, ...]) -> int | None:
    return abs(packets[-1].latency_ps - packets[-2].latency_ps) if len(packets) > 1 else None
