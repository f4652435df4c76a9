"""RFC 5481's PDV by the book."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.packet_delay_variation import PacketDelayVariation


@given(data=st.data())
def test_delays_are_compared_with_the_least(road, data):
    came, tally = road.drawn(data)
    delays = [trip.delay_ps for mine in came for trip in mine]
    more = [delay - min(delays) for delay in delays]
    assert PacketDelayVariation().measure(tally, "max") == max(more, default=None)
    mean = Fraction(sum(more), len(more)) if more else None
    assert PacketDelayVariation().measure(tally, "mean") == mean
    median = PacketDelayVariation().measure(tally, "p50")
    if not more:
        assert median is None
    else:
        exact = sorted(more)[(len(more) + 1) // 2 - 1]
        assert abs(median - exact) <= Fraction(exact + min(delays), 1000)


@given(data=st.data())
def test_each_packet_has_its_own(road, data):
    trips, tally = road.alone(data)
    least = min((trip.delay_ps for trip in trips if not trip.lost), default=0)
    for number, trip in enumerate(trips, 1):
        expected = None if trip.lost else trip.delay_ps - least
        assert PacketDelayVariation().measure(tally, f"packet_{number}") == expected


def test_of_the_spike_of_table_2_1(road):
    seen = [PacketDelayVariation().measure(road.case("spike"), f"packet_{n}") for n in range(1, 7)]
    assert seen == [0, 0, 6 * 10**9, 0, 0, 0]


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert PacketDelayVariation().measure(tally(received=5), "max") is None


@pytest.mark.parametrize("statistic", ["", "median", "packet_0", "packet_"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        PacketDelayVariation().measure(tally(), statistic)
