"""Bursts against a list of exact times."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qospec.engine.random import Draws
from qospec.traffic.burst import Burst
from qospec.units import PS_PER_S


def by_the_book(burst, first, until_ps):
    """Return (time, connection) of all cells; `first`: when each connection begins, exactly."""
    apart = PS_PER_S / burst.at if burst.at else 0
    found = []
    for connection, start in enumerate(first):
        begins = Fraction(start)
        while begins < until_ps:
            for number in range(burst.size):
                exact = begins + number * apart
                if math.floor(exact) < until_ps:
                    found.append((exact, connection))
            begins += burst.every
    return [(math.floor(exact), connection) for exact, connection in sorted(found)]


@st.composite
def bursts(draw):
    every = draw(st.fractions(1, 10**4, max_denominator=97))
    size = draw(st.sampled_from([1, 2, 7]))
    if draw(st.booleans()):
        return Burst(size, every)
    apart = every / size / draw(st.sampled_from([1, Fraction(4, 3), 50]))
    assume(Fraction(1, 10**6) <= PS_PER_S / apart)
    return Burst(size, every, PS_PER_S / apart)


@given(
    burst=bursts(),
    connections=st.integers(1, 5),
    phases=st.sampled_from(["random", "even"]),
    cuts=st.lists(st.integers(0, 5 * 10**4), max_size=4),
    rounds=st.integers(0, 5),
)
def test_it_sends_by_the_book(flow, burst, connections, phases, cuts, rounds):
    until_ps = int(rounds * burst.every)
    first = flow.phases(burst.every, connections, phases)
    got = flow.cells(burst, until_ps, connections, phases, cuts)
    assert got == by_the_book(burst, first, until_ps)


def test_many_rounds_later_nothing_has_drifted(flow):
    """A burst of three every 10/3 ps, 1e17 ps after the start: in the middle, at random."""
    burst = Burst(3, Fraction(10, 3))
    state = burst.start(2, "even", flow.draws)
    state.emitted = 2 * 3 * (3 * 10**16)
    at_ps, connection = burst.emit(state, 10**17 + 5)
    assert at_ps.tolist() == [10**17] * 3 + [10**17 + 1] * 3 + [10**17 + 3] * 3
    assert connection.tolist() == [0] * 3 + [1] * 3 + [0] * 3


def test_its_mean_is_its_size_per_interval():
    assert Burst(4, Fraction(10**9)).compute_mean_rate(5) == 20_000


def test_a_burst_is_over_before_the_next():
    with pytest.raises(ValueError, match=r"^every: "):
        Burst(5, Fraction(10**9), Fraction(4_000))
    Burst(4, Fraction(10**9), Fraction(4_000))


def test_more_than_memory_holds_is_refused():
    with pytest.raises(ValueError, match="8 million"):
        Burst(2**20, Fraction(10**9)).start(9, "random", Draws(("x",)))


def test_a_fraction_too_fine_is_refused():
    with pytest.raises(ValueError, match="too fine"):
        Burst(1, Fraction(2**63, 2**62 + 1)).start(1, "random", Draws(("x",)))
