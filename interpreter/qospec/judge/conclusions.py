"""What statements come to in a case, over all of its repeats, and what the case comes to.

A criterion without a confidence has the worst of its repeats' verdicts, and is shown where it is
nearest to failing. It passes only if all repeats that were planned were run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.judge.confidence import (
    compute_mean_over_repeats,
    judge_repeats,
    with_limits,
    write_incomplete_note,
)
from qospec.judge.evidence import explain_caution
from qospec.judge.found import decide_value
from qospec.judge.losses import DEFAULT_CONFIDENCE, find_compared_count, pool_losses
from qospec.judge.precision import explain_imprecise
from qospec.judge.verdict import (
    NOT_APPLICABLE,
    VERDICTS,
    WHEN_FALSE,
    Judgement,
    Verdict,
    find_deciding,
    find_worst,
    with_sides,
)
from qospec.model.expression import Attribute, Constant, Operation, is_measured
from qospec.model.suite import is_report_only

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.judge.repeats import RepeatReadings
    from qospec.judge.result import Judged
    from qospec.model.expression import Expression, Reader
    from qospec.model.suite import Case, Statement

AT_MOST = ("==", "<=", "<")
JOINS = ("and", "or")
ARITHMETIC = ("+", "-", "*", "/")
INFIX = (*ARITHMETIC, "==", "!=", "<", "<=", ">", ">=", "in")


class Term(NamedTuple):
    """A term of a criterion as text, and its judgement."""

    text: str
    expression: Expression
    judgement: Judgement


class Conclusion(NamedTuple):
    """What a statement comes to in a case.

    Attributes:
        verdict: A `Verdict`, "" of a report, or `NOT_APPLICABLE`.
        shown: The judgement that decided, or that of all repeats together; None if there is none.
        note: What else a reader should know.
        caution: Why it has shown less than it states, though it passed; "" if it has not.
        terms: Those of a criterion that joins several.
    """

    verdict: str
    shown: Judgement | None
    note: str
    caution: str = ""
    terms: tuple[Term, ...] = ()


def conclude(
    statement: Statement, judged: Sequence[Judged], planned: int, *, errors: bool = False
) -> Conclusion:
    """Return what a statement comes to that was judged in some of the `planned` repeats.

    After `errors` of the tester it may not have been reached.
    """
    if statement.idle:
        return Conclusion(NOT_APPLICABLE, None, statement.idle)
    seen = [repeat.readings for repeat in judged if repeat.readings is not None]
    judgements = [repeat.judgement for repeat in judged]
    if statement.confidence is not None and len(seen) == len(judged):
        return _conclude_together(statement, seen, planned)
    if statement.kind == "report":
        return _conclude_report(judgements, errors=errors)
    if not judgements:
        return Conclusion(find_worst(()), None, _explain_missing(errors=errors))
    return _conclude_worst(statement, seen, judgements, planned)


def conclude_case(
    case: Case, conclusions: Iterable[Conclusion], *, errors: bool, complete: bool = True
) -> Verdict:
    """Return the verdict of a case: the worst of its statements'.

    It is at best inconclusive unless it measures something that a criterion applies to, or only
    reports; and unless its searches and points are `complete`.
    """
    found = {conclusion.verdict for conclusion in conclusions}
    verdicts: list[Verdict] = [verdict for verdict in VERDICTS if verdict in found]
    if not has_measuring_criterion(case.statements):
        # invariants that hold say nothing about how good a device is
        verdicts = [verdict for verdict in verdicts if verdict != "pass"]
        verdicts.append("measured" if is_report_only([case]) else "inconclusive")
    if errors:
        verdicts.append("error")
    if not complete:
        verdicts.append("inconclusive")
    return find_worst(verdicts)


def has_measuring_criterion(statements: Iterable[Statement]) -> bool:
    """Return whether any criterion measures something; constants say nothing about a device."""
    return any(statement.judges and is_measured(statement.expression) for statement in statements)


def _explain_missing(*, errors: bool) -> str:
    return "" if errors else "not reached"


def _conclude_together(
    statement: Statement, seen: Sequence[RepeatReadings], planned: int
) -> Conclusion:
    shown = judge_repeats(statement, seen, planned)
    less = ""
    for repeat in seen:
        why = explain_imprecise(statement.expression, repeat.read)
        if why and decide_value(statement.expression, repeat.read) is None:
            return Conclusion("inconclusive", replace(shown, verdict="inconclusive"), why)
    if shown.verdict == "pass" and shown.interval is None:  # nothing was drawn
        less = explain_caution(replace(statement, confidence=None), seen[:1])
    return Conclusion(shown.verdict or "", shown, shown.note, less)


def _conclude_report(judgements: Sequence[Judgement], *, errors: bool) -> Conclusion:
    """Return what a report comes to: the mean of what repeats reported, if that differs."""
    if not judgements:
        return Conclusion("", None, _explain_missing(errors=errors))
    sides = [judgement.measured for judgement in judgements]
    known = [side for side in sides if side is not None]
    mean = (
        compute_mean_over_repeats(known, DEFAULT_CONFIDENCE) if len(known) == len(sides) else None
    )
    shown = mean or judgements[find_deciding(judgements)]
    return Conclusion("", with_limits(shown, sides), shown.note)


def _conclude_worst(
    statement: Statement,
    seen: Sequence[RepeatReadings],
    judgements: Sequence[Judgement],
    planned: int,
) -> Conclusion:
    """Return the worst that a criterion came to in some repeat, each judged by itself."""
    verdict = find_worst(
        judgement.verdict for judgement in judgements if judgement.verdict is not None
    )
    alike = [number for number, judgement in enumerate(judgements) if judgement.verdict == verdict]
    number = alike[find_deciding([judgements[repeat] for repeat in alike])]
    shown = judgements[number]
    its_terms = tuple(_list_decisive_terms(statement, seen, number)) if seen else ()
    if verdict != "pass":
        return Conclusion(verdict, shown, shown.note, terms=its_terms)
    if len(judgements) < planned:
        return Conclusion("inconclusive", shown, write_incomplete_note(len(judgements), planned))
    notes = filter(None, (shown.note, *_list_zero_notes(statement.expression, seen)))
    less = explain_caution(statement, seen) if seen else ""
    return Conclusion(verdict, shown, "; ".join(dict.fromkeys(notes)), less, its_terms)


# ---- terms


def _list_decisive_terms(
    statement: Statement, seen: Sequence[RepeatReadings], number: int
) -> Iterator[Term]:
    """Yield the terms of a criterion that joins several, in the repeat of that number.

    One that must hold and does in all repeats is shown where it is nearest to failing.
    """
    for its in zip(
        *(list_terms(statement, repeat_readings.read) for repeat_readings in seen), strict=True
    ):
        judgements = [term.judgement for term in its]
        holds = all(judgement.verdict == "pass" for judgement in judgements)
        yield its[find_deciding(judgements) if holds else number]


def list_terms(statement: Statement, read: Reader) -> list[Term]:
    """Return the measured terms of an `and` or `or`; none of other criteria.

    A term of an `or` has no verdict if it does not hold, because another one may.
    """
    whole = statement.expression
    if not isinstance(whole, Operation) or whole.operator not in JOINS:
        return []
    return [
        Term(
            format_expression(term),
            term,
            with_sides(_judge_term(term, statement, read, binding=binding), term, read),
        )
        for term, binding in _list_joined(whole, binding=True)
    ]


def _list_joined(expression: Expression, *, binding: bool) -> Iterator[tuple[Expression, bool]]:
    """Yield the measured terms, each with whether the whole is false if the term is."""
    if isinstance(expression, Operation) and expression.operator in JOINS:
        for part in expression.operands:
            yield from _list_joined(part, binding=binding and expression.operator == "and")
    elif is_measured(expression):
        yield expression, binding


def _judge_term(
    term: Expression, statement: Statement, read: Reader, *, binding: bool
) -> Verdict | None:
    value = decide_value(term, read)
    if value is None:
        return "inconclusive" if binding else None
    return "pass" if value is True else WHEN_FALSE[statement.kind] if binding else None


def format_expression(expression: Expression) -> str:
    """Return an expression as an author would write it."""
    if isinstance(expression, Attribute):
        return expression.name
    if not isinstance(expression, Operation):
        known = isinstance(expression, Constant) and not expression.text
        return str(expression.value) if known else expression.text  # type: ignore[union-attr]
    parts = [format_expression(part) for part in expression.operands]
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


def _list_zero_notes(expression: Expression, repeats: Sequence[RepeatReadings]) -> Iterator[str]:
    """Yield what a count of zero proves, which depends on how many were sent."""
    if not isinstance(expression, Operation):
        return
    if expression.operator == "and":
        for part in expression.operands:
            yield from _list_zero_notes(part, repeats)
    leaf = find_compared_count(expression) if expression.operator in AT_MOST else None
    drawn = any(repeat.drawn for repeat in repeats)
    counted = pool_losses(leaf, repeats if drawn else repeats[:1]) if leaf is not None else None
    if counted is not None and not counted.lost:
        yield counted.write_note(DEFAULT_CONFIDENCE)
