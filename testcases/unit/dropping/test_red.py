"""Random early detection: the paper's algorithm, its formula and its numbers."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import Buffer
from qospec.dropping.red import Red
from qospec.elements.fifo import Fifo
from qospec.engine.line.clock import Clock
from qospec.engine.queue import admission, drop_policy
from qospec.engine.random import Draws

TYPICAL = 500
MUST_WAIT = True
NO_FRAME = (0, 0)
weights = st.integers(0, 10).map(lambda k: Fraction(1, 2**k))


@st.composite
def policies(draw, limit):
    """Draw a curve below a limit of at least two."""
    high = draw(st.integers(2, limit.amount))
    low, p = draw(st.integers(1, high - 1)), draw(st.sampled_from([1, 2, 3, 10, 50, 1_000]))
    gentle, weight = draw(st.booleans()), draw(weights)
    ends = (Buffer(low, limit.unit), Buffer(high, limit.unit))
    more = {"weight": weight, "typical": TYPICAL, "ecn": draw(st.booleans())}
    more["spacing"] = draw(st.sampled_from(["uniform", "geometric"]))
    return Red(*ends, Fraction(1, p), gentle=gentle, **more)


@given(data=st.data())
def test_it_is_the_paper_s_algorithm(bench, data):
    traffic = data.draw(bench.traffic(bench.codepoints, clock=data.draw(bench.clocks)))
    unit = data.draw(st.sampled_from(["packet", "byte"]))
    limit = Buffer(data.draw(st.integers(2, 12 if unit == "packet" else 9_000)), unit)
    policy = data.draw(policies(limit))
    low, high = policy.low.amount, policy.high.amount
    average = bench.average(policy.weight, bench.typical_ps(traffic.clock, TYPICAL))
    is_spaced = policy.spacing == "uniform"
    curve = bench.curve(low, high, policy.p, gentle=policy.gentle, is_spaced=is_spaced)
    rules = bench.rules("", {}, {0: curve}, average, ecn=policy.ecn)
    bench.agree(traffic, limit, policy, rules)


# ---- the average


def gate(limit, policy):
    """Return the gate of one queue, with a typical item of a millisecond."""
    guarded = drop_policy.QueueWithPolicy(Buffer(limit, "packet"), policy, Draws(("test",)))
    return drop_policy.build_admission_table(
        [guarded], Clock(Fraction(8_000 * TYPICAL), slotted=False)
    )


def followed(made, waiting, at_ps):
    admission.admit(made, 0, (0, 1, at_ps, NO_FRAME), (waiting, waiting), MUST_WAIT, 0)
    return Fraction(int(made.queues[0, admission.AVERAGE]), 2**20)


def red(low, high, p, **more):
    return Red(Buffer(low, "packet"), Buffer(high, "packet"), Fraction(p), **more)


def test_the_average_of_a_queue_of_fifty_rises_as_computed():
    """Published with w = 0.002: 0.1, 0.1998, 0.2994 …; here w = 1/512."""
    made, exact, weight = gate(100, red(60, 90, "0.1")), Fraction(0), Fraction(1, 512)
    for _ in range(5):
        exact += weight * (50 - exact)
        assert 0 <= exact - followed(made, 50, 0) < Fraction(5, 2**20)
    assert exact == pytest.approx(0.498004 * (1 / 512) / 0.002, rel=1e-3)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 10**13)), max_size=40), weights)
def test_the_average_is_the_paper_s_but_for_what_is_rounded_down(steps, weight):
    made = gate(200, red(100, 150, "0.1", weight=weight))
    exact, since_ps, at_ps, typical_ps = 0.0, 0, 0, int(made.queues[0, admission.TYPICAL])
    for waiting, gap_ps in steps:
        at_ps += gap_ps
        if waiting == 0:
            exact *= float(1 - weight) ** ((at_ps - since_ps) // typical_ps)
        exact += float(weight) * (waiting - exact)
        got = followed(made, waiting, at_ps)
        made.queues[0, admission.SINCE] = since_ps = at_ps
        # A step loses less than 2^-20; each that follows keeps 1 - w of that, so 1/w of them.
        lost = 2**-20 * min(2 * len(steps), 2 / weight) + 200 * 2**-25
        assert -1e-9 <= exact - float(got) <= lost


def test_idle_time_counts_as_typical_items():
    made = gate(100, red(60, 90, "0.1", weight=Fraction(1, 4)))
    made.queues[0, admission.AVERAGE] = 64 << 20
    typical_ps = int(made.queues[0, admission.TYPICAL])
    followed(made, 0, 2 * typical_ps - 1)
    after_one = int(made.queues[0, admission.AVERAGE])
    made.queues[0, admission.AVERAGE] = 64 << 20
    followed(made, 0, 2 * typical_ps)
    assert Fraction(after_one, 2**20) == 64 * Fraction(3, 4) ** 2
    assert Fraction(int(made.queues[0, admission.AVERAGE]), 2**20) == 64 * Fraction(3, 4) ** 3


def test_after_a_long_time_nothing_is_left_of_it():
    made = gate(100, red(60, 90, "0.1"))
    made.queues[0, admission.AVERAGE] = 64 << 20
    assert followed(made, 0, 2**61) == 0


@pytest.mark.parametrize("average", [1, 2, 2**20 - 1, 2**30 - 1, 2**31 + 1, 2**34 + 2**30 + 3])
def test_a_step_of_idle_time_is_rounded_down_once(average):
    made = gate(2**20, red(60, 90, "0.1", weight=Fraction(1, 4)))
    made.queues[0, admission.AVERAGE] = average
    followed(made, 0, int(made.queues[0, admission.TYPICAL]))
    kept = average * 3 // 4
    assert made.queues[0, admission.AVERAGE] == kept + math.floor(Fraction(-kept, 4))


# ---- the probability


DRAWS = 100_000


def share_at(average, policy):
    """Return which share is lost while the average stays where it is, and the gaps between."""
    made = gate(100, policy)
    made.queues[0, admission.WEIGHT] = -1
    made.queues[0, admission.AVERAGE] = int(average * 2**20)
    stream = Draws(("share",)).open_stream().integers(0, admission.CERTAIN, DRAWS, np.int32)
    fates = [
        admission.admit(made, 0, (0, 1, 0, NO_FRAME), (0, 0), MUST_WAIT, draw) for draw in stream
    ]
    places = np.flatnonzero(np.array(fates) == admission.EARLY)
    return len(places) / DRAWS, np.diff(places)


@pytest.mark.parametrize(
    ("average", "likely"),
    [(4, 0), (10, Fraction(1, 20)), (Fraction(14_999, 1_000), Fraction(1, 10)), (15, 1)],
)
def test_the_published_probabilities(average, likely):
    """Of thresholds 5 and 15, 10 % at the most: the first of many, with nothing counted yet."""
    assert first_share(average, red(5, 15, "0.1")) == pytest.approx(likely, rel=1e-3)


@pytest.mark.parametrize(
    ("average", "likely"), [(15, Fraction(1, 10)), (Fraction(45, 2), Fraction(11, 20)), (30, 1)]
)
def test_the_gentle_variant_s_published_probabilities(average, likely):
    policy = red(5, 15, "0.1", gentle=True)
    assert first_share(average, policy) == pytest.approx(likely, rel=1e-8)


@pytest.mark.parametrize("average", [6, 9, 15, 20, 25])
def test_a_random_number_at_the_probability_is_let_in(average):
    """Of 2^30 random numbers, those below the probability times that are lost: so many."""
    likely = Fraction(average - 5, 10) / 8 if average < 15 else Fraction(1, 8)
    likely += Fraction(max(average - 15, 0), 15) * Fraction(7, 8)
    for less, fate in ((1, admission.EARLY), (0, admission.ADMITTED)):
        made = gate(100, red(5, 15, Fraction(1, 8), gentle=True))
        made.queues[0, admission.WEIGHT] = -1
        made.queues[0, admission.AVERAGE] = average << 20
        draw = int(likely * admission.CERTAIN) - less
        assert admission.admit(made, 0, (0, 1, 0, NO_FRAME), (0, 0), MUST_WAIT, draw) == fate


@pytest.mark.parametrize(
    ("average", "likely"), [(2**18, 0), (2**19, Fraction(1, 30)), (2**20 + 2**19, Fraction(11, 20))]
)
def test_a_curve_of_a_megabyte_is_as_exact(average, likely):
    """Its products would not fit 64 bits: so both sides of each ratio are cut alike."""
    policy = red(2**18, 2**20, "0.1", gentle=True)
    assert first_share(average, policy, limit=2**21) == pytest.approx(likely, abs=1e-6)


def test_admissions_in_a_row_are_counted_up_to_a_limit_and_forgotten():
    made = gate(100, red(5, 15, Fraction(1, 10**6)))
    made.queues[0, admission.WEIGHT] = -1
    made.queues[0, admission.AVERAGE] = 5 << 20  # where the probability is 0
    for before, after in ((0, 1), (admission.MOST_COUNTED, admission.MOST_COUNTED)):
        made.classes[1, admission.COUNT] = before
        admission.admit(made, 0, (0, 1, 0, NO_FRAME), (0, 0), MUST_WAIT, 0)
        assert made.classes[1, admission.COUNT] == after
    admission.note_drop(made, 0, 0, NO_FRAME)
    assert made.classes[1, admission.COUNT] == 0


def first_share(average, policy, limit=100):
    """Return how likely the first that comes is lost: by the random number where that ends."""
    low, high = 0, admission.CERTAIN
    while low < high:
        middle = (low + high) // 2
        made = gate(limit, policy)
        made.queues[0, admission.WEIGHT] = -1
        made.queues[0, admission.AVERAGE] = int(average * 2**20)
        early = (
            admission.admit(made, 0, (0, 1, 0, NO_FRAME), (0, 0), MUST_WAIT, middle)
            == admission.EARLY
        )
        low, high = (middle + 1, high) if early else (low, middle)
    return low / admission.CERTAIN


@pytest.mark.untraced
@pytest.mark.parametrize("average", [7, 10, 13])
def test_gaps_between_drops_are_uniform(average):
    """Of 1 … 1/p each as likely, so that 2p / (1 + p) are lost (Floyd and Jacobson 1993, 7)."""
    p = Fraction(average - 5, 10) / 10
    share, gaps = share_at(average, red(5, 15, "0.1"))
    expected = 2 * p / (1 + p)
    # Of as many gaps as there are, five standard deviations of their mean.
    n, longest = len(gaps), math.ceil(1 / p)
    spread = math.sqrt((longest**2 - 1) / 12 / n)
    assert gaps.mean() == pytest.approx(float(1 / p + 1) / 2, abs=5 * spread)
    assert share == pytest.approx(float(expected), rel=0.02)
    assert (gaps.min(), gaps.max()) == (1, longest)
    if longest * p == 1:
        counts = Counter(gaps.tolist())
        chi = sum((counts[g] - n / longest) ** 2 / (n / longest) for g in range(1, longest + 1))
        assert chi < longest - 1 + 5 * math.sqrt(2 * (longest - 1))


@pytest.mark.untraced
def test_of_geometric_gaps_the_share_that_is_lost_is_p():
    """Floyd and Jacobson 1993, 7, method 1: p, and not the 2p / (1 + p) of even ones."""
    policy = red(5, 15, "0.1", spacing="geometric")
    share, gaps = share_at(10, policy)
    assert share == pytest.approx(0.05, abs=5 * math.sqrt(0.05 * 0.95 / DRAWS))
    assert gaps.max() > 2 / 0.05


def test_who_is_capable_is_marked_in_place_of_an_early_loss_and_lost_without_room(bench):
    """Six at once: one is sent, four may wait, and from two that wait on all are dropped early."""
    not_ect, ect1, ect0, ce = bench.codepoints
    policy = red(1, 2, "1", weight=Fraction(1), ecn=True)
    traffic = bench.all_at_once([ect0, ect0, ect0, ect0, ect1, ce, ect0, not_ect])
    left, lost = bench.carry(traffic, bench.packets(5), policy)
    assert [marks for _, marks in left.values()] == [ect0, ect0, ect0, ce, ce, ce]
    assert sorted(lost, key=lambda loss: loss[1]) == [("overflow", 6), ("early", 7)]


def test_random_numbers_go_on_behind_the_first_block(bench):
    """A packet takes 43.04 us and one comes each 21 us: half of 4,400 wait or are lost."""
    items = [bench.came(n * 21_000_000, 500, 0) for n in range(4_400)]
    traffic = bench.all_at_once([])._replace(items=items, cuts=[4_000 * 21_000_000])
    policy = red(3, 8, Fraction(1, 10), weight=Fraction(1, 4))
    average = bench.average(policy.weight, bench.typical_ps(traffic.clock, TYPICAL))
    curve = bench.curve(3, 8, policy.p, gentle=False)
    bench.agree(traffic, bench.packets(12), policy, bench.rules("", {}, {0: curve}, average))


# ---- what does not fit


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda: red(192, 192, "0.1"), "low: 192 is not below high, 192"),
        (
            lambda: red(64, 300, "0.1"),
            "high: an average of 300 is never reached, as at most 256 may",
        ),
        (
            lambda: Red(Buffer(64, "byte"), Buffer(192, "packet"), Fraction(1, 2)),
            "low: expected packets, as in the limit, found bytes",
        ),
        (lambda: red(64, 192, "0.1", weight=Fraction(1, 500)), "weight: expected 1, 1/2, 1/4"),
        (lambda: red(64, 192, "0.1", weight=Fraction(3, 512)), "weight: expected 1, 1/2, 1/4"),
    ],
)
def test_what_does_not_fit_is_refused(bench, policy, message):
    with pytest.raises(ValueError, match=message):
        Fifo(bench.packets(256), policy())


def test_its_queue_says_what_it_may_discard_for(bench):
    assert Fifo(bench.packets(256), red(64, 192, "0.1")).discards_for == ("overflow", "early")
