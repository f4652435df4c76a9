"""A queue against its definition: what waits, followed in exact fractions.

Times are compared as whole ps, rounded down.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.engine.line.clock import Clock
from qospec.protocol.encapsulation import Encapsulation

STM1 = Fraction(149_760_000)
SLOT_PS = 2_831_196
NANOSECOND_CELLS = Fraction(53 * 8 * 10**9)


def by_the_book(at_ps, sizes, clock, limit):
    """Return (departure by number, numbers of the lost)."""
    free, slot, waiting, left, lost = Fraction(0), 0, [], {}, []
    for number, (t, size) in enumerate(zip(at_ps, sizes, strict=True)):
        waiting = [(begins, amount) for begins, amount in waiting if math.floor(begins) > t]
        if clock.slotted:
            mine = max(slot, math.ceil((t - clock.phase_ps) / clock.slot_ps))
            begins = math.floor(mine * clock.slot_ps) + clock.phase_ps
            ends = math.floor((mine + 1) * clock.slot_ps) + clock.phase_ps
        else:
            begins = max(Fraction(t), free)
            ends = begins + size * clock.byte_time_ps
        amount = 1 if limit.unit == "cell" else size
        if math.floor(begins) > t:
            if sum(a for _, a in waiting) + amount > limit.amount:
                lost.append(number)
                continue
            waiting.append((begins, amount))
        free = ends
        slot = mine + 1 if clock.slotted else 0
        left[number] = math.floor(ends) + clock.propagation_ps
    return left, lost


@st.composite
def arrivals(draw):
    # Bursts, and the whole ps around the exact times at which slots begin.
    near = [0, 0, 0, 0, 1, SLOT_PS - 1, SLOT_PS, SLOT_PS + 1, 2 * SLOT_PS + 1, 2 * SLOT_PS + 2]
    gaps = st.one_of(st.sampled_from(near), st.integers(0, 3 * SLOT_PS))
    at_ps = np.cumsum(draw(st.lists(gaps, min_size=1, max_size=60))).tolist()
    count = len(at_ps)
    alike = st.sampled_from([53, 54, 1_500]).map(lambda size: [size] * count)
    mixed = st.lists(st.sampled_from([53, 53, 53, 54, 1_500]), min_size=count, max_size=count)
    later = st.integers(0, count).map(lambda n: [53] * n + [64] * (count - n))
    return at_ps, draw(st.one_of(st.just([53] * count), alike, mixed, later))


limits = st.one_of(
    st.builds(Buffer, st.sampled_from([1, 2, 3, 5, 2**40]), st.just("cell")),
    st.builds(Buffer, st.sampled_from([1, 52, 53, 107, 500, 3_000, 2**40]), st.just("byte")),
)


@given(
    arrivals=arrivals(),
    limit=limits,
    slotted=st.booleans(),
    phase_ps=st.sampled_from([0, 1, SLOT_PS]),
    cuts=st.lists(st.integers(0, 60 * SLOT_PS), max_size=4),
)
@example(
    arrivals=([0, 0, 0, SLOT_PS], [53] * 4),  # the second begins within that ps
    limit=Buffer(2, "cell"),
    slotted=False,
    phase_ps=0,
    cuts=[],
)
@example(
    arrivals=([0] * 5, [53, 53, 53, 64, 53]),
    limit=Buffer(2**40, "cell"),
    slotted=False,
    phase_ps=0,
    cuts=[],
)
def test_it_queues_by_the_book(lab, arrivals, limit, slotted, phase_ps, cuts):
    at_ps, sizes = arrivals
    sizes = [53] * len(at_ps) if slotted else sizes
    clock = Clock(STM1, slotted, 5, phase_ps=phase_ps)
    batch = lab.cells(at_ps, size_bytes=sizes)
    got = lab.carry(Fifo(limit), lab.setting(clock=clock), batch, cuts=cuts)
    left, lost = by_the_book(at_ps, sizes, clock, limit)
    (departures,) = got.departures
    assert dict(zip(departures.sent_ps.tolist(), departures.at_ps.tolist(), strict=True)) == left
    assert got.lost == [("overflow", "", 0, number) for number in lost]


@pytest.mark.parametrize("alike", [0, 400])
def test_a_long_queue_of_different_sizes_finds_its_places(lab, alike):
    at_ps, sizes = [0] * 900, [53] * alike + [53, 64] * ((900 - alike) // 2)
    clock, limit = Clock(STM1, slotted=False), Buffer(800, "cell")
    batch = lab.cells([*at_ps[:alike], *(t + 1 for t in at_ps[alike:])], size_bytes=sizes)
    got = lab.carry(Fifo(limit), lab.setting(clock=clock), batch, cuts=[1])
    left, lost = by_the_book(batch.at_ps.tolist(), sizes, clock, limit)
    assert got.departures[0].at_ps.tolist() == list(left.values())
    assert [name for *_, name in got.lost] == lost


@pytest.mark.parametrize("by_events", [False, True])
def test_a_queue_that_comes_round_to_its_first_places_finds_more(lab, by_events):
    """Some have left when a burst fills the places from there on, and needs twice as many again."""
    at_ps = [*(n // 4 * 10**8 for n in range(600)), *[10**11] * 300]
    at_ps += [10**11 + 20 * SLOT_PS] * 30
    sizes = [53, 64] * 465
    clock, limit = Clock(STM1, slotted=False), Buffer(290, "cell")
    batch = lab.cells(at_ps, size_bytes=sizes)
    got = lab.carry(Fifo(limit), lab.setting(clock=clock), batch, by_events=by_events)
    left, lost = by_the_book(at_ps, sizes, clock, limit)
    assert got.departures[0].at_ps.tolist() == list(left.values())
    assert sorted(name for *_, name in got.lost) == lost
    assert lost


@pytest.mark.parametrize("by_events", [False, True])
def test_what_begins_on_arrival_has_not_waited(lab, by_events):
    """A cell takes 1,000 ps: the second waits, the third comes as the line gets free for it."""
    clock, limit = Clock(NANOSECOND_CELLS, slotted=False), Buffer(1, "cell")
    where, cells = lab.setting(clock=clock, watched=True), lab.cells([0, 10, 2_000, 2_999, 4_000])
    got = lab.carry(Fifo(limit), where, cells, by_events=by_events)
    assert got.departures[0].at_ps.tolist() == [1_000, 2_000, 3_000, 4_000, 5_000]
    if by_events:  # loops over batches keep no account of them
        assert got.waits == [(10, 1_000), (2_999, 3_000)]


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("cuts", [[], [1, 11]])
@pytest.mark.parametrize("last_bytes", [62, 462])
def test_a_source_s_own_queue_stamps_the_first_bit_behind_the_preamble(
    lab, by_events, cuts, last_bytes
):
    """At a byte per 100 ps: 8 bytes of preamble, and 38 of a packet's frame are not its own."""
    ethernet = Encapsulation(8, 18, 64, 12)
    clock = Clock(Fraction(8 * 10**10), slotted=False, stamps=True, encapsulation=ethernet)
    sizes = [462, last_bytes, 462, last_bytes, 462]
    at_ps = [0, 10, 20, 20, 90_000]
    packets = lab.cells(at_ps, sent_ps=[0, 10, 20, 21, 22], size_bytes=sizes)
    got = lab.carry(
        Fifo(Buffer(2, "packet")), lab.setting(clock=clock), packets, cuts=cuts, by_events=by_events
    )
    second_ps = 50_000 + (last_bytes + 38) * 100
    assert got.departures[0].sent_ps.tolist() == [800, 50_800, second_ps + 800, second_ps + 50_800]
    ends_ps = [50_000, second_ps, second_ps + 50_000, second_ps + 100_000]
    assert got.departures[0].at_ps.tolist() == [end_ps - 1_200 for end_ps in ends_ps]
    assert got.lost == [("overflow", "", 0, 21)]


