"""The transmission rating factor of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric, of_all
from qospec.voice.calls import r_factor

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T G.107, 7 (E-model, narrowband); ITU-T G.113, Appendix I (codecs); RFC 5481, 3.2"
    " (a fixed de-jitter buffer)",
    name="r_factor",
    carries=("packet",),
)
class RFactor(Metric):
    """Rate each call by the E-model: R, from 0 to 100.

    The receiver plays each packet at the same time after it was sent: the least transfer delay of
    the call plus `playout_delay`. A packet that arrives later is lost to it, like one that does not
    arrive; their share of those sent is Ppl, and Bpl is the codec's. The delay from mouth to ear is
    the time of a packet, the look-ahead of the codec, the least transfer delay and `playout_delay`:
    Ta = T, and Tr is twice that. BurstR is the mean number of packets in a row that are not played,
    times 1 - Ppl, and at least 1. All other parameters have the defaults of G.107.

    `min` is the worst call of the flow, `mean` the mean over its calls. R of a call of which
    nothing is played is 0. It is rounded to 9 decimals. Above 500 ms of delay, 20 % of loss or a
    BurstR of 2 the E-model extrapolates.
    """

    dimension = "count"
    better = "more"
    least = 0
    most = 100
    of_calls = True
    statistics = ("min", "mean", "max")
    needs = frozenset({"calls"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return R; None if no call sent anything, or they were not recorded."""
        if statistic not in self.statistics:
            raise ValueError(f"r_factor has no statistic `{statistic}`")
        ratings = (r_factor(call, heard) for call, heard in tally.calls or ())
        return of_all([each for each in ratings if each is not None], statistic)
