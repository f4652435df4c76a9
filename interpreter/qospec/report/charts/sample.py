"""Numbers of a record for charts: what a case measured, and the limits it had to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.dataclass import dataclass
from qospec.record.quantity import read_number
from qospec.report.words import describe_needed, describe_value

Record = Mapping[str, Any]


def read_exact(quantity: Record | None) -> Fraction | None:
    """Return a quantity's value in its base unit; None without data, and if it is not a number."""
    return None if quantity is None else read_number(quantity["value"])


@dataclass(frozen=True)
class Sample:
    """A case in a chart.

    Attributes:
        measured: What was measured; None without data.
        low: What it had to be at least; None without such a limit.
        high: What it had to be at most.
        interval: Between what the mean of the repeats lies, or a value that depends on what
            searches found; None where neither is known.
        beyond: Where the value may be instead, if only one end of that is known: 1 for what is at
            least `measured`, -1 for what is at most that, otherwise 0.
    """

    measured: Fraction | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    interval: tuple[Fraction, Fraction] | None = None
    beyond: int = 0

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Return all values that an axis must contain."""
        found = (self.measured, self.low, self.high, *(self.interval or ()))
        return tuple(value for value in found if value is not None)


def read_sample(statement: Record | None) -> Sample:
    """Return the numbers of a statement, if there is one."""
    if statement is None:
        return Sample()
    bound, comparison = read_exact(statement["bound"]), statement["comparison"]
    low = high = None
    if bound is not None and comparison == "within":
        width = _read_width(statement["tolerance"], bound)
        low, high = bound - width, bound + width
    elif bound is not None:
        low = bound if comparison in (">", ">=", "==") else None
        high = bound if comparison in ("<", "<=", "==") else None
    measured = read_exact(statement["measured"])
    return Sample(measured, low, high, _read_interval(statement), _find_beyond(statement))


def _read_width(tolerance: Record, bound: Fraction) -> Fraction:
    """Return a tolerance as a width; one in percent is relative to the bound."""
    width = read_exact(tolerance) or Fraction(0)
    return width * abs(bound) if tolerance["text"].endswith("%") else width


def _read_interval(statement: Record) -> tuple[Fraction, Fraction] | None:
    found = statement.get("interval") or statement.get("measured_limits") or {}
    lower, upper = read_exact(found.get("lower")), read_exact(found.get("upper"))
    if lower is None or upper is None:
        return None
    return lower, upper


def _find_beyond(statement: Record) -> int:
    found = statement.get("measured_limits") or {}
    lower, upper = found.get("lower"), found.get("upper")
    return bool(lower and not upper) - bool(upper and not lower)


def choose_unit(statements: Sequence[Record | None]) -> str:
    """Return the unit of what statements measured; "%" if it was written so."""
    measured = [
        statement["measured"] for statement in statements if statement and statement["measured"]
    ]
    percent = any(quantity["text"].endswith("%") for quantity in measured)
    return "%" if percent else str(measured[0]["unit"])


def is_worth_drawing(statements: Sequence[Record | None]) -> bool:
    """Return whether statements measured one quantity, and a chart of it would show anything.

    There is if values differ, or if a verdict is none to pass over.
    """
    there = [
        statement
        for statement in statements
        if statement and read_exact(statement["measured"]) is not None
    ]
    units = {statement["measured"]["unit"] for statement in there}
    differ = len({statement["measured"]["value"] for statement in there}) > 1
    worrying = any(statement["verdict"] not in ("", "pass") for statement in there)
    return len(there) > 1 and len(units) == 1 and (differ or worrying)


def write_title(statement: Record, case: Record) -> str:
    """Return the text of a case's mark on hover."""
    got = describe_value(statement) or "no data"
    required = f", needed {describe_needed(statement)}" if statement["bound"] else ""
    name = case["name"].partition(":")[2] or case["name"]  # its test is that of the whole chart
    return f"{name}: {got}{required}"
