"""Statements in the outcome: the verdict, what was measured and needed, and notes.

A confidence interval is shown only as far as values are possible, and claims about a publication
are counted by kind.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.judge.losses import write_percent
from qospec.judge.verdict import NOT_APPLICABLE
from qospec.model.bounds import ANYTHING
from qospec.model.claims import CLAIMS
from qospec.model.expression import Operation, bound_expression, is_measured
from qospec.model.suite import JUDGED
from qospec.record.histograms import describe_measurement
from qospec.record.quantity import describe_quantity, find_limits, tell_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from qospec.document import Document
    from qospec.judge.conclusions import Conclusion
    from qospec.judge.verdict import Interval, Judgement, Side
    from qospec.model.bounds import Bounds
    from qospec.model.suite import Statement


def describe_statement(statement: Statement, conclusion: Conclusion) -> Document:
    """Return the document of a statement and what it came to."""
    shown = conclusion.shown
    interval = shown.interval if shown is not None else None
    confidence = statement.confidence if interval is None else interval.confidence
    terms = [
        {
            "text": term.text,
            "verdict": term.judgement.verdict or "",
            **describe_measurement(term.expression),
            **_describe_sides(term.judgement),
        }
        for term in conclusion.terms
    ]
    return {
        "label": statement.label,
        "kind": statement.kind,
        "claim": statement.claim,
        "verdict": conclusion.verdict,
        "text": statement.text,
        "place": statement.span.recorded_place,
        **describe_measurement(statement.expression),
        **_describe_sides(shown),
        "confidence": "" if confidence is None else write_percent(confidence),
        "interval": describe_interval(statement, shown),
        "note": conclusion.note,
        "caution": conclusion.caution,
        **({"terms": terms} if terms else {}),
        **describe_covered(statement),
    }


def describe_covered(statement: Statement) -> Document:
    """Return the field of the published statements that a criterion names, if it names any."""
    return {"covers": list(statement.covers)} if statement.covers else {}


def _describe_sides(shown: Judgement | None) -> Document:
    if shown is None:
        return {"measured": None, "comparison": "", "bound": None, "tolerance": None}
    measured, bound, *ends = tell_apart(
        shown.measured, shown.bound, *find_limits(shown.measured), *find_limits(shown.bound)
    )
    width = shown.tolerance
    return {
        "measured": measured,
        **_describe_limits("measured_limits", shown.measured, ends[:2]),
        "comparison": shown.comparison,
        "bound": bound,
        **_describe_limits("bound_limits", shown.bound, ends[2:]),
        "tolerance": None if width is None else describe_quantity(width.value, width.dimension),
    }


def _describe_limits(name: str, of: Side | None, ends: Sequence[Document | None]) -> Document:
    """Return the limits of a value that depends on what searches found; of others nothing."""
    lower, upper = ends
    if not (lower or upper):
        return {}
    exclusive = of is not None and of.limits is not None and of.limits.exclusive
    return {name: {"lower": lower, "upper": upper, **({"exclusive": True} if exclusive else {})}}


def describe_interval(statement: Statement, shown: Judgement | None) -> Document | None:
    """Return the interval, with enough digits to tell its ends apart."""
    if shown is None or shown.interval is None:
        return None
    found = _narrow_interval(shown.interval, statement, shown)
    lower, upper = tell_apart(found.lower, found.upper)
    return {"lower": lower, "upper": upper, "repeats": found.repeats}


def _narrow_interval(found: Interval, statement: Statement, shown: Judgement) -> Interval:
    """Return the part of an interval in which values are possible: a count is never below 0.

    Student's t knows no such limits. This is for display only: criteria are judged by the whole
    interval, and an impossible end that decided is shown as it is.
    """
    ends = _bound_values(statement)
    low, high = found.lower.value, found.upper.value
    edges = list(_list_limits(statement, shown))
    if ends.least is not None and all(_is_open_below(ends.least, *edge) for edge in edges):
        low = max(low, ends.least) if isinstance(low, Fraction) else ends.least
    if ends.most is not None and all(_is_open_above(ends.most, *edge) for edge in edges):
        high = min(high, ends.most) if isinstance(high, Fraction) else ends.most
    return replace(
        found, lower=replace(found.lower, value=low), upper=replace(found.upper, value=high)
    )


def _bound_values(statement: Statement) -> Bounds:
    """Return the bounds of the value that is shown; the difference of two may be anything."""
    expression = statement.expression
    if statement.kind == "report" or not isinstance(expression, Operation):
        return bound_expression(expression)
    sides = (expression.operands[0], expression.operands[-1])
    measuring = [side for side in sides if is_measured(side)]
    return bound_expression(measuring[0]) if len(measuring) == 1 else ANYTHING


def _list_limits(statement: Statement, shown: Judgement) -> Iterator[tuple[str, Fraction]]:
    """Yield what the interval was compared with, after the operator; nothing of a report."""
    if shown.bound is None:
        return
    bound = _get_exact(shown.bound)
    if shown.tolerance is None:
        yield shown.comparison, bound
        return
    width = _get_exact(shown.tolerance)
    expression = statement.expression
    if isinstance(expression, Operation) and expression.operator == "within share":
        width *= abs(bound)
    yield ">=", bound - width
    yield "<=", bound + width


def _is_open_below(least: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether the part of an interval below the least possible value decides nothing."""
    return edge > least or (edge == least and comparison in ("<=", ">"))


