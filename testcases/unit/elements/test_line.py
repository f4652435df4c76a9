"""A line against its definition in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.elements.line import Line
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.line import transmission
from qospec.engine.line.clock import Clock

STM1 = Fraction(149_760_000)
LOW, HIGH = transmission.LOWEST_BIT_RATE, transmission.HIGHEST_BIT_RATE

rates = st.one_of(
    st.sampled_from([Fraction(LOW), Fraction(HIGH), STM1, Fraction(44_736_000 * 84, 85)]),
    st.fractions(LOW, HIGH, max_denominator=1_000),
).filter(lambda rate: (8 * 10**12 / rate).denominator <= transmission.LARGEST_DENOMINATOR)


@st.composite
def loads(draw, rate):
    """Draw arrival times whose gaps are of the order of a cell's time, and sizes."""
    cell_ps = int(424 * 10**12 / rate)
    gaps = st.one_of(
        st.just(0), st.integers(0, 2 * cell_ps), st.integers(0, 100 * cell_ps), st.just(cell_ps)
    )
    at_ps = np.cumsum(draw(st.lists(gaps, min_size=1, max_size=40))).tolist()
    sizes = st.just(53) if draw(st.booleans()) else st.sampled_from([53, 54, 1_500, 65_535])
    return at_ps, draw(st.lists(sizes, min_size=len(at_ps), max_size=len(at_ps)))


def by_the_book(at_ps, sizes, clock):
    """Return (first bit, last bit at the far end) of each item, from the definition."""
    free, slot, ends = Fraction(0), 0, []
    for t, size in zip(at_ps, sizes, strict=True):
        if clock.slotted:
            slot = max(slot, math.ceil((t - clock.phase_ps) / clock.slot_ps))
            begins, ends_at = (
                math.floor(k * clock.slot_ps) + clock.phase_ps for k in (slot, slot + 1)
            )
            slot += 1
        else:
            begins = max(Fraction(t), free)
            ends_at = free = begins + size * clock.byte_time_ps
        ends.append((math.floor(begins), math.floor(ends_at) + clock.propagation_ps))
    return ends


@given(st.data())
def test_it_sends_by_the_book(lab, data):
    rate = data.draw(rates)
    slotted, stamps = data.draw(st.booleans()), data.draw(st.booleans())
    phase_ps = data.draw(st.integers(0, int(424 * 10**12 / rate)))
    clock = Clock(rate, slotted, data.draw(st.sampled_from([0, 7, 10**12])), stamps, phase_ps)
    at_ps, sizes = data.draw(loads(rate))
    sizes = [53] * len(at_ps) if slotted else sizes
    line = Line(rate=rate, slotted=slotted)

    left = lab.carry(line, lab.setting(clock=clock), lab.cells(at_ps, size_bytes=sizes)).departures[
        0
    ]

    begins, ends = zip(*by_the_book(at_ps, sizes, clock), strict=True)
    assert left.at_ps.tolist() == list(ends)
    assert left.sent_ps.tolist() == (list(begins) if stamps else list(range(len(at_ps))))


