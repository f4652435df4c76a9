"""Batches at the instants of a Poisson process: equal whatever the cut, and of the right law."""

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.traffic.batches import Batches

LAST_PS = 10**11  # 100 ms


@settings(max_examples=settings().max_examples // 4)
@given(cuts=st.lists(st.integers(0, LAST_PS), max_size=20), connections=st.sampled_from([1, 7]))
def test_cuts_change_nothing(flow, cuts, connections):
    process = Batches(5, Fraction(100_000))
    whole = flow.cells(process, LAST_PS, connections)
    assert flow.cells(process, LAST_PS, connections, cuts=cuts) == whole
    assert whole == sorted(whole, key=lambda cell: cell[0])


def test_a_batch_is_of_one_connection_and_ready_at_once(flow):
    process = Batches(5, Fraction(100_000))
    at_ps, connection = process.emit(process.start(4, "random", flow.draws), LAST_PS)
    rows = at_ps.reshape(-1, 5), connection.reshape(-1, 5)
    assert all((row == row[:, :1]).all() for row in rows)
    assert set(connection) == {0, 1, 2, 3}


def test_counts_have_the_mean_and_the_variance_of_the_law(flow):
    """10,000 windows of 10 batches on average; both estimates within five of their deviations."""
    process = Batches(3, Fraction(750_000))
    at_ps, _ = process.emit(process.start(4, "random", flow.draws), 10_000 * 10_000_000)
    counts = np.bincount(at_ps // 10_000_000, minlength=10_000)
    assert set(counts % 3) == {0}
    assert abs((counts / 3).mean() - 10) < 5 * (10 / 10_000) ** 0.5
    assert abs((counts / 3).var() - 10) < 5 * (210 / 10_000) ** 0.5


def test_the_slowest_rate_fits(flow):
    process = Batches(1, Fraction(1, 1_000))
    at_ps, _ = process.emit(process.start(1, "random", flow.draws), 10**18)
    assert len(at_ps) > 0
    assert (np.diff(at_ps) >= 0).all()


def test_its_mean_is_its_rate():
    assert Batches(4, Fraction(7, 3)).compute_mean_rate(3) == 7
    assert Batches.from_rate(Fraction(7, 3), size=4) == Batches(4, Fraction(7, 3))
    assert Batches(4, Fraction(1)).count_most_items(1, LAST_PS) is None
