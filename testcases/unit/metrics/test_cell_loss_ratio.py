from collections.abc import Callable
from fractions import Fraction

import pytest

from qospec.engine.measure.tally import Tally
from qospec.metrics.cell_loss_ratio import CellLossRatio


def test_lost_over_sent_is_exact(tally: Callable[..., Tally]) -> None:
    """EANTC 2006: 1,008 of 179,998 cells lost, printed as 0.0056."""
    ratio = CellLossRatio().measure(tally(sent=179_998, lost={("upc", "policed"): 1_008}))
    assert ratio == Fraction(504, 89_999)
    assert float(ratio) == pytest.approx(0.0056, abs=5e-7)


def test_nothing_sent_is_no_data(tally: Callable[..., Tally]) -> None:
    assert CellLossRatio().measure(tally()) is None


def test_nothing_lost_is_zero(tally: Callable[..., Tally]) -> None:
    assert CellLossRatio().measure(tally(sent=5, received=5)) == 0


def test_what_was_planned_and_never_sent_is_not_in_it(tally: Callable[..., Tally]) -> None:
    seen = tally(planned=9, sent=7, received=4, lost={("q", "overflow"): 3})
    assert CellLossRatio().measure(seen) == Fraction(3, 7)
    assert CellLossRatio().measure(tally(planned=9)) is None
