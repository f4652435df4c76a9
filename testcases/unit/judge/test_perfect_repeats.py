"""One more repeat that could not be better never weakens what the others have shown."""

from fractions import Fraction
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.measure.tally import Delays
from qospec.judge.confidence import BETTER_SINCE, judge_repeats
from qospec.judge.distribution import Distribution
from qospec.judge.losses import Losses
from qospec.judge.quantiles import Quantile
from qospec.judge.verdict import Judgement
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.source import Source, Span
from qospec.units import CELLS

SPAN = Span(Source("a.qos", "expect\n"), 0, 6)
RECEIVED = Measured(
    "", "f", None, part="user", metric="received", statistic="", dimension=CELLS, text=""
)
CONFIDENCE = Fraction(95, 100)
TIMES_PS = (10, 20, 40, 80)
COUNTS = st.tuples(*[st.integers(0, 60)] * len(TIMES_PS)).filter(any)
"""How many delays of a repeat are in buckets that begin at these times."""
LOST = st.one_of(st.just(0), st.integers(0, 30))


def delays(counts: tuple[int, ...]) -> Delays:
    buckets = [(low, 2 * low, n) for low, n in zip(TIMES_PS, counts, strict=True) if n]
    return Delays(
        sum(counts), min_ps=buckets[0][0], max_ps=buckets[-1][1] - 1, buckets=tuple(buckets)
    )


def losses(rows: list[tuple[tuple[int, ...], int]]) -> Losses:
    found, lost = [delays(counts) for counts, _ in rows], [lost for _, lost in rows]
    totals = [summary.count + gone for summary, gone in zip(found, lost, strict=True)]
    of = Distribution(found, totals, lost)
    return Losses(sum(lost), sum(totals), len(rows), (), of)


@given(st.lists(st.tuples(COUNTS, LOST), min_size=5, max_size=9), COUNTS)
def test_a_repeat_without_losses_raises_no_upper_bound(rows, perfect) -> None:
    before, after = losses(rows), losses([*rows, (perfect, 0)])
    most = after.compute_interval(CONFIDENCE, len(rows) + 1).most
    assert most <= max(before.compute_interval(CONFIDENCE, len(rows)).most, after.value)
    assert after.value <= before.value


@given(
    st.lists(COUNTS, min_size=5, max_size=9),
    COUNTS,
    st.sampled_from((Fraction(1, 2), Fraction(9, 10))),
)
def test_a_repeat_below_the_upper_bound_of_a_quantile_does_not_raise_it(rows, more, share) -> None:
    repeats = [delays(counts) for counts in rows]
    bound = Quantile(repeats, share).compute_interval(CONFIDENCE, len(rows)).most
    last = delays(more)
    if bound is None or Fraction(last.max_ps, 10**12) > bound:
        return
    after = Quantile([*repeats, last], share).compute_interval(CONFIDENCE, len(rows) + 1).most
    assert after <= bound


class Arrivals(NamedTuple):
    """A repeat in which so many of 1,000 packets arrived."""

    received: int
    drawn: bool = True

    def read(self, leaf: Measured) -> Fraction:
        return Fraction(1_000 if leaf.metric == "planned" else self.received)

    def read_delays(self, _leaf: Measured) -> Delays:
        return Delays()


def verdict(received: list[int], least: int) -> Judgement:
    condition = Operation(">", (RECEIVED, Constant(Fraction(least), CELLS)))
    statement = Statement("expect", "", "", condition, SPAN, CONFIDENCE)
    return judge_repeats(statement, [Arrivals(count) for count in received], len(received))


@given(st.lists(st.integers(900, 1_000), min_size=5, max_size=8), st.integers(800, 999))
def test_where_all_arrives_a_mean_that_has_passed_passes_still(received, least) -> None:
    before = verdict(received, least).verdict
    after = verdict([*received, 1_000], least).verdict
    assert after == "pass" or before != "pass"


def test_repeats_that_could_not_be_better_are_told() -> None:
    """Their deviation alone would raise the interval's width, and the mean by less."""
    shown = verdict([960, 961, 960, 959, 960, 1_000], 957)
    assert (shown.verdict, shown.note) == ("pass", BETTER_SINCE)
    assert shown.interval.repeats == 5
    assert verdict([960, 961, 960, 959, 960, 999], 957).verdict == "inconclusive"
    assert verdict([960, 961, 960, 959, 960, 1_000, 1_000], 957).note == BETTER_SINCE


def test_longer_delays_without_a_loss_would_weaken_it_otherwise() -> None:
    """Five repeats agree; of two more, one has many more of the longest delays."""
    calm, busy = (100, 20, 10, 0), (20, 20, 40, 50)
    five = losses([(calm, 0)] * 4 + [((99, 20, 11, 0), 0)])
    seven = losses([(calm, 0)] * 4 + [((99, 20, 11, 0), 0), (calm, 0), (busy, 0)])
    assert seven.compute_design_effect(CONFIDENCE) > 2 * five.compute_design_effect(CONFIDENCE)
    assert seven.compute_interval(CONFIDENCE, 7).most < five.compute_interval(CONFIDENCE, 5).most
