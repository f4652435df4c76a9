"""A Poisson process: equal whatever the cut, and of the right law."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.engine.source.instants import BLOCK
from qospec.traffic.poisson import Poisson

LAST_PS = 10**11  # 100 ms


@settings(max_examples=settings().max_examples // 4)
@given(cuts=st.lists(st.integers(0, LAST_PS), max_size=20), connections=st.sampled_from([1, 7]))
def test_cuts_change_nothing(flow, cuts, connections):
    process = Poisson(Fraction(100_000))
    whole = flow.cells(process, LAST_PS, connections)
    assert flow.cells(process, LAST_PS, connections, cuts=cuts) == whole
    assert sorted(whole) == sorted(whole, key=lambda cell: cell[0])


def test_counts_have_the_mean_and_the_variance_of_the_law(flow):
    """10,000 windows of 10 cells on average; both estimates within five of their deviations."""
    process = Poisson(Fraction(250_000))
    at_ps, connection = process.emit(process.start(4, "random", flow.draws), 10_000 * 10_000_000)
    counts = np.bincount(at_ps // 10_000_000, minlength=10_000)
    assert abs(counts.mean() - 10) < 5 * (10 / 10_000) ** 0.5
    assert abs(counts.var() - 10) < 5 * (210 / 10_000) ** 0.5
    assert abs(np.bincount(connection) / len(at_ps) - 0.25).max() < 0.01


def test_another_number_of_connections_moves_no_other_draw(flow):
    one = flow.cells(Poisson(Fraction(4_000)), LAST_PS)
    four = flow.cells(Poisson(Fraction(1_000)), LAST_PS, 4)
    assert [t for t, _ in one] == [t for t, _ in four]


def test_the_slowest_rate_fits(flow):
    process = Poisson(Fraction(1, 1_000))
    at_ps, _ = process.emit(process.start(1, "random", flow.draws), 10**18)
    assert 0 < len(at_ps) < 2 * BLOCK
    assert (np.diff(at_ps) >= 0).all()


def test_its_mean_is_its_rate():
    assert Poisson(Fraction(7, 3)).compute_mean_rate(3) == 7
