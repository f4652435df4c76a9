"""Method 4 of the thesis by the book."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.latency_deviation import LatencyDeviation


@given(data=st.data())
def test_latencies_are_compared_with_their_mean(road, data):
    came, tally = road.drawn(data)
    latencies = [trip.latency_ps for mine in came for trip in mine]
    far = deviations(latencies)
    assert LatencyDeviation().measure(tally, "max") == max(far, default=None)
    mean = Fraction(sum(far), len(far)) if far else None
    assert LatencyDeviation().measure(tally, "mean") == mean


@given(data=st.data())
def test_from_a_histogram_the_mean_is_as_good_as_it_says(road, data):
    came, tally = road.drawn(data)
    latencies = [trip.latency_ps for mine in came for trip in mine]
    if not latencies:
        return
    many = replace(tally, variation=tally.variation._replace(complete=False))
    far, delays = deviations(latencies), [trip.delay_ps for mine in came for trip in mine]
    mean = Fraction(sum(far), len(far))
    error = abs(LatencyDeviation().measure(many, "mean") - mean)
    assert error <= Fraction(sum(delays), len(delays)) / 1000


@given(data=st.data())
def test_each_packet_has_its_own(road, data):
    trips, tally = road.alone(data)
    latencies = [trip.latency_ps for trip in trips if not trip.lost]
    far = iter(deviations(latencies))
    for number, trip in enumerate(trips, 1):
        expected = None if trip.lost else next(far)
        assert LatencyDeviation().measure(tally, f"packet_{number}") == expected


def deviations(latencies_ps):
    mean = Fraction(sum(latencies_ps), max(1, len(latencies_ps)))
    return [abs(latency - mean) for latency in latencies_ps]


@pytest.mark.parametrize(
    ("name", "expected", "mean"),
    [
        ("constant", [0, 0, 0, 0, 0, 0], Fraction(0)),
        ("saw tooth", [1, 1, 1, 1, 1, 1], Fraction(1)),
        ("spike", [1, 1, 5, 1, 1, 1], Fraction(5, 3)),
        ("step", [1, 1, 1, 1, 1, 1], Fraction(1)),
        ("steps", [1, 0, 1, 1, 0, 1], Fraction(2, 3)),
    ],
)
def test_table_2_1(road, name, expected, mean):
    seen = [LatencyDeviation().measure(road.case(name), f"packet_{n}") for n in range(1, 7)]
    assert seen == [gap * 10**9 for gap in expected]
    assert LatencyDeviation().measure(road.case(name), "mean") == mean * 10**9


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert LatencyDeviation().measure(tally(received=5), "max") is None


@pytest.mark.parametrize("statistic", ["", "median", "packet_0", "packet_"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        LatencyDeviation().measure(tally(), statistic)
