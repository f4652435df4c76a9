"""The latency of packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers, parse_packet_number
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Tally


@metric(
    source="RFC 4689, 3.2.4 (forwarding delay)",
    aliases=("forwarding_delay",),
    carries=("packet",),
)
class Latency(Metric):
    """Measure from the last bit that leaves the source to the last bit that arrives, in ps.

    It is the transfer delay less the time that the frame of the packet takes on its first link. The
    latency of RFC 1242, 3.8 (store and forward devices) ends with the first bit that arrives, and
    is shorter by the time that the frame takes on its last link.

    `mean`, `min` and `max` are exact, up to the 2 ps by which a line rounds times. `std` is the
    standard deviation of the population, over n, and `sample_std` that of a sample, over n - 1;
    both are rounded down to a fraction of a ps. Quantiles `pN` come from a histogram, with an error
    of up to 0.1 % of the transfer delay. `packet_N` is the value of the N-th packet sent, up to
    10,000, of a flow of one connection; no data if it did not arrive.
    """

    dimension = "time"
    sized = True
    noun = "delays"
    least = 0
    statistics = ("mean", "min", "max", "std", "sample_std", "p*", "packet_*")
    needs = frozenset({"latencies"})

    def select_delays(self, tally: Tally) -> Delays | None:
        return tally.latencies

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no packet arrived, or the data was not recorded."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"latency has no statistic `{statistic}`")
        number = parse_packet_number(statistic)
        if number is not None:
            packets = () if tally.variation is None else tally.variation.find_packets(number)
            return packets[-1].latency_ps if packets else None
        return None if tally.latencies is None else tally.latencies.read(statistic)
