"""Intervals in turn, against a list of exact times."""

from fractions import Fraction
from itertools import accumulate, cycle, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.traffic.pattern import Pattern


@given(
    intervals=st.lists(st.fractions(0, 900, max_denominator=7), min_size=1, max_size=5).filter(sum),
    connections=st.integers(1, 4),
    phases=st.sampled_from(["random", "even"]),
    cuts=st.lists(st.integers(0, 3_000), max_size=4),
)
def test_it_sends_by_the_book(flow, intervals, connections, phases, cuts):
    process, until_ps = Pattern(tuple(intervals)), 3_000
    exact = sorted(
        (at, number)
        for number, first in enumerate(flow.phases(sum(intervals), connections, phases))
        for at in takewhile(
            lambda at: at < until_ps, accumulate(cycle(intervals), initial=Fraction(first))
        )
    )
    got = flow.cells(process, until_ps, connections, phases, cuts)
    assert got == [(int(at), number) for at, number in exact]


def test_its_mean_is_its_cells_in_a_round():
    assert Pattern((6_720_000, 6_800_000)).mean_rate(2) == Fraction(4 * 10**12, 13_520_000)


def test_no_time_at_all_is_refused():
    with pytest.raises(ValueError, match="intervals: "):
        Pattern((0, 0))
