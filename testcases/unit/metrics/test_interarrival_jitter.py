"""RFC 3550's jitter by the book: in exact fractions."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.interarrival_jitter import InterarrivalJitter


def by_the_book(delays):
    """Return J after the last packet, the largest, and the mean."""
    jitters = [Fraction(0)]
    for before, now in pairwise(delays):
        jitters.append(jitters[-1] + (abs(now - before) - jitters[-1]) / 16)
    return jitters[-1], max(jitters), sum(jitters) / (len(jitters) - 1)


@given(data=st.data())
def test_it_is_off_by_half_a_picosecond_at_most(road, data):
    trips, tally = road.alone(data)
    came = [trip for trip in trips if not trip.lost]
    by_arrival = sorted(came, key=lambda trip: (trip.at_ps, trip.sent_ps))
    got = [InterarrivalJitter().measure(tally, name) for name in ("last", "max", "mean", "as_sent")]
    if len(came) < 2:
        assert got == [None] * 4
        return
    by_arrival = by_the_book([trip.delay_ps for trip in by_arrival])
    as_sent, *_ = by_the_book([trip.delay_ps for trip in came])
    for value, exact in zip(got, (*by_arrival, as_sent), strict=True):
        assert abs(value - exact) <= Fraction(1, 2)


@given(data=st.data())
def test_of_several_connections_it_is_the_largest(road, data):
    came, tally = road.drawn(data)
    means = [by_the_book([t.delay_ps for t in mine])[0] for mine in came if len(mine) > 1]
    got = InterarrivalJitter().measure(tally, "as_sent")
    assert got is None if not means else abs(got - max(means)) <= Fraction(1, 2)


@pytest.mark.parametrize(
    ("name", "expected_ps"),
    [
        ("constant", 0),
        ("saw tooth", 551_607_000),
        ("spike", 638_580_000),
        ("step", 109_863_000),
        ("steps", 220_872_000),
    ],
)
def test_after_the_six_packets_of_table_2_1(road, name, expected_ps):
    got = InterarrivalJitter().measure(road.case(name), "as_sent")
    assert abs(got - expected_ps) <= 501


def test_the_mean_is_of_all_that_it_was(road):
    """Delays of 0, 16, 16 and 48 ns: J is 1, then 15/16, then 15/16 of that and 2 ns more."""
    trips = [road.trip(n * 10**6, delay * 10**3) for n, delay in enumerate((0, 16, 16, 48))]
    got = InterarrivalJitter().measure(road.tally(trips), "mean")
    assert abs(got - Fraction(1_000 * (256 + 240 + 225 + 512), 256 * 3)) <= Fraction(1, 2)


def test_the_spike_arrives_late_and_so_counts_late(road):
    """By arrival its delay, 7 ms, stands last but one: 6/16, then 6/16 + 15/16 of that."""
    got = InterarrivalJitter().measure(road.case("spike"), "last")
    assert abs(got - 6 * 10**9 * Fraction(31, 256)) <= 1


def test_delays_that_differ_by_days_do_not_overflow(road):
    trips = [road.trip(0, 0), road.trip(10**7, 2**60)]
    tally = road.tally(trips)
    assert [InterarrivalJitter().measure(tally, name) for name in ("last", "mean")] == [2**54] * 2


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert InterarrivalJitter().measure(tally(received=5), "last") is None


@pytest.mark.parametrize("statistic", ["", "median", "p99"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        InterarrivalJitter().measure(tally(), statistic)
