"""What the outcome says of a statement: verdict, what was measured and needed, and what to know."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.conditions import Constant, Measured, Operation
from qospec.run.confidence import judge_together
from qospec.run.quantity import Document, compared, quantity
from qospec.run.verdict import worst
from qospec.units import CELLS, RATIO, number_text, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.conditions import Expression
    from qospec.model import Statement
    from qospec.run.trial import Result
    from qospec.run.verdict import Judgement

DOUBT = 0.05
"""How likely a bound that is said of a count of zero may be wrong."""

PERCENT = -2
TWO_DIGITS = 100

LOSSES = ("lost", "cell_loss_ratio")


def statement_document(statement: Statement, number: int, result: Result, repeats: int) -> Document:
    """Return a statement as it was decided; `number` is its place in the case."""
    if statement.confidence is not None:
        decided = judge_together(statement, [r.readings.read for r in result.repeats], repeats)
        return _document(statement, decided.verdict or "", decided, decided.note)
    judgements = [repeat.judgements[number] for repeat in result.repeats]
    verdicts = [j.verdict for j in judgements if j.verdict is not None]
    verdict = worst(verdicts) if statement.kind != "report" else ""
    shown_one = next((j for j in judgements if j.verdict == (verdict or None)), None)
    note = "" if shown_one is not None or result.errors else "not reached"
    if verdict == "pass":
        note = "; ".join(_zeros(statement.expression, result))
    return _document(statement, verdict, shown_one, note)


def _document(
    statement: Statement, verdict: str, shown_one: Judgement | None, note: str
) -> Document:
    confidence = statement.confidence
    return {
        "label": statement.label,
        "kind": statement.kind,
        "verdict": verdict,
        "text": statement.text,
        "place": statement.span.place,
        **_sides(shown_one),
        "confidence": "" if confidence is None else text_of(confidence, RATIO),
        "interval": _interval(shown_one),
        "note": note,
    }


def _sides(shown_one: Judgement | None) -> Document:
    if shown_one is None:
        return {"measured": None, "comparison": "", "bound": None, "tolerance": None}
    measured, bound = compared(shown_one.measured, shown_one.bound)
    width = shown_one.tolerance
    return {
        "measured": measured,
        "comparison": shown_one.comparison,
        "bound": bound,
        "tolerance": None if width is None else quantity(width.value, width.dimension),
    }


def _interval(shown_one: Judgement | None) -> Document | None:
    """Return the interval, its ends with so many digits that they look unequal if they are."""
    if shown_one is None or shown_one.interval is None:
        return None
    found = shown_one.interval
    lower, upper = compared(found.lower, found.upper)
    return {"lower": lower, "upper": upper, "repeats": found.repeats}


def _zeros(expression: Expression, result: Result) -> Iterator[str]:
    """Yield what it means that none were lost: how many were sent decides what that proves."""
    if isinstance(expression, Operation) and expression.operator == "and":
        for part in expression.operands:
            yield from _zeros(part, result)
    if not isinstance(expression, Operation) or expression.operator not in ("==", "<="):
        return
    leaf, bound = expression.operands
    if isinstance(leaf, Measured) and leaf.metric in LOSSES and isinstance(bound, Constant):
        sent = replace(leaf, metric="sent", statistic="", dimension=CELLS)
        counts = [repeat.readings.read(sent) for repeat in result.repeats]
        cells = sum(int(count) for count in counts if isinstance(count, Fraction))
        if bound.value == 0 and cells:
            ratio = f"with 95 % confidence the ratio is below {_above(_greatest_ratio(cells))}"
            yield f"0 of {number_text(cells, exact=True)} lost: {ratio}"


def _greatest_ratio(cells: int) -> float:
    """Return the loss ratio at which `cells` in a row arrive in one of twenty trials.

    Exact if each cell is lost independently of the others: (1 - ratio) ** cells = 5 %.
    """
    return -math.expm1(math.log(DOUBT) / cells)


def _above(ratio: float) -> str:
    """Return a ratio in two digits that are not below it: `2.5 × 10⁻⁶`."""
    power = math.floor(math.log10(ratio))
    digits = math.ceil(ratio / 10.0**power * 10 - 1e-6)
    if digits == TWO_DIGITS:
        digits, power = 10, power + 1
    if power >= PERCENT:
        return text_of(Fraction(digits, 10 ** (1 - power)), RATIO)
    return f"{digits / 10:.1f} × 10{str(power).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
