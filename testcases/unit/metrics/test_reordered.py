"""RFC 4737's reordering by the book: what of a packet comes before it, looked at one by one."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.reordered import Reordered


@given(data=st.data())
def test_a_packet_is_reordered_if_one_sent_later_is_ahead_of_it(road, data):
    came, tally = road.drawn(data)
    expected = sum(len(road.extents(mine)) for mine in came)
    assert Reordered().measure(tally) == (expected if any(came) else None)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((1, 2, 3, 4), 0),
        ((1, 3, 2, 4), 1),
        ((4, 1, 2, 3), 3),
        ((2, 1, 4, 3), 2),
        # RFC 4737, 7.1: packet 4 is reordered
        ((1, 2, 3, 5, 6, 7, 8, 4, 9, 10), 1),
        # likewise, 7.2: packets 5 and 6 are
        ((1, 2, 3, 4, 7, 5, 6, 8, 9, 10), 2),
    ],
)
def test_orders_of_arrival(road, order, expected):
    assert Reordered().measure(road.tally(road.in_order(order))) == expected


def test_a_lost_packet_reorders_nothing(road):
    trips = [road.trip(n * 10**9, 0, lost=n == 1) for n in range(3)]
    assert Reordered().measure(road.tally(trips)) == 0


def test_many_lost_packets_ahead_of_one_that_is_late_take_no_other_place(road):
    """The places of a ring are used again and again: 64 of them."""
    lost = [road.trip(n * 10**6, 0, lost=True) for n in range(70)]
    late = road.trip(70 * 10**6, 10**12)
    others = [road.trip(n * 10**6, 0) for n in range(71, 140)]
    assert Reordered().measure(road.tally([*lost, late, *others])) == 1


def test_connections_do_not_reorder_each_other(road):
    trips = [road.trip(0, 10**9, 0), road.trip(1, 0, 1)]
    assert Reordered().measure(road.tally(trips, connections=2)) == 0


def test_packets_sent_before_the_window_are_not_seen(road):
    early, late = road.trip(0, 10**9), road.trip(10, 0)
    assert Reordered().measure(road.tally([early, late])) == 1
    assert Reordered().measure(road.tally([early, late], start_ps=5)) == 0


def test_what_was_not_followed_is_no_data(tally) -> None:
    assert Reordered().measure(tally(received=5)) is None


def test_nothing_received_is_no_data(road) -> None:
    assert Reordered().measure(road.tally([road.trip(0, 0, lost=True)])) is None
    assert Reordered().measure(road.tally([road.trip(0, 0)])) == Fraction(0)
