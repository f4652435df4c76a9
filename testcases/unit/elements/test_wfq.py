"""Weighted fair queueing against a fluid server in exact fractions, and its bound on delay."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.wfq import FLUID, Wfq
from qospec.engine.line.clock import Clock
from qospec.engine.scheduler.tree import FIRST, VIRTUAL
from qospec.engine.scheduler.virtual_time import WORK

NAMES = "abc"
FINE = 2**16
weights = st.lists(st.integers(1, 4), min_size=1, max_size=3)


class Packets:
    """Send what the fluid server would end first, of what is here."""

    def __init__(self, begun):
        self.begun = begun
        self.begin()

    def begin(self):
        self.fluid, self.work, self.end, self.size = self.begun(), 0, 0, 0

    def arrived(self, k, cell, now):
        left = math.floor(max(0, math.floor(self.end) - now) / self.clock.byte_time_ps * FINE)
        self.fluid.come(k, cell, cell[1], self.work - min(Fraction(left, FINE), self.size))

    def choose(self):
        waiting = [(self.fluid.finish[q[0]], k) for k, q in enumerate(self.queues) if q]
        if not waiting:
            self.begin()
        return min(waiting)[1] if waiting else None

    def sent(self, _k, cell, end):
        self.work, self.end, self.size = self.work + cell[1], end, cell[1]


def wfq(weights):
    return Wfq(tuple((n, Fraction(w)) for n, w in zip(NAMES, weights, strict=False)))


@given(data=st.data(), weights=weights)
def test_it_serves_by_the_book(schedulers, fluid, data, weights):
    case = data.draw(schedulers.case(len(weights)))
    schedulers.agree(wfq(weights), Packets(lambda: fluid(weights)), case)


@given(
    weights=weights,
    arrivals=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([1, 60, 61, 1_500]), st.integers(0, 70)),
        min_size=3,
        max_size=12,
    ),
)
def test_virtual_time_is_that_of_the_fluid_server(lab, fluid, weights, arrivals):
    """It keeps what is less than a part of virtual time, until an input becomes busy."""
    element, book, done_bytes = wfq(weights), fluid(weights), 0
    tree = element.start(lab.setting(clock=Clock(Fraction(10**9), slotted=False))).tree
    for number, size_bytes, work_bytes in arrivals:
        k, done_bytes = number % len(weights), done_bytes + work_bytes
        tree[0, WORK], row = done_bytes, int(tree[0, FIRST]) + k
        book.come(k, "", size_bytes, Fraction(done_bytes))
        element.policy.kernels["on_arrival"](tree, 0, row, size_bytes, 0)
        assert tree[0, VIRTUAL] == book.virtual // book.unit
        assert tree[row, FLUID] == book.last[k] / book.unit


@given(data=st.data(), weights=weights)
def test_no_packet_ends_later_than_fluid_by_more_than_one_packet(schedulers, data, weights):
    """Parekh and Gallager 1993, theorem 1: F_packet - F_fluid <= L_max / r."""
    case = data.draw(schedulers.case(len(weights), unlimited=True))
    left, _ = schedulers.carried(wfq(weights), case)
    byte_ps = case.clock.byte_time_ps
    fluid = _fluid_ends(weights, case.inputs, byte_ps)
    for at_ps, name in left:
        assert at_ps <= fluid[name] + 1_500 * byte_ps + 1


def _fluid_ends(weights, inputs, byte_ps):
    """Return when each packet ends in a fluid server, in ps, by what is left at each input."""
    coming = sorted((t, name, size, k) for k, cells in enumerate(inputs) for t, size, name in cells)
    backlog = [[] for _ in inputs]
    now, ends = Fraction(0), {}
    while coming or any(backlog):
        while coming and coming[0][0] <= now:
            _, name, size, k = coming.pop(0)
            backlog[k].append([Fraction(size), name])
        busy = [k for k, queue in enumerate(backlog) if queue]
        if not busy:
            now = Fraction(coming[0][0])
            continue
        together = sum(weights[k] for k in busy)
        step = min(backlog[k][0][0] * together / weights[k] for k in busy) * byte_ps
        step = min(step, coming[0][0] - now) if coming else step
        now += step
        for k in busy:
            backlog[k][0][0] -= step / byte_ps * weights[k] / Fraction(together)
            if backlog[k][0][0] == 0:
                ends[backlog[k].pop(0)[1]] = now
    return ends


def test_a_burst_is_sent_ahead_as_the_papers_example_shows(lab):
    """Bennett and Zhang 1996, figure 2: WFQ sends ten of the large share in a row."""
    names = "abcdefghijk"
    element = Wfq(tuple((n, Fraction(w)) for n, w in zip(names, [10] + [1] * 10, strict=True)))
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    batches = [lab.cells([0] * 11)] + [lab.cells([0], connection=k) for k in range(1, 11)]
    (left,) = lab.carry(element, where, *batches).departures
    assert left.connection.tolist()[:10] == [0] * 10


BYTE_PER_PS = Clock(Fraction(8 * 10**12), slotted=False)


@pytest.mark.parametrize(
    ("inputs", "order"),
    [
        # at 250 virtual time is 250, and 300 at 350: the tags of a are then 400 and 500; of b, the
        # tag of whose first packet was 350, 450 and 550. With it alone no new period begins at 300.
        (([0, 0, 0, 350, 350], [250, 350, 350]), "aaababab"),
        # a new period at 1000, and virtual time 250 in it at 1250: b has 350 and 450 of 100 … 500
        (([0, *[1_000] * 5], [1_250, 1_250]), "aaaababa"),
        # at 1100 virtual time is 100: both have 200, and among equals the first input goes first
        (([0, 1_000, 1_000], [1_100]), "aaab"),
    ],
)
def test_virtual_time_restarts_with_each_busy_period_and_not_before(lab, inputs, order):
    """A byte takes 1 ps, and all have 100; of two equal weights, each is 1 in virtual time."""
    where = lab.setting(clock=BYTE_PER_PS)
    cells = [lab.cells(at_ps, connection=k, size_bytes=100) for k, at_ps in enumerate(inputs)]
    (left,) = lab.carry(wfq([1, 1]), where, *cells).departures
    assert "".join(NAMES[k] for k in left.connection) == order


@pytest.mark.parametrize("weights", [[], [0], [-1], [9_973, 9_967]])
def test_weights_are_above_zero_and_can_be_kept_exactly(weights):
    with pytest.raises(ValueError, match=r"^weights: "):
        wfq(weights)
