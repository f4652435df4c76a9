"""How the time between two arrivals changes from packet to packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Packet, Tally


@metric(
    source="Chadda, QoS Testing Methodology, University of New Hampshire 2004, 2.5.4 (method 2)",
    aliases=("jitter_2",),
    carries=("packet",),
)
class ArrivalGapVariation(Metric):
    """Compare the time between two arrivals with the one before it, in ps.

    |A_n - A_(n-1)|, where A_n is the time between the arrivals of packets n - 1 and n, as an
    absolute value. Packets are taken in order of sending, however they arrive, and lost ones are
    left out: their neighbours are consecutive. Each connection is measured separately. `mean` and
    `max` are exact; quantiles `pN` come from a histogram, with an error of up to 0.1 %. `packet_N`
    is the value of the N-th packet sent, up to 10,000, of a flow of one connection; the first two
    have none. Unless packets are sent at constant intervals, the sender's own variation is
    included.
    """

    dimension = "time"
    least = 0
    statistics = ("mean", "max", "p*", "packet_*")
    needs = frozenset({"variation"})

    def select_delays(self, tally: Tally) -> Delays | None:
        return None if tally.variation is None else tally.variation.arrivals

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if fewer than three packets arrived, or they were not tracked."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"arrival_gap_variation has no statistic `{statistic}`")
        seen = tally.variation
        return None if seen is None else seen.read_change(seen.arrivals, statistic, _select_last)


def _select_last(packets: tuple[Packet, ...]) -> int | None:
    if len(packets) < 3:  # noqa: PLR2004 -- two times between arrivals
        return None
    first, second, third = (packet.at_ps for packet in packets)
    return abs(abs(third - second) - abs(second - first))
