from collections.abc import Callable

from qospec.engine.measure.tally import Tally
from qospec.metrics.connections_up import ConnectionsUp


def test_it_counts_connections_over_which_a_cell_arrived(tally: Callable[..., Tally]) -> None:
    assert ConnectionsUp().measure(tally(connections=4_000, up=3_998, received=10_000)) == 3_998
