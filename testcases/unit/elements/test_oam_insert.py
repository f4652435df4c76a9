"""Inserted OAM cells against a list of exact due times."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.oam_insert import COLUMNS, DUE, VCS, OamInsert
from qospec.units import PS_PER_S

CONNECTIONS = 3


def by_the_book(at_ps, connection, period, first):
    """Return (time, index) of all that leaves; `first`: per connection, when its first is due."""
    due, left = [Fraction(t) for t in first], []
    for t, index in zip(at_ps, connection, strict=True):
        if index < len(due) and math.floor(due[index]) <= t:
            left.append((t, index + len(due)))
            due[index] += period
        left.append((t, index))
    return left


@pytest.mark.parametrize("by_events", [False, True])
def test_each_connection_has_oam_cells_of_its_own(lab, two_vcs, by_events):
    """Due at 0 and each 100 ps on the one, 50 ps later on the other."""
    element = OamInsert(Fraction(PS_PER_S, 100), "even")
    cells = lab.cells([0, 49, 50, 99, 150], connection=[0, 1, 1, 0, 1])
    (left,) = lab.carry(element, two_vcs, cells, by_events=by_events).departures
    assert left.connection.tolist() == [2, 0, 1, 3, 1, 0, 3, 1]
    assert left.at_ps.tolist() == [0, 0, 49, 50, 50, 99, 150, 150]


@given(
    rate=st.one_of(
        st.sampled_from([Fraction(1, 10**6), Fraction(10**11), Fraction(1, 30)]),
        st.sampled_from([Fraction(3 * 10**12, 31), Fraction(7 * 10**12, 100)]),  # few ps, uneven
        st.fractions(Fraction(1, 10**6), 10**11, max_denominator=10**6),
    ),
    phases=st.sampled_from(["random", "even"]),
    data=st.data(),
)
def test_it_inserts_by_the_book(lab, rate, phases, data):
    period = PS_PER_S / rate
    gaps = st.one_of(st.just(0), st.integers(0, int(period) + 1), st.integers(0, int(3 * period)))
    at_ps = np.cumsum(data.draw(st.lists(gaps, min_size=1, max_size=50)), dtype=object).tolist()
    at_ps = [t for t in at_ps if t < 2**61] or [0]
    indices = st.lists(
        st.integers(0, 2 * CONNECTIONS - 1), min_size=len(at_ps), max_size=len(at_ps)
    )
    connection = data.draw(indices)
    element, where = (
        OamInsert(rate, phases),
        lab.setting(contracts=[lab.setting().contracts[0]] * 3),
    )
    first = element.start(where)[VCS + DUE :: COLUMNS].tolist()
    assert all(0 <= t < period for t in first)
    if phases == "even":
        first = [number * period / CONNECTIONS for number in range(CONNECTIONS)]
    cuts = data.draw(st.lists(st.integers(0, at_ps[-1]), max_size=3))
    (left,) = lab.carry(
        element, where, lab.cells(at_ps, connection=connection), cuts=cuts
    ).departures
    got = list(zip(left.at_ps.tolist(), left.connection.tolist(), strict=True))
    assert got == by_the_book(at_ps, connection, period, first)
    assert (left.size_bytes == 53).all()


def even(lab, at_ps, connection=0, **columns):
    batch = lab.cells(at_ps, connection=connection, **columns)
    (left,) = lab.carry(OamInsert(Fraction(10**9), "even"), lab.setting(), batch).departures
    return left


def test_an_oam_cell_goes_directly_ahead_of_a_user_cell_in_the_same_ps(lab):
    left = even(lab, [400, 1_600], marks=1, sent_ps=[100, 200])
    assert left.at_ps.tolist() == [400, 400, 1_600, 1_600]
    assert left.connection.tolist() == [1, 0, 1, 0]
    assert left.marks.tolist() == [0, 1, 0, 1]
    assert left.sent_ps.tolist() == [400, 100, 1_600, 200]


def test_there_is_one_per_due_and_no_more(lab):
    left = even(lab, range(0, 10_000, 100))
    assert (left.connection == 1).sum() == 10


def test_a_connection_with_few_cells_catches_up_one_per_cell(lab):
    """Ten are due at 9.5 ns: ten cells in a row are each led by one, the eleventh by none."""
    left = even(lab, [9_500] * 11)
    assert left.connection.tolist() == [1, 0] * 10 + [0]


def test_oam_cells_of_others_pass_and_trigger_nothing(lab):
    left = even(lab, [400], connection=1)
    assert left.connection.tolist() == [1]


def test_an_uneven_period_does_not_drift(lab):
    """Due every 31/3 ps, with a user cell in every ps: each goes in the ps in which it is due."""
    element = OamInsert(Fraction(3 * 10**12, 31), "even")
    (left,) = lab.carry(element, lab.setting(), lab.cells(range(310))).departures
    assert left.at_ps[left.connection == 1].tolist() == [k * 31 // 3 for k in range(30)]


def test_an_even_phase_is_rounded_down_to_a_whole_ps(lab):
    """The second of three is due after 10/3 ps and every 10 ps from then on."""
    element = OamInsert(Fraction(10**11), "even")
    where = lab.setting(contracts=[lab.setting().contracts[0]] * 3)
    (left,) = lab.carry(element, where, lab.cells(range(30), connection=1)).departures
    assert left.at_ps[left.connection == 4].tolist() == [3, 13, 23]


def test_two_per_minute_are_two_per_minute(lab):
    """40 connections, an hour, a cell every 10 s each: 120 OAM cells each."""
    contracts = [lab.setting().contracts[0]] * 40
    at_ps = [t * PS_PER_S // 4 for t in range(4 * 3_600)]
    batch = lab.cells(at_ps, connection=[t % 40 for t in range(4 * 3_600)])
    (left,) = lab.carry(
        OamInsert(Fraction(2, 60)), lab.setting(contracts=contracts), batch
    ).departures
    inserted = np.bincount(left.connection)[40:]
    assert inserted.min() >= 119
    assert inserted.max() <= 120


def test_nothing_due_means_nothing_copied(lab):
    element, where = OamInsert(Fraction(1, 10**6)), lab.setting()
    batch = lab.cells([0])
    state = element.start(where)
    state[VCS + DUE :: COLUMNS] = 5
    assert element.process(state, (batch,), 1).departures[0].at_ps is batch.at_ps


def test_a_rate_that_cannot_be_kept_exactly_is_refused():
    with pytest.raises(ValueError, match=r"^rate: "):
        OamInsert(Fraction(2**70 + 1, 2**69))
