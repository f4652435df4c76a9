"""WF2Q+ against its formulas in exact fractions, and its worst-case fairness."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.elements.scfq import Scfq
from qospec.elements.wf2q_plus import Wf2qPlus
from qospec.elements.wfq import Wfq
from qospec.engine.line.clock import Clock

NAMES = "abcdefghijkl"
FINE = 2**16
LARGEST = 1_500
LINE = Clock(Fraction(149_760_000), slotted=False)
PACKET_PS = math.ceil(LARGEST * LINE.byte_time_ps)
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
            left = math.floor(max(0, math.floor(self.end) - now) / self.clock.byte_time_ps * FINE)
            others = [i for i in range(len(self.rates)) if i != k]
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


def named(weights):
    return tuple((name, Fraction(weight)) for name, weight in zip(NAMES, weights, strict=False))


@given(data=st.data(), weights=weights)
def test_it_serves_by_the_book(schedulers, data, weights):
    case = data.draw(schedulers.case(len(weights)))
    schedulers.agree(Wf2qPlus(named(weights)), Formulas(weights), case)


# ---- worst-case fairness


def late(lab, element, inputs):
    """Return who leaves later than worst-case fairness lets them, as pairs of input and number.

    Bennett and Zhang 1997, theorem 4: who comes leaves within (Q_i + L_i) / r_i + (L - L_i) / r,
    Q_i with themselves in it, L_i the largest packet of the input and L of all. `inputs`: of each
    packet, when it comes and its size.
    """
    rates = [weight / sum(share for _, share in element.weights) for _, weight in element.weights]
    batches = [
        lab.cells([t for t, _ in cells], size_bytes=[size for _, size in cells], connection=k)
        for k, cells in enumerate(inputs)
    ]
    (left,) = lab.carry(element, lab.setting(clock=LINE), *batches).departures
    names = zip(left.connection.tolist(), left.sent_ps.tolist(), strict=True)
    ended = dict(zip(names, left.at_ps.tolist(), strict=True))
    largest = [max((size for _, size in cells), default=0) for cells in inputs]
    found = []
    for k, cells in enumerate(inputs):
        for n, (comes, size) in enumerate(cells):
            ahead = sum(cells[m][1] for m in range(n) if ended[k, m] > comes)
            most = (ahead + size + largest[k]) / rates[k] + max(largest) - largest[k]
            if ended[k, n] > comes + most * LINE.byte_time_ps + 1:
                found.append((k, n))
    return found


@st.composite
def crowds(draw):
    """Draw a heavy input with a burst and some more, and light ones that mostly begin with it."""
    light = draw(st.integers(7, 11))
    weights = [draw(st.integers(light // 2, light)), *[1] * light]
    sizes = draw(st.sampled_from([[LARGEST], [64, 576, LARGEST]]))

    def packets(burst, more, least):
        after = st.integers(least, 2 * light)
        places = st.builds(lambda n, beside: n * PACKET_PS + beside, after, st.sampled_from([0, 1]))
        at_ps = [0] * burst + sorted(draw(st.lists(places, min_size=more, max_size=2)))
        return [(t, draw(st.sampled_from(sizes))) for t in at_ps]

    begin = [draw(st.sampled_from([1, 1, 1, 0])) for _ in range(light)]
    return weights, [packets(light, 1, light), *(packets(begins, 0, 0) for begins in begin)]


@given(crowd=crowds())
def test_what_waits_before_a_packet_is_served_at_its_rate(lab, crowd):
    weights, inputs = crowd
    assert late(lab, Wf2qPlus(named(weights)), inputs) == []


@pytest.mark.parametrize(
    ("kind", "expected"), [(Wf2qPlus, []), (Wfq, [(0, 10)]), (Scfq, [(0, 10)])]
)
def test_who_ran_ahead_is_not_made_to_wait_for_it(lab, kind, expected):
    """Bennett and Zhang 1996, figure 2: ten of the large share at once, and then one more.

    Where the ten are sent in a row, the one more finds nothing of its own ahead, and all others.
    """
    heavy = [(t, LARGEST) for t in [0] * 10 + [10 * PACKET_PS + 1]]
    element = kind(named([10] + [1] * 10))
    assert late(lab, element, [heavy, *[[(0, LARGEST)]] * 10]) == expected


def test_nobody_runs_ahead_of_the_share(lab):
    """Bennett and Zhang 1996, figure 3: half of the line is sent in every other place."""
    element = Wf2qPlus(named([10] + [1] * 10))
    where = lab.setting(clock=Clock(Fraction(10**9), slotted=False))
    batches = [lab.cells([0] * 11)] + [lab.cells([0], connection=k) for k in range(1, 11)]
    (left,) = lab.carry(element, where, *batches).departures
    assert left.connection.tolist()[::2] == [0] * 11


@pytest.mark.parametrize("weights", [[], [0], [-1], [9_973, 9_967]])
def test_weights_are_above_zero_and_can_be_kept_exactly(weights):
    with pytest.raises(ValueError, match=r"^weights: "):
        Wf2qPlus(named(weights))
