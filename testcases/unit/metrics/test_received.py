from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.received import Received


def test_it_counts_the_cells_that_arrived(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(planned=9, sent=7, received=5)) == 5


def test_none_received_is_zero_not_unknown(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(sent=3)) == 0


def test_nothing_sent_is_no_data(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(planned=3)) is None
