from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.items import Items


def test_what_passes_is_counted(tally: Callable[..., Tally]) -> None:
    assert Items().measure(tally(carried=7)) == 7


def test_nothing_that_passes_is_a_count_too(tally: Callable[..., Tally]) -> None:
    assert Items().measure(tally()) == 0
