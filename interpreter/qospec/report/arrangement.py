"""Tables that fit a page: cases as rows or as columns, and in parts if neither fits.

Widths are estimated in characters, whatever the font; a line on a page of A4 or Letter has `ROOM`
of them, which the browser's test verifies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qospec.judge.verdict import NOT_APPLICABLE
from qospec.report.charts.plot import list_varying, point
from qospec.report.text import write_metric_name
from qospec.report.words import describe_measured, describe_needed, describe_value, show_quantity

Record = Mapping[str, Any]

ROOM = 100
"""The width of a page."""
PADDING = 2.5
"""The empty room beside each column."""
SMALL = 0.85
"""The width of a character in a heading, or in the small text below a value."""
SIGN = 3
"""The width of a verdict's sign before a value."""
BADGE = 10
"""The width of a verdict as a word."""
LONGEST_WORD = 22
"""The width at which names break, and so do the labels of statements at the start of a row."""
KIND = 6
"""The width of the word `report` below a heading."""
MOST_BESIDE = 6
"""With more cases each is a row, because people compare along a column."""


def arrange_tables(columns: Sequence[Record], cases: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the tables in which the statements of a test's cases fit a page.

    Each has `beside` (whether its cases are columns), `cases`, and `columns` like those of
    `views.arrange_columns`, with the statements of these cases. Few cases with many statements are
    side by side; otherwise a case is a row, unless that takes more tables.
    """
    names = list_varying(cases) or ["case"]
    by_row = _split_rows(columns, cases, names)
    by_side = _split_sides(columns, cases, names)
    liked = len(columns) > len(cases)
    if len(cases) <= MOST_BESIDE and len(by_side) < len(by_row) + liked:
        return [_build_table(columns, cases, part, beside=True) for part in by_side]
    every = range(len(cases))
    return [
        _build_table([columns[index] for index in part], cases, every, beside=False)
        for part in by_row
    ]


def _build_table(
    columns: Sequence[Record], cases: Sequence[Record], part: Sequence[int], *, beside: bool
) -> dict[str, Any]:
    return {
        "beside": beside,
        "cases": [cases[index] for index in part],
        "columns": [
            {**column, "statements": [column["statements"][index] for index in part]}
            for column in columns
        ],
    }


def _split_rows(
    columns: Sequence[Record], cases: Sequence[Record], names: Sequence[str]
) -> list[list[int]]:
    fixed = BADGE + PADDING + sum(_describe_parameter(name, cases) + PADDING for name in names)
    widths = [
        max(
            _write_heading(column),
            *(_write_cell(statement, column) for statement in column["statements"]),
        )
        for column in columns
    ]
    return split_columns(widths, fixed) or [[]]


def _split_sides(
    columns: Sequence[Record], cases: Sequence[Record], names: Sequence[str]
) -> list[list[int]]:
    label = max((_measure_longest(column["label"], 1.0) for column in columns), default=0)
    asked = max((len(column["bound"] or "") for column in columns), default=0)
    fixed = min(label, LONGEST_WORD) + PADDING + min(asked, LONGEST_WORD) + PADDING
    widths = [
        max(
            BADGE,
            len(point(case, names)) * SMALL,
            *(_write_cell(column["statements"][index], column) for column in columns),
        )
        for index, case in enumerate(cases)
    ]
    return split_columns(widths, fixed)


def split_columns(widths: Sequence[float], fixed: float) -> list[list[int]]:
    """Return the indices of columns, in parts that fit beside the columns each part begins with.

    Args:
        widths: The width of each column, in characters.
        fixed: The width of the columns that each part begins with, including the room between.
    """
    found: list[list[int]] = []
    left = 0.0
    for index, width in enumerate(widths):
        if not found or left < width + PADDING:
            found.append([])
            left = ROOM - fixed
        found[-1].append(index)
        left -= width + PADDING
    return found


def _describe_parameter(name: str, cases: Sequence[Record]) -> float:
    values = (point(case, [name] if name in case["parameters"] else []) for case in cases)
    return min(LONGEST_WORD, max(_measure_longest(name), *map(len, values)))


def _write_heading(column: Record) -> float:
    kind = 0 if column["kind"] == "expect" else KIND
    term = _measure_longest(column["subject"]) if column["term"] else 0
    return max(_measure_longest(column["label"]), kind, term, len(column["bound"] or "") * SMALL)


def _measure_longest(text: str, width: float = SMALL) -> float:
    """Return the width of the longest part of a name; names break after dots and underscores."""
    pieces = (len(piece) for piece in re.split(r"(?<=[\s._])", text))
    return min(LONGEST_WORD, max(pieces, default=0)) * width


def _write_cell(statement: Record | None, column: Record) -> float:
    if statement is None:
        return 0
    if statement["verdict"] == NOT_APPLICABLE:
        return len("n/a")
    got = describe_value(statement) or describe_measured(statement)
    below = list(_ends(statement))
    if column["bound"] is None:
        below.append(min(len(describe_needed(statement)), LONGEST_WORD))
    return max(SIGN + len(got), *(length * SMALL for length in below), 0)


def _ends(statement: Record) -> Iterator[int]:
    """Yield the length of each end of an interval; they may be on separate lines."""
    found = statement.get("interval") or {}
    for name in ("lower", "upper"):
        if found.get(name):
            yield len(found[name]["text"]) + len(" to")


def value_parts(names: Sequence[str], rows: Sequence[tuple[str, Record]]) -> list[list[str]]:
    """Return the names of metrics in parts that fit a page beside the flows' names.

    Args:
        names: The columns.
        rows: Pairs of the text that starts a row and its quantities by column.
    """
    fixed = max((min(len(head), LONGEST_WORD) for head, _ in rows), default=0) + PADDING
    widths = [
        max(
            _measure_longest(write_metric_name(name)),
            *(_write_quantity(values.get(name)) for _, values in rows),
        )
        for name in names
    ]
    return [[names[index] for index in part] for part in split_columns(widths, fixed)]


def repeat_parts(rows: Sequence[tuple[str, str, Sequence[Record | None]]]) -> list[list[int]]:
    """Return the numbers of repeats, from 0, in parts that fit beside the names of metrics.

    Args:
        rows: Flow, metric and its value in each repeat, as `differing()` has them.
    """
    count = len(rows[0][2]) if rows else 0
    widths = [
        max(_write_quantity(values[index]) for _, _, values in rows) for index in range(count)
    ]
    return split_columns(widths, LONGEST_WORD + PADDING)


def _write_quantity(value: Record | None) -> int:
    return len(show_quantity(value)) if value else len("no data")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "arrangement": arrange_tables,
    "repeat_parts": repeat_parts,
    "value_parts": value_parts,
}
