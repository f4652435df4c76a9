"""Method 1 of the thesis by the book."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.peak_to_peak_jitter import PeakToPeakJitter


@given(data=st.data())
def test_it_is_the_greatest_latency_less_the_least(road, data):
    came, tally = road.drawn(data)
    latencies = [trip.latency_ps for mine in came for trip in mine]
    expected = max(latencies) - min(latencies) if latencies else None
    assert PeakToPeakJitter().measure(tally) == expected


@pytest.mark.parametrize(
    ("name", "printed"),
    [("constant", 0), ("saw tooth", 2), ("spike", 6), ("step", 2), ("steps", 2)],
)
def test_table_2_1(road, name, printed):
    assert PeakToPeakJitter().measure(road.case(name)) == printed * 10**9


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert PeakToPeakJitter().measure(tally(received=5)) is None
