"""Charts over time: the values of a report by interval, a line for each case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.judge.verdict import VERDICTS
from qospec.report.charts.axis import Axis, make_axis_over, make_time_axis
from qospec.report.charts.curves import thin_labels
from qospec.report.charts.plot import CHARACTER, cut, list_varying, point
from qospec.report.charts.sample import read_exact
from qospec.report.series import list_values
from qospec.report.views import list_tests

Record = Mapping[str, Any]

MOST_CHARTS = 24
"""The most charts on a page."""
MOST_OF_A_TEST = 6
MOST_LINES = 4
"""The most cases in a chart: those that need attention first."""
LONGEST_NAME = 48
WIDTH, LEFT, RIGHT, TOP, BOTTOM, BELOW = 500, 50, 486, 24, 200, 44
COLUMNS = 200
"""Columns of a chart; with more intervals, the least and greatest value of each are drawn."""


MARK_ROWS = (15, 5)
"""The tops of the lines of changes, beside which their words are: neighbours differ."""


class _Line(NamedTuple):
    """A case's series: values by interval, None without data."""

    case: Record
    statement: Record
    every: Fraction
    values: tuple[Fraction | None, ...]

    @property
    def end(self) -> Fraction:
        return self.every * len(self.values)


def build_timelines(document: Record) -> dict[str, list[dict[str, Any]]]:
    """Return the charts over time by test's id, as many as fit.

    A chart has `label`, `text` (what is shown), `every` (text), `note`, `repeats` (how many there
    are, of which it shows the first), `names` (`text`, `style`,
    `dash`, of its lines, none if there is one), `left_out` (cases that it does not show), `width`,
    `height`, `left`, `right`, `top`, `bottom`, `unit`, `ticks` (`y`, `label`), `below` (`x`,
    `label`), `along` (title of the axis below), `lines` (`style`, `dash`, `path`) and `changes`
    during the trial (`x`, `y`, `anchor` and `short` text of its words, `text`, `style` of the only
    line that it is of or None; `number`, 0 where all words fit).
    """
    charts: dict[str, list[dict[str, Any]]] = {}
    left = MOST_CHARTS
    for test in list_tests(document):
        for its in _group_by_label(test["cases"])[: min(left, MOST_OF_A_TEST)]:
            left -= 1
            charts.setdefault(test["id"], []).append(_build_chart(its))
    return charts


def _group_by_label(cases: Sequence[Record]) -> list[list[_Line]]:
    """Return the series with any data, grouped by what they show."""
    found: dict[tuple[str, str], list[_Line]] = {}
    for case in cases:
        for statement in case["statements"]:
            series = statement.get("series")
            every = read_exact(series["every"]) if series else None
            values = list_values(series) if series else ()
            if every and any(value is not None for value in values):
                key = (statement["label"], series["unit"])
                found.setdefault(key, []).append(_Line(case, statement, every, values))
    return list(found.values())


def _build_chart(every: Sequence[_Line]) -> dict[str, Any]:
    worst = sorted(range(len(every)), key=lambda n: -VERDICTS.index(every[n].case["verdict"]))
    its = [every[n] for n in sorted(worst[:MOST_LINES])]
    first = its[0].statement
    known = [value for line in its for value in line.values if value is not None]
    up = make_axis_over(known, first["series"]["unit"])
    level = make_time_axis(max(line.end for line in its))
    names = list_varying([line.case for line in its])
    lines = [
        {"style": n, "dash": n, "path": _build_path(line, level, up)} for n, line in enumerate(its)
    ]
    texts = [cut(point(line.case, names), LONGEST_NAME * CHARACTER) for line in its]
    return {
        "label": first["label"],
        "text": first["text"],
        "every": first["series"]["every"]["text"],
        "width": WIDTH,
        "height": BOTTOM + BELOW,
        "left": LEFT,
        "right": RIGHT,
        "top": TOP,
        "bottom": BOTTOM,
        "unit": up.unit,
        "note": up.note,
        "repeats": max(len(line.case["repeats"]) for line in its),
        "ticks": [{"y": _find_y(up, value), "label": label} for value, label in up.ticks],
        "below": thin_labels([(_find_x(level, value), label) for value, label in level.ticks]),
        "along": f"time ({level.unit})",
        "names": [{"text": text, "style": n, "dash": n} for n, text in enumerate(texts)]
        if len(its) > 1
        else [],
        "left_out": len(every) - len(its),
        "lines": lines,
        "changes": _list_changes(its, level, texts),
    }