def _is_open_above(most: Fraction, comparison: str, edge: Fraction) -> bool:
    """Return whether the part of an interval above the greatest possible value decides nothing."""
    return edge < most or (edge == most and comparison in (">=", "<"))


def _get_exact(side: Side) -> Fraction:
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


def list_covered(statement: Mapping[str, Any], of_test: Sequence[str]) -> Sequence[str]:
    """Return what a statement covers: what it names itself, or else all that its test names."""
    return statement.get("covers") or of_test


def count_statements(
    tests: Iterable[Mapping[str, Any]], cases: Iterable[Mapping[str, Any]]
) -> dict[str, int]:
    """Return the number of published statements that tests cover, by their strongest claim.

    A statement counts once, however many tests and cases cover it. A criterion is of the statements
    that it names, or else of those of its test. Those of which no criterion that applied makes a
    claim are `none`.
    """
    of_test = {test["name"]: test["covers"] for test in tests}
    claims: dict[str, set[str]] = {name: set() for names in of_test.values() for name in names}
    for case in cases:
        for statement in case["statements"]:
            for name in list_covered(statement, of_test.get(case["test"], ())):
                claims.setdefault(name, set()).add(_claim(statement))
    found = Counter(
        next((claim for claim in CLAIMS if claim in its), UNCLAIMED) for its in claims.values()
    )
    return {claim: found[claim] for claim in (*CLAIMS, UNCLAIMED)}


def count_published(frame: Mapping[str, Any], covered: Mapping[str, int]) -> dict[str, int]:
    """Return the number of published statements, and of those covered and not reproduced.

    Of several references it is not known of which of them a statement is: they count together, as
    the parts of a publication do.

    Args:
        frame: The outcome, as far as it is known before the run.
        covered: The numbers of the statements that are covered, by claim.

    Returns:
        Nothing unless each reference says how many statements its publication has, and these are at
        least as many as are covered: tests may name those of another publication, too.
    """
    numbers = [reference.get("statements") for reference in frame.get("references", ())]
    if not numbers or None in numbers or sum(covered.values()) > sum(numbers):
        return {}
    gaps = {gap["what"] for test in frame["tests"] for gap in test.get("not_reproduced", ())}
    return {
        "statements": sum(numbers),
        "covered": sum(covered.values()),
        "not reproduced": len(gaps),
    }


def _claim(statement: Mapping[str, Any]) -> str:
    if statement["verdict"] == NOT_APPLICABLE:
        return NOT_APPLICABLE
    return statement.get("claim") or UNCLAIMED
