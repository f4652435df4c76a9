"""Talk and silence in turns: by the book where all is constant, by its laws where it is not."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Duration
from qospec.engine.random import Draws
from qospec.engine.source.two_state import BLOCK
from qospec.traffic.on_off import OnOff
from qospec.units import PS_PER_S

MS = 10**9
TALK = OnOff(Duration(2 * MS, "exponential"), Duration(3 * MS, "exponential"), Fraction(20_000))


def by_the_book(process, connections, until_ps):
    """Return (time, connection) of all cells where all is constant and phases are even.

    Cell k has spent k intervals of time on: so many whole times on, and what is left of it.
    """
    on, off, apart = process.on.mean_ps, process.off.mean_ps, PS_PER_S / process.at
    found = []
    for number in range(connections):
        begins = number * (on + off) // connections
        for k in range(2 + int(until_ps / apart)):
            turns, within = divmod(k * apart, on)
            exact = begins + turns * (on + off) + within
            if math.floor(exact) < until_ps:
                found.append((math.floor(exact), number))
    return sorted(found)


@given(
    on=st.integers(10, 2_000),
    off=st.integers(1, 2_000),
    apart=st.fractions(1, 900, max_denominator=97),
    connections=st.integers(1, 5),
    cuts=st.lists(st.integers(0, 10**4), max_size=4),
)
def test_constant_times_are_kept_by_the_book(flow, on, off, apart, connections, cuts):
    process = OnOff(Duration(on), Duration(off), PS_PER_S / apart)
    got = flow.cells(process, 10**4, connections, "even", cuts)
    assert got == by_the_book(process, connections, 10**4)


@given(
    cuts=st.lists(st.integers(0, 10**11), max_size=20),
    connections=st.sampled_from([1, 2, 7]),
    phases=st.sampled_from(["random", "even"]),
)
@pytest.mark.untraced
def test_cuts_change_nothing(flow, cuts, connections, phases):
    whole = flow.cells(TALK, 10**11, connections, phases)
    assert flow.cells(TALK, 10**11, connections, phases, cuts) == whole
    assert [t for t, _ in whole] == sorted(t for t, _ in whole)


def counts(process, connections, window_ps, windows):
    """Return how many cells fall into each window, once the first blocks of draws are used up."""
    state = process.start(connections, "random", Draws(("counts",)))
    at_ps, connection = process.emit(state, window_ps * windows)
    assert len(at_ps) > 3 * BLOCK
    assert set(connection.tolist()) == set(range(connections))
    return np.bincount(at_ps // window_ps, minlength=windows)


@pytest.mark.untraced
@pytest.mark.parametrize("connections", [1, 5])
def test_exponential_times_have_the_mean_and_the_dispersion_of_the_law(connections):
    """Var N / E N over a long time: 2 a b^2 / (a + b)^2 cells of the peak.

    With a time on that is a renewal reward (Cox, Renewal theory, 1962, 7.2): var = 2 a^2 b^2 /
    (a + b)^3 per time, over the square of the interval; the mean is a / (a + b) over the interval.
    """
    on, off, apart = 2 * MS, 3 * MS, PS_PER_S / TALK.at
    index = 2 * on * off**2 / (on + off) ** 2 / apart
    found = counts(TALK, connections, 100 * MS, 500)
    mean = float(TALK.compute_mean_rate(connections) / 10)
    assert abs(found.mean() / mean - 1) < 5 * (index / mean / 500) ** 0.5
    assert found.var() / found.mean() == pytest.approx(float(index), rel=0.25)


def test_constant_times_keep_their_mean_exactly():
    """Ten turns hold ten times 4.5 cells, wherever a connection begins: the half is waited for."""
    process = OnOff(Duration(45), Duration(55), PS_PER_S / Fraction(10))
    assert process.compute_mean_rate(3) == 3 * Fraction(45, 1_000) * PS_PER_S
    found = [
        len(process.emit(process.start(1, "random", Draws((str(seed),))), 1_000)[0])
        for seed in range(50)
    ]
    assert set(found) == {45}


@pytest.mark.slow
def test_connections_of_constant_times_begin_anywhere_in_their_turn(flow):
    """A turn is 20 us on and 80 us off; on, 20 cells 1 us apart.

    So in any turn's length each connection has 20 cells, wherever in its time on or off it begins:
    what is left of that is what is missing of the constant, drawn as the place is and not anew.
    """
    us, turn = 10**6, 100 * 10**6
    process, count = OnOff(Duration(20 * us), Duration(80 * us), Fraction(10**6)), 500
    cells = flow.cells(process, 3 * turn, count)
    for begin in (0, turn, 2 * turn):
        counted = Counter(c for t, c in cells if begin <= t < begin + turn)
        assert [counted[c] for c in range(count)] == [20] * count
    assert {(t + turn, c) for t, c in cells if t < 2 * turn} == {
        (t, c) for t, c in cells if t >= turn
    }
    on_at_once = {c for t, c in cells if t < us}
    assert abs(len(on_at_once) - count / 5) < 5 * (count * 0.2 * 0.8) ** 0.5
    begins = [min(t for t, c in cells if c == mine) for mine in set(range(count)) - on_at_once]
    assert max(begins) < 81 * us
    assert sum(begins) / len(begins) == pytest.approx(40 * us, rel=0.1)


def test_a_mean_rate_gives_the_peak():
    process = OnOff.from_rate(Fraction(40), on=Duration(16 * MS), off=Duration(24 * MS))
    assert process.at == 100
    assert process.compute_mean_rate(1) == 40


@pytest.mark.parametrize(
    ("at", "words"), [(Fraction(2**62 + 1, 2**61), "too fine"), (Fraction(1, 10**5), "100 cycles")]
)
def test_what_cannot_be_kept_is_refused(at, words):
    with pytest.raises(ValueError, match=f"at: .*{words}"):
        OnOff(Duration(MS), Duration(MS), at)