def _list_changes(its: Sequence[_Line], level: Axis, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return what changes during the trials of the lines, in order of time, each once.

    What is not of all lines is given the texts of those that it is of, and the style of a single
    one. If the words of any do not fit, all have numbers instead.
    """
    found: dict[tuple[Fraction, str, str], list[int]] = {}
    for number, line in enumerate(its):
        for change in line.statement["series"].get("changes", ()):
            key = (read_exact(change["at"]) or Fraction(0), change["what"], change["at"]["text"])
            found.setdefault(key, []).append(number)
    marks = []
    for (at, what, time), of in sorted(found.items()):
        whose = "" if len(of) == len(its) else f"{', '.join(texts[n] for n in of)}: "
        style = of[0] if whose and len(of) == 1 else None
        words = f"{whose}{what}"
        marks.append(
            {
                "x": _find_x(level, at),
                "style": style,
                "short": words,
                "text": f"{whose}at {time}: {what}",
                "number": 0,
            }
        )
    placed = _place_marks(marks)
    if all(
        placement["short"] == mark["short"] for placement, mark in zip(placed, marks, strict=True)
    ):
        return placed
    return _place_marks([{**mark, "short": str(n), "number": n} for n, mark in enumerate(marks, 1)])


def _place_marks(marks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return marks with the places of their words, which are cut to what there is room for.

    Words are at the side of their line where there is more room. In the lower row they reach to
    the next line; in the upper one to the edge, unless there are others in it.
    """
    lines = [LEFT, *(mark["x"] for mark in marks), WIDTH]
    placed = []
    for number, mark in enumerate(marks):
        x = mark["x"]
        alone = number == 1 and len(marks) <= len(MARK_ROWS) + 1
        left, right = (LEFT, WIDTH) if alone else (lines[number], lines[number + 2])
        before = x - left > right - x
        placed.append(
            {
                **mark,
                "y": MARK_ROWS[number % len(MARK_ROWS)],
                "anchor": "end" if before else "start",
                "short": cut(mark["short"], (x - left if before else right - x) - CHARACTER),
            }
        )
    return placed


def _build_path(line: _Line, level: Axis, up: Axis) -> str:
    """Return a line that holds each value for its interval, broken where there is no data."""
    kept = _thin(line.values)
    ends = [number for number, _ in kept[1:]] + [len(line.values)]
    text, y = "", None
    for (number, value), end in zip(kept, ends, strict=True):
        if value is None:
            y = None
            continue
        left, right = (_find_x(level, line.every * edge) for edge in (number, end))
        height = _find_y(up, value)
        if y is None:
            text += f"M{left} {height}"
        elif height != y:
            text += f"V{height}"
        text, y = f"{text}H{right}", height
    return text


def _thin(values: Sequence[Fraction | None]) -> list[tuple[int, Fraction | None]]:
    """Return numbered values; of very many, the extremes of each column."""
    numbered = list(enumerate(values))
    if len(values) <= 2 * COLUMNS:
        return numbered
    columns: dict[int, list[tuple[int, Fraction | None]]] = {}
    for pair in numbered:
        columns.setdefault(pair[0] * COLUMNS // len(values), []).append(pair)
    return [kept for its in columns.values() for kept in _find_extremes(its)]


def _find_extremes(its: Sequence[tuple[int, Fraction | None]]) -> list[tuple[int, Fraction | None]]:
    known = [(value, number) for number, value in its if value is not None]
    if not known:
        return list(its[:1])
    ends = sorted({number: value for value, number in (min(known), max(known))}.items())
    return list(ends)


def _find_x(level: Axis, value: Fraction) -> float:
    return round(LEFT + float(level.compute_share(value)) * (RIGHT - LEFT), 1)


def _find_y(up: Axis, value: Fraction) -> float:
    inside = min(max(value, up.low), up.high)
    return round(BOTTOM - float(up.compute_share(inside)) * (BOTTOM - TOP), 1)


FUNCTIONS: dict[str, Callable[..., Any]] = {"timelines": build_timelines}
