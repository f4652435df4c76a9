"""The mean opinion score of calls."""

from __future__ import annotations

from fractions import Fraction

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import CallMetric
from qospec.voice.codecs import STEEPEST
from qospec.voice.emodel import predict_opinion_score


@metric(
    source="ITU-T G.107, Annex B (from R to MOS); ITU-T P.800.1 (MOS-CQE)",
    aliases=("mos",),
    carries=("packet",),
)
class MeanOpinionScore(CallMetric):
    """Estimate what users would say of each call, from 1 (bad) to 4.5, by its `r_factor`.

    It is the score of a conversation, MOS-CQE: 1 + 0.035 R + 7 R (R - 60) (100 - R) / 1,000,000,
    and at least 1. `min` is the worst call of the flow, `mean` the mean of the scores of its calls.
    """

    least = 1
    most = Fraction(9, 2)
    fall_per_loss = Fraction(53, 1000) * STEEPEST
    """The slope of MOS over R is at most 0.053, at R = 160 / 3."""

    def score_call(self, rating: Fraction) -> Fraction:
        """Return the mean opinion score that corresponds to R."""
        return predict_opinion_score(rating)
