from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.planned import Planned


def test_it_counts_the_cells_that_were_ready(tally: Callable[..., Tally]) -> None:
    assert Planned().measure(tally(planned=9, sent=7, received=5)) == 9


def test_none_planned_is_zero_not_unknown(tally: Callable[..., Tally]) -> None:
    assert Planned().measure(tally()) == 0
