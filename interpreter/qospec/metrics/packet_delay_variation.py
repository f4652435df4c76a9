"""The packet delay variation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers, parse_packet_number
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Tally


@metric(
    source="RFC 5481, 4.2 (PDV); ITU-T Y.1540, 6 (IP packet delay variation)",
    aliases=("pdv",),
    carries=("packet",),
)
class PacketDelayVariation(Metric):
    """Measure by how much transfer delays exceed the smallest of them, in ps.

    D_n - D_min, over the packets that arrived. `max` and `mean` are exact; quantiles `pN` come from
    a histogram of the delays, with an error of up to 0.1 % of the delay. `packet_N` is the value of
    the N-th packet sent, up to 10,000, of a flow of one connection.
    """

    dimension = "time"
    least = 0
    statistics = ("max", "mean", "p*", "packet_*")
    needs = frozenset({"histogram"})

    def select_delays(self, tally: Tally) -> Delays:
        return tally.delays.reduce(tally.delays.min_ps or 0)

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no packet arrived, or the data was not recorded."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"packet_delay_variation has no statistic `{statistic}`")
        least_ps, number = tally.delays.min_ps, parse_packet_number(statistic)
        if least_ps is None:
            return None
        delay_ps = tally.delays.read(statistic) if number is None else _delay_ps(tally, number)
        return None if delay_ps is None else delay_ps - least_ps


def _delay_ps(tally: Tally, number: int) -> int | None:
    packets = () if tally.variation is None else tally.variation.find_packets(number)
    return packets[-1].at_ps - packets[-1].sent_ps if packets else None
