"""Verdicts: a lattice, three-valued conditions, and what is shown of them."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from qospec.judge.verdict import VERDICTS, Judgement, Side, find_deciding, find_worst, judge
from qospec.model.bounds import Limits
from qospec.model.expression import Constant, Expression, Measured, Operation
from qospec.model.suite import Statement
from qospec.source import Source, Span
from qospec.units import CELLS, RATIO

SPAN = Span(Source("a.qos", "expect f.lost == 0\n"), 0, 6)


def measured(metric: str) -> Measured:
    return Measured(
        "", "f", None, part="user", metric=metric, statistic="", dimension=CELLS, text=""
    )


LOST, SENT = measured("lost"), measured("sent")


def constant(value: object, dimension: object = CELLS) -> Constant:
    return Constant(Fraction(value), dimension)


def judged(expression: Expression, kind: str = "expect", **read: int | None) -> Judgement:
    def reader(leaf: Measured) -> Fraction | None:
        value = read[leaf.metric]
        return None if value is None else Fraction(value)

    return judge(Statement(kind, "", "", expression, SPAN), reader)


def test_the_worst_verdict_wins_in_any_order() -> None:
    for order in permutations(VERDICTS):
        assert find_worst(order) == "error"
    assert find_worst(["pass", "inconclusive", "pass"]) == "inconclusive"
    assert find_worst(["inconclusive", "fail"]) == "fail"


def test_nothing_judged_is_not_a_pass() -> None:
    assert find_worst([]) == "inconclusive"


@pytest.mark.parametrize(
    ("kind", "lost", "verdict"),
    [
        ("expect", 0, "pass"),
        ("expect", 1, "fail"),
        ("expect", None, "inconclusive"),
        ("require", 0, "pass"),
        ("require", 1, "inconclusive"),
        ("require", None, "inconclusive"),
    ],
)
def test_a_statement_s_verdict(kind: str, lost: int | None, verdict: str) -> None:
    assert judged(Operation("==", (LOST, constant(0))), kind, lost=lost).verdict == verdict


def test_false_decides_an_and_even_without_data_on_the_other_side() -> None:
    both = Operation(
        "and", (Operation("==", (LOST, constant(0))), Operation(">", (SENT, constant(0))))
    )
    assert judged(both, lost=None, sent=0).verdict == "fail"
    assert judged(both, lost=None, sent=1).verdict == "inconclusive"


def test_the_part_of_an_and_that_failed_is_the_one_shown() -> None:
    both = Operation(
        "and", (Operation("==", (LOST, constant(0))), Operation(">", (SENT, constant(5))))
    )
    shown = judged(both, lost=0, sent=3)
    assert (shown.measured.value, shown.comparison, shown.bound.value) == (3, ">", 5)


def test_what_a_case_is_exempt_from_measures_nothing() -> None:
    big = Operation(">", (constant(1_518), constant(64)))
    none_lost = Operation("==", (LOST, constant(0)))
    exempt = judged(Operation("or", (big, none_lost)), lost=3)
    assert (exempt.verdict, exempt.measured, exempt.comparison) == ("pass", None, "")
    both = judged(Operation("or", (big, none_lost)), lost=0)
    assert (both.verdict, both.measured.value, both.comparison) == ("pass", 0, "==")
    bound = judged(Operation("or", (Operation("not", (big,)), none_lost)), lost=3)
    assert (bound.verdict, bound.measured.value) == ("fail", 3)
    assert judged(big).measured.value == 1_518  # as of a published sum


def test_a_bound_on_the_left_is_shown_as_the_bound() -> None:
    shown = judged(Operation("<", (constant(5), SENT)), sent=3)
    assert (shown.verdict, shown.measured.value, shown.comparison, shown.bound.value) == (
        "fail",
        3,
        ">",
        5,
    )


def test_within_a_share_is_of_the_target_and_a_width_is_itself() -> None:
    share = Operation("within share", (SENT, constant(Fraction(1, 10), RATIO), constant(100)))
    assert judged(share, sent=110).verdict == "pass"
    assert judged(share, sent=111).verdict == "fail"
    width = Operation("within", (SENT, constant(2), constant(100)))
    assert judged(width, sent=98).verdict == "pass"
    shown = judged(width, sent=97)
    assert (shown.verdict, shown.comparison, shown.tolerance.value) == ("fail", "within", 2)


def test_within_a_measured_share_is_of_the_target() -> None:
    within = Operation("within share", (SENT, Operation("/", (LOST, SENT), RATIO), constant(100)))
    assert judged(within, sent=110, lost=11).verdict == "pass"
    shown = judged(within, sent=110, lost=10)
    assert (shown.verdict, shown.comparison, shown.tolerance.value) == (
        "fail",
        "within",
        Fraction(1, 11),
    )


def test_what_may_be_in_a_list_without_data_is_undecided() -> None:
    listed = Operation("in", (SENT, Operation("list", (LOST, constant(5)))))
    assert judged(listed, sent=5, lost=None).verdict == "pass"
    assert judged(listed, sent=4, lost=None).verdict == "inconclusive"
    assert judged(listed, sent=None, lost=5).verdict == "inconclusive"


def test_a_value_that_is_not_in_a_list_is_shown_with_the_list() -> None:
    listed = Operation("in", (SENT, Operation("list", (LOST, constant(20_000)))))
    shown = judged(listed, sent=4, lost=3)
    assert (shown.verdict, shown.measured.value, shown.comparison, shown.bound.value) == (
        "fail",
        4,
        "in",
        "[3 cell, 20_000 cell]",
    )
    assert judged(listed, sent=4, lost=None).bound.value == "[no data, 20_000 cell]"


def test_a_division_by_nothing_measured_is_no_data() -> None:
    ratio = Operation("/", (LOST, SENT), RATIO)
    assert (
        judged(Operation("<", (ratio, constant(1, RATIO))), lost=0, sent=0).verdict
        == "inconclusive"
    )


def test_a_report_shows_its_value_and_has_no_verdict() -> None:
    shown = judged(LOST, "report", lost=7)
    assert (shown.verdict, shown.measured.value) == (None, 7)


def test_least_greatest_and_size_of_what_is_measured() -> None:
    least = Operation("min", (LOST, SENT, constant(4)), CELLS)
    greatest = Operation("max", (LOST, SENT, constant(4)), CELLS)
    size = Operation("abs", (Operation("-", (LOST, SENT), CELLS),), CELLS)
    for expression, value in ((least, 2), (greatest, 9), (size, 7)):
        assert (
            judged(Operation("==", (expression, constant(value))), lost=2, sent=9).verdict == "pass"
        )
        assert (
            judged(Operation("==", (expression, constant(value))), lost=2, sent=None).verdict
            == "inconclusive"
        )


def test_a_broken_invariant_is_an_error() -> None:
    never = Operation("==", (LOST, constant(0)))
    assert judged(never, "invariant", lost=1).verdict == "error"
    assert judged(never, "invariant", lost=0).verdict == "pass"


def compared(value, comparison, limits=None, tolerance=None) -> Judgement:
    number = None if value is None else Fraction(value)
    side = Side(number, CELLS, limits=limits)
    return Judgement("pass", side, comparison, Side(Fraction(10), CELLS), tolerance)


@pytest.mark.parametrize(
    ("comparison", "values", "number"),
    [
        ("<", (3, 9, 5), 1),
        ("<=", (30, 11, 30), 0),
        (">=", (48, 45, 46), 1),
        (">", (1, 5, 0), 2),
        ("==", (10, 10), 0),
        ("==", (12, 5), 1),
        ("!=", (12, 5), 0),
        ("", (12, 5), 0),
    ],
)
def test_of_repeats_the_one_nearest_to_failing_decides(comparison, values, number) -> None:
    assert find_deciding([compared(value, comparison) for value in values]) == number


@pytest.mark.parametrize(
    ("values", "tolerances", "dimension", "number"),
    [
        ((11, 7, 12), (4, 4, 4), CELLS, 1),
        ((11, 12), (4, 8), CELLS, 0),
        ((11, 13), (4, "5.5"), CELLS, 1),
        ((11, 12), ("0.4", "0.8"), RATIO, 0),  # of 10
        ((12, 11), (None, 4), CELLS, 1),  # how near the first is cannot be told
    ],
)
def test_of_tolerances_what_is_nearest_to_exceeding_its_own_decides(
    values, tolerances, dimension, number
) -> None:
    widths = [Side(tolerance and Fraction(tolerance), dimension) for tolerance in tolerances]
    judgements = [
        compared(value, "within", tolerance=width)
        for value, width in zip(values, widths, strict=True)
    ]
    assert find_deciding(judgements) == number


def test_a_share_of_an_unknown_target_does_not_tell_how_near_it_is() -> None:
    share = Side(Fraction(1, 10), RATIO)
    unknown = Side(None, CELLS, limits=Limits(None, Fraction(10)))
    without = replace(compared(12, "within", tolerance=share), bound=unknown)
    assert find_deciding([without, compared(10, "within", tolerance=share)]) == 1


def test_of_intervals_the_end_nearest_to_failing_decides() -> None:
    its = [Limits(*map(Fraction, ends)) for ends in ((12, 15), (11, 30), (11, 12))]
    assert find_deciding([compared(interval.least, ">=", interval) for interval in its]) == 1
    assert find_deciding([compared(interval.least, "<=", interval) for interval in its]) == 1
    open_ended = [*its, Limits(Fraction(11), None)]
    assert find_deciding([compared(interval.least, "<=", interval) for interval in open_ended]) == 3


def test_what_has_no_data_does_not_decide_before_what_has() -> None:
    assert find_deciding([compared(None, "<"), compared(5, "<")]) == 1


def test_what_is_read_from_a_histogram_in_part_is_approximate() -> None:
    mean, tail = (replace(measured("transfer_delay"), statistic=name) for name in ("mean", "p99"))
    for operands, approximate in (
        ((tail, mean), True),
        ((mean, tail), True),
        ((mean, mean), False),
    ):
        shown = judged(Operation("-", operands), "report", transfer_delay=3)
        assert shown.measured.approximate == approximate
