"""Records as tables: cases, statements and measurements, in rows that a database takes.

Exact numbers stand beside what they are as floating-point numbers, with which databases reckon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.record.quantity import read_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.document import Document

    Row = dict[str, Any]

TABLES: dict[str, dict[str, str]] = {
    "cases": {
        "record": "VARCHAR",
        "started": "TIMESTAMP",
        "seed": "VARCHAR",
        "qospec": "VARCHAR",
        "test": "VARCHAR",
        "case_name": "VARCHAR",
        "parameters": "JSON",
        "verdict": "VARCHAR",
        "seconds": "DOUBLE",
    },
    "statements": {
        "record": "VARCHAR",
        "case_name": "VARCHAR",
        "label": "VARCHAR",
        "kind": "VARCHAR",
        "claim": "VARCHAR",
        "verdict": "VARCHAR",
        "measured": "DOUBLE",
        "measured_exact": "VARCHAR",
        "comparison": "VARCHAR",
        "bound": "DOUBLE",
        "bound_exact": "VARCHAR",
        "unit": "VARCHAR",
        "note": "VARCHAR",
    },
    "measurements": {
        "record": "VARCHAR",
        "case_name": "VARCHAR",
        "repeat": "INTEGER",
        "flow": "VARCHAR",
        "metric": "VARCHAR",
        "value": "DOUBLE",
        "exact": "VARCHAR",
        "unit": "VARCHAR",
    },
}
"""The columns of each table, with their types in SQL."""


def list_rows(record: str, outcome: Document, timing: Document) -> Iterator[tuple[str, Row]]:
    """Yield each row of a record of this name: its table, and its values by column."""
    seconds = timing.get("cases", {})
    for case in outcome["cases"]:
        of = {"record": record, "case_name": case["name"]}
        yield (
            "cases",
            {
                **of,
                "started": timing.get("started"),
                "seed": outcome["seed"],
                "qospec": outcome["qospec"],
                "test": case["test"],
                "parameters": case["parameters"],
                "verdict": case["verdict"],
                "seconds": seconds.get(case["name"]),
            },
        )
        for statement in case["statements"]:
            yield "statements", {**of, **_describe_statement(statement)}
        for repeat, flows in enumerate(case["repeats"], 1):
            for flow, metrics in flows.items():
                for metric, quantity in metrics.items():
                    value, exact, unit = _read(quantity)
                    yield (
                        "measurements",
                        {
                            **of,
                            "repeat": repeat,
                            "flow": flow,
                            "metric": metric,
                            "value": value,
                            "exact": exact,
                            "unit": unit,
                        },
                    )


def _describe_statement(statement: Mapping[str, Any]) -> Row:
    measured, measured_exact, unit = _read(statement["measured"])
    bound, bound_exact, unit_of_bound = _read(statement["bound"])
    return {
        **{name: statement[name] for name in ("label", "kind", "verdict", "comparison", "note")},
        "claim": statement.get("claim", ""),
        "measured": measured,
        "measured_exact": measured_exact,
        "bound": bound,
        "bound_exact": bound_exact,
        "unit": unit or unit_of_bound,
    }


def _read(quantity: Mapping[str, str] | None) -> tuple[float | None, str | None, str | None]:
    """Return a quantity as a number, exactly, and its unit; nothing without data."""
    if quantity is None:
        return None, None, None
    number = read_number(quantity["value"])
    try:
        return None if number is None else float(number), quantity["value"], quantity["unit"]
    except OverflowError:
        return None, quantity["value"], quantity["unit"]
