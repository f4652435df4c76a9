"""Verdicts: what a statement comes to, given what was measured.

`skip < measured < pass < inconclusive < fail < error`; a case has the worst of its statements'
verdicts, so the order in which they are judged cannot matter. No data is never a pass.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from qospec.catalogue.statistics import GOES_ON, is_from_histogram, parse_bound
from qospec.dataclass import dataclass
from qospec.judge.found import decide_value, describe_bounds, find_uncertainty, write_notes
from qospec.judge.precision import explain_imprecise
from qospec.model.bounds import Bounds, Limits
from qospec.model.expression import (
    Attribute,
    Measured,
    Operation,
    evaluate,
    is_measured,
    list_measurements,
)
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qospec.judge.repeats import MoreRepeats
    from qospec.model.expression import Expression, Reader, Value
    from qospec.model.suite import Statement
    from qospec.units import Dimension

Verdict = Literal["skip", "measured", "pass", "inconclusive", "fail", "error"]
VERDICTS: tuple[Verdict, ...] = ("skip", "measured", "pass", "inconclusive", "fail", "error")
"""From harmless to worst. `measured` is a case that only reports: it has no criterion."""
PROBLEMS: tuple[Verdict, ...] = ("error", "fail", "inconclusive")
"""Verdicts that call for a look, worst first."""

NOT_APPLICABLE = "not applicable"
"""In place of the verdict of a statement that does not apply to a case: never counted as a pass."""

MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Each comparison with the one that means the same with its sides exchanged."""


WHEN_FALSE: dict[str, Verdict] = {
    "require": "inconclusive",
    "expect": "fail",
    "invariant": "error",
}
"""The verdict of a false statement, by its kind.

A broken invariant is an error of the tester: the emulator owns all devices.
"""