@pytest.mark.parametrize("by_events", [False, True])
def test_a_cell_that_begins_as_another_arrives_has_made_room_by_item_too(lab, by_events):
    clock = Clock(NANOSECOND_CELLS, slotted=False)
    fifo, where = Fifo(Buffer(1, "cell")), lab.setting(clock=clock)
    for last_ps, lost in ((1_000, []), (999, [("overflow", "", 0, 2)])):
        cells = lab.cells([0, 0, last_ps], size_bytes=[53, 54, 53])
        assert lab.carry(fifo, where, cells, by_events=by_events).lost == lost


def test_the_limit_counts_what_waits_not_what_is_being_sent(lab):
    clock = Clock(NANOSECOND_CELLS, slotted=False)
    got = lab.carry(Fifo(Buffer(2, "cell")), lab.setting(clock=clock), lab.cells([0, 0, 0, 0]))
    assert got.departures[0].at_ps.tolist() == [1_000, 2_000, 3_000]
    assert got.lost == [("overflow", "", 0, 3)]


def test_a_cell_that_begins_as_another_arrives_has_made_room_for_it(lab):
    clock = Clock(NANOSECOND_CELLS, slotted=False)
    fifo, where = Fifo(Buffer(1, "cell")), lab.setting(clock=clock)
    assert lab.carry(fifo, where, lab.cells([0, 0, 1_000])).lost == []
    assert len(lab.carry(fifo, where, lab.cells([0, 0, 999])).lost) == 1


