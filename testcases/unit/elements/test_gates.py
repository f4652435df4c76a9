"""Gates that open by time, against the windows of all cycles laid out one after the other."""

from fractions import Fraction

import pytest
from arriving import draw_inputs
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.calculus.curve import Curve
from qospec.calculus.service import RateLatency
from qospec.catalogue.kinds import Buffer
from qospec.elements.gates import Gates
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.scheduler import Competitor
from qospec.protocol.encapsulation import Encapsulation

ETHERNET = Encapsulation(8, 18, 64, 12)
LINE = Clock(Fraction(8 * 10**9), slotted=False, encapsulation=ETHERNET)
"""A byte takes 1,000 ps; a packet of 62 B has a frame of 80 B, and takes the time of 100."""
BYTE_PS = 1_000
FRAME_PS, TURN_PS = 88 * BYTE_PS, 100 * BYTE_PS
"""Of a packet of 62 B: up to its last bit, and until the next may begin."""
US = 10**6


class Book:
    """One packet after the other, by a list of all windows that there are."""

    def __init__(self, gates, limit):
        cycle = gates.cycle or max(e for windows in gates.windows for _, e in windows)
        self.windows = [lay_out(windows, gates.begins, cycle) for windows in gates.windows]
        self.waiting, self.limit = [[] for _ in self.windows], limit
        self.left, self.lost = [], []

    def run(self, inputs):
        """`inputs`: per input, a list of (at, size, name)."""
        coming, now = [list(packets) for packets in inputs], 0
        while any(coming) or any(self.waiting):
            for number, queue in enumerate(coming):
                while queue and queue[0][0] < now:
                    self.let_in(number, queue.pop(0))
                if queue and queue[0][0] == now and not self.waiting[number]:
                    self.waiting[number].append(queue.pop(0))
            opens = [self.opening(*queue, now) for queue in enumerate(self.waiting) if queue[1]]
            if now in opens:
                now = self.send(now)
            else:
                later = [at + (at == now) for at, _, _ in (queue[0] for queue in coming if queue)]
                now = min([*opens, *later])
        return self

    def let_in(self, number, packet):
        full = len(self.waiting[number]) >= self.limit
        (self.lost if full else self.waiting[number]).append(packet)

    def opening(self, number, queue, now):
        lasts = (max(queue[0][1] + 18, 64) + 8) * BYTE_PS
        return next(max(now, b) for b, e in self.windows[number] if max(now, b) + lasts <= e)

    def send(self, now):
        for number, queue in enumerate(self.waiting):
            if queue and self.opening(number, queue, now) == now:
                _, size, name = queue.pop(0)
                octets = max(size + 18, 64) + 8
                self.left.append((now + octets * BYTE_PS, name))
                return now + (octets + 12) * BYTE_PS
        raise AssertionError


def lay_out(windows, begins, cycle):
    """Return all windows of the first cycles, those that touch as one."""
    found = []
    for turn in range(-1, 200):
        for begin, end in windows:
            start = begins + turn * cycle + begin
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], start - begin + end)
            else:
                found.append((start, start - begin + end))
    return found


def serve(lab, gates, *inputs, limit=100, cuts=(), by_events=False):
    queues = tuple(Waiting(name, Buffer(limit, "packet")) for name in gates.inputs)
    where = lab.setting(clock=LINE, queues=queues)
    got = lab.carry(gates, where, *lab.inputs(inputs), cuts=cuts, by_events=by_events)
    (left,) = got.departures
    return list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True)), got.lost


PLANS = [
    Gates((("a", (300_000,)), ("b", (500_000,)))),
    Gates((("a", (230_000,)), ("b", (250_000,))), cycle=US, begins=70_000),
    Gates((("a", (0, 300_000, 600_000, US)), ("b", (300_000, 600_000)))),
    Gates((("a", (100_000, 400_000)), ("b", (0, US)))),
    Gates((("a", (0, 226_000, 226_001, 700_000)), ("b", (150_000, 900_000))), cycle=US),
]