@given(k=st.integers(0, 1_600_000_000_000), early_ps=st.sampled_from([0, 1, 2_000_000]))
@example(k=21_753, early_ps=0)
@example(k=27_800_000_000, early_ps=0)
def test_a_slot_begins_at_the_floor_of_its_exact_time(lab, k, early_ps):
    """21,753 and 2.78e10 are where other ways to compute it overflow."""
    begins_ps = k * 331_250_000 // 117
    at_ps = [max(0, begins_ps - early_ps)]
    line = Line(rate=STM1)
    clock = line.build_clock(stamps=True)
    (left,) = lab.carry(line, lab.setting(clock=clock), lab.cells(at_ps)).departures
    assert left.sent_ps.tolist() == [begins_ps]
    assert left.at_ps.tolist() == [(k + 1) * 331_250_000 // 117]


def test_slots_in_a_row_do_not_drift(lab):
    count = 200_000
    line = Line(rate=STM1)
    (left,) = lab.carry(
        line, lab.setting(clock=line.build_clock(stamps=True)), lab.cells([0] * count)
    ).departures
    assert left.at_ps[-1] == count * 331_250_000 // 117
    assert left.sent_ps[117] == 331_250_000


def test_an_idle_line_begins_in_the_ps_in_which_a_cell_is_ready(lab):
    line = Line(rate=Fraction(53 * 8 * 10**9), slotted=False)  # a cell per ns
    (left,) = lab.carry(
        line, lab.setting(clock=line.build_clock(stamps=True)), lab.cells([5, 1_005])
    ).departures
    assert left.sent_ps.tolist() == [5, 1_005]
    assert left.at_ps.tolist() == [1_005, 2_005]


def test_a_busy_period_begins_at_a_whole_ps(lab):
    """Two thirds of a ps are carried while the line is busy, and dropped once it was idle."""
    line = Line(rate=424 * 10**12 / Fraction(14, 3), slotted=False)  # 14/3 ps per cell
    batch = lab.cells([0, 0, 12])
    (left,) = lab.carry(line, lab.setting(clock=line.build_clock(stamps=False)), batch).departures
    assert left.at_ps.tolist() == [4, 9, 16]
    batch = lab.cells([0, 4, 20], size_bytes=[53, 53, 159])  # it is busy 2/3 of a ps longer
    (left,) = lab.carry(line, lab.setting(clock=line.build_clock(stamps=False)), batch).departures
    assert left.at_ps.tolist() == [4, 9, 34]


THIRDS = Fraction(24 * 10**11)
"""Bit/s at which a byte takes 10/3 ps, and a cell 176 2/3."""


def test_thirds_are_carried_from_batch_to_batch(lab):
    """After an idle time in the first batch, at 1,000; the last fraction is two thirds."""
    line, batch = Line(rate=THIRDS, slotted=False), lab.cells([0, 1_000, 1_004, 1_004, 1_004])
    where = lab.setting(clock=line.build_clock(stamps=True))
    (left,) = lab.carry(line, where, batch, cuts=[1_001]).departures
    assert left.at_ps.tolist() == [176, 1_176, 1_353, 1_530, 1_706]
    assert left.sent_ps.tolist() == [0, 1_000, 1_176, 1_353, 1_530]


def test_slots_of_thirds_carry_whole_ps(lab):
    line = Line(rate=THIRDS)
    where = lab.setting(clock=line.build_clock(stamps=True))
    (left,) = lab.carry(line, where, lab.cells([0, 500, 500, 500])).departures
    assert left.sent_ps.tolist() == [0, 530, 706, 883]


@pytest.mark.parametrize("slotted", [False, True])
def test_a_cell_may_take_whole_ps_though_a_byte_does_not(lab, slotted):
    line = Line(rate=Fraction(424 * 10**12, 955), slotted=slotted)  # a byte: 18 1/53 ps
    where = lab.setting(clock=line.build_clock(stamps=False))
    (left,) = lab.carry(line, where, lab.cells([0] * 60)).departures
    assert left.at_ps.tolist() == [955 * n for n in range(1, 61)]


@pytest.mark.parametrize("denominator", [3, 117, 2**20 + 7, 2**40 + 15])
@pytest.mark.parametrize("cut", [1, 40_000])
def test_a_long_busy_period_neither_drifts_nor_carries_early(lab, denominator, cut):
    """The last fraction but one may come as near to the next ps as 1/denominator."""
    count = 60_000
    for numerator in (1, denominator // 2, denominator - 1):
        cell_ps = 1_000 + Fraction(numerator, denominator)
        line = Line(rate=424 * 10**12 / cell_ps, slotted=False)
        state = line.start(lab.setting(clock=line.build_clock(stamps=False)))
        left = [
            line.process(state, (lab.cells([0] * cells),), until_ps).departures[0].at_ps
            for cells, until_ps in ((cut, 1), (count - cut, 2))
        ]
        exact = [k * 1_000 + k * numerator // denominator for k in range(1, count + 1)]
        assert np.concatenate(left).tolist() == exact


def test_length_takes_five_ns_per_metre(lab):
    line = Line(rate=STM1, length=Fraction(50_000))
    (left,) = lab.carry(
        line, lab.setting(clock=line.build_clock(stamps=True)), lab.cells([0])
    ).departures
    assert left.at_ps.tolist() == [2_831_196 + 250_000_000]


@pytest.mark.parametrize(
    ("length", "per_length", "propagation"),
    [
        (Fraction(1), Fraction(4_897, 7), 700),
        (Fraction(1), Fraction(4_899, 7), 700),
        (Fraction(1), Fraction(4_901, 7), 700),
        (Fraction(3, 10_000), Fraction(5_000), 2),
        (Fraction(1_999, 10_000_000), Fraction(5_000), 1),
        (Fraction(999, 10_000_000), Fraction(5_000), 0),
    ],
)
def test_propagation_is_rounded_to_the_nearest_ps(lab, length, per_length, propagation):
    line = Line(rate=STM1, length=length, delay_per_length=per_length)
    (left,) = lab.carry(
        line, lab.setting(clock=line.build_clock(stamps=True)), lab.cells([0])
    ).departures
    assert left.at_ps.tolist() == [2_831_196 + propagation]


def test_its_watermark_lies_above_what_it_gave_and_below_what_may_follow(lab):
    line = Line(rate=STM1, slotted=False)
    state = line.start(lab.setting(clock=line.build_clock(stamps=False)))
    step = line.process(state, (lab.cells([0, 0, 0]),), 1)
    assert step.until_ps[0] > step.departures[0].at_ps[-1]
    following = line.process(state, (lab.cells([1]),), 2)
    assert following.departures[0].at_ps[0] >= step.until_ps[0]
    assert line.process(state, (lab.cells([]),), FOREVER_PS).until_ps == (FOREVER_PS,)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"rate": Fraction(999)}, "rate"),
        ({"rate": Fraction(10**15)}, "rate"),
        ({"rate": Fraction(10**15 + 1, 10**6 + 3)}, "rate"),
        ({"rate": STM1, "phase": 3_000_000}, "phase"),
    ],
)
def test_what_cannot_be_kept_exactly_is_refused(fields, word):
    with pytest.raises(ValueError, match=rf"^{word}: "):
        Line(**fields)


