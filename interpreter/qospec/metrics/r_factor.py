"""The transmission rating factor of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import CallMetric
from qospec.voice.codecs import STEEPEST

if TYPE_CHECKING:
    from fractions import Fraction


@metric(
    source="ITU-T G.107, 7 (E-model, narrowband); ITU-T G.113, Appendix I (codecs); RFC 5481, 3.2"
    " (a fixed de-jitter buffer)",
    name="r_factor",
    carries=("packet",),
)
class RFactor(CallMetric):
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

    least = 0
    most = 100
    fall_per_loss = STEEPEST

    def score_call(self, rating: Fraction) -> Fraction:
        """Return R itself."""
        return rating
