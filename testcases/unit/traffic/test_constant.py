"""Constant intervals against exact times."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.traffic.constant import Constant
from qospec.units import PS_PER_S

BEYOND_A_ROUND = [Fraction(number, 40) for number in range(200 * 40, 215 * 40)]
"""So many intervals are one round of the pattern, which then begins within a ps."""


@given(
    rate=st.one_of(
        st.sampled_from([Fraction(1, 10**6), Fraction(10**11), Fraction(352_720, 4_000)]),
        st.fractions(1, 10**11, max_denominator=10**4),
    ),
    connections=st.integers(1, 6),
    phases=st.sampled_from(["random", "even"]),
    rounds=st.fractions(0, 4),
    cuts=st.lists(st.fractions(0, 4), max_size=4),
)
@example(Fraction(10**11), 6, "even", Fraction(300), [Fraction(250)])
@example(Fraction(3 * 10**12, 31), 5, "even", Fraction(215), BEYOND_A_ROUND)
def test_it_sends_by_the_book(flow, rate, connections, phases, rounds, cuts):
    interval = PS_PER_S / rate
    first = flow.phases(interval, connections, phases)
    until_ps = int(rounds * interval)
    exact = sorted(
        (start + turn * interval, connection)
        for connection, start in enumerate(first)
        for turn in range(math.ceil(rounds) + 1)
    )
    expected = [(math.floor(t), connection) for t, connection in exact if math.floor(t) < until_ps]
    cuts = [int(cut * interval) for cut in cuts]
    assert flow.cells(Constant(rate), until_ps, connections, phases, cuts) == expected


def test_even_connections_are_one_exact_stream(flow):
    """4,000 connections, 352,720 cells/s: cell j is at floor(j * 1e12 / 352,720)."""
    got = flow.cells(Constant(Fraction(352_720, 4_000)), 10**11, 4_000, "even")
    assert len(got) == 35_272
    assert got == [(j * 10**12 // 352_720, j % 4_000) for j in range(35_272)]


def test_random_connections_keep_one_order_for_ever(flow):
    got = flow.cells(Constant(Fraction(1_000)), 10**10, 5)
    order = [connection for _, connection in got]
    assert len(set(order[:5])) == 5
    assert order == (order[:5] * 10)[: len(order)]


def test_a_day_later_nothing_has_drifted(flow):
    source = Constant(Fraction(149_760_000, 424))
    state = source.start(1, "even", flow.draws)
    state.emitted = 3 * 10**10
    at_ps, _ = source.emit(state, (3 * 10**10 + 3) * 331_250_000 // 117)
    exact = [(3 * 10**10 + k) * 331_250_000 // 117 for k in range(3)]
    assert at_ps.tolist() == exact


def test_columns_have_the_types_of_a_batch(flow):
    at_ps, connection = Constant(Fraction(1)).emit(
        Constant(Fraction(1)).start(1, "random", flow.draws), 10**12
    )
    assert (at_ps.dtype, connection.dtype) == (np.int64, np.int32)


def test_its_mean_is_its_rate():
    assert Constant(Fraction(7, 3)).compute_mean_rate(3) == 7


def test_a_fraction_too_fine_is_refused(flow):
    with pytest.raises(ValueError, match="too fine"):
        Constant(Fraction(2**63 + 1, 2**40)).start(1, "random", flow.draws)
