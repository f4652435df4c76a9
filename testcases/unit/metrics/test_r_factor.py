"""R of calls: which packets are played, from the packets themselves."""

from fractions import Fraction
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.r_factor import RFactor
from qospec.voice.calls import Heard, rate_call
from qospec.voice.emodel import Connection, rate_connection

US = 10**6


def by_the_book(trips, playout_ps):
    """Return what became of a call's packets, which are in order of sending."""
    came = [trip for trip in trips if not trip.lost]
    least_ps = min((trip.delay_ps for trip in came), default=None)
    late = [trip for trip in came if trip.delay_ps - least_ps > playout_ps]
    missing = [trip.lost or trip in late for trip in trips]
    bursts = sum(1 for is_missing, _ in groupby(missing) if is_missing)
    return Heard(len(trips), len(came), len(late), bursts, least_ps)


@given(data=st.data())
def test_voice_calls_are_followed_packet_by_packet(road, data):
    trips, cuts = data.draw(road.journeys())
    sizes = tuple({trip.size_bytes for trip in trips} | {46})
    tally = road.tally(trips, cuts=cuts, connections=3, sizes=sizes)
    assert tally == road.tally(trips, connections=3, sizes=sizes), "cuts change something"
    mine = [[trip for trip in trips if trip.connection == number] for number in range(3)]
    expected = [by_the_book(counts, road.call.playout_ps) for counts in mine]
    assert [call.heard for call in tally.calls] == expected
    rated = [rate_call(road.call, call) for call in expected if call.sent]
    for statistic, of in (("min", min), ("max", max), ("mean", lambda r: Fraction(sum(r), len(r)))):
        found = RFactor().measure(tally, statistic)
        assert found == (of(rated) if rated else None)


def test_voice_in_closed_form(road):
    """Two of ten in a row: one lost, one 3.000001 us too late; a third just in time.

    BurstR = 2 * 0.8; the least delay is 5.12 us of transmission and 1 us of latency.
    """
    latencies = [1 * US] * 10
    latencies[4], latencies[8] = 4 * US + 1, 4 * US
    trips = [
        road.trip(20_000 * US * number, latency, lost=number == 3)
        for number, latency in enumerate(latencies)
    ]
    heard = Heard(10, 9, 1, 1, 6_120_000)
    tally = road.tally(trips)
    assert tally.calls == ((road.call, heard),)
    delay_ms = 20 + Fraction(6_120_000 + 3 * US, 10**9)
    expected = rate_connection(
        Connection(
            echo_delay_ms=delay_ms,
            round_trip_delay_ms=2 * delay_ms,
            absolute_delay_ms=delay_ms,
            packet_loss_robustness=Fraction("25.1"),
            packet_loss_percent=20,
            burst_ratio=Fraction(16, 10),
        )
    )
    assert RFactor().measure(tally, "min") == expected.r


def test_voice_outside_of_the_window_does_not_count(road):
    """A loss, and the least delay, were sent before the window begins."""
    trips = [road.trip(10 * US, 0), road.trip(20 * US, 0, lost=True)]
    trips += [road.trip(n * 100 * US, 9 * US) for n in range(1, 6)]
    tally = road.tally(trips, start_ps=50 * US)
    assert [call.heard for call in tally.calls] == [Heard(5, 5, 0, 0, 14_120_000)]


def test_voice_of_a_dead_call_is_the_worst(road):
    trips = [road.trip(n * 100 * US, US, n % 2, lost=n % 2 == 1) for n in range(10)]
    tally = road.tally(trips, connections=2)
    assert RFactor().measure(tally, "min") == 0
    assert RFactor().measure(tally, "max") == 2 * RFactor().measure(tally, "mean") > 90


def test_voice_that_nothing_was_recorded_of_is_no_data(road, tally):
    assert RFactor().measure(tally(received=5), "min") is None
    assert road.tally([road.trip(0, 1)], needs=()).calls is None


@pytest.mark.parametrize("statistic", ["", "p99", "std"])
def test_voice_another_statistic_is_refused(tally, statistic: str) -> None:
    with pytest.raises(ValueError, match="no statistic"):
        RFactor().measure(tally(), statistic)
