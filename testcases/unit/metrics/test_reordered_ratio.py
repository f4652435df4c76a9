"""RFC 4737's reordered packet ratio by the book."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.reordered_ratio import ReorderedRatio


@given(data=st.data())
def test_it_is_of_those_that_arrived(road, data):
    came, tally = road.drawn(data)
    reordered, received = sum(len(road.extents(mine)) for mine in came), sum(map(len, came))
    expected = Fraction(reordered, received) if received else None
    assert ReorderedRatio().measure(tally) == expected


def test_what_was_not_followed_is_no_data(tally) -> None:
    assert ReorderedRatio().measure(tally(received=5)) is None
