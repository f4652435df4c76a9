"""Quantities and statements of a record in words, for templates and charts."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.judge.verdict import NOT_APPLICABLE
from qospec.report.charts.axis import find_decade, write_number

Record = Mapping[str, Any]

_SIGNS = {"<=": "≤ ", ">=": "≥ ", "==": "= ", "!=": "≠ ", "<": "< ", ">": "> ", "in": "in "}
_HOLDS = {"pass": "holds", "fail": "does not hold"}


def show_quantity(quantity: Record) -> str:
    """Return a quantity's text, after "≈" if it has an error."""
    return f"≈ {quantity['text']}" if quantity.get("error") else str(quantity["text"])


def write_percent(ratio: str) -> str:
    """Return an exact positive ratio as a percentage, rounded up to one digit: `0.1 %`."""
    value = 100 * Fraction(ratio)
    step = Fraction(10) ** find_decade(value)
    return f"{write_number(math.ceil(value / step) * step)} %"


def describe_needed(statement: Record) -> str:
    """Return what a statement requires, `≤ 1 ms`; its text if it has no single bound."""
    comparison = statement["comparison"]
    if statement["kind"] == "report":
        return ""
    if statement["bound"] is None:
        return str(statement["text"])
    if comparison == "within":
        return f"{describe_bound(statement)} ± {statement['tolerance']['text']}"
    return f"{_SIGNS.get(comparison, comparison + ' ')}{describe_bound(statement)}"


def describe_bound(statement: Record) -> str:
    """Return what a statement compares with, or between what that is."""
    if "bound_limits" in statement:
        return describe_limits(statement["bound_limits"])
    return show_quantity(statement["bound"])


def find_subject(statement: Record) -> str:
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


def describe_measured(statement: Record) -> str:
    """Return what was measured in words; of a condition without one value, whether it holds."""
    if found := describe_value(statement):
        return f"{found}{describe_interval(statement)}"
    if statement["verdict"] == NOT_APPLICABLE:
        return NOT_APPLICABLE
    if not statement["comparison"] and statement["verdict"] in _HOLDS:
        return _HOLDS[statement["verdict"]]
    return "no data"


def describe_interval(statement: Record) -> str:
    """Return the confidence interval, ` (960 us to 1.022 ms, 95 %)`; "" if there is none."""
    found = statement.get("interval")
    return f" ({describe_ends(found)}, {statement['confidence']})" if found else ""


def describe_value(statement: Record) -> str:
    """Return what a statement measured, or between what it is; "" without data."""
    if "measured_limits" in statement:
        return describe_limits(statement["measured_limits"])
    return show_quantity(statement["measured"]) if statement["measured"] else ""


def find_extremes(statement: Record) -> tuple[Record | None, Record | None]:
    """Return the least and the greatest quantity that a statement may have measured."""
    limits = statement.get("measured_limits")
    return (limits["lower"], limits["upper"]) if limits else (statement["measured"],) * 2


def describe_ends(found: Record) -> str:
    """Return `960 us to 1.022 ms`; of a quantile without an upper bound, `above 960 us`."""
    lower, upper = (end["text"] if end else "" for end in (found["lower"], found["upper"]))
    return _ends(lower, upper, "above", "below") or "unknown"


def describe_limits(limits: Record) -> str:
    """Return the limits of a value: `26.76 Mbit/s to 26.86 Mbit/s`, `at least 100 Mbit/s`."""
    lower, upper = (show_quantity(end) if end else "" for end in (limits["lower"], limits["upper"]))
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
        f"{bound['what']}: {_write_bounded(bound)}"
        if bound["most"]
        else f"{bound['what']}: {bound['why']}"
        for bound in case.get("bounds", ())
    ]


def _write_bounded(bound: Record) -> str:
    most = f"at most {bound['most']['text']}"
    if not bound["measured"]:
        return f"{most}, nothing measured"
    share = f" ({bound['share']['text']})" if bound["share"] else ""
    return f"{most}, {bound['measured']['text']} measured{share}"


def describe_confidence(statement: Record) -> str:
    """Return ` with 95 % confidence` of a criterion that has one; otherwise ""."""
    asks = statement["kind"] != "report" and statement.get("confidence")
    return f" with {asks} confidence" if asks else ""


def split_index(label: str) -> tuple[str, str]:
    """Return a statement's name and what a loop added to it: `delay`, `cir_25.user`, or ""."""
    name, bracket, index = label.partition("[")
    return (name, index[:-1]) if bracket and name and label.endswith("]") else (label, "")


def name_statement(statement: Record) -> tuple[str, str]:
    """Return the name of a statement, its text if it has none, and what a loop added to it."""
    label, text = statement["label"], statement["text"]
    if label.startswith(text):
        return text, label.removeprefix(text)[1:-1]
    return split_index(label)


def list_index(index: str) -> str:
    """Return what several loops added to a label as a list: `f, 2` of `latency[f][2]`."""
    return index.replace("][", ", ")


def without_shared(indices: Sequence[str]) -> list[str]:
    """Return indices without the parts that all share: `cir_25` of `cir_25.user`."""
    parts = [index.split(".") for index in indices]
    if len({len(part) for part in parts}) > 1:
        return [".".join(part) for part in parts]
    shared = [len(set(column)) == 1 for column in zip(*parts, strict=True)]
    return [
        ".".join(part for part, same in zip(own_parts, shared, strict=True) if not same)
        for own_parts in parts
    ]


FILTERS: dict[str, Callable[..., Any]] = {
    "confidence": describe_confidence,
    "interval": describe_interval,
    "measured": describe_measured,
    "needed": describe_needed,
    "percent": write_percent,
    "shown": show_quantity,
}


def describe_program(program: Mapping[str, Any]) -> list[str]:
    """Return lines on what came of a program: how it ended, what it sent, and what it wrote."""
    command = shlex.join(program["command"])
    failed = f": {program['failure']}" if program["failure"] else ""
    lines = [
        f"program   {program['flow']}: `{command}` in {program['host']}",
        f"  ended   {program['ended']}{failed}; {program['sent']} packets sent",
    ]
    for name in ("stdout", "stderr"):
        text, whole = program[name], program[f"{name}_bytes"]
        cut = len(text.encode()) < whole
        said = f"{whole} bytes" + (", of which the first are kept" if cut else "")
        lines += [f"  {name}  {said}", *(f"    {line}" for line in text.splitlines())] * bool(whole)
    return lines
