"""The IP packet delay variation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers, parse_packet_number
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Packet, Tally


@metric(
    source="RFC 3393, 2 (ipdv of consecutive packets); RFC 5481, 4.1 (IPDV)",
    aliases=("ipdv",),
    carries=("packet",),
)
class IpPacketDelayVariation(Metric):
    """Subtract from the transfer delay of each packet that of the packet sent before it, in ps.

    D_n - D_(n-1), with its sign: above zero the packet took longer. A pair counts if both packets
    were sent one after the other on one connection and both arrived; a lost packet removes both of
    its pairs. `mean`, `min` and `max` are exact; quantiles `pN`, which may be negative, come from a
    histogram, with an error of up to 0.1 %. `packet_N` is the value of the N-th packet sent, up to
    10,000, of a flow of one connection; the first has none.
    """

    dimension = "time"
    statistics = ("mean", "min", "max", "p*", "packet_*")
    needs = frozenset({"variation"})

    def select_delays(self, tally: Tally) -> Delays | None:
        return None if tally.variation is None else tally.variation.one_way

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if no pair arrived, or packets were not tracked."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"ip_packet_delay_variation has no statistic `{statistic}`")
        if tally.variation is None:
            return None
        number = parse_packet_number(statistic)
        if number is None:
            return tally.variation.one_way.read(statistic)
        packets = tally.variation.find_packets(number)
        if len(packets) < 2 or packets[-2].number != number - 1:  # noqa: PLR2004 -- a pair
            return None
        return _delay_ps(packets[-1]) - _delay_ps(packets[-2])


def _delay_ps(packet: Packet) -> int:
    return packet.at_ps - packet.sent_ps
