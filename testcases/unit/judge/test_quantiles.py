"""Quantiles over all repeats: bounds by order statistics, of as many items as are independent."""

from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import pytest

from qospec.engine.measure.tally import Delays
from qospec.judge.confidence import (
    EACH_FAILS,
    NOTHING_DRAWN,
    UNBOUNDED,
    UNTOLD,
    judge_repeats,
)
from qospec.judge.distribution import SMALL_SAMPLE_CORRECTION
from qospec.judge.means import MeanConstraint, round_values
from qospec.judge.quantiles import (
    EstimateConstraint,
    NeededBounds,
    Quantile,
    build_constraints,
    find_minimum_sample_size,
)
from qospec.judge.repeats import MeanReadings
from qospec.judge.statistics import compute_clopper_pearson, find_binomial_critical_value
from qospec.model.expression import Constant, Measured, Operation
from qospec.model.suite import Statement
from qospec.source import Source, Span
from qospec.units import PS_PER_S, RATIO, TIME

DEFAULT_CONFIDENCE = Fraction(95, 100)
SPAN = Span(Source("a.qos", "expect\n"), 0, 6)
P0, P10, P80, P90, P99, MEAN = (
    Measured(
        "",
        "f",
        None,
        part="user",
        metric="transfer_delay",
        statistic=name,
        dimension=TIME,
        text=f"f.{name}",
        least=Fraction(0),
    )
    for name in ("p0", "p10", "p80", "p90", "p99", "mean")
)


def delays(*times_ps: int) -> Delays:
    """Return delays of which each has a bucket of its own."""
    buckets = tuple((t, t + 1, times_ps.count(t)) for t in sorted(set(times_ps)))
    return Delays(
        len(times_ps), sum(times_ps), min_ps=min(times_ps), max_ps=max(times_ps), buckets=buckets
    )


def agreeing(repeats: int, times_ps: range) -> list[Delays]:
    """Return repeats that differ in short delays only, so each of their items counts as one."""
    first, *others = times_ps
    others.remove(first + 12)
    return [delays(first + n, first + 12 - n, *others) for n in range(repeats)]


class Seen(NamedTuple):
    """A repeat with these delays."""

    its: Delays
    drawn: bool = True

    def read(self, leaf: Measured) -> Fraction:
        return Fraction(self.its.read(leaf.statistic)) / PS_PER_S

    def read_delays(self, _leaf: Measured) -> Delays:
        return self.its


def judged(operator: str, *operands, repeats, confidence: Fraction = DEFAULT_CONFIDENCE):
    statement = Statement("expect", "", "", Operation(operator, operands), SPAN, confidence)
    return judge_repeats(statement, [Seen(repeat) for repeat in repeats], len(repeats))


def ps(value: int) -> Constant:
    return Constant(Fraction(value, PS_PER_S), TIME)


@pytest.mark.parametrize(
    ("sent", "ratio", "doubt"),
    [
        (10, "0.5", "0.05"),
        (100, "0.1", "0.05"),
        (298, "0.01", "0.05"),
        (1_000, "0.01", "0.001"),
        (200, "0.99", "0.05"),
        (100_000, "0.99999999", "0.05"),
    ],
)
def test_it_is_the_greatest_number_that_a_ratio_makes_unlikely(sent, ratio, doubt) -> None:
    number = find_binomial_critical_value(sent, Fraction(ratio), Fraction(doubt))
    # the bound of Clopper and Pearson of so many is below the ratio, that of one more is not
    if number >= 0:
        assert compute_clopper_pearson(number, sent, Fraction(doubt))[1] <= Fraction(ratio)
    assert compute_clopper_pearson(number + 1, sent, Fraction(doubt))[1] > Fraction(ratio)