def find_worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts; without any, `inconclusive`."""
    return max(verdicts, key=VERDICTS.index, default="inconclusive")


def is_invalidated(judged: Iterable[tuple[Statement, Judgement]]) -> bool:
    """Return whether a trial ends its case: something that is required of it failed.

    The test is not valid then, and nothing that is measured after it would count. What is required
    with a confidence is judged when all repeats have ended.
    """
    return any(
        statement.kind == "require" and statement.confidence is None and judgement.verdict != "pass"
        for statement, judgement in judged
    )


@dataclass(frozen=True)
class Side:
    """One side of a comparison, for display.

    Attributes:
        value: Of one that depends on loads that were found, that of their lower bounds.
        dimension: None of a Boolean or a text.
        approximate: Whether it was read from a histogram.
        limits: Between what it is if it depends on such loads; None: it is `value`.
    """

    value: Value
    dimension: Dimension | None
    approximate: bool = False
    limits: Limits | None = None


@dataclass(frozen=True)
class Interval:
    """A confidence interval over the repeats; the confidence is that of each side by itself.

    An end without a value is unknown: too few items lie beyond it.
    """

    lower: Side
    upper: Side
    confidence: Fraction
    repeats: int


@dataclass(frozen=True)
class Judgement:
    """The judgement of one statement: in one trial or, with an `interval`, over all of them.

    Attributes:
        verdict: None of a report.
        measured: With `comparison` and `bound`, of the comparison that decided.
        comparison: Its operator; "" if no single comparison decided.
        bound: What `measured` is compared with.
        tolerance: Of `within`.
        interval: Of what was measured, over all repeats.
        note: What else a reader should know.
        more: How many more repeats would decide, if repeats together do not.
    """

    verdict: Verdict | None
    measured: Side | None
    comparison: str = ""
    bound: Side | None = None
    tolerance: Side | None = None
    interval: Interval | None = None
    note: str = ""
    more: MoreRepeats | None = None


def find_deciding(judgements: Sequence[Judgement]) -> int:
    """Return which of judgements with the same verdict decided it: the one nearest to failing.

    Of those that failed, it is the one that is farthest from holding. The first, if that cannot be
    told: of values that are no numbers, or where another part of a criterion decided.
    """
    comparison = judgements[0].comparison
    gaps = [
        _find_gap(judgement) if judgement.comparison == comparison else None
        for judgement in judgements
    ]
    return max(range(len(gaps)), key=lambda number: (gaps[number] or _NO_GAP, -number))


_NO_GAP = (-1, Fraction(0))


def _find_gap(judged: Judgement) -> tuple[int, Fraction] | None:
    """Return by how much a judged comparison may not hold, after 1 if that has no end, else 0.

    None if its sides or its tolerance are no numbers, or if it is none that holds better or worse.
    """
    if judged.measured is None or judged.bound is None:
        return None
    value, bound = _ends(judged.measured), _ends(judged.bound)
    width = _find_width(judged.tolerance, judged.bound)
    if Bounds() in (value, bound) or width is None or judged.comparison not in _SIDES:
        return None
    ends = {"above": (value.most, bound.least), "below": (bound.most, value.least)}
    gaps = []
    for side_name in _SIDES[judged.comparison]:
        high, low = ends[side_name]
        if high is None or low is None:
            return 1, Fraction(0)
        gaps.append(high - low)
    return 0, max(gaps) - width


_SIDES = {
    "<": ("above",),
    "<=": ("above",),
    ">": ("below",),
    ">=": ("below",),
    "==": ("above", "below"),
    "within": ("above", "below"),
}
"""On which sides of its bound a value does not meet a comparison."""


def _ends(side: Side) -> Bounds:
    if side.limits is not None:
        return Bounds(side.limits.least, side.limits.most)
    value = side.value
    return Bounds(value, value) if isinstance(value, Fraction) else Bounds()


def _find_width(tolerance: Side | None, bound: Side) -> Fraction | None:
    """Return the tolerance of a `within`, and 0 of others; a share is one of the bound."""
    if tolerance is None:
        return Fraction(0)
    whole = Fraction(1) if tolerance.dimension == bound.dimension else bound.value
    if not isinstance(tolerance.value, Fraction) or not isinstance(whole, Fraction):
        return None
    return tolerance.value * abs(whole)


def judge(statement: Statement, read: Reader) -> Judgement:
    """Return the judgement of a statement in one trial; `read` returns what was measured."""
    expression = statement.expression
    note = "; ".join(write_notes(expression, read))
    if statement.kind == "report":
        return Judgement(None, _read_reported(expression, read), note=note)
    value = decide_value(expression, read)
    verdict: Verdict
    if value is None:
        verdict = "inconclusive"
        note = "; ".join(filter(None, (note, explain_imprecise(expression, read))))
    elif value is True:
        verdict = "pass"
    else:
        verdict = WHEN_FALSE[statement.kind]
    return replace(with_sides(verdict, _find_decisive(expression, read), read), note=note)


def _read_reported(expression: Expression, read: Reader) -> Side:
    """Return what is reported: of an outage that went on when the trial ended, a lower limit."""
    shown = read_side(expression, read)
    if not isinstance(expression, Measured) or "outages" not in expression.needs:
        return shown
    if read(replace(expression, statistic=GOES_ON)) is not True:
        return shown
    assert isinstance(shown.value, Fraction)  # noqa: S101 -- an outage that goes on is one
    return replace(shown, limits=Limits(shown.value, None))


def _find_decisive(expression: Expression, read: Reader) -> Expression | None:
    """Return the part of an `and` or `or` that decided it: the first with the value of the whole.

    Parts that measure something go first. None if the whole measures something, and only parts that
    measure nothing decided it.
    """
    measuring = is_measured(expression)
    while isinstance(expression, Operation) and expression.operator in ("and", "or"):
        value = decide_value(expression, read)
        parts = [part for part in expression.operands if decide_value(part, read) == value]
        expression = next((part for part in parts if is_measured(part)), parts[0])
    return None if measuring and not is_measured(expression) else expression


def with_sides(verdict: Verdict | None, expression: Expression | None, read: Reader) -> Judgement:
    """Return a judgement with both sides of its comparison, if the expression is one."""
    if not isinstance(expression, Operation):
        return Judgement(verdict, None)
    sides = [read_side(part, read) for part in expression.operands]
    if expression.operator in ("within", "within share"):
        value, tolerance, target = sides
        return Judgement(verdict, value, "within", target, tolerance)
    if expression.operator != "in" and expression.operator not in MIRRORED:
        return Judgement(verdict, None)
    left, right = sides
    if expression.operator == "in":
        return Judgement(verdict, left, "in", right)
    if is_measured(expression.operands[1]) and not is_measured(expression.operands[0]):
        return Judgement(verdict, right, MIRRORED[expression.operator], left)
    return Judgement(verdict, left, expression.operator, right)


def read_side(expression: Expression, read: Reader) -> Side:
    """Return one side of a comparison, or what is reported, for display."""
    if not isinstance(expression, Operation) or expression.operator != "list":
        approximate = any(
            _is_approximate(measurement, read) for measurement in list_measurements(expression)
        )
        value, dimension = evaluate(expression, read), find_dimension(expression)
        return Side(value, dimension, approximate, find_uncertainty(expression, read))
    texts = (_format_item(read_side(part, read)) for part in expression.operands)
    return Side(f"[{', '.join(texts)}]", None)


def _format_item(item: Side) -> str:
    """Return an item of a list as text."""
    if item.dimension is not None and item.limits is not None:
        return describe_bounds(item.limits.least, item.limits.most, item.dimension)
    if item.dimension is not None and isinstance(item.value, Fraction):
        return format_value(item.value, item.dimension)
    return "no data"


def _is_approximate(leaf: Measured, read: Reader) -> bool:
    """Return whether a value is read from a histogram; a share of 0 above a bound is exact."""
    if parse_bound(leaf.statistic) is not None:
        return read(leaf) != 0
    return is_from_histogram(leaf.statistic)


def find_dimension(expression: Expression) -> Dimension | None:
    """Return the dimension of an expression's value; None of a Boolean or a word."""
    return None if isinstance(expression, Attribute) else expression.dimension
