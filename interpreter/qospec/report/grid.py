"""The results of a test's cases as tables of text, for terminals and Markdown.

A row is a case. If it has fewer lines so, a sweep over several parameters has a table for each
result instead, with a column for each value of the last parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from qospec.judge.verdict import NOT_APPLICABLE
from qospec.report.charts.parameter import scale_of
from qospec.report.charts.plot import point, varying
from qospec.report.figures import figures
from qospec.report.searches import Goal, goals, intervals_of, shows_bounds
from qospec.report.views import columns

Record = Mapping[str, Any]

GAP = 2
"""The room between columns."""
LEAST_HEAD = 7
"""A head is not broken into lines below this width."""
_PIECES = re.compile(r"(?<=[._ ])|(?=\[)")
LEAST_ROWS = 10
"""A table with fewer rows is not turned."""


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        head: What it shows.
        unit: Of all its cells; "" if there is none, or if each has its own.
        cells: One for each row; of a column of verdicts, verdicts ("" if not run).
        kind: `verdict`, `key` (what a row is about), or `value`.
        align: `left`, `right`, or `point`: at the decimal points of its numbers.
        narrow: Whether its head is broken into lines that are not much wider than its cells.
    """

    head: str
    unit: str
    cells: Sequence[str]
    kind: str = "value"
    align: str = "point"
    narrow: bool = False

    @property
    def heads(self) -> list[str]:
        """Return its head in lines."""
        if not self.narrow:
            return [self.head]
        least = max(len(self.unit), *map(len, aligned(self)), LEAST_HEAD)
        lines = [""]
        for piece in _PIECES.split(self.head):
            if lines[-1] and len(lines[-1] + piece) > least:
                lines.append("")
            lines[-1] += piece
        return lines

    @property
    def width(self) -> int:
        """Return the characters that it needs."""
        return max(*map(len, self.heads), len(self.unit), *map(len, aligned(self)))


class Grid(NamedTuple):
    """A table: what it shows, if that is a single thing, its columns, and how many rows it has."""

    title: str
    columns: Sequence[Column]
    rows: int


def grids(cases: Sequence[Record], room: int, rows: int) -> list[Grid]:
    """Return the results of a test's cases as tables that fit; none if there is nothing to show.

    Args:
        cases: Of one test.
        room: The most characters of a line; wider tables are parted, each with its keys.
        rows: The most rows; of longer tables, evenly distributed ones are shown.
    """
    whole = _by_case(cases)
    if not whole.columns:
        return []
    if len(cases) == 1 and (turned := _by_index(cases)) is not None:
        return [_thinned(grid, rows) for grid in _fitting(turned, room)]
    found = [_fitting(whole, room)]
    if len(cases) >= LEAST_ROWS and len(varying(cases)) > 1:
        found.append([part for grid in _crossed(cases) for part in _fitting(grid, room)])
    chosen = min(found, key=lambda its: sum(grid.rows + 3 for grid in its))
    return [_thinned(grid, rows) for grid in chosen]


def _by_case(cases: Sequence[Record]) -> Grid:
    return Grid("", [*_keys(cases, varying(cases)), *_judged(cases), *_values(cases)], len(cases))


def _by_index(cases: Sequence[Record]) -> Grid | None:
    """Return what a case reports in loops, with a row for each index of its labels.

    That is all of its values, or there is no such table: `delay[p.user]` and `delay[q.user]` are a
    column of two rows.
    """
    rows: dict[str, dict[str, Record | None]] = {}
    for label, (statement,) in _reported(cases, goals(cases)):
        name, _, index = label.removesuffix("]").partition("[")
        rows.setdefault(index.replace("][", ", "), {})[name] = statement
    names = {tuple(row) for row in rows.values()}
    if len(names) != 1 or len(rows) == 1 or goals(cases):
        return None
    values = [
        _value(name, [row[name] for row in rows.values()]) for name in next(iter(rows.values()))
    ]
    return Grid("", [Column("at", "", list(rows), "key", "left"), *values], len(rows))


def _keys(cases: Sequence[Record], names: Sequence[str]) -> Iterator[Column]:
    for name in names:
        texts = [point(case, [name]) for case in cases]
        yield Column(name, "", texts, "key", "left" if scale_of(cases, name) is None else "point")


def _judged(cases: Sequence[Record]) -> Iterator[Column]:
    """Yield the column of verdicts, unless all cases only report."""
    if any(case["verdict"] != "measured" for case in cases):
        verdicts = [case["verdict"] if case["ran"] else "" for case in cases]
        yield Column("verdict", "", verdicts, "verdict", "left")