@pytest.mark.parametrize(
    ("beyond", "confidence", "items"),
    [
        ("0.1", "0.95", 29),
        ("0.01", "0.95", 299),
        ("0.001", "0.95", 2_995),
        ("0.01", "0.99", 459),
        ("0.5", "0.875", 3),  # just so many: 0.5 ** 3 is the doubt
        ("1", "0.95", 1),
    ],
)
def test_so_many_independent_items_have_an_upper_bound(beyond, confidence, items) -> None:
    assert find_minimum_sample_size(Fraction(beyond), Fraction(confidence)) == items
    assert find_binomial_critical_value(items, Fraction(beyond), 1 - Fraction(confidence)) == 0
    assert find_binomial_critical_value(items - 1, Fraction(beyond), 1 - Fraction(confidence)) == -1


def test_the_least_delay_is_below_all_and_has_nothing_below_it() -> None:
    assert [
        find_binomial_critical_value(5, Fraction(ratio), 1 - DEFAULT_CONFIDENCE) for ratio in (0, 1)
    ] == [-1, 4]
    repeats = [delays(*range(10, 26), 26 + n, 38 - n) for n in range(5)]
    lower, upper = Quantile(repeats, Fraction(0)).compute_interval(DEFAULT_CONFIDENCE, 5)
    assert (lower, upper * PS_PER_S) == (None, 11)
    assert judged("<=", P0, ps(11), repeats=repeats).verdict == "pass"


def test_the_bounds_of_independent_items_are_two_of_them() -> None:
    # 100 delays of 1 to 100 ps, five times: of 500 are 38 or fewer beyond p90 with less than 5 %
    found = Quantile(agreeing(5, range(1, 101)), Fraction(9, 10))
    assert found.count_independent(DEFAULT_CONFIDENCE, 5) == 500
    few, many = (
        find_binomial_critical_value(500, Fraction(1, 10), 1 - DEFAULT_CONFIDENCE),
        500 - find_binomial_critical_value(500, Fraction(9, 10), 1 - DEFAULT_CONFIDENCE),
    )
    assert (few, many) == (38, 62)
    # each value comes five times: the 39th longest is 93, and its bucket ends at 94; the 62nd is 88
    lower, upper = found.compute_interval(DEFAULT_CONFIDENCE, 5)
    assert (lower * PS_PER_S, upper * PS_PER_S) == (88, 94)
    assert found.value * PS_PER_S == Fraction(181, 2)  # the middle of the bucket of 90


def test_repeats_of_which_all_delays_are_the_same_count_as_one_each() -> None:
    """Phases that are drawn once in a repeat decide all that a constant flow meets there."""
    most_often = Quantile([delays(*[7] * n) for n in (20, 21, 20, 20, 21)], Fraction(9, 10))
    assert most_often.count_independent(DEFAULT_CONFIDENCE, 5) == 5
    at_random = Quantile([delays(*[7] * n) for n in (20, 27, 18, 22, 13)], Fraction(9, 10))
    assert at_random.count_independent(DEFAULT_CONFIDENCE, 5) == 100
    found = Quantile([delays(*range(1, 101))] * 5, Fraction(9, 10))
    assert found.count_independent(DEFAULT_CONFIDENCE, 5) == 5
    assert found.compute_interval(DEFAULT_CONFIDENCE, 5).most is None
    assert found.write_note(
        DEFAULT_CONFIDENCE, NeededBounds(lower=False, upper=True), "delays"
    ) == (
        "500 delays count as 5 independent ones, because the repeats do not differ,"
        " and an upper bound needs 29"
    )
    assert found.compute_interval(DEFAULT_CONFIDENCE, 29).most is not None


def test_repeats_that_differ_count_less() -> None:
    apart = [delays(*[10] * 90, *[20] * 10)] * 3 + [
        delays(*[10] * 80, *[20] * 20),
        delays(*[10] * 100),
    ]
    found = Quantile(apart, Fraction(9, 10))
    # the variance of the late ones is 50, of independent ones it would be 9: 5.56; and Student's
    # t of four degrees of freedom is wider by a factor of which the square is 1.68
    effect = Fraction(50, 9) * Fraction("1.6797")
    taken = 1 + (effect - 1) * (1 + SMALL_SAMPLE_CORRECTION * effect / 50)
    assert found.count_independent(DEFAULT_CONFIDENCE, 5) == pytest.approx(
        500 / float(taken), abs=1
    )


