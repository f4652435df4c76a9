"""Statements in the outcome: the verdict, what was measured and needed, and notes.

A confidence interval is shown only as far as values are possible; a criterion that joins several
has terms, each with what it measured; and claims about a publication are counted by kind.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.judge.confidence import (
    incomplete_note,
    judge_repeats,
    mean_over_repeats,
    with_limits,
)
from qospec.judge.evidence import caution
from qospec.judge.found import decided
from qospec.judge.losses import DEFAULT_CONFIDENCE, compared_count, losses, percent
from qospec.judge.verdict import NOT_APPLICABLE, WHEN_FALSE, deciding, with_sides, worst
from qospec.model.bounds import ANYTHING, bound_expression
from qospec.model.expression import Attribute, Constant, Operation, is_measured
from qospec.model.suite import CLAIMS, JUDGED
from qospec.record.histograms import single_measurement
from qospec.record.quantity import limits_of, quantity, told_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from qospec.document import Document
    from qospec.judge.repeats import RepeatReadings
    from qospec.judge.result import Judged
    from qospec.judge.verdict import Interval, Judgement, Side, Verdict
    from qospec.model.bounds import Bounds
    from qospec.model.expression import Expression, Reader
    from qospec.model.suite import Statement

AT_MOST = ("==", "<=", "<")


def statement_document(
    statement: Statement, judged: Sequence[Judged], planned: int, *, errors: bool = False
) -> Document:
    """Return the document of a statement that was judged in some of the `planned` repeats."""
    if statement.idle:
        return _document(statement, NOT_APPLICABLE, None, statement.idle)
    seen = [each.readings for each in judged if each.readings is not None]
    judgements = [each.judgement for each in judged]
    if statement.confidence is not None and len(seen) == len(judged):
        return _judged_together(statement, seen, planned)
    if statement.kind == "report" and (mean := _mean(judgements)) is not None:
        return _document(
            statement, "", with_limits(mean, [j.measured for j in judgements]), mean.note
        )
    verdicts = [j.verdict for j in judgements if j.verdict is not None]
    verdict = worst(verdicts) if statement.kind != "report" else ""
    alike = [number for number, j in enumerate(judgements) if j.verdict == (verdict or None)]
    number = alike[deciding([judgements[each] for each in alike])] if alike else 0
    shown = judgements[number] if alike else None
    note = shown.note if shown is not None else "" if errors else "not reached"
    parts = _terms(statement, seen, number) if shown is not None and seen else {}
    if statement.kind == "report" and shown is not None:
        shown = with_limits(shown, [j.measured for j in judgements])
    if verdict != "pass":
        return {**_document(statement, verdict, shown, note), **parts}
    if len(judged) < planned:
        missing = incomplete_note(len(judged), planned)
        return _document(statement, "inconclusive", shown, missing)
    notes = filter(None, (note, *_zero_notes(statement.expression, seen)))
    caution_text = caution(statement, seen) if seen else ""
    note = "; ".join(dict.fromkeys(notes))
    return {**_document(statement, verdict, shown, note, caution_text), **parts}


def _judged_together(
    statement: Statement, seen: Sequence[RepeatReadings], planned: int
) -> Document:
    decided = judge_repeats(statement, seen, planned)
    caution_text = ""
    if decided.verdict == "pass" and decided.interval is None:  # nothing was drawn
        caution_text = caution(replace(statement, confidence=None), seen[:1])
    return _document(statement, decided.verdict or "", decided, decided.note, caution_text)


def _terms(statement: Statement, seen: Sequence[RepeatReadings], number: int) -> Document:
    """Return the terms of a criterion that joins several, in the repeat of that number.

    One that must hold and does in all repeats is shown where it is nearest to failing.
    """
    parts = []
    for its in zip(*(terms(statement, each.read) for each in seen), strict=True):
        judgements = [each.judgement for each in its]
        holds = all(each.verdict == "pass" for each in judgements)
        shown = judgements[deciding(judgements) if holds else number]
        parts.append(
            {
                "text": its[0].text,
                "verdict": shown.verdict or "",
                **single_measurement(its[0].expression),
                **_sides(shown),
            }
        )
    return {"terms": parts} if parts else {}


def _mean(judgements: Sequence[Judgement]) -> Judgement | None:
    """Return the mean of what the repeats reported; None without numbers, or if all are equal."""
    found = [each.measured for each in judgements if each.measured is not None]
    return mean_over_repeats(found, DEFAULT_CONFIDENCE) if len(found) == len(judgements) else None


def _document(
    statement: Statement,
    verdict: str,
    shown: Judgement | None,
    note: str,
    caution_text: str = "",
) -> Document:
    interval = shown.interval if shown is not None else None
    confidence = statement.confidence if interval is None else interval.confidence
    return {
        "label": statement.label,
        "kind": statement.kind,
        "claim": statement.claim,
        "verdict": verdict,
        "text": statement.text,
        "place": statement.span.recorded_place,
        **single_measurement(statement.expression),
        **_sides(shown),
        "confidence": "" if confidence is None else percent(confidence),
        "interval": interval_document(statement, shown),
        "note": note,
        "caution": caution_text,
    }


def _sides(shown: Judgement | None) -> Document:
    if shown is None:
        return {"measured": None, "comparison": "", "bound": None, "tolerance": None}
    measured, bound, *ends = told_apart(
        shown.measured, shown.bound, *limits_of(shown.measured), *limits_of(shown.bound)
    )
    width = shown.tolerance
    return {
        "measured": measured,
        **_limits_document("measured_limits", shown.measured, ends[:2]),
        "comparison": shown.comparison,
        "bound": bound,
        **_limits_document("bound_limits", shown.bound, ends[2:]),
        "tolerance": None if width is None else quantity(width.value, width.dimension),
    }


def _limits_document(name: str, of: Side | None, ends: Sequence[Document | None]) -> Document:
    """Return the limits of a value that depends on what searches found; of others nothing."""
    lower, upper = ends
    if not (lower or upper):
        return {}
    exclusive = of is not None and of.limits is not None and of.limits.exclusive
    return {name: {"lower": lower, "upper": upper, **({"exclusive": True} if exclusive else {})}}


def _zero_notes(expression: Expression, repeats: Sequence[RepeatReadings]) -> Iterator[str]:
    """Yield what a count of zero proves, which depends on how many were sent."""
    if not isinstance(expression, Operation):
        return
    if expression.operator == "and":
        for part in expression.operands:
            yield from _zero_notes(part, repeats)
    leaf = compared_count(expression) if expression.operator in AT_MOST else None
    drawn = any(repeat.drawn for repeat in repeats)
    counted = losses(leaf, repeats if drawn else repeats[:1]) if leaf is not None else None
    if counted is not None and not counted.lost:
        yield counted.note(DEFAULT_CONFIDENCE)


def interval_document(statement: Statement, shown: Judgement | None) -> Document | None:
    """Return the interval, with enough digits to tell its ends apart."""
    if shown is None or shown.interval is None:
        return None
    found = _clipped(shown.interval, statement, shown)
    lower, upper = told_apart(found.lower, found.upper)
    return {"lower": lower, "upper": upper, "repeats": found.repeats}


def _clipped(found: Interval, statement: Statement, shown: Judgement) -> Interval:
    """Return the part of an interval in which values are possible: a count is never below 0.

    Student's t knows no such limits. This is for display only: criteria are judged by the whole
    interval, and an impossible end that decided is shown as it is.
    """
    ends = _possible_values(statement)
    low, high = found.lower.value, found.upper.value
    edges = list(_limits(statement, shown))
    if ends.least is not None and all(_below_decides_nothing(ends.least, *edge) for edge in edges):
        low = max(low, ends.least) if isinstance(low, Fraction) else ends.least
    if ends.most is not None and all(_above_decides_nothing(ends.most, *edge) for edge in edges):
        high = min(high, ends.most) if isinstance(high, Fraction) else ends.most
    return replace(
        found, lower=replace(found.lower, value=low), upper=replace(found.upper, value=high)
    )


def _possible_values(statement: Statement) -> Bounds:
    """Return the bounds of the value that is shown; the difference of two may be anything."""
    expression = statement.expression
    if statement.kind == "report" or not isinstance(expression, Operation):
        return bound_expression(expression)
    sides = (expression.operands[0], expression.operands[-1])
    measuring = [side for side in sides if is_measured(side)]
    return bound_expression(measuring[0]) if len(measuring) == 1 else ANYTHING


def _limits(statement: Statement, shown: Judgement) -> Iterator[tuple[str, Fraction]]:
    """Yield what the interval was compared with, after the operator; nothing of a report."""
    if shown.bound is None:
        return
    bound = _exact(shown.bound)
    if shown.tolerance is None:
        yield shown.comparison, bound
        return
    width = _exact(shown.tolerance)
    expression = statement.expression
    if isinstance(expression, Operation) and expression.operator == "within share":
        width *= abs(bound)
    yield ">=", bound - width
    yield "<=", bound + width


def _below_decides_nothing(least: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether the part of an interval below the least possible value decides nothing."""
    return edge > least or (edge == least and comparison in ("<=", ">"))


