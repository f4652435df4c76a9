"""The credit-based shaper against the rules of IEEE 802.1Q in exact fractions."""

import itertools
import math
from fractions import Fraction

import pytest
from arriving import draw_inputs
from definition import kernels_as_python
from hypothesis import given, settings
from hypothesis import strategies as st

from qospec.calculus.curve import Curve
from qospec.calculus.guarantee import bound_items, describe_unbounded
from qospec.elements.credit import Credit
from qospec.elements.gates import Gates
from qospec.elements.strict import Strict
from qospec.engine.line.clock import Clock
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.combined import Combined
from qospec.protocol.encapsulation import Encapsulation

ETHERNET = Encapsulation(8, 18, 64, 12)
LINE = Clock(Fraction(8 * 10**9), slotted=False, encapsulation=ETHERNET)
BYTE_PS = 1_000
BITS = 8 * 10**9
"""The rate of the line: a packet of 62 B takes it for 100 ns of bytes, one of 162 B for 200."""


def shaped(share, outer=None):
    outer = outer or Strict(("a", "rest"))
    others = (None,) * (len(outer.inputs) - 1)
    return Combined(outer, (Credit(Fraction(share) * BITS), *others))


class Book:
    """A class and the rest behind it: the credit is followed from one event to the next."""

    def __init__(self, share):
        self.share, self.credit, self.now = Fraction(share), Fraction(0), 0
        self.waiting, self.left = ([], []), []

    def run(self, inputs):
        coming = [list(packets) for packets in inputs]
        while any(coming) or any(self.waiting):
            for queue, arriving in zip(self.waiting, coming, strict=True):
                while arriving and arriving[0][0] <= self.now:
                    queue.append(arriving.pop(0))
            mine, rest = self.waiting
            if mine and self.credit >= 0:
                self.send(mine, coming, mine=True)
            elif rest:
                self.send(rest, coming, mine=False)
            else:
                times = [queue[0][0] for queue in coming if queue]
                if mine:
                    times.append(self.now + math.ceil(-self.credit / self.share))
                self.pass_time(min(times), coming, sending=False)
        return self

    def send(self, queue, coming, *, mine):
        _, size, name = queue.pop(0)
        octets = max(size + 18, 64) + 8
        self.left.append((self.now + octets * BYTE_PS, name))
        self.pass_time(self.now + (octets + 12) * BYTE_PS, coming, sending=mine)

    def pass_time(self, until, coming, *, sending):
        """Let the credit change up to then, and take in what comes."""
        mine, arriving = self.waiting[0], coming[0]
        while self.now < until:
            stop = min([until, *(at for at, _, _ in arriving[:1])])
            spent = stop - self.now
            if sending:
                self.credit += (self.share - 1) * spent
            elif mine:
                self.credit += self.share * spent
            elif self.credit < 0:
                self.credit = min(Fraction(0), self.credit + self.share * spent)
            else:
                self.credit = Fraction(0)
            self.now = stop
            while arriving and arriving[0][0] == stop and stop < until:
                mine.append(arriving.pop(0))


def serve(lab, element, *inputs, cuts=(), by_events=False):
    queues = (Waiting("a", None), Waiting("rest", None))
    where = lab.setting(clock=LINE, queues=queues)
    got = lab.carry(element, where, *lab.inputs(inputs), cuts=cuts, by_events=by_events)
    (left,) = got.departures
    return list(zip(left.at_ps.tolist(), left.sent_ps.tolist(), strict=True))


