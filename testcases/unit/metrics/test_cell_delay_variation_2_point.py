from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from qospec.engine.measure.tally import Tally
from qospec.metrics.cell_delay_variation_2_point import CellDelayVariation2Point


@pytest.mark.parametrize(
    ("statistic", "expected"), [("max", 30), ("mean", Fraction(35, 4)), ("p50", 0), ("p75", 5)]
)
def test_the_least_delay_is_the_reference(
    tally: Callable[..., Tally], statistic: str, expected: Fraction | int
) -> None:
    seen = tally(delays_ps=(100, 100, 105, 130))
    assert CellDelayVariation2Point().measure(seen, statistic) == expected


def test_equal_delays_vary_by_nothing(tally: Callable[..., Tally]) -> None:
    seen = tally(delays_ps=(7, 7, 7))
    assert [CellDelayVariation2Point().measure(seen, s) for s in ("max", "mean", "p99_9")] == [
        0
    ] * 3


def test_a_quantile_needs_a_histogram(tally: Callable[..., Tally]) -> None:
    seen = tally(delays_ps=(10, 10, 30, 40))
    bare = replace(seen, delays=replace(seen.delays, buckets=()))
    assert CellDelayVariation2Point().measure(bare, "p50") is None
    assert CellDelayVariation2Point().measure(bare, "max") == 30


@pytest.mark.parametrize("statistic", ["max", "mean", "p99"])
def test_nothing_received_is_no_data(tally: Callable[..., Tally], statistic: str) -> None:
    assert CellDelayVariation2Point().measure(tally(sent=5), statistic) is None


def test_another_statistic_is_refused(tally: Callable[..., Tally]) -> None:
    with pytest.raises(ValueError, match="no statistic `min`"):
        CellDelayVariation2Point().measure(tally(delays_ps=(1,)), "min")
