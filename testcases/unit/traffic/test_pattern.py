"""Intervals in turn, against a list of exact times."""

from fractions import Fraction
from itertools import accumulate, cycle, takewhile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.traffic.pattern import Pattern


# Nine rounds of 1024 cells, which begin at thirds of a ps.
@pytest.mark.slow
@example([Fraction(1, 3)], 1, "even", [])
# Parts that sum up to a whole ps: between connections, and in a burst up to where it is asked for.
@example([Fraction(2)], 4, "even", [1, 2, 3])
@example([Fraction(1, 2), Fraction(1, 2), Fraction(1)], 1, "even", [1, 2, 3])
@example([Fraction(1, 2)] * 1_100, 1, "even", [1, 2, 3])
# Cells in the last part of a ps of a period, and exactly at its end.
@example([Fraction(3), Fraction(1, 2)], 1, "even", [])
@example([Fraction(1, 2), Fraction(3)], 7, "even", [])
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
    assert Pattern((6_720_000, 6_800_000)).compute_mean_rate(2) == Fraction(4 * 10**12, 13_520_000)


def test_no_time_at_all_is_refused():
    with pytest.raises(ValueError, match="intervals: "):
        Pattern((0, 0))
