"""The mean opinion score of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import metric
from qospec.engine.measure.metric import Metric, of_all
from qospec.voice.calls import r_factor
from qospec.voice.emodel import mean_opinion_score

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.engine.measure.tally import Tally


@metric(
    source="ITU-T G.107, Annex B (from R to MOS); ITU-T P.800.1 (MOS-CQE)",
    aliases=("mos",),
    carries=("packet",),
)
class MeanOpinionScore(Metric):
    """Estimate what users would say of each call, from 1 (bad) to 4.5, by its `r_factor`.

    It is the score of a conversation, MOS-CQE: 1 + 0.035 R + 7 R (R - 60) (100 - R) / 1,000,000,
    and at least 1. `min` is the worst call of the flow, `mean` the mean of the scores of its calls.
    """

    dimension = "count"
    better = "more"
    least = 1
    most = 5
    of_calls = True
    statistics = ("min", "mean", "max")
    needs = frozenset({"calls"})

    def measure(self, tally: Tally, statistic: str) -> Fraction | None:
        """Return a score; None if no call sent anything, or they were not recorded."""
        if statistic not in self.statistics:
            raise ValueError(f"mean_opinion_score has no statistic `{statistic}`")
        ratings = (r_factor(call, heard) for call, heard in tally.calls or ())
        scores = [mean_opinion_score(each) for each in ratings if each is not None]
        return of_all(scores, statistic)
