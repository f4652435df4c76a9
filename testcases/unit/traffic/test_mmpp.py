"""A Poisson process of two rates: equal whatever the cut, and of the right law."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.random import Draws
from qospec.traffic.mmpp import Mmpp

MS = 10**9
BURSTY = Mmpp(Fraction(20_000), calm=2 * MS, busy=MS, share=Fraction(5, 6))


@pytest.mark.untraced
@given(cuts=st.lists(st.integers(0, 10**11), max_size=20), connections=st.sampled_from([1, 2, 7]))
def test_cuts_change_nothing(flow, cuts, connections):
    whole = flow.cells(BURSTY, 10**11, connections)
    assert flow.cells(BURSTY, 10**11, connections, cuts=cuts) == whole
    assert [t for t, _ in whole] == sorted(t for t, _ in whole)


def test_both_rates_follow_from_the_mean_and_the_share():
    """5,000 for two thirds of the time and 50,000 for one: 20,000."""
    assert BURSTY.rates == (5_000, 50_000)
    assert BURSTY.compute_mean_rate(3) == 60_000


@pytest.mark.untraced
@pytest.mark.parametrize("connections", [1, 3])
def test_counts_have_the_mean_and_the_dispersion_of_the_law(connections):
    """The index of dispersion for counts over a long time.

    1 + 2 (l1 - l2)^2 r1 r2 / ((r1 + r2)^2 (l1 r2 + l2 r1)): Heffes and Lucantoni, IEEE JSAC 4
    (1986) 856, eq. 3, with the rates l of cells and r of leaving each state.
    """
    calm, busy = 5_000, 50_000
    leave_calm, leave_busy = 500, 1_000
    index = 1 + 2 * (calm - busy) ** 2 * leave_calm * leave_busy / (
        (leave_calm + leave_busy) ** 2 * (calm * leave_busy + busy * leave_calm)
    )
    windows, window_ps = 500, 100 * MS
    state = BURSTY.start(connections, "random", Draws(("counts",)))
    at_ps, connection = BURSTY.emit(state, windows * window_ps)
    found = np.bincount(at_ps // window_ps, minlength=windows)
    mean = 2_000 * connections
    assert abs(found.mean() / mean - 1) < 5 * (index / mean / windows) ** 0.5
    assert found.var() / found.mean() == pytest.approx(index, rel=0.25)
    assert np.bincount(connection) / len(at_ps) == pytest.approx(1 / connections, rel=0.05)


@pytest.mark.untraced
def test_the_first_cell_of_each_connection_is_as_far_off_as_any_other():
    """With states of a day each connection is a Poisson process of one rate: 2,000 or 38,000.

    Until its first cell it takes an exponential time of that rate's mean: memory it has none.
    """
    day, second = 10**17, 10**12
    process = Mmpp(Fraction(20_000), calm=day, busy=day, share=Fraction(19, 20))
    state = process.start(1_000, "random", Draws(("first",)))
    at_ps, connection = process.emit(state, second // 200)
    whose, places, counts = np.unique(connection, return_index=True, return_counts=True)
    first_ps = at_ps[places]
    assert len(whose) >= 999
    for rate, mine in ((2_000, counts < 60), (38_000, counts >= 60)):
        assert mine.sum() == pytest.approx(500, rel=0.2)
        assert first_ps[mine].mean() == pytest.approx(second / rate, rel=0.2)
        assert first_ps[mine].std() == pytest.approx(second / rate, rel=0.2)


def test_a_share_as_long_as_its_time_is_a_poisson_process():
    """With equal rates the dispersion is 1, in short windows as in long ones."""
    even = Mmpp(Fraction(250_000), calm=MS, busy=MS, share=Fraction(1, 2))
    at_ps, _ = even.emit(even.start(1, "random", Draws(("even",))), 10_000 * 40_000_000)
    found = np.bincount(at_ps // 40_000_000, minlength=10_000)
    assert abs(found.mean() - 10) < 5 * (10 / 10_000) ** 0.5
    assert abs(found.var() - 10) < 5 * (210 / 10_000) ** 0.5


@pytest.mark.parametrize(("share", "silent"), [(1, False), (0, True)])
def test_a_state_without_a_share_is_silent(share, silent):
    """One connection goes on and off, as in an interrupted Poisson process: half of the time."""
    process = Mmpp(Fraction(20_000), calm=MS, busy=MS, share=Fraction(share))
    assert process.rates[not silent] == 40_000
    at_ps, _ = process.emit(process.start(1, "random", Draws(("half",))), 10**12)
    empty = (np.bincount(at_ps // (MS // 10), minlength=10_000) == 0).mean()
    assert 0.45 < empty < 0.6
    assert len(at_ps) == pytest.approx(20_000, rel=0.2)


def test_the_slowest_and_the_steepest_fit():
    process = Mmpp(Fraction(1, 1_000), calm=10**17, busy=10**17, share=Fraction(999_999, 10**6))
    at_ps, _ = process.emit(process.start(3, "random", Draws(("slow",))), 10**18)
    assert (np.diff(at_ps) >= 0).all()


def test_states_that_see_no_cell_are_refused():
    with pytest.raises(ValueError, match="one in 100 cycles"):
        Mmpp(Fraction(1), calm=MS, busy=MS, share=Fraction(2, 3))
