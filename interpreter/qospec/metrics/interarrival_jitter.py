"""The jitter that RTP's receivers report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Tally


@metric(source="RFC 3550, 6.4.1 and A.8 (interarrival jitter)", carries=("packet",))
class InterarrivalJitter(Metric):
    """Smooth the changes of the transfer delay, in ps: J += (|D| - J) / 16 with each packet.

    D is the difference between the delays of a packet and of the one before it, of one connection.
    `last` is J after the last packet, `max` its largest value and `mean` the mean of its values
    after the second packet and each later one, in the order of arrival, as in the RFC; `as_sent` is
    J after the last packet in the order in which they were sent. Lost packets are left out. For
    several connections it is the largest. J is carried in sixteenths of a ps as in A.8, so it is up
    to 0.5 ps off.
    """

    dimension = "time"
    least = 0
    statistics = ("last", "max", "mean", "as_sent")
    needs = frozenset({"variation"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return ps; None if fewer than two packets arrived, or they were not tracked."""
        if statistic not in self.statistics:
            raise ValueError(f"interarrival_jitter has no statistic `{statistic}`")
        if tally.variation is None:
            return None
        as_sent = statistic == "as_sent"
        smoothed = tally.variation.smoothed_as_sent if as_sent else tally.variation.smoothed
        if smoothed is None:
            return None
        by_statistic = {"max": smoothed.largest_ps, "mean": smoothed.mean_ps}
        return by_statistic.get(statistic, smoothed.last_ps)
