"""PIE against the pseudocode of RFC 8033, in floats, and against numbers worked out by hand."""

from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from arriving import draw_bursts
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.elements.pie import ONE, PROBABILITY, Pie
from qospec.engine.line.clock import Clock
from qospec.engine.queue.first_come import TABLE
from qospec.engine.random import Draws

MS, S = 10**9, 10**12
"""Picoseconds."""
NO_LIMIT = Buffer(2**40, "packet")
LINE = Clock(Fraction(10_000_000), slotted=False)
"""It sends 1,250 bytes in 1 ms."""


class Pseudocode:
    """RFC 8033, 4.1, 4.2, 4.4, 5.1, 5.4 and 5.5, with its names; times in seconds."""

    def __init__(self, element):
        self.QDELAY_REF, self.T_UPDATE = element.target / S, element.update / S
        self.ALPHA, self.BETA = float(element.alpha), float(element.beta)
        self.MAX_BURST, self.MEAN_PKTSIZE = element.burst / S, element.typical
        self.drop_prob = self.accu_prob = self.qdelay_old = 0.0
        self.burst_allowance = self.MAX_BURST

    def drop_early(self, byte_length, random):
        calm = self.qdelay_old < self.QDELAY_REF / 2 and self.drop_prob < 0.2
        if calm or byte_length <= 2 * self.MEAN_PKTSIZE:
            return False
        if self.drop_prob == 0:
            self.accu_prob = 0.0
        self.accu_prob += self.drop_prob
        if self.accu_prob < 0.85:
            return False
        if self.accu_prob >= 8.5:
            return True
        if random < self.drop_prob:
            self.accu_prob = 0.0
            return True
        return False

    def status_update(self, current_qdelay):
        p = self.ALPHA * (current_qdelay - self.QDELAY_REF)
        p += self.BETA * (current_qdelay - self.qdelay_old)
        steps = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
        p /= next((divisor for below, divisor in steps if self.drop_prob < below), 1)
        if self.drop_prob >= 0.1 and p > 0.02:
            p = 0.02
        self.drop_prob += p
        if current_qdelay == 0 and self.qdelay_old == 0:
            self.drop_prob *= 0.98
        self.drop_prob = min(max(self.drop_prob, 0.0), 1.0)
        self.burst_allowance = max(0.0, self.burst_allowance - self.T_UPDATE)
        half = self.QDELAY_REF / 2
        if self.drop_prob == 0 and current_qdelay < half and self.qdelay_old < half:
            self.burst_allowance = self.MAX_BURST
        self.qdelay_old = current_qdelay


def by_the_book(element, at_ps, sizes, capable):
    """Return what leaves by number and when, is dropped early, finds no room, and is marked.

    All of it on a line of 1 ps a byte.
    """
    pie, draws = (
        Pseudocode(element),
        Draws(("test",)).open_stream().integers(0, 2**30, 4_096, np.int32),
    )
    free = update = 0
    update += element.update
    waiting, left, early, overflowed, marked = deque(), {}, [], [], []
    for number, (now, size) in enumerate(zip(at_ps, sizes, strict=True)):
        while update < now:
            pie.status_update(max(0, free - update) / S)
            update += element.update
        while waiting and waiting[0][0] <= now:
            waiting.popleft()
        held = sum(size for _, size in waiting)
        amount, found = (size, held) if element.limit.unit == "byte" else (1, len(waiting))
        is_dropped = False
        if free > now and found + amount > element.limit.amount:
            overflowed.append(number)
            pie.accu_prob = 0.0
            continue
        is_dropped = pie.burst_allowance == 0 and pie.drop_early(held, draws[number] / 2**30)
        if is_dropped:
            pie.accu_prob = 0.0
            if number in capable and pie.drop_prob < 0.1:
                marked.append(number)
            else:
                early.append(number)
                continue
        begins = max(free, now)
        if begins > now:
            waiting.append((begins, size))
        free = begins + size
        left[number] = free
    return left, early, overflowed, marked


