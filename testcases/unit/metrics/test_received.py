from collections.abc import Callable

import pytest

from qospec.engine.measure.tally import Tally
from qospec.metrics.received import Received


def test_it_counts_the_cells_that_arrived(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(planned=9, sent=7, received=5)) == 5


def test_none_received_is_zero_not_unknown(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(sent=3)) == 0


def test_nothing_sent_is_no_data(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(planned=3)) is None


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [("dscp_46", 3), ("dscp_0", 2), ("precedence_5", 3), ("priority_4", 2), ("traffic_class_7", 0)],
)
def test_marks_are_those_that_packets_arrive_with(
    tally: Callable[..., Tally], statistic: str, expected: int
) -> None:
    """Three with DSCP 46, two of these with priority 0 and one with 4, and one with 4 alone."""
    marked = {46 << 3: 2, 46 << 3 | 4 << 9: 1, 4 << 9: 1, 0: 1}
    assert Received().measure(tally(sent=9, received=5, marked=marked), statistic) == expected


def test_marks_that_were_not_read_are_no_data(tally: Callable[..., Tally]) -> None:
    assert Received().measure(tally(sent=9, received=5), "dscp_46") is None
