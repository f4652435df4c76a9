"""What the outcome says of a statement: verdict, what was measured and needed, and what to know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.model.expression import Operation
from qospec.run.confidence import averaged, judge_together, unfinished
from qospec.run.evidence import caution
from qospec.run.histograms import measured_alone
from qospec.run.interval import interval_document
from qospec.run.losses import SURE, judged, losses, percent
from qospec.run.quantity import compared, quantity
from qospec.run.terms import terms
from qospec.run.verdict import NOT_APPLICABLE, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.document import Document
    from qospec.model.expression import Expression
    from qospec.model.suite import Statement
    from qospec.run.repeats import Repeat
    from qospec.run.result import Result
    from qospec.run.verdict import Judgement

AT_MOST = ("==", "<=", "<")


def statement_document(statement: Statement, number: int, result: Result, repeats: int) -> Document:
    """Return a statement as it was decided; `number` is its place in the case."""
    if statement.idle:
        return _document(statement, NOT_APPLICABLE, None, statement.idle)
    if statement.confidence is not None:
        seen = [repeat.readings for repeat in result.repeats]
        decided = judge_together(statement, seen, repeats)
        cautioned = ""
        if decided.verdict == "pass" and decided.interval is None:  # nothing was drawn
            cautioned = caution(replace(statement, confidence=None), seen[:1])
        return _document(statement, decided.verdict or "", decided, decided.note, cautioned)
    judgements = [repeat.judgements[number] for repeat in result.repeats]
    if statement.kind == "report" and (mean := _mean(judgements)) is not None:
        return _document(statement, "", mean, mean.note)
    verdicts = [j.verdict for j in judgements if j.verdict is not None]
    verdict = worst(verdicts) if statement.kind != "report" else ""
    shown_one = next((j for j in judgements if j.verdict == (verdict or None)), None)
    parts = _terms(statement, result, judgements.index(shown_one) if shown_one else 0)
    note = "" if shown_one is not None or result.errors else "not reached"
    if verdict == "pass":
        seen = [repeat.readings for repeat in result.repeats]
        if len(seen) < repeats:
            missing = unfinished(len(seen), repeats)
            return _document(statement, "inconclusive", shown_one, missing)
        note = "; ".join(dict.fromkeys(_zeros(statement.expression, seen)))
        cautioned = caution(statement, seen)
        return {**_document(statement, verdict, shown_one, note, cautioned), **parts}
    return {**_document(statement, verdict, shown_one, note), **parts}


def _terms(statement: Statement, result: Result, number: int) -> Document:
    """Return the terms of a criterion that joins several, as the repeat that is shown has them."""
    if not result.repeats:
        return {}
    found = terms(statement, result.repeats[number].readings.read)
    parts = [
        {
            "text": each.text,
            "verdict": each.judgement.verdict or "",
            **measured_alone(each.expression),
            **_sides(each.judgement),
        }
        for each in found
    ]
    return {"terms": parts} if parts else {}


def _mean(judgements: Sequence[Judgement]) -> Judgement | None:
    """Return the mean of what repeats reported; None where they have no number, or one."""
    found = [each.measured for each in judgements if each.measured is not None]
    return averaged(found, SURE) if len(found) == len(judgements) else None


def _document(
    statement: Statement,
    verdict: str,
    shown_one: Judgement | None,
    note: str,
    cautioned: str = "",
) -> Document:
    interval = shown_one.interval if shown_one is not None else None
    confidence = statement.confidence if interval is None else interval.confidence
    return {
        "label": statement.label,
        "kind": statement.kind,
        "claim": statement.claim,
        "verdict": verdict,
        "text": statement.text,
        "place": statement.span.recorded_place,
        **measured_alone(statement.expression),
        **_sides(shown_one),
        "confidence": "" if confidence is None else percent(confidence),
        "interval": interval_document(statement, shown_one),
        "note": note,
        "caution": cautioned,
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


def _zeros(expression: Expression, repeats: Sequence[Repeat]) -> Iterator[str]:
    """Yield what it means that none were lost: how many were sent decides what that proves."""
    if not isinstance(expression, Operation):
        return
    if expression.operator == "and":
        for part in expression.operands:
            yield from _zeros(part, repeats)
    leaf = judged(expression) if expression.operator in AT_MOST else None
    drawn = any(repeat.drawn for repeat in repeats)
    counted = losses(leaf, repeats if drawn else repeats[:1]) if leaf is not None else None
    if counted is not None and not counted.lost:
        yield counted.said(SURE)
