"""RFC 4737's reordering extent by the book."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.metrics.reordering_extent import ReorderingExtent


@given(data=st.data())
def test_it_is_how_far_behind_the_first_that_overtook_it(road, data):
    came, tally = road.drawn(data)
    extents = [extent for mine in came for extent in road.extents(mine)]
    assert ReorderingExtent().measure(tally, "max") == max(extents, default=None)
    mean = Fraction(sum(extents), len(extents)) if extents else None
    assert ReorderingExtent().measure(tally, "mean") == mean


@pytest.mark.parametrize(
    ("order", "mean", "most"),
    [
        ((1, 3, 2, 4), 1, 1),
        ((4, 1, 2, 3), 2, 3),
        ((1, 2, 3, 5, 6, 7, 8, 4, 9, 10), 4, 4),
        ((1, 2, 3, 4, 7, 5, 6, 8, 9, 10), Fraction(3, 2), 2),
    ],
)
def test_orders_of_arrival(road, order, mean, most):
    tally = road.tally(road.in_order(order))
    assert ReorderingExtent().measure(tally, "mean") == mean
    assert ReorderingExtent().measure(tally, "max") == most


def test_what_kept_its_order_has_none(road) -> None:
    assert ReorderingExtent().measure(road.tally(road.in_order((1, 2))), "max") is None


def test_what_was_not_followed_is_no_data(tally) -> None:
    assert ReorderingExtent().measure(tally(received=5), "max") is None


def test_another_statistic_is_refused(tally) -> None:
    with pytest.raises(ValueError, match="no statistic `p99`"):
        ReorderingExtent().measure(tally(), "p99")
