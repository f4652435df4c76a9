"""The longest time without arrivals, by the book."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.measure.tally import Outages
from qospec.metrics.longest_outage import LongestOutage

MS = 10**9


@given(data=st.data(), start_ps=st.sampled_from([0, 10**7, 10**8]))
def test_it_is_the_longest_time_between_arrivals_of_a_connection(road, data, start_ps) -> None:
    trips, cuts = data.draw(road.journeys())
    gaps = []
    for connection in range(3):
        mine = [t for t in trips if t.connection == connection and t.sent_ps >= start_ps]
        came = sorted((t.at_ps, t.sent_ps) for t in mine if not t.lost)
        gaps += [after - before for (before, _), (after, _) in pairwise(came)]
        lost = [t.sent_ps for t in mine if t.lost]
        if lost and not came:
            gaps += [max(lost) - min(lost)] * (len(lost) > 1)
        elif lost:
            gaps += [came[0][0] - min(lost)] * (min(lost) < came[0][1])
            gaps += [max(lost) - came[-1][0]] * (max(lost) > came[-1][0])
    sizes = (46, 200, 1_500)
    tally = road.tally(trips, cuts=cuts, connections=3, sizes=sizes, start_ps=start_ps)
    assert LongestOutage().measure(tally) == max(gaps, default=None)


def test_an_outage_without_end_lasts_to_the_last_lost_item(road) -> None:
    trips = [road.trip(n * MS, 0, lost=n > 3) for n in range(10)]
    tally = road.tally(trips)
    assert LongestOutage().measure(tally) == 6 * MS - trips[0].delay_ps


def test_an_outage_without_a_beginning_begins_at_the_first_lost_item(road) -> None:
    trips = [road.trip(n * MS, 0, lost=n < 4) for n in range(10)]
    assert LongestOutage().measure(road.tally(trips)) == 4 * MS + trips[0].delay_ps


@pytest.mark.parametrize(
    ("lost", "goes_on"),
    [
        (range(4, 10), True),
        (range(10), True),
        (range(4), False),
        (range(1, 5), False),
        ((1, 2, 3, 4, 9), False),  # the last one is shorter
        ((), False),
    ],
)
def test_an_outage_goes_on_if_nothing_arrives_after_the_longest(road, lost, goes_on) -> None:
    trips = [road.trip(n * MS, 0, lost=n in lost) for n in range(10)]
    assert LongestOutage().goes_on(road.tally(trips)) is goes_on


def test_the_longest_outage_of_several_connections_decides_if_it_goes_on(road) -> None:
    """Of the first all but the first are lost; of the second, some in the middle."""
    trips = [road.trip(n * MS, 0, n % 2, lost=n % 2 == 0 and n > 6) for n in range(20)]
    assert LongestOutage().goes_on(road.tally(trips, connections=2))
    trips = [road.trip(n * MS, 0, n % 2, lost=n == 18 or n % 2 == 1 < n < 17) for n in range(20)]
    assert not LongestOutage().goes_on(road.tally(trips, connections=2))


def test_a_connection_on_which_nothing_arrives_is_out_all_the_time(road) -> None:
    trips = [road.trip(n * MS, 0, n % 2, lost=n % 2 == 1) for n in range(10)]
    assert LongestOutage().measure(road.tally(trips, connections=2)) == 8 * MS


@pytest.mark.parametrize("seen", [None, Outages()])
def test_without_arrivals_there_is_no_value(tally, seen) -> None:
    assert LongestOutage().measure(tally(outages=seen)) is None