@pytest.mark.parametrize(
    ("operator", "bound", "verdict"),
    [
        ("<", 95, "pass"),
        ("<", 94, "inconclusive"),
        ("<=", 94, "pass"),
        ("<", 88, "fail"),
        ("<=", 88, "inconclusive"),
        (">", 87, "pass"),
        (">", 88, "inconclusive"),
        (">=", 88, "pass"),
        (">", 94, "fail"),
    ],
)
def test_a_quantile_is_judged_by_its_bounds(operator, bound, verdict) -> None:
    repeats = agreeing(5, range(1, 101))
    assert judged(operator, P90, ps(bound), repeats=repeats).verdict == verdict
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]
    shown = judged(mirrored, ps(bound), P90, repeats=repeats)
    assert (shown.verdict, shown.comparison) == (verdict, operator)


@pytest.mark.parametrize(("width", "verdict"), [(4, "pass"), (2, "inconclusive")])
def test_within_is_judged_at_both_sides(width, verdict) -> None:
    repeats = agreeing(5, range(1, 101))
    assert judged("within", P90, ps(width), ps(91), repeats=repeats).verdict == verdict
    assert judged("within", P90, ps(2), ps(50), repeats=repeats).verdict == "fail"


def test_the_tolerance_is_shown_as_written_and_beside_a_measured_target_as_its_width() -> None:
    repeats, tenth = agreeing(5, range(1, 101)), Constant(Fraction(1, 10), RATIO)
    shown = judged("within", P90, ps(4), P80, repeats=repeats)
    assert (shown.tolerance.value, shown.tolerance.dimension) == (Fraction(4, PS_PER_S), TIME)
    shown = judged("within share", P90, tenth, ps(91), repeats=repeats)
    assert (shown.tolerance.value, shown.tolerance.dimension) == (Fraction(1, 10), RATIO)
    shown = judged("within share", P90, tenth, P80, repeats=repeats)
    assert (shown.tolerance.value, shown.tolerance.dimension) == (
        Fraction(161, 20 * PS_PER_S),
        TIME,
    )
    assert shown.measured.approximate


def test_a_quantile_of_several_trials_of_a_repeat_is_a_mean_of_values() -> None:
    repeats = [MeanReadings([Seen(seen)]) for seen in agreeing(5, range(1, 101))]
    asked = Operation("<", (Operation("-", (P90, MEAN), TIME), ps(45)))
    statement = Statement("expect", "", "", asked, SPAN, DEFAULT_CONFIDENCE)
    shown = judge_repeats(statement, repeats, 5)
    assert (shown.verdict, shown.note) == ("inconclusive", UNBOUNDED)
    assert shown.measured.approximate


def test_too_few_items_have_no_upper_bound_and_say_how_many_are_needed() -> None:
    shown = judged("<", P99, ps(10**6), repeats=agreeing(5, range(1, 41)))
    assert (shown.verdict, shown.interval.upper.value) == ("inconclusive", None)
    assert shown.note == (
        "3 more repeats would probably decide; "
        "200 delays count as 200 independent ones, and an upper bound needs 299"
    )
    enough = judged("<", P99, ps(10**6), repeats=agreeing(8, range(1, 41)))
    assert (enough.verdict, enough.note) == ("pass", "320 delays count as 320 independent ones")
    above = judged(">", P99, ps(30), repeats=agreeing(5, range(1, 41)))
    assert (above.verdict, above.note) == ("pass", "200 delays count as 200 independent ones")


def test_a_low_quantile_has_no_lower_bound_before_enough_items_are_below_it() -> None:
    repeats = [delays(*range(1, 4), 4 + n, 12 - n) for n in range(5)]
    above = judged(">", P10, ps(0), repeats=repeats)
    assert above.verdict == "inconclusive"
    assert "25 delays count as 25 independent ones, and a lower bound needs 29" in above.note


def test_repeats_that_differ_in_short_delays_count_less_for_a_low_quantile() -> None:
    """They agree in the longest delay, which says nothing of the shortest."""
    repeats = [delays(*[1] * low, *[9] * (100 - low)) for low in (0, 0, 50, 0, 0)]
    # 10 % are short; their variance of 500 is that of 9 independent ones, 55.6 times as large
    assert Quantile(repeats, Fraction(1, 10)).count_independent(DEFAULT_CONFIDENCE, 5) <= 5