@pytest.mark.parametrize(
    ("slotted", "sizes", "words"),
    [
        (False, [52], "at least 53"),
        (False, [53, 52], "at least 53"),
        (True, [53, 54], "a slot holds 53"),
        (True, [52], "at least 53"),
    ],
)
def test_what_its_lookahead_does_not_cover_is_refused(lab, slotted, sizes, words):
    line = Line(rate=STM1, slotted=slotted)
    state = line.start(lab.setting(clock=line.build_clock(stamps=False)))
    with pytest.raises(ValueError, match=words):
        line.process(state, (lab.cells([0] * len(sizes), size_bytes=sizes),), 1)


def test_a_backlog_beyond_all_trials_is_refused_not_wrapped(lab):
    line = Line(rate=Fraction(1_000), slotted=False)
    state = line.start(lab.setting(clock=line.build_clock(stamps=False)))
    batch = lab.cells([FOREVER_PS - 10**12] * 1_000)
    with pytest.raises(OverflowError, match="50 days"):
        line.process(state, (batch,), FOREVER_PS)


@pytest.mark.parametrize(
    ("aal", "encapsulation", "size_bytes", "cells"),
    [
        ("aal5", "pppoe_llc_snap", 64, 3),  # 64 + 32 + 8 = 104 B
        ("aal5", "pppoe_llc_snap", 1_500, 33),  # 1,540 B; 32 cells have 1,536 B
        ("aal5", "pppoe_llc_snap", 1_496, 32),
        ("aal5", "llc_snap_bridged", 20, 2),  # 10 B ahead of a frame padded to 60 B
        ("aal5", "vc_multiplexed", 40, 1),
        ("aal3_4", "llc_snap", 1_500, 35),  # 1,516 B, 44 B in each
    ],
)
def test_packets_in_cells_take_the_time_of_these(lab, aal, encapsulation, size_bytes, cells):
    line = Line(Fraction(10**6), carries="packet", aal=aal, encapsulation=encapsulation, mtu=1_500)
    setting = lab.setting(clock=line.build_clock(stamps=False))
    came = lab.cells([0, 0, 0], size_bytes=[size_bytes, size_bytes, 1_500])
    left = lab.carry(line, setting, came).departures[0].at_ps.tolist()
    assert left[:2] == [cells * 424 * 10**6, 2 * cells * 424 * 10**6]
