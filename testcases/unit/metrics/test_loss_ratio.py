from collections.abc import Callable
from fractions import Fraction

from qospec.engine.measure.tally import Tally
from qospec.metrics.loss_ratio import LossRatio


def test_lost_over_sent_is_exact(tally: Callable[..., Tally]) -> None:
    seen = tally(sent=7, received=4, lost={("q", "overflow"): 2, ("r", "overflow"): 1})
    assert LossRatio().measure(seen) == Fraction(3, 7)


def test_nothing_sent_is_no_data(tally: Callable[..., Tally]) -> None:
    assert LossRatio().measure(tally()) is None


def test_what_was_planned_and_never_sent_is_not_in_it(tally: Callable[..., Tally]) -> None:
    seen = tally(planned=9, sent=7, received=4, lost={("q", "overflow"): 3})
    assert LossRatio().measure(seen) == Fraction(3, 7)
    assert LossRatio().measure(tally(planned=9)) is None