@pytest.mark.parametrize("by_events", [False, True])
@settings(max_examples=settings().max_examples // 6)
@given(
    share=st.sampled_from([Fraction(3, 4), Fraction(1, 3), Fraction(7, 1_000)]),
    inputs=draw_inputs([0, 1, 50_000, 100_000, 99_999, 400_000, 2_000_000], [20, 62, 1_500]),
    cuts=st.lists(st.integers(0, 4_000_000), max_size=3),
)
def test_it_shapes_by_the_book(lab, by_events, share, inputs, cuts):
    cuts = () if by_events else tuple(sorted(cuts))
    got = serve(lab, shaped(share), *inputs, cuts=cuts, by_events=by_events)
    assert got == Book(share).run(inputs).left


def test_a_burst_leaves_at_the_idle_slope(lab):
    """A frame of 100 costs 25 at three quarters, which take 33 1/3 to come back.

    So frames begin every 133 1/3: a policer or a scheduler that is never idle sends them at once.
    """
    left = serve(lab, shaped(Fraction(3, 4)), [(0, 62, n) for n in range(4)], [])
    assert [at - 88_000 for at, _ in left] == [0, 133_334, 266_667, 400_000]


def test_credit_that_was_saved_behind_a_frame_is_spent_at_once(lab):
    """802.1Q, Annex L, hiCredit: behind 1,538 of others it has 1,153 1/2, for 46 frames at 25 each.

    So 47 begin one after the other; the last leaves -21,500.75, for 28,668 at three quarters.
    Without saving, it would pause behind the first.
    """
    left = serve(lab, shaped(Fraction(3, 4)), [(1, 62, n) for n in range(60)], [(0, 1_500, 99)])
    begins = [at - 88_000 for at, name in left if name != 99]
    gaps = [after - before for before, after in itertools.pairwise(begins)]
    assert gaps[:48] == [100_000] * 46 + [128_668, 133_333]


def test_the_credit_stands_still_while_the_gate_is_closed(lab):
    """A frame fills a window of 100 and costs 50 at a half: a whole window more, until it is 0.

    If it grew while the gate is closed, a frame could begin in each window.
    """
    gates = Gates((("a", (100_000,)), ("rest", (900_000,))))
    element = shaped(Fraction(1, 2), gates)
    left = serve(lab, element, [(0, 62, n) for n in range(3)], [])
    assert [at - 88_000 for at, _ in left] == [0, 2_000_000, 4_000_000]


def test_it_stands_still_below_a_scheduler_between_as_well(lab):
    """As without one: a frame in every second window."""
    gates = Gates((("a", (100_000,)), ("rest", (900_000,))))
    element = Combined(gates, (shaped(Fraction(1, 2), Strict(("a",))), None))
    with kernels_as_python():
        left = serve(lab, element, [(0, 62, n) for n in range(3)], [])
    assert [at - 88_000 for at, _ in left] == [0, 2_000_000, 4_000_000]


def test_the_bound_of_class_a_is_a_frame_of_others_and_the_slope(lab):
    """De Azua and Boyer 2014: 1,538 of others, then 4 frames of 100 at three quarters.

    IEEE 802.1BA, 6.5, has the last frame itself at the rate of the line, which is a little less.
    """
    often = Fraction(1, 10**9)
    arriving = (bound_items(Curve.from_lines([(4, often)]), [62]), describe_unbounded([1_500]))
    first, rest = shaped(Fraction(3, 4)).guarantee_service(arriving, LINE, ()).inputs
    assert first.most_ps is not None
    assert rest.most_ps is None
    left = serve(lab, shaped(Fraction(3, 4)), [(1, 62, n) for n in range(4)], [(0, 1_500, 99)])
    of_802_1ba = 1_538_000 + 3 * 100_000 * Fraction(4, 3) + 88_000
    assert left[-1][0] - 1 <= of_802_1ba <= first.most_ps
    assert abs(first.most_ps - (1_538_000 + 400_000 * Fraction(4, 3))) <= 12_000 + 2  # the gap


@pytest.mark.parametrize(
    ("slope", "words"),
    [(BITS, "would never fall"), (Fraction(BITS, 2**31 + 11), "too fine")],
)
def test_what_no_line_can_give_is_refused(slope, words):
    assert words in str(Credit(Fraction(slope)).explain_unfit(LINE, (62,)))