def _above_decides_nothing(most: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether the part of an interval above the greatest possible value decides nothing."""
    return edge < most or (edge == most and comparison in (">=", "<"))


def _exact(side: Side) -> Fraction:
    if not isinstance(side.value, Fraction):
        raise TypeError("only a number has an interval")
    return side.value


UNCLAIMED = "none"
"""The claim of criteria that claim nothing about a publication."""


def count_by_claim(cases: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the number of criteria in documents of cases, by claim.

    The claims come first, then `none`, and last those that were `not applicable`.
    """
    found = Counter(
        _claim(statement)
        for case in cases
        for statement in case["statements"]
        if statement["kind"] in JUDGED
    )
    return {claim: found[claim] for claim in (*CLAIMS, UNCLAIMED, NOT_APPLICABLE)}


def count_statements(
    tests: Iterable[Mapping[str, Any]], cases: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """Return the number of published statements that tests cover, by their strongest claim.

    A statement counts once, however many tests and cases cover it. Those of which no criterion that
    applied makes a claim are `none`.
    """
    of_test: dict[str, set[str]] = {}
    for case in cases:
        of_test.setdefault(case["test"], set()).update(map(_claim, case["statements"]))
    claims: dict[str, set[str]] = {}
    for test in tests:
        for name in test["covers"]:
            claims.setdefault(name, set()).update(of_test.get(test["name"], ()))
    found = Counter(
        next((claim for claim in CLAIMS if claim in its), UNCLAIMED) for its in claims.values()
    )
    return {claim: found[claim] for claim in (*CLAIMS, UNCLAIMED)}


def _claim(statement: Mapping[str, Any]) -> str:
    if statement["verdict"] == NOT_APPLICABLE:
        return NOT_APPLICABLE
    return statement.get("claim") or UNCLAIMED


JOINS = ("and", "or")
ARITHMETIC = ("+", "-", "*", "/")
INFIX = (*ARITHMETIC, "==", "!=", "<", "<=", ">", ">=", "in")


class Term(NamedTuple):
    """A term of a criterion as text, and its judgement."""

    text: str
    expression: Expression
    judgement: Judgement


def terms(statement: Statement, read: Reader) -> list[Term]:
    """Return the measured terms of an `and` or `or`; none of other criteria.

    A term of an `or` has no verdict if it does not hold, because another one may.
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
    """Yield the measured terms, each with whether the whole is false if the term is."""
    if isinstance(expression, Operation) and expression.operator in JOINS:
        for part in expression.operands:
            yield from _joined(part, binding=binding and expression.operator == "and")
    elif is_measured(expression):
        yield expression, binding


def _verdict(
    term: Expression, statement: Statement, read: Reader, *, binding: bool
) -> Verdict | None:
    value = decided(term, read)
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
