"""What an outcome says twice must be the same: verdicts follow from statements, these from values.

A record that was edited by hand and sealed again still has to agree with itself. Only what follows
from the record alone is looked at: a criterion that repeats judge together is not judged again.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.judge.verdict import NOT_APPLICABLE, VERDICTS, find_worst
from qospec.model.suite import JUDGED
from qospec.record.outcome import conclude_outcome, is_finished
from qospec.record.quantity import read_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.document import Document

COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

OF_NUMBERS = "1"
"""The unit of numbers and ratios."""
UNITS_OF_ITEMS = ("pkt", "frame", "cell", "call")


def list_contradictions(outcome: Document) -> Iterator[str]:
    """Yield in words where an outcome contradicts itself."""
    for case in outcome["cases"]:
        yield from list_contradictions_of(case)
    stopped = outcome["state"] == "stopped"
    whole = conclude_outcome(outcome, outcome["cases"], stopped=stopped)
    for name in ("state", "verdict"):
        if outcome[name] != whole[name]:
            yield f"its {name} is `{outcome[name]}`, which its cases do not bear"
    for name, count in _flatten(outcome["summary"]).items():
        if _flatten(whole["summary"]).get(name, 0) != count:
            yield f"its summary counts `{name}` otherwise than its cases"


def list_contradictions_of(case: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words where a case contradicts itself."""
    for statement in case["statements"]:
        if _is_contradicted(statement):
            yield (
                f"`{statement['label']}` of `{case['name']}` is `{statement['verdict']}`, which"
                " what was measured does not bear"
            )
    yield from _list_negative_counts(case)
    if not _is_borne(case):
        yield f"`{case['name']}` is `{case['verdict']}`, which its statements do not bear"


def _list_negative_counts(case: Mapping[str, Any]) -> Iterator[str]:
    """Yield in words which items were counted below zero, in a trial or in all of them."""
    for trial in (case["metrics"], *case["repeats"]):
        for flow, metrics in trial.items():
            for name, value in metrics.items():
                if value and value["unit"] in UNITS_OF_ITEMS and value["value"].startswith("-"):
                    yield f"`{name}` of `{flow}` in `{case['name']}` is below zero"


def _flatten(summary: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of a summary; an earlier version may have fewer of them."""
    groups = {name: value for name, value in summary.items() if isinstance(value, dict)}
    within = {f"{group} {name}": groups[group][name] for group in groups for name in groups[group]}
    return {name: count for name, count in summary.items() if name not in groups} | within


def _is_borne(case: Mapping[str, Any]) -> bool:
    """Return whether the verdict of a case may follow from its statements and errors.

    Without a criterion that measures something a case is no pass, and the record cannot tell which
    do; nor does it say of a search why it has not come to its end.
    """
    found = {statement["verdict"] for statement in case["statements"]} - {"", NOT_APPLICABLE}
    criteria = [statement for statement in case["statements"] if statement["kind"] in JUDGED]
    if not is_finished(case):
        may = {"inconclusive"}
    elif case["errors"]:
        may = {"error"}
    elif found & {"error", "fail", "inconclusive"}:
        may = {find_worst(verdict for verdict in VERDICTS if verdict in found)}
    elif any(not hang["meant"] for hang in case.get("hangs", ())):
        may = {"inconclusive"}
    elif any(statement["verdict"] == "pass" for statement in criteria):
        may = {"pass", "inconclusive"}
    elif case["statements"]:
        may = {"inconclusive"} if criteria else {"inconclusive", "measured"}
    else:
        may = {"inconclusive", "measured", "skip"}
    return case["verdict"] in may


def _is_contradicted(statement: Mapping[str, Any]) -> bool:
    """Return whether what was measured compares otherwise with its bound than the verdict says.

    Of a criterion that does not hold, `require` says that its trial does not count.
    """
    holds = _compare(statement)
    if holds is None or statement["verdict"] not in VERDICTS:
        return False
    return statement["verdict"] in (("fail", "error") if holds else ("pass",))


def _compare(statement: Mapping[str, Any]) -> bool | None:
    """Return whether a comparison of two values holds; None of anything else."""
    sides = [_read(statement[name]) for name in ("measured", "bound")]
    together = statement.get("interval") is not None
    limited = statement.get("measured_limits") or statement.get("bound_limits")
    if None in sides or together or limited:
        return None
    measured, bound = sides
    assert measured is not None and bound is not None  # noqa: S101, PT018 -- for the type checker
    if statement["comparison"] in COMPARISONS:
        compare = COMPARISONS[statement["comparison"]]
        return bool(compare(measured, bound))
    width = _read(statement["tolerance"])
    if statement["comparison"] != "within" or width is None:
        return None
    near = abs(measured - bound) <= width
    share = abs(measured - bound) <= width * abs(bound)
    units = statement["tolerance"]["unit"], statement["bound"]["unit"]
    if units == (OF_NUMBERS, OF_NUMBERS):  # 1 % of a number, or 1 to either side
        return bool(share) if share == near else None
    return bool(near if units[0] == units[1] else share)


def _read(quantity: Mapping[str, Any] | None) -> Fraction | None:
    """Return the number of a quantity; None of a condition or a text."""
    if quantity is None or not quantity["unit"]:
        return None
    return read_number(quantity["value"])
