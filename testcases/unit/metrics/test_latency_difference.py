"""Method 3 of the thesis by the book."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.latency_difference import LatencyDifference


@given(data=st.data())
def test_latencies_are_compared_in_the_order_of_sending(road, data):
    came, tally = road.drawn(data)
    steps = [abs(b.latency_ps - a.latency_ps) for mine in came for a, b in pairwise(mine)]
    assert LatencyDifference().measure(tally, "max") == max(steps, default=None)
    mean = Fraction(sum(steps), len(steps)) if steps else None
    assert LatencyDifference().measure(tally, "mean") == mean
    assert road.has_quantiles_of(LatencyDifference(), tally, steps)


@given(data=st.data())
def test_each_packet_has_its_own(road, data):
    trips, tally = road.alone(data)
    before = None
    for number, trip in enumerate(trips, 1):
        value = None
        if not trip.lost:
            value = None if before is None else abs(trip.latency_ps - before)
            before = trip.latency_ps
        assert LatencyDifference().measure(tally, f"packet_{number}") == value


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("constant", [0, 0, 0, 0, 0]),
        ("saw tooth", [2, 2, 2, 2, 2]),
        ("spike", [0, 6, 6, 0, 0]),
        ("step", [0, 0, 2, 0, 0]),
        ("steps", [1, 1, 0, 1, 1]),
    ],
)
def test_table_2_1(road, name, expected):
    seen = [LatencyDifference().measure(road.case(name), f"packet_{n}") for n in range(1, 7)]
    assert seen == [None, *(gap * 10**9 for gap in expected)]


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert LatencyDifference().measure(tally(received=5), "max") is None


@pytest.mark.parametrize("statistic", ["", "median", "packet_0", "packet_"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        LatencyDifference().measure(tally(), statistic)
