"""Time series of a record as rows: one for each interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from qospec.record.quantity import read_number

Record = Mapping[str, Any]

NO_DATA = "-"
DIGITS = Context(prec=12)


def list_values(series: Record) -> tuple[Fraction | None, ...]:
    """Return the value of each interval in base units; None without data."""
    texts = series["values"].split()
    return tuple(None if text == NO_DATA else Fraction(text) for text in texts)


def list_intervals(statement: Record) -> list[dict[str, str]]:
    """Return the intervals of a statement's series, each with `start` in s and `value`.

    Both are decimal numbers, of at most 12 digits; `value` is "" without data. None if the
    statement has no series.
    """
    series = statement.get("series")
    if not series:
        return []
    every = Fraction(series["every"]["value"])
    return [
        {
            "start": write_decimal(number * every),
            "value": "" if value is None else write_decimal(value),
        }
        for number, value in enumerate(list_values(series))
    ]


def write_decimal(value: object) -> str:
    """Return an exact number as a decimal of at most 12 digits; any other text as it is."""
    exact = read_number(str(value))
    if exact is None:
        return str(value)
    quotient = DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    text = f"{quotient:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


FUNCTIONS: dict[str, Callable[..., Any]] = {"intervals": list_intervals}
FILTERS: dict[str, Callable[..., Any]] = {"decimal": write_decimal}
