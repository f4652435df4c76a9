"""Latency by the book."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.latency import Latency


@given(data=st.data())
def test_it_is_from_last_bit_to_last_bit_whatever_the_size(road, data):
    came, tally = road.drawn(data)
    latencies = [trip.latency_ps for mine in came for trip in mine]
    assert Latency().measure(tally, "min") == min(latencies, default=None)
    assert Latency().measure(tally, "max") == max(latencies, default=None)
    mean = Fraction(sum(latencies), len(latencies)) if latencies else None
    assert Latency().measure(tally, "mean") == mean


@given(data=st.data())
def test_standard_deviations_are_those_of_the_handbook(road, data):
    trips, tally = road.alone(data)
    values = [trip.latency_ps for trip in trips if not trip.lost]
    n = len(values)
    for name, below in (("std", n), ("sample_std", n - 1)):
        got = Latency().measure(tally, name)
        if below < 1:
            assert got is None
            continue
        spread = sum((value - Fraction(sum(values), n)) ** 2 for value in values)
        step = Fraction(1, n * below if name == "sample_std" else n)
        assert got**2 <= spread / below < (got + step) ** 2, "rounded down"


@given(data=st.data())
def test_one_size_needs_no_recording(road, data):
    """Then it is the delay less a constant: the same as where latencies are recorded."""
    trips, _ = road.alone(data)
    alike = [trip._replace(size_bytes=200) for trip in trips]
    shifted, recorded = road.tally(alike, sizes=(200,)), road.tally(alike, sizes=(46, 200))
    assert replace(shifted.latencies, buckets=()) == replace(recorded.latencies, buckets=())
    for statistic in ("p10", "p50", "p99"):
        both = [Latency().measure(tally, statistic) for tally in (shifted, recorded)]
        if None in both:
            assert both == [None, None]
        else:
            most = shifted.delays.max_ps
            assert abs(both[0] - both[1]) <= Fraction(most, 500)


@given(data=st.data())
def test_each_packet_has_its_own(road, data):
    trips, tally = road.alone(data)
    for number, trip in enumerate(trips, 1):
        expected = None if trip.lost else trip.latency_ps
        assert Latency().measure(tally, f"packet_{number}") == expected
    assert Latency().measure(tally, f"packet_{len(trips) + 1}") is None


def test_packets_of_several_connections_have_no_numbers(road):
    trips = [road.trip(0, 5), road.trip(10**7, 7, connection=1)]
    tally = road.tally(trips, connections=2)
    assert Latency().measure(tally, "packet_1") is None
    assert Latency().measure(tally, "max") == 7


def test_what_is_sent_ahead_of_the_window_has_no_number(road):
    trips = [road.trip(n * 10**7, n) for n in range(5)]
    tally = road.tally(trips, start_ps=2 * 10**7)
    assert Latency().measure(tally, "packet_1") == 2
    assert tally.variation.latencies.count == 2


def test_more_packets_than_are_kept_are_not_all_there(road):
    trips = [road.trip(n * 10**7, n % 7) for n in range(10_001)]
    tally = road.tally(trips)
    assert not tally.variation.complete
    assert Latency().measure(tally, "packet_10000") == 9_999 % 7
    assert tally.variation.find_packets(10_001) == ()
    assert road.tally(trips[:-1]).variation.complete


def test_what_nobody_asks_for_is_not_recorded(road):
    trips = [road.trip(0, 5, size_bytes=46), road.trip(10**9, 5, size_bytes=1_500)]
    tally = road.tally(trips, sizes=(46, 1_500), needs=())
    assert tally.latencies is None
    assert tally.variation is None
    assert "latencies" not in tally.recorded


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("constant", 0),
        ("saw tooth", 1_095_445_000),
        ("spike", 2_449_490_000),
        ("step", 1_095_445_000),
        ("steps", 894_427_000),
    ],
)
def test_table_2_1(road, name, printed):
    assert Latency().measure(road.case(name), "mean") == 2 * 10**9
    assert abs(Latency().measure(road.case(name), "sample_std") - printed) <= 500


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert Latency().measure(tally(received=5), "max") is None


@pytest.mark.parametrize("statistic", ["", "median", "packet_0", "packet_"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        Latency().measure(tally(), statistic)
