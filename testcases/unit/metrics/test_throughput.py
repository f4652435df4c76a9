from collections.abc import Callable
from fractions import Fraction

from qospec.engine.measure.tally import Tally
from qospec.metrics.throughput import Throughput


def test_cells_that_arrived_over_the_window(tally: Callable[..., Tally]) -> None:
    seen = tally(sent=900, received=900, carried=700, window_ps=3 * 10**12)
    assert Throughput().measure(seen) == Fraction(700, 3)


def test_a_window_without_length_is_no_data(tally: Callable[..., Tally]) -> None:
    assert Throughput().measure(tally(window_ps=0)) is None
