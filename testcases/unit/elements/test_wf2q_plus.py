"""WF2Q+ against its formulas in exact fractions, and its worst-case fairness."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.engine.clock import Clock

NAMES = "abc"
FINE = 2**16
drawn = settings(deadline=None, max_examples=max(200, settings().max_examples))
weights = st.lists(st.integers(1, 4), min_size=1, max_size=3)


class Formulas:
    """Bennett and Zhang 1997, (27) to (29), in bytes: r is 1, and r_i its share.

    V grows with the work and is at least the least S of those that wait; S is F of the packet
    ahead or, at an empty queue, the larger of that and V; F = S + L / r_i.
    """

    def __init__(self, weights):
        self.rates = [Fraction(weight, sum(weights)) for weight in weights]
        self.begin()

    def begin(self):
        self.virtual = self.seen = self.work = Fraction(0)
        self.end, self.size = 0, 0
        self.starts = [Fraction(0)] * len(self.rates)

    def pass_on(self, work, others):
        self.virtual += work - self.seen
        self.seen = work
        starts = [self.starts[k] for k in others if self.queues[k]]
        if starts:
            self.virtual = max(self.virtual, min(starts))

    def arrived(self, k, _cell, now):
        if len(self.queues[k]) == 1:
            left = math.floor(max(0, math.ceil(self.end) - now) / self.clock.byte_time_ps * FINE)
            others = [each for each in range(len(self.rates)) if each != k]
            self.pass_on(self.work - min(Fraction(left, FINE), self.size), others)
            self.starts[k] = max(self.starts[k], self.virtual)

    def choose(self):
        if not any(self.queues):
            self.begin()
            return None
        self.pass_on(self.work, range(len(self.rates)))
        eligible = [
            (self.starts[k] + queue[0][1] / self.rates[k], k)
            for k, queue in enumerate(self.queues)
            if queue and self.starts[k] <= self.virtual
        ]
        return min(eligible)[1]

    def sent(self, k, cell, end):
        self.starts[k] += cell[1] / self.rates[k]
        self.work, self.end, self.size = self.work + cell[1], end, cell[1]


def wf2q_plus(weights):
    return Wf2qPlus(tuple((n, Fraction(w)) for n, w in zip(NAMES, weights, strict=False)))


@drawn
@given(data=st.data(), weights=weights)
def test_it_serves_by_the_book(schedulers, data, weights):
    case = data.draw(schedulers.case(len(weights)))
    schedulers.agree(wf2q_plus(weights), Formulas(weights), case)


@drawn
@given(data=st.data(), weights=weights)
def test_what_waits_before_a_packet_is_served_at_its_rate(schedulers, data, weights):
    """Worst-case fairness: a packet leaves within (Q_i + L) / r_i, Q_i with itself in it."""
    case = data.draw(schedulers.case(len(weights), unlimited=True))
    ended = {name: at_ps for at_ps, name in schedulers.carried(wf2q_plus(weights), case)[0]}
    byte_ps, largest = case.clock.byte_time_ps, 1_500
    for k, cells in enumerate(case.inputs):
        rate = Fraction(weights[k], sum(weights))
        for n, (comes, size, name) in enumerate(cells):
            ahead = sum(s for _, s, other in cells[:n] if ended[other] > comes)
            most = (ahead + size + largest) / rate
            assert ended[name] <= comes + most * byte_ps + 1


def test_nobody_runs_ahead_of_the_share(lab):
    """Bennett and Zhang 1996, figure 3: half of the line is sent in every other place."""
    names = "abcdefghijk"
    pairs = zip(names, [10] + [1] * 10, strict=True)
    element = Wf2qPlus(tuple((n, Fraction(w)) for n, w in pairs))
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    batches = [lab.cells([0] * 11)] + [lab.cells([0], connection=k) for k in range(1, 11)]
    (left,) = lab.carry(element, where, *batches).departures
    assert left.connection.tolist()[::2] == [0] * 11


@pytest.mark.parametrize("weights", [[], [0], [-1], [9_973, 9_967]])
def test_weights_are_above_zero_and_can_be_kept_exactly(weights):
    with pytest.raises(ValueError, match=r"^weights: "):
        wf2q_plus(weights)
