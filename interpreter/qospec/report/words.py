"""Quantities and statements of a record in words, for templates and charts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.judge.verdict import NOT_APPLICABLE
from qospec.report.charts.axis import decade, number

Record = Mapping[str, Any]

_SIGNS = {"<=": "≤ ", ">=": "≥ ", "==": "= ", "!=": "≠ ", "<": "< ", ">": "> ", "in": "in "}
_HOLDS = {"pass": "holds", "fail": "does not hold"}


def shown(quantity: Record) -> str:
    """Return a quantity's text, after "≈" if it has an error."""
    return f"≈ {quantity['text']}" if quantity.get("error") else str(quantity["text"])


def percent(ratio: str) -> str:
    """Return an exact positive ratio as a percentage, rounded up to one digit: `0.1 %`."""
    value = 100 * Fraction(ratio)
    step = Fraction(10) ** decade(value)
    return f"{number(math.ceil(value / step) * step)} %"


def needed(statement: Record) -> str:
    """Return what a statement requires, `≤ 1 ms`; its text if it has no single bound."""
    comparison = statement["comparison"]
    if statement["kind"] == "report":
        return ""
    if statement["bound"] is None:
        return str(statement["text"])
    if comparison == "within":
        return f"{against(statement)} ± {statement['tolerance']['text']}"
    return f"{_SIGNS.get(comparison, comparison + ' ')}{against(statement)}"


def against(statement: Record) -> str:
    """Return what a statement compares with, or between what that is."""
    if "bound_limits" in statement:
        return describe_limits(statement["bound_limits"])
    return shown(statement["bound"])


def subject(statement: Record) -> str:
    """Return the subject of a statement, `f.delay.p99`: its text before the comparison.

    Of alternatives it is that of the last, because the others are conditions for it.
    """
    text, comparison = str(statement["text"]), statement["comparison"]
    if statement["kind"] == "report":
        return text
    if not comparison or statement["measured"] is None:
        return ""
    ahead = text.rpartition(f" {comparison} ")[0]
    last = re.split(r" (?:or|and) ", ahead)[-1]
    return last if last.count("(") == last.count(")") else ahead


def measured(statement: Record) -> str:
    """Return what was measured in words; of a condition without one value, whether it holds."""
    if found := value(statement):
        return f"{found}{interval(statement)}"
    if statement["verdict"] == NOT_APPLICABLE:
        return NOT_APPLICABLE
    if not statement["comparison"] and statement["verdict"] in _HOLDS:
        return _HOLDS[statement["verdict"]]
    return "no data"


def interval(statement: Record) -> str:
    """Return the confidence interval, ` (960 us to 1.022 ms, 95 %)`; "" if there is none."""
    found = statement.get("interval")
    return f" ({describe_ends(found)}, {statement['confidence']})" if found else ""


def value(statement: Record) -> str:
    """Return what a statement measured, or between what it is; "" without data."""
    if "measured_limits" in statement:
        return describe_limits(statement["measured_limits"])
    return shown(statement["measured"]) if statement["measured"] else ""


def extremes(statement: Record) -> tuple[Record | None, Record | None]:
    """Return the least and the greatest quantity that a statement may have measured."""
    limits = statement.get("measured_limits")
    return (limits["lower"], limits["upper"]) if limits else (statement["measured"],) * 2


def describe_ends(found: Record) -> str:
    """Return `960 us to 1.022 ms`; of a quantile without an upper bound, `above 960 us`."""
    lower, upper = (end["text"] if end else "" for end in (found["lower"], found["upper"]))
    return _ends(lower, upper, "above", "below") or "unknown"


def describe_limits(limits: Record) -> str:
    """Return the limits of a value: `26.76 Mbit/s to 26.86 Mbit/s`, `at least 100 Mbit/s`."""
    lower, upper = (shown(end) if end else "" for end in (limits["lower"], limits["upper"]))
    if limits.get("exclusive"):
        return _ends(lower, upper, "above", "below")
    return _ends(lower, upper, "at least", "at most")


def _ends(lower: str, upper: str, above: str, below: str) -> str:
    if lower and upper:
        return f"{lower} to {upper}"
    return f"{above} {lower}" if lower else f"{below} {upper}" if upper else ""


def describe_proved_bounds(case: Record) -> list[str]:
    """Return each proved bound and how close the measurement came, or why there is none."""
    return [
        f"{each['what']}: {_bounded(each)}" if each["most"] else f"{each['what']}: {each['why']}"
        for each in case.get("bounds", ())
    ]


def _bounded(bound: Record) -> str:
    most = f"at most {bound['most']['text']}"
    if not bound["measured"]:
        return f"{most}, nothing measured"
    share = f" ({bound['share']['text']})" if bound["share"] else ""
    return f"{most}, {bound['measured']['text']} measured{share}"


def describe_confidence(statement: Record) -> str:
    """Return ` with 95 % confidence` of a criterion that has one; otherwise ""."""
    asks = statement["kind"] != "report" and statement.get("confidence")
    return f" with {asks} confidence" if asks else ""


def index_of(label: str) -> tuple[str, str]:
    """Return a statement's name and what a loop added to it: `delay`, `cir_25.user`, or ""."""
    name, bracket, index = label.partition("[")
    return (name, index[:-1]) if bracket and name and label.endswith("]") else (label, "")


def name_statement(statement: Record) -> tuple[str, str]:
    """Return the name of a statement, its text if it has none, and what a loop added to it."""
    label, text = statement["label"], statement["text"]
    if label.startswith(text):
        return text, label.removeprefix(text)[1:-1]
    return index_of(label)


def list_index(index: str) -> str:
    """Return what several loops added to a label as a list: `f, 2` of `latency[f][2]`."""
    return index.replace("][", ", ")


def without_shared(indices: Sequence[str]) -> list[str]:
    """Return indices without the parts that all share: `cir_25` of `cir_25.user`."""
    parts = [index.split(".") for index in indices]
    if len({len(each) for each in parts}) > 1:
        return [".".join(each) for each in parts]
    shared = [len(set(each)) == 1 for each in zip(*parts, strict=True)]
    return [
        ".".join(part for part, same in zip(each, shared, strict=True) if not same)
        for each in parts
    ]


FILTERS: dict[str, Callable[..., Any]] = {
    "confidence": describe_confidence,
    "interval": interval,
    "measured": measured,
    "needed": needed,
    "percent": percent,
    "shown": shown,
}