@pytest.mark.parametrize("by_events", [False, True])
@settings(max_examples=settings().max_examples // 6)
@given(
    plan=st.sampled_from(PLANS),
    inputs=draw_inputs([0, 1, 50_000, TURN_PS, TURN_PS - 1, 400_000], [20, 62, 200]),
    limit=st.sampled_from([1, 2, 100]),
    cuts=st.lists(st.integers(0, 2 * US), max_size=3),
)
def test_it_serves_by_the_book(lab, by_events, plan, inputs, limit, cuts):
    book = Book(plan, limit).run(inputs)
    cuts = () if by_events else tuple(sorted(cuts))
    left, lost = serve(lab, plan, *inputs, limit=limit, cuts=cuts, by_events=by_events)
    assert left == book.left
    assert sorted(name for *_, name in lost) == sorted(name for *_, name in book.lost)


def test_a_frame_begins_only_if_it_ends_before_the_gate_closes(lab):
    """In 264 ns of bytes two frames fit, 100 + 88 of them; the third would need 288.

    A gate that looks only at when a frame begins would send it, at 200.
    """
    gates = Gates((("a", (264_000,)), ("b", (736_000,))))
    left, _ = serve(lab, gates, [(0, 62, n) for n in range(3)], [])
    assert left == [(88_000, 0), (188_000, 1), (1_088_000, 2)]


def test_it_ends_in_the_very_ps_in_which_the_gate_closes(lab):
    """In 1 ps less a frame never begins, so its window of the next cycle is not for it either."""
    gates = Gates((("a", (0, FRAME_PS, US, US + FRAME_PS - 1)), ("b", (0, 2 * US))))
    left, _ = serve(lab, gates, [(0, 62, 0), (1, 62, 1)], [])
    assert left == [(FRAME_PS, 0), (2 * US + FRAME_PS, 1)]


def test_a_window_goes_on_in_the_next_cycle(lab):
    """From 900 of one cycle to 100 of the next a frame of 188 ns fits, though neither part does."""
    gates = Gates((("a", (0, 100_000, 900_000, US)), ("b", (100_000, 900_000))))
    left, _ = serve(lab, gates, [(500_000, 162, 0)], [])
    assert left == [(900_000 + 188_000, 0)]


@pytest.mark.parametrize(
    ("windows", "cycle", "words"),
    [
        ((("a", (0,)), ("b", (5,))), 0, "never opens"),
        ((("a", (5,)), ("b", (5,))), 9, "cycle: it ends before the last window does"),
        ((("a", (0, 5, 4, 9)),), 0, "overlap"),
        ((("a", (0, 5, 7)),), 0, "has no end"),
        ((("a", (3, 3)),), 0, "ends as it begins"),
        ((("a", (5,)), ("b", (0, 5))), 0, "each a list"),
        ((("a", tuple(range(18))),), 0, "more than 8 windows"),
    ],
)
def test_what_cannot_be_windows_is_refused(windows, cycle, words):
    with pytest.raises(ValueError, match=words):
        Gates(windows, cycle=cycle)


def competing(*offered):
    """Return what arrives at inputs: so many packets at once and no more, all of one size."""
    found = []
    for packets, size in offered:
        octets = max(size + 18, 64) + 20
        work = Curve.from_lines([(packets * octets * BYTE_PS, 0)])
        longest_ps = Fraction(octets * BYTE_PS)
        found.append(
            Competitor(work, longest_ps, size, size, longest_ps / size) if packets else None
        )
    return found


def test_bounds_follow_from_windows():
    """Windows of 0.55 us in 2 us: five frames of 0.1 us fit, and one may just have been missed.

    Five at once have all of the line once theirs opens, after 2 us - 0.55 us + 0.1 us; of six, the
    last waits for a second cycle. A frame of an input behind, open with it, is waited for besides.
    """
    gates = Gates((("a", (0, 550_000)), ("b", (550_000, 2 * US)), ("c", (0, 2 * US))))
    wait_ps = 2 * US - 550_000 + TURN_PS + 2
    few = gates.bound_share(0, competing((5, 62), (9, 62), (0, 62)), LINE)
    assert few.service[0] == RateLatency(Fraction(1), wait_ps)
    many = gates.bound_share(0, competing((6, 62), (9, 62), (0, 62)), LINE)
    assert many.service == (RateLatency(Fraction(5 * TURN_PS, 2 * US), wait_ps),)
    beside = gates.bound_share(0, competing((4, 62), (9, 62), (1, 62)), LINE)
    assert beside.service[0] == RateLatency(Fraction(1), wait_ps + TURN_PS)


def test_nothing_is_proved_beside_what_goes_first():
    gates = Gates((("a", (0, US)), ("b", (0, 2 * US))))
    assert not gates.bound_share(1, competing((1, 62), (1, 62)), LINE).service
    assert gates.bound_share(1, competing((0, 62), (1, 62)), LINE).service == ()
