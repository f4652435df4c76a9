"""What the outcome says of a statement: verdict, what was measured and needed, and what to know.

The interval of repeats is shown as far as values can be; a criterion that joins several has terms,
each with what it measured by itself; and claims about a publication are counted by kind.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.judge.confidence import incomplete_note, judge_repeats, mean_over_repeats
from qospec.judge.evidence import caution
from qospec.judge.losses import DEFAULT_CONFIDENCE, compared_count, losses, percent
from qospec.judge.verdict import NOT_APPLICABLE, WHEN_FALSE, with_sides, worst
from qospec.model.bounds import ANYTHING, bounds
from qospec.model.expression import Attribute, Constant, Operation, evaluate, observed
from qospec.model.suite import CLAIMS, JUDGED
from qospec.record.histograms import measured_alone
from qospec.record.quantity import compared, quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from qospec.document import Document
    from qospec.judge.repeats import RepeatReadings
    from qospec.judge.result import Result
    from qospec.judge.verdict import Interval, Judgement, Side, Verdict
    from qospec.model.bounds import Bounds
    from qospec.model.expression import Expression, Reader
    from qospec.model.suite import Statement

AT_MOST = ("==", "<=", "<")


def statement_document(statement: Statement, number: int, result: Result, repeats: int) -> Document:
    """Return a statement as it was decided; `number` is its place in the case."""
    if statement.idle:
        return _document(statement, NOT_APPLICABLE, None, statement.idle)
    if statement.confidence is not None:
        seen = [repeat.readings for repeat in result.repeats]
        decided = judge_repeats(statement, seen, repeats)
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
            missing = incomplete_note(len(seen), repeats)
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
    return mean_over_repeats(found, DEFAULT_CONFIDENCE) if len(found) == len(judgements) else None


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


def _zeros(expression: Expression, repeats: Sequence[RepeatReadings]) -> Iterator[str]:
    """Yield what it means that none were lost: how many were sent decides what that proves."""
    if not isinstance(expression, Operation):
        return
    if expression.operator == "and":
        for part in expression.operands:
            yield from _zeros(part, repeats)
    leaf = compared_count(expression) if expression.operator in AT_MOST else None
    drawn = any(repeat.drawn for repeat in repeats)
    counted = losses(leaf, repeats if drawn else repeats[:1]) if leaf is not None else None
    if counted is not None and not counted.lost:
        yield counted.note(DEFAULT_CONFIDENCE)


def interval_document(statement: Statement, shown_one: Judgement | None) -> Document | None:
    """Return the interval, its ends with so many digits that they look unequal if they are."""
    if shown_one is None or shown_one.interval is None:
        return None
    found = _possible(shown_one.interval, statement, shown_one)
    lower, upper = compared(found.lower, found.upper)
    return {"lower": lower, "upper": upper, "repeats": found.repeats}


def _possible(found: Interval, statement: Statement, shown_one: Judgement) -> Interval:
    """Return the part of an interval that values can have: a count is never below 0.

    Student's t knows of no least and no most. This is for display only: judged is by the whole
    interval, and where an end beyond decides, it is shown as it is.
    """
    ends = _bounds(statement)
    low, high = found.lower.value, found.upper.value
    edges = list(_edges(statement, shown_one))
    if ends.least is not None and all(_is_above(ends.least, *edge) for edge in edges):
        low = max(low, ends.least) if isinstance(low, Fraction) else ends.least
    if ends.most is not None and all(_is_below(ends.most, *edge) for edge in edges):
        high = min(high, ends.most) if isinstance(high, Fraction) else ends.most
    return replace(
        found, lower=replace(found.lower, value=low), upper=replace(found.upper, value=high)
    )


def _bounds(statement: Statement) -> Bounds:
    """Return between what the value lies that is shown; the difference of two may be anything."""
    expression = statement.expression
    if statement.kind == "report" or not isinstance(expression, Operation):
        return bounds(expression)
    sides = (expression.operands[0], expression.operands[-1])
    measuring = [side for side in sides if observed(side)]
    return bounds(measuring[0]) if len(measuring) == 1 else ANYTHING


def _edges(statement: Statement, shown_one: Judgement) -> Iterator[tuple[str, Fraction]]:
    """Yield what the interval was held against, each with its comparison; nothing of a report."""
    if shown_one.bound is None:
        return
    bound = _exact(shown_one.bound)
    if shown_one.tolerance is None:
        yield shown_one.comparison, bound
        return
    width = _exact(shown_one.tolerance)
    expression = statement.expression
    if isinstance(expression, Operation) and expression.operator == "within share":
        width *= abs(bound)
    yield ">=", bound - width
    yield "<=", bound + width


def _is_above(least: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether it decides nothing how far the interval goes below the least value."""
    return edge > least or (edge == least and comparison in ("<=", ">"))


