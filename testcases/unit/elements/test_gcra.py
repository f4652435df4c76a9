"""Usage parameter control against the standard's text in exact fractions, and its known vectors."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qospec.elements.gcra import Gcra
from qospec.elements.line import Line
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.contract import Contract
from qospec.engine.random import Draws
from qospec.traffic.constant import Constant
from qospec.units import PS_PER_S

SECOND_PS = PS_PER_S


class VirtualScheduling:
    """ITU-T I.371, Annex A: one GCRA(T, tau), as it is written, for times that are rounded down."""

    def __init__(self, increment, limit):
        self.increment, self.limit, self.due = Fraction(increment), Fraction(limit), None

    def conforms(self, t):
        return self.due is None or t >= math.floor(self.due - self.limit)

    def count(self, t):
        self.due = (
            t + self.increment if self.due is None else max(Fraction(t), self.due) + self.increment
        )


class LeakyBucket:
    """The other form of the same annex."""

    def __init__(self, increment, limit):
        self.increment, self.limit, self.content, self.last = Fraction(increment), limit, None, 0

    def conforms(self, t):
        if self.content is None:
            return True
        return max(Fraction(0), self.content - (t - self.last)) < self.limit + 1

    def count(self, t):
        left = (
            Fraction(0)
            if self.content is None
            else max(Fraction(0), self.content - (t - self.last))
        )
        self.content, self.last = left + self.increment, t


class Book:
    """TM 4.1: both tests of one connection; a state advances only with a conforming cell."""

    def __init__(self, contract, form):
        tolerance = contract.cell_delay_variation_tolerance_ps
        self.contract = contract
        self.peak = form(contract.peak_interval_ps, tolerance)
        self.sustained = None
        if contract.sustainable_cell_rate is not None:
            limit = contract.burst_tolerance_ps + tolerance
            self.sustained = form(contract.sustained_interval_ps, limit)

    def verdict(self, t, clp):
        """Return pass, tag, or the cause for which it is discarded."""
        applies = self.sustained is not None and (
            clp == 0 or self.contract.sustainable_applies_to == "0+1"
        )
        if not self.peak.conforms(t):
            return "policed_pcr"
        if applies and not self.sustained.conforms(t):
            if not self.contract.tagging:
                return "policed_scr"
            self.peak.count(t)
            return "tag"
        self.peak.count(t)
        if applies:
            self.sustained.count(t)
        return "pass"


def by_the_book(at_ps, connection, clp, gcra, contracts, form=VirtualScheduling):
    """Return (number, CLP) of what goes on, and (number, cause) of what is discarded."""
    books, kept, lost = {}, [], []
    for number, (t, index, mark) in enumerate(zip(at_ps, connection, clp, strict=True)):
        vc, is_oam = index % len(contracts), index >= len(contracts)
        contract = contracts[vc]
        if contract.category not in gcra.police or (is_oam and gcra.oam == "exempt"):
            kept.append((number, mark))
            continue
        own = (vc, is_oam and gcra.oam == "separate")
        verdict = books.setdefault(own, Book(contract, form)).verdict(t, mark)
        if verdict.startswith("policed") and gcra.violate == "discard":
            lost.append((number, verdict))
        else:
            kept.append((number, mark if verdict == "pass" else 1))
    return kept, lost


@st.composite
def contracts(draw):
    category = draw(st.sampled_from(["cbr", "vbr_rt", "vbr_nrt", "ubr"]))
    rates = st.one_of(
        st.sampled_from([Fraction(1, 10**6), Fraction(10**11), Fraction(3), Fraction(10**12, 7)]),
        st.fractions(Fraction(1, 10**6), 10**11, max_denominator=10**6),
    )
    peak = draw(rates)
    tolerance = st.one_of(
        st.sampled_from([0, 1, 10**18]), st.integers(0, min(10**18, 3 * int(PS_PER_S / peak) + 3))
    )
    if category in ("cbr", "ubr"):
        return Contract(category, peak, draw(tolerance))
    sustainable = peak / draw(st.sampled_from([1, Fraction(3, 2), 4, 100]))
    assume(sustainable >= Fraction(1, 10**6))
    contract = Contract(
        category,
        peak,
        draw(tolerance),
        sustainable,
        draw(st.sampled_from([1, 2, 5])),
        draw(st.sampled_from(["0", "0+1"])),
        tagging=draw(st.booleans()),
    )
    assume(contract.burst_tolerance_ps + contract.cell_delay_variation_tolerance_ps <= 10**18)
    return contract


@st.composite
def policing(draw):
    """Draw contracts, and cells whose gaps are of the order of their intervals."""
    agreed = draw(st.lists(contracts(), min_size=1, max_size=3))
    interval = int(min(c.peak_interval_ps for c in agreed))
    gaps = st.one_of(st.sampled_from([0, 1, interval, interval + 1]), st.integers(0, 2 * interval))
    drawn = draw(st.lists(gaps, min_size=1, max_size=50))
    at_ps = [t for t in itertools.accumulate(drawn) if t < FOREVER_PS]
    count = len(at_ps)
    connection = st.lists(st.integers(0, 2 * len(agreed) - 1), min_size=count, max_size=count)
    clp = st.lists(st.integers(0, 1), min_size=count, max_size=count)
    return agreed, at_ps, draw(connection), draw(clp)


elements = st.builds(
    Gcra,
    st.sampled_from(["discard", "tag"]),
    st.sampled_from(["joint", "separate", "exempt"]),
    st.sampled_from([("cbr", "vbr_rt", "vbr_nrt"), ("ubr",), ()]),
)


@given(policing(), elements, st.lists(st.integers(0, 10**13), max_size=3))
@pytest.mark.parametrize("form", [VirtualScheduling, LeakyBucket])
def test_it_polices_by_the_book(lab, form, drawn, gcra, cuts):
    agreed, at_ps, connection, clp = drawn
    batch = lab.cells(at_ps, connection=connection, marks=clp)
    got = lab.carry(gcra, lab.setting(contracts=agreed), batch, cuts=cuts)
    (kept,) = got.departures
    marked, lost = by_the_book(at_ps, connection, clp, gcra, agreed, form)
    assert list(zip(kept.sent_ps.tolist(), kept.marks.tolist(), strict=True)) == marked
    expected = [(cause, "", connection[number], number) for number, cause in lost]
    assert sorted(got.lost) == sorted(expected)


@pytest.mark.parametrize(
    ("increment", "limit", "arrivals", "conform"),
    [
        (10, 15, [0, 1, 2, 3, 10, 20, 30, 31, 32, 60], [1, 1, 0, 0, 1, 1, 1, 0, 0, 1]),
        (10, 15, range(12), [1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
        (Fraction(9, 2), 0, range(10), [1, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
        (Fraction(9, 2), 5, range(10), [1, 1, 0, 0, 1, 0, 0, 0, 0, 1]),
        (Fraction(9, 2), 9, range(10), [1, 1, 1, 0, 0, 1, 0, 0, 0, 1]),
        (Fraction(9, 2), 18, range(10), [1, 1, 1, 1, 1, 1, 0, 0, 0, 1]),
        (Fraction(9, 2), 36, range(10), [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
    ],
)
def test_the_vectors_of_the_annex(lab, increment, limit, arrivals, conform):
    """ITU-T I.371, Annex A, in a unit of 10 ps, of which T = 4.5 is a whole number of ps."""
    contract = Contract("cbr", PS_PER_S / (Fraction(increment) * 10), limit * 10)
    batch = lab.cells([10 * t for t in arrivals])
    got = lab.carry(Gcra(), lab.setting(contracts=[contract]), batch)
    kept = set(got.departures[0].sent_ps.tolist())
    assert [int(number in kept) for number in range(len(conform))] == conform


@pytest.mark.parametrize(("limit", "cells_in_a_row"), [(0, 1), (5, 2), (9, 3), (18, 6), (36, 11)])
def test_cells_back_to_back_within_a_tolerance(lab, limit, cells_in_a_row):
    """N = 1 + floor(tau / (T - d)), for T = 4.5 and a cell time d = 1, in 10 ps (I.371)."""
    contract = Contract("cbr", PS_PER_S / Fraction(45), limit * 10)
    got = lab.carry(Gcra(), lab.setting(contracts=[contract]), lab.cells(range(0, 200, 10)))
    kept = got.departures[0].sent_ps.tolist()
    assert kept[:cells_in_a_row] == list(range(cells_in_a_row))
    assert cells_in_a_row not in kept


def test_a_burst_of_mbs_cells_at_the_peak_conforms_and_the_next_does_not(lab):
    """PCR 1000, SCR 100, MBS 50: BT = 49 * 9 ms = 0.441 s (TM 4.1)."""
    contract = Contract("vbr_nrt", Fraction(1_000), 0, Fraction(100), 50)
    assert contract.burst_tolerance_ps == 441 * SECOND_PS // 1_000
    at_ps = [number * SECOND_PS // 1_000 for number in range(60)]
    got = lab.carry(Gcra(), lab.setting(contracts=[contract]), lab.cells(at_ps))
    assert got.departures[0].sent_ps.tolist() == [*range(50), 59]
    assert [number for *_, number in got.lost] == list(range(50, 59))


def vbr(kind, tolerance_ps=0):
    only_0 = "0+1" if kind == 1 else "0"
    return Contract(
        "vbr_rt", Fraction(1_000), tolerance_ps, Fraction(100), 5, only_0, tagging=kind == 3
    )


@pytest.mark.parametrize("clps", [[0], [0, 1], [0, 0, 0, 1]])
def test_vbr_3_tags_what_vbr_2_discards_where_all_keep_the_peak(lab, clps):
    """Beyond the peak they part: a tagged cell counts for it, one that is discarded does not."""
    at_ps = [number * SECOND_PS // 1_000 for number in range(200)]
    clp = [clps[number % len(clps)] for number in range(200)]
    batch = lab.cells(at_ps, marks=clp)
    second = lab.carry(Gcra(), lab.setting(contracts=[vbr(2)]), batch)
    third = lab.carry(Gcra(), lab.setting(contracts=[vbr(3)]), batch)
    tagged = [n for n in range(200) if third.departures[0].marks[n] != clp[n]]
    assert third.lost == []
    assert tagged == [number for *_, number in second.lost]
    assert tagged


def test_a_cell_that_fails_one_test_does_not_advance_the_other(lab):
    """Cell 1 keeps the peak and exceeds the rest; if it counted, cell 2 would be too early."""
    contract = Contract("vbr_rt", Fraction(10**9), 0, Fraction(10**8), 1)  # 1 ns, 10 ns, no burst
    got = lab.carry(Gcra(), lab.setting(contracts=[contract]), lab.cells([0, 9_500, 10_000]))
    assert got.departures[0].sent_ps.tolist() == [0, 2]


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("count", range(1, 10))
def test_a_fraction_of_a_ps_is_carried(lab, by_events, count):
    """T = 10/3 ps: cells at 0, 3, 6, 10 … conform, and of these the last one no earlier."""
    at_ps = [10 * n // 3 for n in range(count + 1)]
    contract = Contract("cbr", Fraction(3 * 10**11), 0)
    for early, kept in ((0, count + 1), (1, count)):
        batch = lab.cells([*at_ps[:-1], at_ps[-1] - early])
        setting = lab.setting(contracts=[contract])
        got = lab.carry(Gcra(), setting, batch, by_events=by_events)
        assert got.departures[0].sent_ps.tolist() == list(range(kept))
        assert got.lost == [("policed_pcr", "", 0, n) for n in range(kept, count + 1)]


@pytest.mark.parametrize("by_events", [False, True])
def test_each_connection_has_a_second_test_of_its_own(lab, by_events):
    """Of bursts of 1, 2 and 3 cells per 10 ms, at 1 ms."""
    ms, rates = SECOND_PS // 1_000, (Fraction(1_000), 0, Fraction(100))
    contracts = [Contract("vbr_rt", *rates, burst, "0", tagging=burst == 2) for burst in (1, 2, 3)]
    batch = lab.cells([n // 3 * ms for n in range(15)], connection=[0, 1, 2] * 5)
    got = lab.carry(Gcra(), lab.setting(contracts=contracts), batch, by_events=by_events)
    (left,) = got.departures
    kept = list(zip(left.sent_ps.tolist(), left.marks.tolist(), strict=True))
    tagged = {4: 0, 7: 1, 10: 1, 13: 1}
    assert kept == [(n, tagged.get(n, 0)) for n in (0, 1, 2, 4, 5, 7, 8, 10, 13)]
    assert sorted(n for *_, n in got.lost) == [3, 6, 9, 11, 12, 14]


def test_an_oam_cell_at_full_contract_costs_one_user_cell_if_policed_jointly(lab):
    """EANTC 2006: the OAM cell comes first and stays, the user cell behind it goes."""
    contract = Contract("cbr", Fraction(10**9), 500)
    at_ps = sorted([*range(0, 10_000, 1_000), 5_000])
    connection = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    batch = lab.cells(at_ps, connection=connection)
    joint = lab.carry(Gcra(), lab.setting(contracts=[contract]), batch)
    assert joint.lost == [("policed_pcr", "", 0, 6)]
    for way in ("separate", "exempt"):
        assert lab.carry(Gcra(oam=way), lab.setting(contracts=[contract]), batch).lost == []


@pytest.mark.parametrize("way", ["joint", "separate", "exempt"])
def test_a_misinserted_cell_costs_a_user_cell_however_oam_cells_are_policed(lab, way):
    contract = Contract("cbr", Fraction(PS_PER_S, 100), 0)
    inserted = ("oam", "misinserted")
    setting = lab.setting(contracts=(contract, contract), inserted=inserted)
    cells = lab.cells([0, 100, 110, 200, 210], connection=[1, 5, 1, 4, 0])  # 4, 5: misinserted
    outcome = lab.carry(Gcra(oam=way), setting, cells)
    assert [item for *_, item in outcome.lost] == [2, 4]


def test_what_conforms_is_passed_on_uncopied(lab):
    gcra, batch = Gcra(), lab.cells([0, 10**9])
    step = gcra.process(gcra.start(lab.setting()), (batch,), 10**10)
    assert step.departures[0].at_ps is batch.at_ps
    assert step.departures[0].marks is batch.marks


def test_a_tolerance_beyond_what_can_be_kept_is_refused(lab):
    contract = Contract("vbr_rt", Fraction(1), 0, Fraction(1, 10**6), 10**7)
    with pytest.raises(ValueError, match="beyond"):
        Gcra().start(lab.setting(contracts=[contract]))


def test_an_unknown_category_is_refused():
    with pytest.raises(ValueError, match=r"^police: `gfr`"):
        Gcra(police=("gfr",))


# ---- sources that keep their contract exactly, and others

AWKWARD = [Fraction(3_000), Fraction(7_000), Fraction(352_720), Fraction(10**7, 3)]
"""Cells/s whose interval is no whole number of ps."""


def sent(rate, seconds):
    """Return the times of a source of that rate."""
    source = Constant(rate)
    state = source.start(1, "even", Draws(("test",)))
    return source.emit(state, int(seconds * PS_PER_S))[0]


def policed(lab, rate, *batches, tolerance_ps=0):
    """Return the numbers of the cells that a contract of that rate does not allow."""
    contract = Contract("cbr", rate, tolerance_ps)
    return [n for *_, n in lab.carry(Gcra(), lab.setting(contracts=[contract]), *batches).lost]


@pytest.mark.parametrize("rate", AWKWARD)
@pytest.mark.parametrize("cells", [20_000, pytest.param(3_000_000, marks=pytest.mark.slow)])
def test_a_source_that_keeps_its_contract_is_never_policed(lab, rate, cells):
    assert policed(lab, rate, lab.cells(sent(rate, cells / rate))) == []


@pytest.mark.parametrize("rate", AWKWARD)
@pytest.mark.parametrize(
    ("line_rate", "slotted"),
    [(lambda _: 1_500_000_000, False), (lambda rate: rate * 424, False)]
    + [(lambda rate, n=n: n * rate * 424, True) for n in (1, 2, 7)],
)
def test_nor_is_it_behind_its_line(lab, rate, line_rate, slotted):
    """A continuous line adds one time to all; cells and slots in step stay in step."""
    line = Line(Fraction(line_rate(rate)), slotted=slotted)
    where = lab.setting(clock=line.build_clock(stamps=True))
    (left,) = lab.carry(line, where, lab.cells(sent(rate, 20_000 / rate))).departures
    assert policed(lab, rate, left) == []


@pytest.mark.parametrize("rate", AWKWARD)
@pytest.mark.parametrize("intervals", [0, Fraction(1, 2_000), Fraction(1, 3), Fraction(7, 4)])
def test_a_source_above_its_contract_is_policed_as_in_exact_time(lab, rate, intervals):
    """A thousandth above it; the formula gets exact times, none within a ps of what is allowed."""
    faster = rate * Fraction(1_001, 1_000)
    tolerance_ps = int(intervals * PS_PER_S / rate)
    due, early = Fraction(0), []
    for number in range(10_000):
        exact_ps = number * PS_PER_S / faster
        if exact_ps < due - tolerance_ps:
            early.append(number)
        else:
            due = max(exact_ps, due) + PS_PER_S / rate
    batch = lab.cells([math.floor(n * PS_PER_S / faster) for n in range(10_000)])
    assert len(early) > 1  # once the tolerance is used up, one in 1,001
    assert policed(lab, rate, batch, tolerance_ps=tolerance_ps) == early


@given(
    interval=st.fractions(1, 1_000, max_denominator=50),
    slack=st.lists(st.fractions(0, 40, max_denominator=60), min_size=1, max_size=60),
    tolerance_ps=st.integers(0, 3_000),
    first=st.fractions(0, 5, max_denominator=60),
)
def test_what_conforms_in_exact_time_conforms(lab, interval, slack, tolerance_ps, first):
    """Each cell comes as early as the formula allows, or a little later; times are rounded down."""
    due, exact = first, [first]
    for later in slack:
        due = max(exact[-1], due) + interval
        exact.append(max(exact[-1], due - tolerance_ps + later))
    batch = lab.cells([math.floor(at_ps) for at_ps in exact])
    assert policed(lab, PS_PER_S / interval, batch, tolerance_ps=tolerance_ps) == []