def test_where_nothing_is_drawn_a_quantile_is_what_was_measured() -> None:
    same = [Seen(delays(1, 2, 3), drawn=False)] * 5
    for bound, verdict in ((3, "fail"), (4, "pass")):
        statement = Statement(
            "expect", "", "", Operation("<", (P90, ps(bound))), SPAN, DEFAULT_CONFIDENCE
        )
        shown = judge_repeats(statement, same, 5)
        assert (shown.verdict, shown.note, shown.interval) == (verdict, NOTHING_DRAWN, None)


def test_each_of_two_measured_sides_has_its_share_of_the_doubt() -> None:
    repeats = agreeing(6, range(1, 101))
    shown = judged("<", P90, Operation("+", (MEAN, ps(70)), TIME), repeats=repeats)
    assert (shown.verdict, shown.bound.value) == ("pass", 0)
    assert "each side has a confidence interval of its own" in shown.note
    # 600 of them at 97.5 %: the 46th longest is 93; six equal means of 50.5 are at least 0.025 **
    # (1 / 6) of that
    upper = 94 - 50.5 * 0.025 ** (1 / 6) - 70
    assert float(shown.interval.upper.value * PS_PER_S) == pytest.approx(upper)


@pytest.mark.parametrize(
    ("asked", "bound", "verdict"),
    [
        ("-", 393, "fail"),  # of 5,000 delays p90 is at least 893 with 95 %, 892 with 97.5 %
        ("abs", 393, "inconclusive"),
        ("abs", 392, "fail"),
    ],
)
def test_without_a_sign_a_difference_may_be_wrong_at_either_end(asked, bound, verdict) -> None:
    difference = Operation("-", (P90, ps(500)), TIME)
    left = difference if asked == "-" else Operation(asked, (difference,), TIME)
    assert judged("<", left, ps(bound), repeats=agreeing(5, range(1, 1001))).verdict == verdict


@pytest.mark.parametrize(
    ("bound", "verdict"),
    [("0.4", "pass"), ("0.1", "inconclusive"), ("-0.4", "fail")],
)
def test_a_difference_that_may_be_negative_is_divided_and_multiplied(bound, verdict) -> None:
    # 600 delays at 98.3 %: p90 is between 88 and 94, p80 between 76 and 84
    repeats, change = agreeing(6, range(1, 101)), Operation("-", (P90, P80), TIME)
    share = Operation("/", (change, P80), RATIO)
    asked = Constant(Fraction(bound), RATIO)
    assert judged("<", share, asked, repeats=repeats).verdict == verdict
    turned = Operation("*", (Constant(Fraction(-2), RATIO), share), RATIO)
    less = Constant(-2 * Fraction(bound), RATIO)
    assert judged(">", turned, less, repeats=repeats).verdict == verdict


def test_the_note_of_several_quantiles_names_them_and_their_share_of_the_doubt() -> None:
    # 0.99 ** 368 < 2.5 %, of 10 in 100 it takes 36
    twice = Operation("*", (Constant(Fraction(2), RATIO), P90), TIME)
    note = judged("<", P99, twice, repeats=agreeing(6, range(1, 56))).note
    counted = "330 delays count as 330 independent ones"
    assert f"`f.p99`: {counted}, and an upper bound needs 368; `f.p90`: {counted};" in note
    enough = judged(
        "<", P90, Operation("+", (P80, ps(50)), TIME), repeats=agreeing(6, range(1, 56))
    )
    assert enough.note.count(counted) == 1


def test_a_quantile_that_is_too_near_the_bound_is_no_mean() -> None:
    far = judged("<", P90, ps(90), repeats=agreeing(5, range(1, 101))).note
    assert far.startswith(f"{UNTOLD}; {EACH_FAILS.format(5)}; ")