def test_an_idle_line_needs_no_room_but_a_slot_is_waited_for(lab):
    too_small = Fifo(Buffer(52, "byte"))
    continuous = lab.setting(clock=Clock(STM1, slotted=False))
    slotted = lab.setting(clock=Clock(STM1, slotted=True))
    assert lab.carry(too_small, continuous, lab.cells([1])).lost == []
    assert lab.carry(too_small, slotted, lab.cells([0])).lost == []
    assert lab.carry(too_small, slotted, lab.cells([1])).lost == [("overflow", "", 0, 0)]


def test_what_a_source_s_own_queue_loses_keeps_when_it_was_ready(lab):
    clock = Clock(NANOSECOND_CELLS, slotted=False, stamps=True)
    got = lab.carry(
        Fifo(Buffer(1, "cell")),
        lab.setting(clock=clock),
        lab.cells([0, 10, 20], sent_ps=[0, 10, 20]),
    )
    assert got.departures[0].sent_ps.tolist() == [0, 1_000]
    assert got.lost == [("overflow", "", 0, 20)]


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize("sizes", [[53] * 6, [53, 53, 53, 53, 53, 54]])
def test_a_fraction_of_a_ps_is_kept_beside_a_loss(lab, by_events, sizes):
    """A cell takes 176 2/3 ps; that at 353 comes as the line is free but for a third of a ps.

    The third cell finds no room, so from there on all are admitted one by one.
    """
    clock = Clock(Fraction(24 * 10**11), slotted=False)
    cells = lab.cells([0, 0, 0, 353, 1_000, 1_004], size_bytes=sizes)
    got = lab.carry(Fifo(Buffer(1, "cell")), lab.setting(clock=clock), cells, by_events=by_events)
    last_ps = 1_353 if sizes[-1] == 53 else 1_356
    assert got.departures[0].at_ps.tolist() == [176, 353, 530, 1_176, last_ps]
    assert got.lost == [("overflow", "", 0, 2)]


def test_three_cells_in_a_row_carry_two_whole_ps(lab):
    clock = Clock(424 * 10**12 / Fraction(14, 3), slotted=False)
    cells = lab.cells([0, 0, 0, 0, 0, 0])
    got = lab.carry(Fifo(Buffer(3, "cell")), lab.setting(clock=clock), cells)
    assert got.departures[0].at_ps.tolist() == [4, 9, 14, 18]


def test_without_a_line_it_cannot_start(lab):
    with pytest.raises(ValueError, match="no line"):
        Fifo(Buffer(1, "cell")).start(lab.setting())
