"""The mean opinion score is that of each call, not of the mean R."""

from fractions import Fraction

import pytest

from qospec.metrics.mean_opinion_score import MeanOpinionScore
from qospec.metrics.r_factor import RFactor
from qospec.voice.calls import Call, Heard, rate_call
from qospec.voice.emodel import predict_opinion_score

US = 10**6


def test_voice_scores_are_averaged_over_calls(road):
    trips = [road.trip(n * 100 * US, US, n % 2, lost=n % 10 == 1) for n in range(100)]
    tally = road.tally(trips, connections=2)
    worst, best = (RFactor().measure(tally, statistic) for statistic in ("min", "max"))
    scores = predict_opinion_score(worst), predict_opinion_score(best)
    found = [MeanOpinionScore().measure(tally, statistic) for statistic in ("min", "max", "mean")]
    assert found == [*scores, Fraction(sum(scores), 2)]
    assert found[0] < found[1]


def test_voice_of_a_dead_call_scores_1(road):
    tally = road.tally([road.trip(n * 100 * US, US, lost=True) for n in range(10)])
    assert MeanOpinionScore().measure(tally, "min") == 1


@pytest.mark.parametrize("metric", [MeanOpinionScore(), RFactor()])
@pytest.mark.parametrize("impairment", [0, 50])
@pytest.mark.parametrize("in_a_row", [False, True])
def test_no_loss_lowers_a_score_by_more_than_is_declared(metric, impairment, in_a_row) -> None:
    """With the least robust codec; of the first hundredth it is more than half of that."""
    call = Call(Fraction(impairment), Fraction("4.3"), 10**10, 10**10)
    lost = (0, 1, 2, 5, 10, 20, 50, 100, 500, 999)
    heard = [Heard(1_000, 1_000 - n, 0, 1 if in_a_row and n else n, 10**9) for n in lost]
    best, *scores = [metric.score_call(rate_call(call, quality)) for quality in heard]
    falls = [1_000 * (best - score) / n for score, n in zip(scores, lost[1:], strict=True)]
    assert max(falls) <= metric.fall_per_loss
    assert impairment or max(falls) > metric.fall_per_loss / 2


def test_voice_without_data_has_no_score(tally):
    assert MeanOpinionScore().measure(tally(received=5), "mean") is None


def test_voice_another_statistic_is_refused(tally) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        MeanOpinionScore().measure(tally(), "p50")
