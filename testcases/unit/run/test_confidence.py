"""Criteria over all repeats: three answers, an interval, and how many more repeats would decide."""

from fractions import Fraction

import pytest

from qospec.conditions import Constant, Expression, Measured, Operation
from qospec.model import Statement
from qospec.run.confidence import DIFFERENCE, GRAIN, judge_together
from qospec.run.verdict import Judgement
from qospec.source import Source, Span
from qospec.units import CELLS, RATIO

SPAN = Span(Source("a.qos", "expect f.lost < 1\n"), 0, 6)
LOST, SENT = (
    Measured("", "f", None, oam=False, metric=name, statistic="", dimension=CELLS, text="")
    for name in ("lost", "sent")
)
SPREAD = (8, 9, 10, 11, 12)  # mean 10, deviation 1.58: 95 % reach 1.507 to either side


def constant(value: object, dimension: object = CELLS) -> Constant:
    return Constant(Fraction(value), dimension)


def judged(
    operator: str, *operands: Expression, kind: str = "expect", repeats: int = 5, **read: tuple
) -> Judgement:
    confidence = Fraction(95, 100)
    statement = Statement(kind, "", "", Operation(operator, operands), SPAN, confidence)
    rows = [dict(zip(read, row, strict=True)) for row in zip(*read.values(), strict=True)]

    def reader(row):
        return lambda leaf: None if row[leaf.metric] is None else Fraction(row[leaf.metric])

    return judge_together(statement, [reader(row) for row in rows], repeats)


@pytest.mark.parametrize(
    ("operator", "bound", "verdict"),
    [
        ("<", "11.6", "pass"),
        ("<", "11.4", "inconclusive"),
        ("<", "8.6", "inconclusive"),
        ("<", "8.4", "fail"),
        ("<=", "11.6", "pass"),
        (">", "8.4", "pass"),
        (">", "8.6", "inconclusive"),
        (">=", "11.6", "fail"),
    ],
)
def test_all_of_the_interval_must_be_on_one_side(operator, bound, verdict) -> None:
    assert judged(operator, LOST, constant(bound), lost=SPREAD).verdict == verdict
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[operator]
    shown = judged(mirrored, constant(bound), LOST, lost=SPREAD)
    assert (shown.verdict, shown.comparison, shown.bound.value) == (
        verdict,
        operator,
        Fraction(bound),
    )


@pytest.mark.parametrize(
    ("width", "target", "verdict"),
    [
        ("1.6", "10", "pass"),
        ("1.4", "10", "inconclusive"),
        ("1", "12.4", "inconclusive"),
        ("1", "12.6", "fail"),
        ("1", "7.4", "fail"),
    ],
)
def test_within_is_judged_at_both_sides(width, target, verdict) -> None:
    shown = judged("within", LOST, constant(width), constant(target), lost=SPREAD)
    assert (shown.verdict, shown.comparison) == (verdict, "within")
    share = constant(Fraction(width) / Fraction(target), RATIO)
    assert judged("within share", LOST, share, constant(target), lost=SPREAD).verdict == verdict


def test_a_failed_require_is_inconclusive() -> None:
    assert judged("<", LOST, constant(8), kind="require", lost=SPREAD).verdict == "inconclusive"


def test_mean_and_interval_are_shown() -> None:
    shown = judged("<", LOST, constant(20), lost=SPREAD)
    assert shown.measured.value == 10
    assert float(shown.interval.lower.value) == pytest.approx(10 - 2.131847 * (2.5 / 5) ** 0.5)
    assert float(shown.interval.upper.value) == pytest.approx(10 + 2.131847 * (2.5 / 5) ** 0.5)
    assert (shown.interval.repeats, shown.note) == (5, "")


def test_equal_repeats_have_an_interval_of_no_width() -> None:
    third = Fraction(1, 3)
    shown = judged("<=", LOST, constant(third), lost=(third,) * 5)
    assert shown.verdict == "pass"
    assert shown.interval.lower.value == shown.interval.upper.value == third
    assert judged("<", LOST, constant(third), lost=(third,) * 5).verdict == "fail"
    assert judged(">", LOST, constant(third), lost=(third,) * 5).verdict == "fail"


def test_two_measured_sides_are_judged_by_their_difference() -> None:
    shown = judged("<", LOST, SENT, lost=(1, 20, 3, 40, 5), sent=(2, 21, 4, 41, 6))
    assert (shown.verdict, shown.measured.value, shown.bound.value) == ("pass", -1, 0)
    assert shown.note == DIFFERENCE
    share = judged(
        "within share", LOST, constant("0.1", RATIO), SENT,
        lost=(100, 210, 95, 300, 100), sent=(100, 200, 100, 300, 104),
    )  # fmt: skip
    assert (share.verdict, share.tolerance.value) == ("pass", Fraction("16.08"))


def test_how_many_more_repeats_would_decide() -> None:
    # deviation 1.58, distance 0.5: t(n - 1) * 1.58 / sqrt(n) < 0.5 first at 29 repeats
    shown = judged("<", LOST, constant("10.5"), lost=SPREAD)
    assert shown.note == "about 24 more repeats would decide"
    wide = judged("within", LOST, constant("0.5"), constant(10), lost=SPREAD)
    assert wide.note == "about 24 more repeats would decide"
    hopeless = judged("<", LOST, constant(10), lost=SPREAD)
    assert hopeless.note.startswith("even 10_000 repeats would hardly decide")


def test_no_data_in_a_repeat_decides_nothing() -> None:
    shown = judged("<", LOST, constant(100), lost=(1, 1, None, 1, 1))
    assert (shown.verdict, shown.measured, shown.note) == (
        "inconclusive",
        None,
        "no data in repeat 3",
    )


def test_too_few_repeats_decide_nothing() -> None:
    shown = judged("<", LOST, constant(100), repeats=10, lost=(1, 1))
    assert (shown.verdict, shown.note) == ("inconclusive", "2 of 10 repeats were run")


def test_values_stay_short_however_many_there_are() -> None:
    values = tuple(Fraction(n, n + 1) for n in range(1_000, 1_200))
    shown = judged("<", LOST, constant(2), repeats=200, lost=values)
    assert shown.interval.upper.value.denominator.bit_length() < 2 * GRAIN.bit_length()
