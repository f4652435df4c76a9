"""DualPI2 against the pseudocode of RFC 9332, A.1 and A.2, and by hand."""

from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from arriving import draw_bursts
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.dualpi2 import BASE, Dualpi2
from qospec.engine.line.clock import Clock
from qospec.engine.queue.proportional import ONE

MS, S = 10**9, 10**12
NO_LIMIT = Buffer(2**40, "packet")
LINE = Clock(Fraction(10_000_000), slotted=False)
"""It sends 1,250 bytes in 1 ms."""
NOT_ECT, ECT1, ECT0, CE = range(4)


class Pseudocode:
    """RFC 9332, with its names; times in ps, but for those of the controller."""

    def __init__(self, element):
        self.target = element.target / S
        self.alpha, self.beta = float(element.alpha), float(element.beta)
        self.k, self.p_Cmax = element.coupling, 1 / element.coupling**2
        self.minTh, self.range = element.ramp_begins, element.ramp
        self.Th_len, self.tshift = element.unmarked, element.shift
        self.p = self.prevq = 0.0
        self.counts = {"lq": Fraction(0), "cq": Fraction(0)}
        self.queues = {"lq": deque(), "cq": deque()}

    def time(self, queue, now):
        return now - self.queues[queue][0][1] if self.queues[queue] else 0

    def update(self, now):
        curq = max(self.time("cq", now), self.time("lq", now)) / S
        self.p += self.alpha * (curq - self.target) + self.beta * (curq - self.prevq)
        self.p, self.prevq = min(max(self.p, 0.0), 1.0), curq

    def recur(self, queue, likelihood):
        self.counts[queue] += Fraction(likelihood)
        if self.counts[queue] > 1:
            self.counts[queue] -= 1
            return True
        return False

    def laqm(self, qdelay):
        if qdelay >= self.minTh + self.range:
            return 1
        return Fraction(max(0, qdelay - self.minTh), max(1, self.range))

    def dequeue(self, now, dropped):
        """Return the packet that is sent, and whether it is marked; None if there is none."""
        while self.queues["lq"] or self.queues["cq"]:
            lq, cq = self.queues["lq"], self.queues["cq"]
            p_coupled, p_classic = self.k * self.p, self.p**2
            if lq and (not cq or self.time("lq", now) + self.tshift >= self.time("cq", now)):
                length, (number, came, _) = len(lq), lq.popleft()
                if p_coupled < 1:
                    p_own = self.laqm(now - came) if length > self.Th_len else 0
                    return number, self.recur("lq", max(p_own, p_coupled))
                if self.recur("lq", p_classic):
                    dropped.append(number)
                    continue
                return number, self.recur("lq", p_coupled)
            number, _, ecn = cq.popleft()
            if not self.recur("cq", p_classic):
                return number, False
            if ecn == NOT_ECT or p_classic >= self.p_Cmax:
                dropped.append(number)
                continue
            return number, True
        return None


