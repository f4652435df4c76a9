"""What searches have found, over all repeats: intervals, of which a bound may be missing."""

from fractions import Fraction
from math import comb

import pytest

from qospec.judge.confidence import OPEN, UNBOUNDED, describe_more_repeats, judge_repeats
from qospec.judge.found import read_found
from qospec.judge.found_repeats import FoundConstraint
from qospec.judge.repeats import ConfidenceLevels, MoreRepeats
from qospec.model.expression import Constant, Found, Operation
from qospec.model.suite import GoalResult, Statement
from qospec.source import Source, Span
from qospec.units import CELL_RATE

SPAN = Span(Source("a.qos", "expect\n"), 0, 6)
NDR, PDR = (Found(name, "load", CELL_RATE, f"{name}.rate") for name in ("ndr", "pdr"))


def limit(value):
    return Constant(Fraction(value), CELL_RATE)


class Repeat:
    """A repeat that has found bounds of NDR and PDR."""

    drawn = True

    def __init__(self, ndr, pdr=(100, 110)) -> None:
        ends = {"ndr": ndr, "pdr": pdr}
        self._found = {
            name: GoalResult(*(None if end is None else Fraction(end) for end in pair))
            for name, pair in ends.items()
        }

    def read(self, leaf):
        return read_found(leaf, self._found)

    def read_delays(self, leaf):  # noqa: ARG002
        return None


def judged(operator, one, other, repeats):
    asked = Operation(operator, (one, other))
    statement = Statement("expect", "e", "e", asked, SPAN, confidence=Fraction(95, 100))
    return judge_repeats(statement, repeats, len(repeats))


@pytest.mark.parametrize(
    ("operator", "than", "verdict"),
    [(">=", 80, "pass"), (">=", 120, "fail"), ("<=", 120, "pass"), ("<=", 80, "fail")],
)
def test_the_worse_ends_pass_and_the_better_ones_fail(operator, than, verdict):
    repeats = [Repeat((100 + i, 105 + i)) for i in range(6)]
    assert judged(operator, NDR, limit(than), repeats).verdict == verdict


@pytest.mark.parametrize(
    ("operator", "other"),
    [("<=", limit(120)), (">=", limit(120)), ("<=", PDR), (">=", PDR), ("<", PDR)],
)
def test_no_repeats_help_where_no_load_was_bad(operator, other):
    """NDR and PDR are at least 100, and how far above is unknown: also of their difference."""
    result = judged(operator, NDR, other, [Repeat((100, None), (100, None))] * 6)
    assert (result.verdict, result.note.partition(";")[0]) == ("inconclusive", OPEN)


def test_a_lower_bound_alone_decides_where_it_is_enough():
    repeats = [Repeat((100 + i, None)) for i in range(6)]
    assert judged(">=", NDR, limit(80), repeats).verdict == "pass"
    assert judged("<=", NDR, limit(80), repeats).verdict == "fail"


def test_what_is_shown_has_the_limits_of_all_repeats():
    repeats = [Repeat((100 + i, 105 + i)) for i in range(6)]
    assert judged(">=", NDR, limit(80), repeats).measured.limits[:2] == (100, 110)
    repeats[2] = Repeat((90, None))
    assert judged(">=", NDR, limit(80), repeats).measured.limits[:2] == (90, None)


def test_the_load_is_what_was_measured_on_either_side_of_the_comparison():
    repeats = [Repeat((100, None))] * 3
    for operator, one, other in ((">=", NDR, limit(80)), ("<=", limit(80), NDR)):
        result = judged(operator, one, other, repeats)
        assert (result.measured.value, result.comparison, result.bound.value) == (100, ">=", 80)


def test_of_two_loads_the_difference_in_each_repeat_is_shown():
    result = judged("<=", NDR, PDR, [Repeat((100 + i, 110), (105, 120)) for i in range(5)])
    assert (result.measured.value, result.bound.value) == (-3, 0)
    assert result.measured.limits[:2] == (-20, 5)


@pytest.mark.parametrize("ends", [(800, 810), (26, None)])
def test_equal_results_on_a_grid_decide_like_others(ends):
    """Five that hold are less likely than 5 % if fewer than half of all repeats do: 1 in 32."""
    result = judged(">=", NDR, limit(20), [Repeat(ends)] * 5)
    assert (result.verdict, result.note) == ("pass", "the repeats do not differ")
    assert result.measured.limits[:2] == ends
    result = judged("<=", NDR, limit(20), [Repeat(ends)] * 5)
    assert (result.verdict, result.note) == ("fail", "the repeats do not differ")


