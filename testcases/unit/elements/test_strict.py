"""Strict priority against a plain event-by-event model in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.strict import Strict
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.protocol.encapsulation import Encapsulation

STM1 = Fraction(149_760_000)
SLOT_PS = 2_831_196
NANOSECOND_CELLS = Fraction(53 * 8 * 10**9)


class Book:
    """One object per queue, one decision after the other.

    At each moment: who came before finds room or not; then the line, if free, takes the first of
    the highest queue that has one, or one that comes just now; then who comes just now finds room
    or not.
    """

    def __init__(self, clock, limits):
        self.clock, self.limits = clock, limits
        self.waiting = [[] for _ in limits]
        self.left, self.lost = [], []
        self.free, self.slot = Fraction(0), 0

    def run(self, inputs):
        """`inputs`: per input, a list of (at, size, name)."""
        coming = [list(cells) for cells in inputs]
        while any(coming) or any(self.waiting):
            now = self._next_start(coming)
            now_ps = math.floor(now)
            for number, queue in enumerate(coming):
                while queue and queue[0][0] < now_ps:
                    self._let_in(number, queue.pop(0))
            for number, queue in enumerate(coming):
                if self.waiting[number]:
                    self._send(self.waiting[number].pop(0), now)
                    break
                if queue and queue[0][0] == now_ps:
                    self._send(queue.pop(0), now)
                    break
        return self

    def _next_start(self, coming):
        ready = 0 if any(self.waiting) else min(queue[0][0] for queue in coming if queue)
        if not self.clock.slotted:
            return max(self.free, Fraction(ready))
        self.slot = max(self.slot, math.ceil(ready / self.clock.slot_ps))
        return math.floor(self.slot * self.clock.slot_ps)

    def _let_in(self, number, cell):
        limit = self.limits[number]
        taken = [1 if limit is None or limit.unit == "cell" else c[1] for c in self.waiting[number]]
        mine = 1 if limit is None or limit.unit == "cell" else cell[1]
        if limit is not None and sum(taken) + mine > limit.amount:
            self.lost.append((number, cell[2]))
        else:
            self.waiting[number].append(cell)

    def _send(self, cell, now):
        if self.clock.slotted:
            self.slot += 1
            ends = math.floor(self.slot * self.clock.slot_ps)
        else:
            self.free = ends = now + cell[1] * self.clock.byte_time_ps
        self.left.append((math.floor(ends), cell[2]))


@st.composite
def inputs(draw):
    gaps = st.one_of(st.sampled_from([0, 1, SLOT_PS - 1, SLOT_PS]), st.integers(0, 6 * SLOT_PS))
    sizes = draw(st.sampled_from([[53], [53], [53, 54, 1_500]]))
    found, name = [], 0
    for _ in range(draw(st.integers(1, 3))):
        at_ps = np.cumsum(draw(st.lists(gaps, max_size=30))).tolist()
        found.append([(t, draw(st.sampled_from(sizes)), name + n) for n, t in enumerate(at_ps)])
        name += len(at_ps)
    return found


def in_slots(inputs):
    return [[(t, 53, name) for t, _, name in cells] for cells in inputs]


limits = st.one_of(
    st.none(),
    st.builds(Buffer, st.sampled_from([1, 2, 4]), st.just("cell")),
    st.builds(Buffer, st.sampled_from([1, 53, 110, 3_000]), st.just("byte")),
)


@given(
    inputs=inputs(),
    limits=st.lists(limits, min_size=3, max_size=3),
    slotted=st.booleans(),
    cuts=st.lists(st.integers(0, 60 * SLOT_PS), max_size=4),
)
def test_it_schedules_by_the_book(lab, inputs, limits, slotted, cuts):
    clock = Clock(STM1, slotted)
    inputs = in_slots(inputs) if slotted else inputs
    limits = limits[: len(inputs)]
    book = Book(clock, limits).run(inputs)
    queues = tuple(Waiting(f"q{number}", limit) for number, limit in enumerate(limits))
    names = tuple(f"i{number}" for number in range(len(inputs)))
    got = lab.carry(
        Strict(names), lab.setting(clock=clock, queues=queues), *lab.inputs(inputs), cuts=cuts
    )
    (left,) = got.departures
    assert list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)) == book.left
    assert sorted(got.lost) == sorted(("overflow", f"q{k}", 0, name) for k, name in book.lost)


@given(
    inputs=inputs(),
    limit=limits.filter(lambda limit: limit is not None),
    slotted=st.booleans(),
    cuts=st.lists(st.integers(0, 60 * SLOT_PS), max_size=4),
)
def test_with_one_input_it_is_a_fifo(lab, inputs, limit, slotted, cuts):
    inputs = in_slots(inputs) if slotted else inputs
    at_ps, sizes = [c[0] for c in inputs[0]], [c[1] for c in inputs[0]]
    batch = lab.cells(at_ps, size_bytes=sizes)
    where = lab.setting(clock=Clock(STM1, slotted), queues=(Waiting("", limit),))
    mine = lab.carry(Strict(("only",)), where, batch, cuts=cuts)
    its = lab.carry(Fifo(limit), where, batch)
    assert mine.departures[0].equals(its.departures[0])
    assert mine.lost == its.lost


def test_what_was_begun_is_finished(lab):
    """The high cell comes 1 ps after the low one began, and waits for its end."""
    where = lab.setting(clock=Clock(NANOSECOND_CELLS, slotted=False))
    got = lab.carry(Strict(("high", "low")), where, lab.cells([1], sent_ps=[1]), lab.cells([0, 0]))
    assert got.departures[0].at_ps.tolist() == [1_000, 2_000, 3_000]
    assert got.departures[0].sent_ps.tolist() == [0, 1, 1]
    assert got.departures[0].connection.tolist() == [0, 0, 0]


@pytest.mark.parametrize("cuts", [(), (1,), (1_000,), (1_001,)])
def test_who_comes_in_the_ps_of_a_decision_is_a_choice(lab, cuts):
    where = lab.setting(clock=Clock(NANOSECOND_CELLS, slotted=False))
    high, low = lab.cells([1_000], connection=1), lab.cells([0, 0])
    got = lab.carry(Strict(("high", "low")), where, high, low, cuts=cuts)
    assert got.departures[0].connection.tolist() == [0, 1, 0]


def test_a_cell_that_would_begin_after_the_horizon_may_still_be_overtaken(lab):
    scheduler = Strict(("high", "low"))
    state = scheduler.start(lab.setting(clock=Clock(NANOSECOND_CELLS, slotted=False)))
    first = scheduler.process(state, (lab.cells([]), lab.cells([0, 0, 0])), 500)
    assert first.departures[0].count == 1
    second = scheduler.process(state, (lab.cells([700], connection=1), lab.cells([])), 5_000)
    assert second.departures[0].connection.tolist() == [1, 0, 0]


@pytest.mark.parametrize("by_events", [False, True])
def test_a_source_s_own_scheduler_stamps_the_first_bit_behind_the_preamble(lab, by_events):
    """At a byte per 100 ps: 8 bytes of preamble, and 38 of a packet's frame are not its own."""
    ethernet = Encapsulation(8, 18, 64, 12)
    clock = Clock(Fraction(8 * 10**10), slotted=False, stamps=True, encapsulation=ethernet)
    high, low = lab.cells([5, 6], size_bytes=[462, 62]), lab.cells([0], size_bytes=462)
    where, scheduler = lab.setting(clock=clock), Strict(("high", "low"))
    (left,) = lab.carry(scheduler, where, high, low, by_events=by_events).departures
    assert left.sent_ps.tolist() == [800, 50_800, 100_800]
    assert left.at_ps.tolist() == [48_800, 98_800, 108_800]


@pytest.mark.parametrize("by_events", [False, True])
@pytest.mark.parametrize(
    ("time_ps", "ends_ps"),
    [
        (Fraction(955), [955, 1_910, 2_865]),  # a byte: 18 1/53 ps
        (Fraction(14, 3), [4, 9, 14]),
        (Fraction(53), [53, 106, 159]),
    ],
)
def test_cells_take_exact_times(lab, time_ps, ends_ps, by_events):
    where = lab.setting(clock=Clock(424 * 10**12 / time_ps, slotted=False))
    high, low = lab.cells([0, 0]), lab.cells([0])
    (left,) = lab.carry(Strict(("high", "low")), where, high, low, by_events=by_events).departures
    assert left.at_ps.tolist() == ends_ps


@pytest.mark.parametrize("order", [(), ("a", "a")])
def test_inputs_have_names_of_their_own(order):
    with pytest.raises(ValueError, match=r"^order: "):
        Strict(order)
