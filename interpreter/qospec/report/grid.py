"""The results of a test's cases as tables of text, for terminals and Markdown.

A row is a case. If it has fewer lines so, a sweep over several parameters has a table for each
result instead, with a column for each value of the last parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.judge.verdict import NOT_APPLICABLE, PROBLEMS, VERDICTS
from qospec.record.quantity import describe_quantity
from qospec.report.charts.parameter import find_scale
from qospec.report.charts.plot import list_varying, point
from qospec.report.figures import NO_DATA, align_figures, align_intervals
from qospec.report.searches import (
    Goal,
    LossCurve,
    align_goal,
    is_load_again,
    list_goals,
    list_loss_curves,
)
from qospec.report.views import arrange_columns, find_worst
from qospec.report.words import find_extremes, list_index, split_index, without_shared
from qospec.units import RATIO

Record = Mapping[str, Any]

GAP = 2
"""The room between columns."""
LEAST_HEAD, MOST_LINES = 7, 5
"""A head is not broken into lines below this width, nor into more lines if wider ones are fewer."""
_PIECES = re.compile(r"(?<=[._ ])|(?=\[)")
LEAST_ROWS = 10
"""A table with fewer rows is not turned."""
MORE_ROWS = 2
"""How many times more rows a table may have whose rows are the steps of its cases."""


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
        least = max(len(self.unit), *map(len, align_column(self)), LEAST_HEAD)
        widths = range(least, max(least, len(self.head)) + 1)
        broken = (_break_head(self.head, width) for width in widths)
        return next(lines for lines in broken if len(lines) <= MOST_LINES)

    @property
    def width(self) -> int:
        """Return the characters that it needs."""
        return max(*map(len, self.heads), len(self.unit), *map(len, align_column(self)))


class Grid(NamedTuple):
    """A table: what it shows, if that is a single thing, its columns, and how many rows it has."""

    title: str
    columns: Sequence[Column]
    rows: int


def _break_head(head: str, width: int) -> list[str]:
    """Return a head in lines of this width, as far as it can be broken."""
    lines = [""]
    for piece in _PIECES.split(head):
        if lines[-1] and len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return lines


def build_grids(cases: Sequence[Record], room: int, rows: int) -> list[Grid]:
    """Return the results of a test's cases as tables that fit; none if there is nothing to show.

    Args:
        cases: Of one test.
        room: The most characters of a line; wider tables are parted, each with its keys.
        rows: The most rows; of longer tables, evenly distributed ones are shown. A table with
            several rows for each case may have `MORE_ROWS` times as many.
    """
    return [
        *_build_results(cases, room, rows),
        *(
            _thin(grid, rows)
            for curve in list_loss_curves(cases)
            for grid in _build_loss_curve(curve, cases, room)
        ),
    ]


def _build_results(cases: Sequence[Record], room: int, rows: int) -> list[Grid]:
    whole = _build_by_case(cases)
    if not whole.columns:
        return []
    found = [_fit_table(whole, room)]
    turned = _build_by_index(cases)
    if turned is not None and len(cases) == 1:
        return [_thin(grid, rows) for grid in _fit_table(turned, room)]
    if turned is not None and len(found[0]) > 1 and turned.rows <= rows * MORE_ROWS:
        return _fit_table(turned, room)
    if len(cases) >= LEAST_ROWS and len(list_varying(cases)) > 1:
        found.append(
            [part for grid in _list_cross_tables(cases) for part in _fit_table(grid, room)]
        )
    return [_thin(grid, rows) for grid in min(found, key=_count_lines)]


def _count_lines(grids: Sequence[Grid]) -> int:
    return sum(grid.rows + 3 for grid in grids)


def _build_by_case(cases: Sequence[Record]) -> Grid:
    return Grid(
        "",
        [*_build_keys(cases, list_varying(cases)), *_build_verdicts(cases), *_build_values(cases)],
        len(cases),
    )


def _build_by_index(cases: Sequence[Record]) -> Grid | None:
    """Return what cases report in loops, with a row for each case and index of its labels.

    That is all of their values, or there is no such table: `delay[p.user]` and `delay[q.user]` are
    a column of two rows. So the steps of a procedure are rows.
    """
    by_label: dict[tuple[str, str], list[Record | None]] = {}
    for label, there in _list_reported(cases, list_goals(cases)):
        name, index = split_index(label)
        by_label[index, name] = there
    indices = list(dict.fromkeys(index for index, _ in by_label))
    names = list(dict.fromkeys(name for _, name in by_label))
    if len(by_label) < len(indices) * len(names) or len(indices) <= 1 or list_goals(cases):
        return None
    rows = list(_list_rows(cases, by_label))
    its = [cases[number] for number, _ in rows]
    values = [
        _write_value(name, [by_label[at, name][number] if at else None for number, at in rows])
        for name in names
    ]
    at = dict(zip(["", *indices], ["", *without_shared(indices)], strict=True))
    return Grid(
        "",
        [
            *_build_keys(its, list_varying(cases)),
            Column("at", "", [list_index(at[index]) for _, index in rows], "key", "left"),
            *_build_verdicts_by_row(cases, rows),
            *values,
        ],
        len(rows),
    )


def _list_rows(
    cases: Sequence[Record], by_label: Mapping[tuple[str, str], Sequence[Record | None]]
) -> Iterator[tuple[int, str]]:
    """Yield the number of each case with each index that it has; with "" if it has none."""
    for number in range(len(cases)):
        has = [index for (index, _), there in by_label.items() if there[number]]
        yield from ((number, index) for index in dict.fromkeys(has or [""]))


def _build_verdicts_by_row(
    cases: Sequence[Record], rows: Sequence[tuple[int, str]]
) -> Iterator[Column]:
    """Yield the column of verdicts of rows: those of the criteria with their index.

    Where a criterion without such a row did not pass, all rows of its case have that of the case.
    """
    found: dict[tuple[int, str], list[str]] = {}
    for number, case in enumerate(cases):
        for statement in case["statements"]:
            if statement["kind"] != "report":
                _, index = split_index(statement["label"])
                found.setdefault((number, index), []).append(statement["verdict"])
    whole = {
        number
        for (number, index), of in found.items()
        if (number, index) not in rows and find_worst(set(of) & set(VERDICTS)) in PROBLEMS
    }
    verdicts = [
        (cases[number]["verdict"] if cases[number]["ran"] else "")
        if number in whole or not index
        else find_worst(set(found.get((number, index), ())) & set(VERDICTS)) or "measured"
        for number, index in rows
    ]
    if set(verdicts) != {"measured"}:
        yield Column("verdict", "", verdicts, "verdict", "left")


def _build_loss_curve(curve: LossCurve, cases: Sequence[Record], room: int) -> list[Grid]:
    """Return a frame loss curve as a table: its loads are columns or, if these are many, rows."""
    unit, loads = align_figures(curve.loads)
    of = f"{', '.join(curve.names)}: loss in % at each {curve.variable}"
    title = f"{of} in {unit}" if unit else of
    shares = [loss for losses in curve.losses for loss in losses]
    texts = iter(align_figures([describe_quantity(loss, RATIO) for loss in shares]).texts)
    cells = [
        [text if loss is not None else "" for loss, text in zip(row, texts, strict=False)]
        for row in curve.losses
    ]
    names = list_varying(cases)
    by_case = [
        Column(load, "", column)
        for load, column in zip(loads, zip(*cells, strict=True), strict=True)
    ]
    by_load = [
        Column(point(case, names) if names else "loss", "", column)
        for case, column in zip(cases, cells, strict=True)
    ]
    beside = _fit_table(Grid(title, [*_build_keys(cases, names), *by_case], len(cases)), room)
    below = _fit_table(
        Grid(title, [Column(curve.variable, "", loads, "key"), *by_load], len(loads)), room
    )
    return min(beside, below, key=lambda parts: (len(parts) > 1, _count_lines(parts)))


def _build_keys(cases: Sequence[Record], names: Sequence[str]) -> Iterator[Column]:
    for name in names:
        texts = [point(case, [name]) for case in cases]
        yield Column(name, "", texts, "key", "left" if find_scale(cases, name) is None else "point")


def _build_verdicts(cases: Sequence[Record]) -> Iterator[Column]:
    """Yield the column of verdicts, unless all cases only report."""
    if any(case["verdict"] != "measured" for case in cases):
        verdicts = [case["verdict"] if case["ran"] else "" for case in cases]
        yield Column("verdict", "", verdicts, "verdict", "left")


def _build_values(cases: Sequence[Record]) -> Iterator[Column]:
    """Yield a column for each goal of a search, then one for each reported value."""
    found_goals = list_goals(cases)
    for goal in found_goals:
        unit, texts = align_goal(goal)
        yield Column(goal.label, unit, texts, align="right")
    reported = _list_reported(cases, found_goals)
    heads = without_index([label for label, _ in reported])
    for head, (_, there) in zip(heads, reported, strict=True):
        yield _write_value(head, there)


def _list_reported(
    cases: Sequence[Record], of: Sequence[Goal]
) -> list[tuple[str, list[Record | None]]]:
    """Return the labels of what is reported beside goals, each with its statement in each case."""
    return [
        (column["label"], there)
        for column in arrange_columns(cases, ("report",))
        for there in [[_is_applicable(statement) for statement in column["statements"]]]
        if not all(statement is None or is_load_again(statement, of) for statement in there)
    ]


def _write_value(head: str, there: Sequence[Record | None]) -> Column:
    if any(statement and "measured_limits" in statement for statement in there):
        unit, pairs = align_intervals(
            [find_extremes(statement) if statement else (None, None) for statement in there]
        )
        exclusive = [_is_exclusive(statement) for statement in there]
        texts = [
            _write_range(*pair, exclusive=is_open)
            for pair, is_open in zip(pairs, exclusive, strict=True)
        ]
        return Column(head, unit, _hide_missing(texts, there), align="right")
    found = align_figures(
        [statement and statement["measured"] for statement in there],
        [statement and statement.get("interval") for statement in there],
    )
    return Column(head, found.unit, _hide_missing(found.texts, there))


def _is_exclusive(statement: Record | None) -> bool:
    """Return whether a value does not reach its only known limit."""
    limits = statement.get("measured_limits", {}) if statement else {}
    return bool(limits.get("exclusive"))


def _write_range(lower: str, upper: str, *, exclusive: bool) -> str:
    """Return `39.8 .. 40.1`, `>= 39.8` or `< 40.1` of limits; of equal ones, the value."""
    if lower == upper:
        return lower
    if NO_DATA in (lower, upper):
        equal = "" if exclusive else "="
        return f"<{equal} {upper}" if lower == NO_DATA else f">{equal} {lower}"
    return f"{lower} .. {upper}"


def without_index(labels: Sequence[str]) -> list[str]:
    """Return labels without their indices, `latency[p.f]`, if they are distinct without them.

    That is what a loop over flows adds to a label; with a single flow it says nothing. Of indices
    that say something, the parts are left out that all share: `latency[f]` and `latency[g]`.
    """
    parts = [split_index(label) for label in labels]
    short = [name for name, _ in parts]
    if len(set(short)) == len(labels):
        return short
    indices = list(dict.fromkeys(index for _, index in parts if index))
    apart = dict(zip(indices, without_shared(indices), strict=True)) if len(indices) > 1 else {}
    short = [f"{name}[{apart.get(index, index)}]" if index else name for name, index in parts]
    return short if len(set(short)) == len(labels) else list(labels)


def _is_applicable(statement: Record | None) -> Record | None:
    return None if statement and statement["verdict"] == NOT_APPLICABLE else statement


def _hide_missing(texts: Sequence[str], there: Sequence[Record | None]) -> list[str]:
    return [text if statement else "" for text, statement in zip(texts, there, strict=True)]


def _list_cross_tables(cases: Sequence[Record]) -> Iterator[Grid]:
    """Yield a table for each column of values, and of verdicts, over the last parameter."""
    *names, over = list_varying(cases)
    lines = [tuple(point(case, [name]) for name in names) for case in cases]
    across = [point(case, [over]) for case in cases]
    rows = dict(zip(reversed(lines), reversed(cases), strict=True))
    rows = {row: rows[row] for row in dict.fromkeys(lines)}
    for column in (*_build_verdicts(cases), *_build_values(cases)):
        at = dict(zip(zip(lines, across, strict=True), column.cells, strict=True))
        unit = f" ({column.unit})" if column.unit else ""
        yield Grid(
            f"{column.head} over {over}{unit}",
            [
                *_build_keys(list(rows.values()), names),
                *(
                    Column(value, "", [at.get((row, value), "") for row in rows], *column[3:])
                    for value in dict.fromkeys(across)
                ),
            ],
            len(rows),
        )


def _fit_table(grid: Grid, room: int) -> list[Grid]:
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
            left = room + GAP - sum(key.width + GAP for key in keys)
        parts[-1].append(column)
        left -= column.width + GAP
    return [grid._replace(columns=[*keys, *part]) for part in parts or [[]]]


def _thin(grid: Grid, most: int) -> Grid:
    """Return a table with at most that many rows: the first, the last, and some between."""
    if grid.rows <= most:
        return grid
    kept = [round(number * (grid.rows - 1) / (most - 1)) for number in range(most)]
    columns = [
        column._replace(cells=[column.cells[row] for row in kept]) for column in grid.columns
    ]
    return grid._replace(columns=columns)


def align_column(column: Column) -> list[str]:
    """Return the cells of a column; numbers with their decimal points below each other."""
    if column.align != "point":
        return list(column.cells)
    parts = [cell.partition(".") for cell in column.cells]
    behind = max((len(point + rest) for _, point, rest in parts), default=0)
    return [f"{whole}{(point + rest).ljust(behind)}" for whole, point, rest in parts]


FUNCTIONS: dict[str, Callable[..., Any]] = {"grids": build_grids}
