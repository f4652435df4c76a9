"""Packets too late for the buffer, against the delays themselves."""

from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.late import Late

US = 10**6


@given(data=st.data())
def test_voice_packets_are_late_by_more_than_the_playout_delay(road, data):
    came, tally = road.drawn(data)
    late = 0
    for mine in came:
        least_ps = min((trip.delay_ps for trip in mine), default=0)
        late += sum(trip.delay_ps - least_ps > road.call.playout_ps for trip in mine)
    assert Late().measure(tally) == (late if tally.sent else None)


def test_voice_just_in_time_is_not_late(road):
    trips = [road.trip(number * 100 * US, extra) for number, extra in enumerate((0, 3 * US))]
    assert Late().measure(road.tally(trips)) == 0
    trips.append(road.trip(200 * US, 3 * US + 1))
    assert Late().measure(road.tally(trips)) == 1


def test_voice_that_was_not_recorded_is_no_data(tally):
    assert Late().measure(tally(sent=5, received=5)) is None
