"""How far latencies are from their mean."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers, parse_packet_number
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Delays, Tally


@metric(
    source="Chadda, QoS Testing Methodology, University of New Hampshire 2004, 2.5.4 (method 4)",
    aliases=("jitter_4",),
    carries=("packet",),
)
class LatencyDeviation(Metric):
    """Measure how far the latency of each packet is from the mean of all, in ps.

    |L_n - mean|, over the packets that arrived. `max` is exact. `mean` is exact as long as no
    connection of n sends more than 10,000/n packets; beyond that it comes from a histogram around
    the exact mean, with an error of up to 0.1 % of the mean transfer delay. `packet_N` is the value
    of the N-th packet sent, up to 10,000, of a flow of one connection.
    """

    dimension = "time"
    sized = True
    least = 0
    statistics = ("mean", "max", "packet_*")
    needs = frozenset({"latencies", "variation"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no packet arrived, or they were not tracked."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"latency_deviation has no statistic `{statistic}`")
        seen, variation = tally.latencies, tally.variation
        if seen is None or variation is None or seen.min_ps is None or seen.max_ps is None:
            return None
        mean_ps = Fraction(seen.sum_ps, seen.count)
        if statistic == "max":
            return max(seen.max_ps - mean_ps, mean_ps - seen.min_ps)
        number = parse_packet_number(statistic)
        if number is not None:
            packets = variation.find_packets(number)
            return abs(packets[-1].latency_ps - mean_ps) if packets else None
        if variation.complete:
            # Sums of whole numbers: n times each deviation.
            far = sum(
                abs(packet.latency_ps * seen.count - seen.sum_ps) for packet in variation.packets
            )
            return Fraction(far, seen.count**2)
        return _from_buckets(seen, mean_ps)


def _from_buckets(seen: Delays, mean_ps: Fraction) -> Fraction | None:
    """Return the mean deviation, with the middle of a bucket in place of each value in it."""
    if not seen.buckets or seen.min_ps is None or seen.max_ps is None:
        return None
    far = Fraction(0)
    for low, high, count in seen.buckets:
        middle_ps = min(max((low + high) // 2, seen.min_ps), seen.max_ps)
        far += count * abs(middle_ps - mean_ps)
    return far / seen.count