def test_what_no_repeat_decides_is_not_decided_by_more():
    result = judged(">=", NDR, limit(105), [Repeat((100, 110))] * 6)
    assert (result.verdict, result.note) == ("inconclusive", UNBOUNDED)


def held(count, repeats):
    return [Repeat((100, 105))] * count + [Repeat((50, 55))] * (repeats - count)


@pytest.mark.parametrize("repeats", [5, 6, 9, 14, 30])
def test_a_criterion_that_holds_in_half_of_all_repeats_passes_no_more_often_than_stated(repeats):
    passed = sum(
        comb(repeats, count)
        for count in range(repeats + 1)
        if judged(">=", NDR, limit(80), held(count, repeats)).verdict == "pass"
    )
    assert 0 < passed / 2**repeats <= 0.05


def test_more_repeats_are_asked_for_where_they_would_decide():
    """By Clopper and Pearson it holds in 58.2 to 90.7 % of repeats, with 80 % to either side.

    If it holds in 9 of 10, 1 more suffices; if in 72 of 124, where 52 may fail, it takes 115.
    """
    result = judged(">=", NDR, limit(80), held(7, 9))
    assert result.verdict == "inconclusive"
    assert result.note == "1 to 115 more repeats would probably decide"


@pytest.mark.parametrize(
    ("held", "failed", "repeats", "more"),
    [(4, 0, 4, (1, 26)), (5, 1, 6, (2, 124)), (1, 5, 6, (1, 90))],
)
def test_more_repeats_are_for_the_confidence_that_is_needed_to_pass_or_to_fail(
    held, failed, repeats, more
):
    levels = ConfidenceLevels(passing=Fraction(95, 100), failing=Fraction(90, 100))
    constraint = FoundConstraint(held, failed, repeats, unknown=0, identical=False)
    assert (constraint.holds(levels), constraint.count_more_repeats(levels)) == (None, more)


@pytest.mark.parametrize(
    ("held", "failed", "unknown", "is_open"),
    [(0, 0, 1, True), (3, 1, 2, True), (4, 0, 2, False), (0, 4, 1, False), (1, 2, 0, False)],
)
def test_a_missing_bound_leaves_open_what_no_majority_of_repeats_decides(
    held, failed, unknown, is_open
):
    assert FoundConstraint(held, failed, 6, unknown, identical=False).is_open is is_open


def test_what_is_shown_is_the_median_and_its_interval_from_worse_to_better_ends():
    result = judged(">=", NDR, limit(80), [Repeat((100 + i, 110 + i)) for i in range(5)])
    assert (result.measured.value, result.interval.lower.value) == (102, 100)
    assert result.interval.upper.value == 114


def test_a_repeat_without_a_lower_bound_counts_against_what_the_others_hold():
    repeats = [Repeat((None, 10)), *[Repeat((100 + i, 110)) for i in range(8)]]
    result = judged(">=", NDR, limit(80), repeats)
    assert (result.verdict, result.interval.lower.value) == ("pass", 100)
    assert judged(">=", NDR, limit(80), repeats[:5]).verdict == "inconclusive"


def test_what_is_shown_without_some_bounds_is_the_median_of_all_repeats():
    """A load without a lower bound is below all others."""
    six = [*[Repeat((None, 10))] * 2, *[Repeat((100 + i, 110)) for i in range(4)]]
    assert judged(">=", NDR, limit(80), six).measured.value == Fraction(201, 2)
    assert judged(">=", NDR, limit(80), [*six[:2], *six[:3]]).measured.value is None
    shown = judged(">=", NDR, limit(80), [*[Repeat((None, 10))] * 3, *six[2:5]])
    assert (shown.measured.value, shown.bound.value) == (None, 80)
    one = judged(">=", NDR, limit(80), [*six[:2] * 2, six[2]])
    assert (one.verdict, one.measured.value, one.bound.value) == ("inconclusive", None, 80)


def test_one_more_repeat_is_named_in_the_singular():
    assert judged(">=", NDR, limit(80), held(4, 4)).more == (1, 26)
    assert describe_more_repeats(MoreRepeats(1, 1)) == "1 more repeat would probably decide"


def test_a_bound_is_judged_like_the_load():
    lower = Found("ndr", "lower", CELL_RATE, "ndr.lower")
    assert judged(">=", lower, limit(80), [Repeat((100, 110))] * 5).verdict == "pass"
    assert judged(">=", lower, limit(101), [Repeat((100, 110))] * 5).verdict == "fail"
