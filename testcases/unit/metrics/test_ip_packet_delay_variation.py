"""RFC 3393's ipdv by the book."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.ip_packet_delay_variation import IpPacketDelayVariation


@given(data=st.data())
def test_pairs_are_sent_one_after_the_other_and_both_arrive(road, data):
    trips, tally = road.alone(data)
    pairs = [(a, b) for a, b in pairwise(trips) if not a.lost and not b.lost]
    steps = [b.delay_ps - a.delay_ps for a, b in pairs]
    assert IpPacketDelayVariation().measure(tally, "min") == min(steps, default=None)
    assert IpPacketDelayVariation().measure(tally, "max") == max(steps, default=None)
    mean = Fraction(sum(steps), len(steps)) if steps else None
    assert IpPacketDelayVariation().measure(tally, "mean") == mean
    assert road.has_quantiles_of(IpPacketDelayVariation(), tally, steps)


@given(data=st.data())
def test_each_packet_has_its_own(road, data):
    trips, tally = road.alone(data)
    assert IpPacketDelayVariation().measure(tally, "packet_1") is None
    for number, (a, b) in enumerate(pairwise(trips), 2):
        expected = None if a.lost or b.lost else b.delay_ps - a.delay_ps
        assert IpPacketDelayVariation().measure(tally, f"packet_{number}") == expected


def test_a_lost_packet_takes_both_of_its_pairs_with_it(road):
    trips = [road.trip(n * 10**9, 10 * n, lost=n == 1) for n in range(3)]
    assert IpPacketDelayVariation().measure(road.tally(trips), "max") is None


def test_of_the_steps_of_table_2_1(road):
    seen = [
        IpPacketDelayVariation().measure(road.case("steps"), f"packet_{n}") for n in range(2, 7)
    ]
    assert seen == [10**9, 10**9, 0, -(10**9), -(10**9)]


def test_what_was_not_recorded_is_no_data(tally) -> None:
    assert IpPacketDelayVariation().measure(tally(received=5), "max") is None


@pytest.mark.parametrize("statistic", ["", "median", "packet_0", "packet_"])
def test_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        IpPacketDelayVariation().measure(tally(), statistic)