def _values(cases: Sequence[Record]) -> Iterator[Column]:
    """Yield a column for each goal of a search, then one for each reported value."""
    found_goals = goals(cases)
    for goal in found_goals:
        unit, texts = intervals_of(goal)
        yield Column(goal.label, unit, texts, align="right")
    reported = _reported(cases, found_goals)
    heads = without_index([label for label, _ in reported])
    for head, (_, there) in zip(heads, reported, strict=True):
        yield _value(head, there)


def _reported(cases: Sequence[Record], of: Sequence[Goal]) -> list[tuple[str, list[Record | None]]]:
    """Return the labels of what is reported beside goals, each with its statement in each case."""
    return [
        (column["label"], there)
        for column in columns(cases, ("report",))
        for there in [[_applicable(each) for each in column["statements"]]]
        if not all(each is None or shows_bounds(each, of) for each in there)
    ]


def _value(head: str, there: Sequence[Record | None]) -> Column:
    found = figures(
        [each and each["measured"] for each in there],
        [each and each.get("interval") for each in there],
    )
    return Column(head, found.unit, _blank_where_none(found.texts, there))


def without_index(labels: Sequence[str]) -> list[str]:
    """Return labels without their indices, `latency[p.f]`, if they are distinct without them.

    That is what a loop over flows adds to a label; with a single flow it says nothing.
    """
    parts = [label.partition("[") for label in labels]
    short = [name or label for (name, _, _), label in zip(parts, labels, strict=True)]
    return short if len(set(short)) == len(labels) else list(labels)


def _applicable(statement: Record | None) -> Record | None:
    return None if statement and statement["verdict"] == NOT_APPLICABLE else statement


def _blank_where_none(texts: Sequence[str], there: Sequence[Record | None]) -> list[str]:
    return [text if each else "" for text, each in zip(texts, there, strict=True)]


def _crossed(cases: Sequence[Record]) -> Iterator[Grid]:
    """Yield a table for each column of values, and of verdicts, over the last parameter."""
    *names, over = varying(cases)
    lines = [tuple(point(case, [name]) for name in names) for case in cases]
    across = [point(case, [over]) for case in cases]
    rows = dict(zip(reversed(lines), reversed(cases), strict=True))
    rows = {row: rows[row] for row in dict.fromkeys(lines)}
    for column in (*_judged(cases), *_values(cases)):
        at = dict(zip(zip(lines, across, strict=True), column.cells, strict=True))
        unit = f" ({column.unit})" if column.unit else ""
        yield Grid(
            f"{column.head} over {over}{unit}",
            [
                *_keys(list(rows.values()), names),
                *(
                    Column(value, "", [at.get((row, value), "") for row in rows], *column[3:])
                    for value in dict.fromkeys(across)
                ),
            ],
            len(rows),
        )


def _fitting(grid: Grid, room: int) -> list[Grid]:
    """Return a table, if it is too wide with narrow columns, then in parts with the same keys."""
    every = list(grid.columns)
    if sum(column.width + GAP for column in every) > room + GAP:
        every = [column._replace(narrow=True) for column in every]
    keys = [column for column in every if column.kind == "key"]
    parts: list[list[Column]] = []
    left = 0
    for column in every[len(keys) :]:
        if not parts or left < column.width + GAP:
            parts.append([])
            left = room - sum(key.width + GAP for key in keys)
        parts[-1].append(column)
        left -= column.width + GAP
    return [grid._replace(columns=[*keys, *part]) for part in parts or [[]]]


def _thinned(grid: Grid, most: int) -> Grid:
    """Return a table with at most that many rows: the first, the last, and some between."""
    if grid.rows <= most:
        return grid
    kept = [round(number * (grid.rows - 1) / (most - 1)) for number in range(most)]
    columns = [
        column._replace(cells=[column.cells[row] for row in kept]) for column in grid.columns
    ]
    return grid._replace(columns=columns)


def aligned(column: Column) -> list[str]:
    """Return the cells of a column; numbers with their decimal points below each other."""
    if column.align != "point":
        return list(column.cells)
    parts = [cell.partition(".") for cell in column.cells]
    behind = max((len(point + rest) for _, point, rest in parts), default=0)
    return [f"{whole}{(point + rest).ljust(behind)}" for whole, point, rest in parts]


FUNCTIONS: dict[str, Callable[..., Any]] = {"grids": grids}