@pytest.mark.slow
@given(
    arrivals=draw_bursts(
        [0, MS // 4, MS // 2, MS - 1, 2 * MS, 500 * MS], [MS, MS, 2 * MS], most=60
    ),
    element=st.builds(
        Pie,
        st.builds(Buffer, st.sampled_from([30, 2**40]), st.just("packet"))
        | st.builds(Buffer, st.sampled_from([20 * MS, 60 * MS]), st.just("byte")),
        target=st.sampled_from([2 * MS, 15 * MS]),
        update=st.sampled_from([MS, 4 * MS]),
        alpha=st.sampled_from([Fraction(1, 8), Fraction(4)]),
        beta=st.sampled_from([Fraction(5, 4), Fraction(10)]),
        burst=st.sampled_from([0, 5 * MS, 150 * MS]),
        typical=st.just(1),
        ecn=st.booleans(),
    ),
    cuts=st.lists(st.integers(0, S), max_size=4),
)
def test_it_drops_by_the_book(lab, arrivals, element, cuts):
    at_ps, sizes = arrivals
    codepoints = np.arange(len(at_ps)) // 2 % 4
    capable = {int(number) for number in np.flatnonzero(codepoints)} if element.ecn else set()
    batch = lab.cells(at_ps, size_bytes=sizes, marks=codepoints << 23)
    clock = Clock(Fraction(8 * 10**12), slotted=False)
    got = lab.carry(element, lab.setting(clock=clock), batch, cuts=cuts)
    left, early, overflowed, marked = by_the_book(element, at_ps, sizes, capable)
    (departures,) = got.departures
    found = dict(zip(departures.sent_ps.tolist(), departures.at_ps.tolist(), strict=True))
    assert found == left
    lost = sorted(got.lost)
    assert [number for cause, *_, number in lost if cause == "early"] == early
    assert [number for cause, *_, number in lost if cause == "overflow"] == overflowed
    expected = [3 if number in marked else codepoints[number] for number in left]
    assert (departures.marks >> 23).tolist() == expected


# ---- by hand


def probabilities(lab, element, at_ps):
    """Return the probability after so many packets of 1,250 bytes."""
    transition = element.build_transition(lab.setting(clock=LINE))
    items, out = np.zeros((2, 16), np.int64), np.zeros((64, 4), np.int64)
    items[1, 2] = 1_250
    found = []
    for now_ps in at_ps:
        out[0, 0] = 0
        transition.arrive(transition.state, items, 1, 0, now_ps, out)
        found.append(transition.state[transition.state[TABLE] + PROBABILITY] / ONE)
    return found


def test_the_probability_rises_by_less_while_it_is_small(lab):
    """Twice the rate of the line from 0 on: the n-th update, at 15 n ms, finds 15 n + 1 ms.

    The packet that comes at the very moment has come. So beta adds 1.25 x 16 ms = 0.02, and then
    0.01875 each time, alpha 0.125 x 1 ms = 0.000125 and each time 0.001875 more; the sum is divided
    by 2048, 512, 128, 32, 32, 8, 8, 8, 2 and 2.
    """
    at_ps = [number * MS // 2 for number in range(303)]
    found = probabilities(lab, Pie(NO_LIMIT), at_ps)
    expected, total = [], 0.0
    for n, divisor in enumerate([2048, 512, 128, 32, 32, 8, 8, 8, 2, 2]):
        total += ((0.01875 if n else 0.02) + 0.000125 + 0.001875 * n) / divisor
        expected.append(total)
    after = [found[30 * n + 1] for n in range(1, 11)]
    assert after == pytest.approx(expected, rel=1e-7)


def test_a_burst_passes(lab):
    """Of 150 ms, that is 10 updates: up to 150 ms nothing is dropped, whatever waits."""
    at_ps = [number * MS // 2 for number in range(2_000)]
    got = lab.carry(Pie(NO_LIMIT), lab.setting(clock=LINE), lab.cells(at_ps, size_bytes=1_250))
    first = min(at_ps[number] for *_, number in got.lost)
    assert 150 * MS < first < 250 * MS


def test_at_rest_nothing_changes_however_long(lab):
    """An hour of 15 ms is 240,000 updates, of which one is enough."""
    found = probabilities(lab, Pie(NO_LIMIT), [0, 3_600 * S, 3_600 * S + 1])
    assert found == [0, 0, 0]


def test_without_capacity_for_a_packet_it_is_lost_on_arrival(lab):
    packets = lab.cells([0, 0, 0, 0, MS], size_bytes=1_250)
    got = lab.carry(Pie(Buffer(2, "packet")), lab.setting(clock=LINE), packets)
    assert got.lost == [("overflow", "", 0, 3)]
    assert got.departures[0].at_ps.tolist() == [MS, 2 * MS, 3 * MS, 4 * MS]
