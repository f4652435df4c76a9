"""Deficit round robin against the pseudo-code of its paper; its shares and its latency."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.drr import Drr
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting

NAMES = "abc"
LARGEST = 1_500
GIGABIT = Clock(Fraction(10**9), slotted=False)
quanta = st.lists(st.sampled_from([40, 53, 500, 1_500, 4_500]), min_size=1, max_size=3)


class ActiveList:
    """Shreedhar and Varghese 1996: enqueueing and dequeueing modules."""

    def __init__(self, quanta):
        self.quanta = quanta
        self.deficits = [0] * len(quanta)
        self.active = []
        self.server = self.dequeue()

    def arrived(self, k, _cell, _now):
        if k not in self.active:
            self.active.append(k)
            self.deficits[k] = 0

    def dequeue(self):
        while True:
            while not self.active:
                yield None
            k = self.active[0]
            self.deficits[k] += self.quanta[k]
            while self.queues[k] and self.queues[k][0][1] <= self.deficits[k]:
                self.deficits[k] -= self.queues[k][0][1]
                yield k
            self.active.pop(0)
            if self.queues[k]:
                self.active.append(k)
            else:
                self.deficits[k] = 0

    def choose(self):
        return next(self.server)

    def sent(self, k, cell, end):
        pass


def drr(quanta):
    return Drr(tuple((n, Fraction(q)) for n, q in zip(NAMES, quanta, strict=False)), quantum=1)


@given(data=st.data(), quanta=quanta)
def test_it_serves_by_the_book(schedulers, data, quanta):
    case = data.draw(schedulers.case(len(quanta)))
    schedulers.agree(drr(quanta), ActiveList(quanta), case)


@given(
    quanta=st.lists(st.integers(LARGEST, 5_000), min_size=2, max_size=3),
    sizes=st.lists(st.integers(53, LARGEST), min_size=30, max_size=30),
)
def test_what_is_sent_in_any_time_is_near_the_quanta(lab, quanta, sizes):
    """Theorem: |sent_i / Q_i - sent_j / Q_j| <= 1 + largest (1/Q_i + 1/Q_j) while both wait."""
    where = lab.setting(clock=GIGABIT)
    batches = [lab.cells([0] * 30, connection=k, size_bytes=sizes) for k in range(len(quanta))]
    (left,) = lab.carry(drr(quanta), where, *batches).departures
    owing, sent = [30] * len(quanta), [0] * len(quanta)
    for k, size in zip(left.connection.tolist(), left.size_bytes.tolist(), strict=True):
        sent[k] += size
        owing[k] -= 1
        if not all(owing):
            break
        for i, first in enumerate(quanta):
            for j, second in enumerate(quanta):
                apart = Fraction(sent[i], first) - Fraction(sent[j], second)
                assert apart <= 1 + LARGEST * (Fraction(1, first) + Fraction(1, second))


@given(
    quanta=st.lists(st.integers(LARGEST, 5_000), min_size=3, max_size=3),
    comes=st.integers(0, 10**9),
)
def test_who_comes_first_waits_no_longer_than_the_others_quanta(lab, quanta, comes):
    """Two busy inputs; the third one's packet waits a packet of each and their quanta, at most."""
    where = lab.setting(clock=GIGABIT)
    busy = [lab.cells([0] * 200, connection=k, size_bytes=LARGEST) for k in range(2)]
    alone = lab.cells([comes], connection=2, size_bytes=LARGEST)
    (left,) = lab.carry(drr(quanta), where, *busy, alone).departures
    (at_ps,) = left.at_ps[left.connection == 2].tolist()
    most_bytes = quanta[0] + quanta[1] + 3 * LARGEST
    assert at_ps - comes <= most_bytes * GIGABIT.byte_time_ps


def test_a_quantum_that_is_too_small_saves_up(lab):
    """Q = 500: the packet of 1,500 goes in the third turn; three of 500 have gone meanwhile."""
    where = lab.setting(clock=GIGABIT)
    large = lab.cells([0], connection=0, size_bytes=1_500)
    small = lab.cells([0] * 4, connection=1, size_bytes=500)
    (left,) = lab.carry(drr([500, 500]), where, large, small).departures
    assert left.connection.tolist() == [1, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("sizes", "order"),
    [
        ([100, 100, 100], [0, 1, 2]),  # each has its quantum when the one before it is idle
        ([101, 100, 100], [1, 2, 0]),  # a deficit begins at 0
    ],
)
def test_a_packet_is_sent_in_the_turn_whose_quanta_cover_it(lab, sizes, order):
    batches = [lab.cells([0], connection=k, size_bytes=size) for k, size in enumerate(sizes)]
    (left,) = lab.carry(drr([100] * 3), lab.setting(clock=GIGABIT), *batches).departures
    assert left.connection.tolist() == order


@pytest.mark.parametrize("by_events", [False, True])
def test_who_was_dropped_before_the_turn_joins_the_list_anew(lab, by_events):
    """A byte takes 1 ps. What comes to b at 0 is too large for its queue, and is not sent at once.

    So b is on the list, with nothing, until a, which is before it, is idle at 106. What comes to it
    at 120, while c is served, has its turn before what comes to a then.
    """
    queues = tuple(Waiting(name, Buffer(60, "byte")) for name in NAMES)
    where = lab.setting(clock=Clock(Fraction(8 * 10**12), slotted=False), queues=queues)
    a = lab.cells([0, 10, 130], size_bytes=53)
    b = lab.cells([0, 120], connection=1, size_bytes=[106, 60])
    c = lab.cells([60], connection=2, size_bytes=53)
    got = lab.carry(drr([1_500] * 3), where, a, b, c, by_events=by_events)
    assert "".join(NAMES[k] for k in got.departures[0].connection) == "aacba"
    assert got.lost == [("overflow", "b", 1, 0)]


@pytest.mark.parametrize(
    "fields",
    [
        {"weights": ()},
        {"weights": (("a", Fraction(0)),)},
        {"weights": (("a", Fraction(1)), ("a", Fraction(1)))},
        {"weights": (("a", Fraction(1, 7)),)},
        {"weights": (("a", Fraction(10**9)),), "quantum": 2**40},
        {"weights": (("a", Fraction(1)),), "quantum": 0},
    ],
)
def test_every_input_has_a_quantum_of_whole_bytes(fields):
    with pytest.raises(ValueError, match=r"^(weights|quantum): "):
        Drr(**fields)
