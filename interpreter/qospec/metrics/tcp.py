"""What the sender of a connection of TCP knows: goodput, repetitions, round trips, its window."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers
from qospec.engine.measure.metric import Metric
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.measure.tally import Delays, Sample, Tally


class ConnectionMetric(Metric):
    """A metric of connections of TCP."""

    least = 0
    told_by = "connections"
    needs = frozenset({"samples"})
    quantity: ClassVar[str]

    def find_sample(self, tally: Tally) -> Sample | None:
        """Return the samples of its quantity; None if none were recorded."""
        return None if tally.samples is None else tally.samples[self.quantity]


class CountedMetric(ConnectionMetric):
    """A number of what happens to connections of TCP."""

    exact = True
    series = ("",)

    def measure(self, tally: Tally, _statistic: str = "") -> int | None:
        """Return how often it happened; None if it was not recorded."""
        seen = self.find_sample(tally)
        return None if seen is None else seen.weight


class AveragedMetric(ConnectionMetric):
    """A metric of connections of TCP with a mean and extremes."""

    statistics: ClassVar[tuple[str, ...]] = ("mean", "min", "max")
    series = ("mean", "min", "max")

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return the mean or an extreme; None if there are no samples."""
        if statistic not in self.statistics:
            raise ValueError(f"connections have no statistic `{statistic}` of this")
        seen = self.find_sample(tally)
        if seen is None or not seen.weight:
            return None
        if statistic == "mean":
            return Fraction(seen.total, seen.weight)
        return seen.least if statistic == "min" else seen.most


@metric(source="RFC 2647, 3.17 (goodput); RFC 9293, 3.3.1 (SND.UNA)", carries=("packet",))
class Goodput(ConnectionMetric):
    """Divide the data that was acknowledged in the window by its length, in bit/s.

    Data counts once, however often it is sent, when an acknowledgement of it comes to the client;
    headers do not count.
    """

    dimension = "rate"
    better = "more"
    series = ("",)
    quantity = "acknowledged"

    def measure(self, tally: Tally, _statistic: str = "") -> Fraction | None:
        """Return bit/s; None if the window has no length, or it was not recorded."""
        seen = self.find_sample(tally)
        if seen is None or not tally.window_ps:
            return None
        return Fraction(seen.total * 8 * PS_PER_S, tally.window_ps)


@metric(source="RFC 4898, 4 (tcpEStatsPerfSegsRetrans)", carries=("packet",))
class Retransmitted(CountedMetric):
    """Count the segments with data that were sent again within the window."""

    dimension = "cells"
    quantity = "retransmitted"


@metric(source="RFC 6298, 5.4; RFC 4898, 4 (tcpEStatsPerfTimeouts)", carries=("packet",))
class Timeouts(CountedMetric):
    """Count the retransmission timeouts that expired within the window, of SYNs too."""

    dimension = "count"
    quantity = "timeouts"


@metric(source="RFC 6298, 2 and 3 (R); RFC 7323, 4", aliases=("rtt",), carries=("packet",))
class RoundTripTime(AveragedMetric):
    """Find the round trips that the sender has timed in the window, in ps.

    One segment at a time is timed, and none that was sent again; with time stamps each
    acknowledgement of new data tells of one. The wait for a delayed acknowledgement is a part.
    Statistics are those of `transfer_delay`, without `bound`.
    """

    dimension = "time"
    noun = "round trips"
    quantity = "round_trip"
    statistics = ("mean", "min", "max", "std", "p*")

    def select_delays(self, tally: Tally) -> Delays | None:
        seen = self.find_sample(tally)
        return None if seen is None else seen.times

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if nothing was timed, or it was not recorded."""
        if statistic in self.series:
            return super().measure(tally, statistic)
        if not offers(self.statistics, statistic):
            raise ValueError(f"round_trip_time has no statistic `{statistic}`")
        times = self.select_delays(tally)
        return None if times is None else times.read(statistic)


@metric(source="RFC 5681, 2 (cwnd)", aliases=("cwnd",), carries=("packet",))
class CongestionWindow(AveragedMetric):
    """Find the congestion window of the open connections in the window, in bytes.

    The mean is over time, and of several connections that of one. What is inflated by duplicate
    acknowledgements in a recovery counts.
    """

    dimension = "data"
    better = "more"
    noun = "windows"
    quantity = "window"
