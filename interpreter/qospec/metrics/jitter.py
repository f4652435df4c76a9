"""The jitter of RFC 4689."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.catalogue.statistics import offers
from qospec.engine.measure.metric import Metric

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Delays, Tally


@metric(source="RFC 4689, 3.2.5 (jitter)", carries=("packet",))
class Jitter(Metric):
    """Compare the latency of each packet with that of the packet received before it, in ps.

    |L_n - L_(n-1)| of two packets of one connection that are received one after the other, in order
    of arrival; packets lost between them do not matter. `mean` and `max` are exact; quantiles `pN`
    come from a histogram, with an error of up to 0.1 %.
    """

    dimension = "time"
    least = 0
    statistics = ("mean", "max", "p*")
    series = ("mean", "max")
    needs = frozenset({"variation"})

    def select_delays(self, tally: Tally) -> Delays | None:
        return None if tally.variation is None else tally.variation.received

    def measure(self, tally: Tally, statistic: str) -> Fraction | int | None:
        """Return ps; None if fewer than two packets arrived, or they were not tracked."""
        if not offers(self.statistics, statistic):
            raise ValueError(f"jitter has no statistic `{statistic}`")
        return None if tally.variation is None else tally.variation.received.read(statistic)