def by_the_book(element, at_ps, sizes, ecn):
    """Return what is sent, by number: when and whether marked; and what is dropped and overflows.

    On a line of 1 ps a byte; what comes when the line becomes free finds the room that this makes.
    """
    aqm, free, next_update = Pseudocode(element), 0, element.update
    left, dropped, overflowed = {}, [], []

    def serve(now):
        nonlocal free
        if free <= now and (found := aqm.dequeue(now, dropped)) is not None:
            number, is_marked = found
            free = now + sizes[number]
            left[number] = (free, is_marked)

    def go_on(until):
        """Serve and update before a time; at one moment, first what the line does."""
        nonlocal next_update
        while True:
            waits = bool(aqm.queues["lq"] or aqm.queues["cq"])
            if waits and free < until and free <= next_update:
                serve(free)
            elif next_update < until and (waits or until <= at_ps[-1]):
                aqm.update(next_update)
                next_update += element.update
                if not (waits or aqm.p or aqm.prevq):  # nothing changes until the next packet
                    rest = -(-(until - next_update) // element.update)
                    next_update += max(0, rest) * element.update
            else:
                return

    for number, now in enumerate(at_ps):
        go_on(now)
        serve(now)
        held = sum(len(queue) for queue in aqm.queues.values())
        if free > now and held + 1 > element.limit.amount:
            overflowed.append(number)
            continue
        aqm.queues["lq" if ecn[number] & 1 else "cq"].append((number, now, ecn[number]))
        serve(now)
    go_on(10**18)
    return left, dropped, overflowed


@given(
    arrivals=draw_bursts(
        [0, MS // 4, MS // 2, MS - 1, 2 * MS, 40 * MS], [MS, MS, 2 * MS], bursts=4, most=30
    ),
    element=st.builds(
        Dualpi2,
        st.builds(Buffer, st.sampled_from([30, 2**40]), st.just("packet")),
        target=st.sampled_from([2 * MS, 15 * MS]),
        update=st.sampled_from([MS, 16 * MS]),
        alpha=st.sampled_from([Fraction(16, 100), Fraction(4)]),
        beta=st.sampled_from([Fraction(32, 10), Fraction(10)]),
        coupling=st.sampled_from([1, 2, 4]),
        ramp_begins=st.sampled_from([0, 3 * MS]),
        ramp=st.sampled_from([0, 10 * MS]),
        unmarked=st.sampled_from([0, 1, 5]),
        shift=st.sampled_from([0, 3 * MS, 30 * MS]),
    ),
    pattern=st.lists(st.integers(0, 3), min_size=1, max_size=7),
    cuts=st.lists(st.integers(0, S), max_size=3),
)
def test_it_marks_and_drops_by_the_book(lab, arrivals, element, pattern, cuts):
    at_ps, sizes = arrivals
    ecn = [pattern[n % len(pattern)] for n in range(len(at_ps))]
    batch = lab.cells(at_ps, size_bytes=sizes, marks=np.array(ecn) << 23)
    clock = Clock(Fraction(8 * 10**12), slotted=False)
    got = lab.carry(element, lab.setting(clock=clock), batch, cuts=cuts)
    left, dropped, overflowed = by_the_book(element, at_ps, sizes, ecn)
    (after,) = got.departures
    found = zip(after.sent_ps.tolist(), after.at_ps.tolist(), strict=True)
    assert dict(found) == {number: free for number, (free, _) in left.items()}
    lost = sorted((number, cause) for cause, _, _, number in got.lost)
    expected = [*((n, "early") for n in dropped), *((n, "overflow") for n in overflowed)]
    assert lost == sorted(expected)
    marks = dict(zip(after.sent_ps.tolist(), (after.marks >> 23).tolist(), strict=True))
    assert marks == {n: CE if is_marked else ecn[n] for n, (_, is_marked) in left.items()}


# ---- by hand


def test_the_base_probability_follows_the_delay_of_the_first_packet(lab):
    """On a line that is busy for 10 s a packet comes at 24 ms: at 16 n ms it has waited 16 n - 24.

    p + 0.16 (curq - 0.015) + 3.2 (curq - prevq): 0.16 x -0.007 + 3.2 x 0.008 = 0.02448, then each
    time 3.2 x 0.016 = 0.0512 and 0.16 x 0.009, 0.025, 0.041, ….
    """
    transition = Dualpi2(NO_LIMIT).build_transition(lab.setting(clock=LINE))
    items, out, found = np.zeros((13, 16), np.int64), np.zeros((64, 4), np.int64), []
    items[:, 2] = 1_250
    items[1, 2] = 12_500_000
    at_ms = [0, 24, *(16 * n + 1 for n in range(2, 11))]
    for item, at in enumerate(at_ms, 1):
        out[0, 0] = 0
        transition.arrive(transition.state, items, item, 0, at * MS, out)
        found.append(transition.state[BASE] / ONE)
    expected = [0.02448]
    for n in range(3, 11):
        expected.append(expected[-1] + 0.0512 + 0.16 * (16 * n - 39) / 1000)
    assert found[2:] == pytest.approx(expected, rel=1e-9)
    assert found[-1] == pytest.approx(0.51728, rel=1e-9)


def test_low_latency_goes_first_and_is_marked_by_its_ramp(lab):
    """Behind one that is sent four of each wait: those with ECT(1) leave next, by 1 ms each.

    They have waited 1, 2, 3 and 4 ms, and the last is alone; beyond 1.5 ms the probability is 1. So
    the sum is 1 after the second, which is not above 1, and 2 after the third, which is marked. So
    soon no classic packet is marked.
    """
    ecn = [NOT_ECT, ECT0, NOT_ECT, ECT0, *[ECT1] * 4]
    batch = lab.cells([0] * 8, size_bytes=1_250, marks=np.array(ecn) << 23)
    element = Dualpi2(NO_LIMIT, ramp_begins=15 * MS // 10, ramp=0)
    (after,) = lab.carry(element, lab.setting(clock=LINE), batch).departures
    assert after.at_ps.tolist() == [n * MS for n in range(1, 9)]
    left = (after.marks >> 23).tolist()
    assert left == [NOT_ECT, ECT1, ECT1, CE, ECT1, ECT0, NOT_ECT, ECT0]


def test_a_classic_packet_goes_first_once_it_has_waited_longer_by_the_shift(lab):
    """A classic packet comes at 0, behind one that is sent, and one with ECT(1) each ms from then.

    At 1, 2 and 3 ms the latter have waited 1 ms; with 2 ms more these go first, and at 4 ms not.
    """
    at_ms, ecn = [0, 0, 0, 1, 2, 3, 4], [NOT_ECT, NOT_ECT, *[ECT1] * 5]
    batch = lab.cells([at * MS for at in at_ms], size_bytes=1_250, marks=np.array(ecn) << 23)
    element = Dualpi2(NO_LIMIT, shift=2 * MS, ramp_begins=S)
    got = lab.carry(element, lab.setting(clock=LINE), batch)
    (after,) = got.departures
    assert (after.marks >> 23).tolist() == [NOT_ECT, ECT1, ECT1, ECT1, NOT_ECT, ECT1, ECT1]
