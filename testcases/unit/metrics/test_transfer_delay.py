from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.engine.measure.tally import Delays, Tally
from qospec.metrics.received import Received
from qospec.metrics.transfer_delay import TransferDelay


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("mean", Fraction(25, 2)),
        ("min", 10),
        ("max", 20),
        ("p50", 10),
        ("p75", 10),
        ("p75_1", 20),
    ],
)
def test_statistics_of_four_cells(
    tally: Callable[..., Tally], statistic: str, expected: Fraction | int
) -> None:
    assert TransferDelay().measure(tally(delays_ps=(10, 10, 10, 20)), statistic) == expected


def test_the_standard_deviation_is_that_of_the_population(tally: Callable[..., Tally]) -> None:
    """2, 4, 4, 4, 5, 5, 7, 9 have mean 5 and variance 4."""
    assert TransferDelay().measure(tally(delays_ps=(2, 4, 4, 4, 5, 5, 7, 9)), "std") == 2


def test_the_standard_deviation_is_rounded_down_to_a_part_of_a_ps(
    tally: Callable[..., Tally],
) -> None:
    """1, 1, 2: the variance is 2/9, so n times its root is sqrt(2)."""
    assert TransferDelay().measure(tally(delays_ps=(1, 1, 2)), "std") == Fraction(1, 3)


def test_a_quantile_needs_a_histogram(tally: Callable[..., Tally]) -> None:
    seen = tally(delays_ps=(10, 10, 30, 40))
    bare = replace(seen, delays=replace(seen.delays, buckets=()))
    assert TransferDelay().measure(seen, "p50") == 10
    assert TransferDelay().measure(bare, "p50") is None
    assert TransferDelay().measure(bare, "mean") == Fraction(90, 4)


@pytest.mark.parametrize("statistic", ["mean", "min", "max", "std", "p99"])
def test_nothing_received_is_no_data(tally: Callable[..., Tally], statistic: str) -> None:
    assert TransferDelay().measure(tally(sent=5), statistic) is None


@pytest.mark.parametrize("statistic", ["", "median", "p", "p0", "p00_0", "p100", "p99.9", "p*"])
def test_another_statistic_is_refused(tally: Callable[..., Tally], statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        TransferDelay().measure(tally(delays_ps=(1,)), statistic)


def test_places_in_a_frame_are_pooled(tally):
    """Two cells in the first place, one in each other: a range is the mean of its cells."""
    places = tuple(
        Delays(len(delays), sum(delays), None, min(delays), max(delays))
        for delays in ((10, 20), (60,), (90,))
    )
    seen = tally(positions=places, sent=4, received=4)
    for name, expected in (("cell_1", 15), ("cells_1_2", 30), ("cells_2_3", 75), ("cell_3", 90)):
        assert TransferDelay().measure(seen, name) == expected
    assert Received().measure(seen, "cells_1_2") == 3
    assert TransferDelay().measure(seen, "cell_4") is None
    assert TransferDelay().measure(seen, "cells_2_4") == 75
    assert Received().measure(seen, "") == 4


def test_of_a_range_counts_what_frames_have(tally):
    """Of 200 frames of 10 cells, 400 cells are in places 9 to 12: delays of 9 and 10 ns."""
    places = tuple(
        Delays(200, 200 * place * 1_000, None, place * 1_000, place * 1_000)
        for place in range(1, 11)
    )
    seen = tally(positions=places, sent=2_000, received=2_000)
    assert Received().measure(seen, "cells_9_12") == Received().measure(seen, "cells_9_10") == 400
    assert TransferDelay().measure(seen, "cells_9_12") == 9_500
    assert Received().measure(seen, "cells_1_9999") == 2_000