def _is_below(most: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether it decides nothing how far the interval goes above the most."""
    return edge < most or (edge == most and comparison in (">=", "<"))


def _exact(side: Side) -> Fraction:
    if not isinstance(side.value, Fraction):
        raise TypeError("what has an interval is a number")
    return side.value


UNCLAIMED = "none"
"""Of criteria that claim nothing of a publication."""


def criteria(cases: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many criteria of documents of cases applied by what they claim.

    The kinds of claims come first, then `none`, and last how many were `not applicable`.
    """
    found = Counter(
        _sort(statement)
        for case in cases
        for statement in case["statements"]
        if statement["kind"] in JUDGED
    )
    return {sort: found[sort] for sort in (*CLAIMS, UNCLAIMED, NOT_APPLICABLE)}


def _sort(statement: Mapping[str, Any]) -> str:
    if statement["verdict"] == NOT_APPLICABLE:
        return NOT_APPLICABLE
    return statement.get("claim") or UNCLAIMED


JOINS = ("and", "or")
ARITHMETIC = ("+", "-", "*", "/")
INFIX = (*ARITHMETIC, "==", "!=", "<", "<=", ">", ">=", "in")


class Term(NamedTuple):
    """A term in words, and what was found for it."""

    text: str
    expression: Expression
    judgement: Judgement


def terms(statement: Statement, read: Reader) -> list[Term]:
    """Return what each measured term of an `and` or `or` came to; nothing of other criteria.

    A term of an `or` that does not hold fails nothing, so it has no verdict.
    """
    whole = statement.expression
    if not isinstance(whole, Operation) or whole.operator not in JOINS:
        return []
    return [
        Term(
            text_of(each),
            each,
            with_sides(_verdict(each, statement, read, binding=binding), each, read),
        )
        for each, binding in _joined(whole, binding=True)
    ]


def _joined(expression: Expression, *, binding: bool) -> Iterator[tuple[Expression, bool]]:
    """Yield the terms that measure, each with whether the whole is false where it is."""
    if isinstance(expression, Operation) and expression.operator in JOINS:
        for part in expression.operands:
            yield from _joined(part, binding=binding and expression.operator == "and")
    elif observed(expression):
        yield expression, binding


def _verdict(
    term: Expression, statement: Statement, read: Reader, *, binding: bool
) -> Verdict | None:
    value = evaluate(term, read)
    if value is None:
        return "inconclusive" if binding else None
    return "pass" if value is True else WHEN_FALSE[statement.kind] if binding else None


def text_of(expression: Expression) -> str:
    """Return an expression as an author would write it."""
    if isinstance(expression, Attribute):
        return expression.name
    if not isinstance(expression, Operation):
        known = isinstance(expression, Constant) and not expression.text
        return str(expression.value) if known else expression.text  # type: ignore[union-attr]
    parts = [text_of(part) for part in expression.operands]
    if expression.operator in ARITHMETIC:
        nested = [isinstance(o, Operation) and o.operator in INFIX for o in expression.operands]
        parts = [f"({part})" if inner else part for part, inner in zip(parts, nested, strict=True)]
    if expression.operator in INFIX:
        return f" {expression.operator} ".join(parts)
    if expression.operator in ("within", "within share"):
        value, tolerance, target = parts
        return f"{value} within {tolerance} of {target}"
    if expression.operator == "list":
        return f"[{', '.join(parts)}]"
    sign = {"negate": "-", "not": "not "}.get(expression.operator)
    return f"{expression.operator}({', '.join(parts)})" if sign is None else f"{sign}{parts[0]}"
