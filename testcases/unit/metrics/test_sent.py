from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.sent import Sent


def test_it_counts_the_cells_sent(tally: Callable[..., Tally]) -> None:
    assert Sent().measure(tally(planned=9, sent=7, received=5)) == 7


def test_none_sent_is_zero_not_unknown(tally: Callable[..., Tally]) -> None:
    assert Sent().measure(tally()) == 0