def test_a_quantile_with_too_few_items_even_in_very_many_repeats_is_not_near_its_bound() -> None:
    p99_99 = replace(P99, statistic="p99_99")
    few = judged("<", p99_99, ps(10**6), repeats=[delays(1, 2)] * 5).note
    assert few.startswith("even 10_000 repeats would have too few independent delays; ")
    assert "and an upper bound needs 29_956" in few
    seen = [delays(*[1] * 9_998, 9, 9)] * 5
    missed = judged("within", p99_99, ps(1), ps(6), repeats=seen)
    assert missed.note.startswith("even 10_000 repeats would hardly decide: they are too close")
    met = judged("<=", p99_99, ps(9), repeats=seen)
    assert met.measured.value == met.bound.value
    assert met.note.startswith("even 10_000 repeats would have too few independent delays; ")


def test_delays_of_two_thresholds_show_how_much_they_depend_on_each_other() -> None:
    """All have as many items beyond the quantile; 4 in 100 count for their squares of 80 at 20 %.

    Independent items have 7.2, 12.8 and 19.2 at 10, 20 and 60 %, so 80 / 39.2 times the 1.6797 of
    five repeats is the design effect, and more by 5 over the 10 beyond the quantile over it.
    """
    slow = delays(*[1] * 8, *[30] * 10, *[40] * 2)
    usual = [delays(*[1] * 8, *[20] * 10, *[40] * 2)] * 4
    effect = 80 / 39.2 * 1.6797
    effect = 1 + (effect - 1) * (1 + 5 * effect / 10)
    found = Quantile([slow, *usual], Fraction(9, 10)).count_independent(DEFAULT_CONFIDENCE, 5)
    assert found == int(100 / effect)


def test_what_each_repeat_shows_by_far_fails() -> None:
    """Beyond 10 is a share of 2 % in each, or more in one: with 95 % the mean is above 1.1 %."""
    alike = [delays(*[1] * 98, 20, 20)] * 4
    shown = judged("<", P99, ps(10), repeats=[delays(*[1] * 50, *[20] * 50), *alike])
    assert shown.verdict == "fail"
    rarer = [delays(*[1] * 99, 20)] * 4
    shown = judged("<", P99, ps(10), repeats=[delays(*[1] * 50, *[20] * 50), *rarer])
    assert shown.verdict == "inconclusive"


def test_one_item_is_one_and_what_are_no_delays_are_values() -> None:
    all_or_none = [delays(*[1] * low, *[9] * (100 - low)) for low in (0, 0, 100, 0, 0)]
    note = judged(">", P10, ps(10), repeats=all_or_none).note
    assert "500 delays count as 1 independent one, and a lower bound needs 29" in note
    jitter = replace(P99, metric="jitter", text="f.jitter.p99")
    note = judged("<", jitter, ps(10**6), repeats=agreeing(5, range(1, 41))).note
    assert "200 values count as 200 independent ones, and an upper bound needs 299" in note


def test_a_quantile_of_nothing_decides_nothing() -> None:
    empty = [delays(1), delays(2), Delays(), delays(3), delays(4)]

    class Empty(Seen):
        def read(self, leaf: Measured) -> Fraction | None:
            return super().read(leaf) if self.its.count else None

    statement = Statement("expect", "", "", Operation("<", (P90, ps(5))), SPAN, DEFAULT_CONFIDENCE)
    shown = judge_repeats(statement, [Empty(group) for group in empty], 5)
    assert (shown.verdict, shown.note) == ("inconclusive", "no data in repeat 3")


@pytest.mark.parametrize(("share", "middle"), [("0", 3), ("0.5", 11), ("0.9", 19), ("1", 20)])
def test_the_value_is_the_least_delay_that_no_more_than_the_share_are_below(share, middle) -> None:
    """Of 1 to 10 ps in buckets of 1 ps, the last one of 0: twice the middle of its bucket."""
    found = Quantile([delays(*range(1, 11))], Fraction(share))
    assert found.value * PS_PER_S * 2 == middle


def test_of_no_delays_the_value_is_nothing() -> None:
    assert Quantile([Delays()], Fraction(1, 2)).value == 0


