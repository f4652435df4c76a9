"""Curves as kernels read them, against exact fractions."""

from fractions import Fraction
from math import floor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Curve
from qospec.engine.curve import find_time_ps, to_curve

LARGEST = 65_535
LONGEST_PS = 10**11

points = st.dictionaries(
    st.integers(1, LARGEST), st.integers(1, LONGEST_PS), min_size=2, max_size=5
).map(lambda found: tuple(sorted(found.items())))


def read(curve, size):
    return int(find_time_ps(np.array(curve.points, np.int64), size))


@given(points=points, sizes=st.lists(st.integers(1, LARGEST), min_size=1))
def test_a_time_is_on_the_line_to_the_nearest_ps(points, sizes):
    for size in sizes:
        ahead = [point for point in points if point[0] <= size] or points[:1]
        after = [point for point in points if point[0] >= size] or points[-1:]
        (low, low_ps), (high, high_ps) = ahead[-1], after[0]
        share = Fraction(size - low, high - low) if low < size < high else Fraction(0)
        expected = low_ps + share * (high_ps - low_ps) if low <= size else high_ps
        assert read(Curve(points), size) == floor(expected + Fraction(1, 2))


@given(points=points)
def test_no_time_is_beyond_those_of_the_points(points):
    curve = Curve(points)
    for size in (1, points[0][0] + 1, points[-1][0] - 1, LARGEST):
        assert curve.least_ps <= read(curve, size) <= curve.most_ps


def test_one_time_is_that_of_all_sizes():
    assert to_curve(7) == Curve(((0, 7),))
    assert [read(to_curve(7), size) for size in (1, LARGEST)] == [7, 7]