def test_the_bounds_of_other_numbers_of_repeats_are_at_the_same_shares() -> None:
    """Of 1,000 are 84 or fewer beyond p90 with less than 5 %, so 42 of the 500 that there are."""
    found = Quantile(agreeing(5, range(1, 101)), Fraction(9, 10))
    doubt = 1 - DEFAULT_CONFIDENCE
    few = find_binomial_critical_value(1_000, Fraction(1, 10), doubt)
    many = 1_000 - find_binomial_critical_value(1_000, Fraction(9, 10), doubt)
    assert (few, many) == (84, 117)
    # each value comes five times: the 43rd longest is 92, and its bucket ends at 93; the 59th is 89
    lower, upper = found.compute_interval(DEFAULT_CONFIDENCE, 10)
    assert (lower * PS_PER_S, upper * PS_PER_S) == (89, 93)


def test_the_least_of_all_may_be_a_lower_bound() -> None:
    """0.96 ** 80 is less than 5 %: of 80 items the least is below p4."""
    repeats = [delays(*range(1, 15), 20 + n, 32 - n) for n in range(5)]
    found = Quantile(repeats, Fraction(1, 25))
    assert found.count_independent(DEFAULT_CONFIDENCE, 5) == 80
    assert find_binomial_critical_value(80, Fraction(1, 25), 1 - DEFAULT_CONFIDENCE) == 0
    assert found.compute_interval(DEFAULT_CONFIDENCE, 5).least * PS_PER_S == 1


def test_as_many_items_as_are_needed_suffice() -> None:
    """Repeats that do not differ count as one each; 29 have an upper bound of p90."""
    upper = NeededBounds(lower=False, upper=True)
    for repeats, words in ((29, ""), (28, ", and an upper bound needs 29")):
        found = Quantile([delays(*range(1, 101))] * repeats, Fraction(9, 10))
        assert found.suffices(DEFAULT_CONFIDENCE, upper, repeats) == (words == "")
        assert found.write_note(DEFAULT_CONFIDENCE, upper, "delays") == (
            f"{repeats}00 delays count as {repeats} independent ones,"
            f" because the repeats do not differ{words}"
        )


def test_of_two_bounds_the_one_that_needs_more_is_named() -> None:
    """One item is a lower bound of p99, with any confidence up to 99 %."""
    found = Quantile([delays(*range(1, 101))] * 5, Fraction(99, 100))
    note = found.write_note(DEFAULT_CONFIDENCE, NeededBounds(lower=True, upper=True), "delays")
    assert note.endswith(", and an upper bound needs 299")


def test_a_low_quantile_counts_as_the_high_one_of_mirrored_delays() -> None:
    high = [delays(*[10] * (100 - n), *[20] * n) for n in (10, 10, 10, 20, 0)]
    low = [delays(*[20] * (100 - n), *[10] * n) for n in (10, 10, 10, 20, 0)]
    counts = [
        Quantile(repeats, Fraction(share)).count_independent(DEFAULT_CONFIDENCE, 5)
        for repeats, share in ((high, "0.9"), (low, "0.1"))
    ]
    assert counts[0] == counts[1] < 500


def test_both_sides_of_within_may_be_reached() -> None:
    within = Operation("within", (P90, ps(4), ps(91)))
    assert [constraint.strict for constraint in build_constraints(within, {}, 5)] == [False, False]


def test_not_to_differ_takes_all_that_is_measured() -> None:
    same = MeanConstraint(round_values([Fraction(3)] * 5))
    other = MeanConstraint(round_values([Fraction(n) for n in range(5)]))
    expression = Operation("-", (P90, MEAN), TIME)
    for second, identical in ((same, True), (other, False)):
        asked = EstimateConstraint(
            expression, strict=False, estimates={P90: same, MEAN: second}, repeats=5
        )
        assert asked.identical == identical


def test_values_that_differ_are_rounded_and_others_stay_exact() -> None:
    third = Fraction(1, 3)
    assert MeanConstraint(round_values([third] * 3)).values == [third] * 3
    rounded = MeanConstraint(round_values([third, 2 * third])).values
    assert rounded == [
        Fraction(333333333333333333333, 10**21),
        Fraction(666666666666666666667, 10**21),
    ]
