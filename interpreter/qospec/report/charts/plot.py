"""The coordinates of a chart over cases: marks, ticks and criteria, from exact values.

A template draws them. Ticks are computed as fractions, and coordinates are rounded to a
tenth of a pixel, so that a chart is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from qospec.judge.verdict import VERDICTS
from qospec.report.charts import parameter
from qospec.report.charts.axis import Axis, make_axis_over
from qospec.report.charts.sample import (
    Sample,
    choose_unit,
    is_worth_drawing,
    read_exact,
    read_sample,
    write_title,
)

Record = Mapping[str, Any]

WIDTH, HEIGHT = 320, 196
LEFT, RIGHT, TOP, BOTTOM = 46, 314, 20, 156
"""The edges of the area of marks; the left one is further right if labels need the room."""
CHARACTER = 6.2
"""The width of a character of a label, at most."""
GAP = 8
"""The room between a label and the axis."""
MOST = 20
"""The most characters of a label below the axis."""
MOST_SLANTED = 16
"""Up to this number, labels that do not fit side by side are slanted; of more, some are omitted."""
SLANT = Fraction(3, 5)
"""The height of a slanted label, as a part of its length."""


def build_panel(column: Record, cases: Sequence[Record]) -> dict[str, Any] | None:
    """Return a column of `arrange_columns` as a chart over the cases; None: nothing to show.

    The chart has `width`, `height`, `left`, `right`, `top`, `bottom`, `unit`, `note`, `ticks` (`y`,
    `label`), `dots` (`x`, `y`, `bar`, `beyond`, `verdict`, `title`), `limits` (`x1`, `x2`, `y`),
    `outside` (areas where the criterion does not hold: `x`, `y`, `width`, `height`), `axis` (what
    varies), `labels` (`x`, `text`), `slope` (how far they reach down if they are slanted, else 0)
    and `groups` (`x1`, `x2`, `text`).
    """
    statements = column["statements"]
    points = [read_sample(statement) for statement in statements]
    if not is_worth_drawing(statements):
        return None
    axis = make_axis_over([v for p in points for v in p.values], choose_unit(statements))
    left = _find_left(axis)
    step = Fraction(RIGHT - left, len(points))
    middles = [left + step * index + step / 2 for index in range(len(points))]
    below = _build_labels(cases, middles, step)
    return {
        "width": WIDTH,
        "height": HEIGHT + below["slope"],
        "left": left,
        "right": RIGHT,
        "top": TOP,
        "bottom": BOTTOM,
        "unit": axis.unit,
        "note": axis.note,
        "ticks": [{"y": _find_y(axis, value), "label": label} for value, label in axis.ticks],
        "dots": _thin(
            [
                _build_dot(statement, case, point, _round_pixels(x), axis)
                for statement, case, point, x in zip(
                    statements, cases, points, middles, strict=True
                )
                if statement and (statement["verdict"] in VERDICTS or point.measured is not None)
            ]
        ),
        **_build_criterion(points, step, axis),
        **below,
    }


def _find_left(axis: Axis) -> int:
    """Return the left edge, with room for the labels of an axis and for its unit."""
    longest = max(len(axis.unit), *(len(label) for _, label in axis.ticks))
    return max(LEFT, math.ceil(longest * CHARACTER) + GAP)


def _build_dot(
    statement: Record, case: Record, point: Sample, x: float, axis: Axis
) -> dict[str, Any]:
    return {
        "x": x,
        "y": BOTTOM if point.measured is None else _find_y(axis, point.measured),
        "bar": [_find_y(axis, end) for end in point.interval or ()],
        "beyond": point.beyond,
        "verdict": statement["verdict"],
        "title": write_title(statement, case),
    }


def _build_criterion(points: Sequence[Sample], step: Fraction, axis: Axis) -> dict[str, Any]:
    """Return limits as lines and the areas beyond them; equal neighbours share one."""
    limits: list[dict[str, float]] = []
    outside: list[dict[str, float]] = []
    start, edge_left = 0, RIGHT - step * len(points)
    for index, point in enumerate(points):
        following = points[index + 1] if index + 1 < len(points) else None
        if following and (following.low, following.high) == (point.low, point.high):
            continue
        left, right = (
            _round_pixels(edge_left + step * start),
            _round_pixels(edge_left + step * (index + 1)),
        )
        start = index + 1
        for value, edge in ((point.low, BOTTOM), (point.high, TOP)):
            if value is not None:
                y = _find_y(axis, value)
                limits.append({"x1": left, "x2": right, "y": y})
                area = {"x": left, "width": _round_pixels(right - left)}
                outside.append({**area, "y": min(y, edge), "height": _round_pixels(abs(edge - y))})
    return {"limits": _thin(limits), "outside": _thin(outside)}


def _thin(marks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the marks; of very many, only those not hidden behind another."""
    if len(marks) <= RIGHT - LEFT:
        return marks
    seen: dict[tuple[Any, ...], dict[str, Any]] = {}
    for mark in marks:
        shown = (
            round(v) if isinstance(v, float) else str(v) for k, v in mark.items() if k != "title"
        )
        seen.setdefault(tuple(shown), mark)
    return list(seen.values())


def _build_labels(
    cases: Sequence[Record], middles: Sequence[Fraction], step: Fraction
) -> dict[str, Any]:
    """Return the labels below the axis: the parameter that varies, grouped by the others."""
    names = sorted(list_varying(cases), key=lambda name: _count_changes(cases, name))
    if not names:
        return {"labels": [], "slope": 0, "groups": [], "axis": "case"}
    texts = [cut(point(case, names[-1:]), MOST * CHARACTER) for case in cases]
    longest = max(map(len, texts))
    every = math.ceil((longest + 2) * CHARACTER / step)
    slope = 0
    if every > 1 and len(cases) <= MOST_SLANTED:
        every, slope = 1, round(longest * CHARACTER * SLANT)
    room = step * every if not slope else MOST * CHARACTER
    labels = [
        {"x": _round_pixels(x), "text": cut(text, room)}
        for text, x in list(zip(texts, middles, strict=True))[::every]
    ]
    groups: list[dict[str, Any]] = []
    for case, x in zip(cases, middles, strict=True):
        if names[:-1]:
            text = point(case, names[:-1])
            if not groups or groups[-1]["text"] != text:
                groups.append({"text": text, "x1": _round_pixels(x - step / 2)})
            groups[-1]["x2"] = _round_pixels(x + step / 2)
    fitting = [{**g, "text": cut(g["text"], g["x2"] - g["x1"])} for g in groups]
    return {
        "labels": labels,
        "slope": slope,
        "groups": _thin(fitting),
        "axis": " · ".join(names),
    }


def _count_changes(cases: Sequence[Record], name: str) -> int:
    """Return how often a parameter changes from a case to the next."""
    values = [case["parameters"].get(name) for case in cases]
    return sum(a != b for a, b in pairwise(values))


def cut(text: str, width: Fraction | float) -> str:
    """Return a label cut to a width of at least one character."""
    most = max(1, int(width / CHARACTER))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def list_varying(cases: Sequence[Record]) -> list[str]:
    """Return the fewest parameters, in order, that distinguish the cases."""
    chosen: list[str] = []
    apart = 1
    for name in dict.fromkeys(name for case in cases for name in case["parameters"]):
        with_it = len({tuple(c["parameters"].get(n) for n in (*chosen, name)) for c in cases})
        if with_it > apart:
            chosen, apart = [*chosen, name], with_it
    return chosen


def point(case: Record, names: Sequence[str]) -> str:
    """Return a case's values of some parameters in one line; its name if there are none."""
    values = [_shorten(case["parameters"].get(name, "")) for name in names]
    return " · ".join(values) or str(case["name"])


def _shorten(value: str) -> str:
    """Return the last part of a dotted name; a quantity with a space before its unit."""
    parts = value.split(".")
    return parts[-1] if all(part.isidentifier() for part in parts) else parameter.show_value(value)


def build_spans(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float] | None]:
    """Return distributions (least, mean, p99 …: quantities) on the scale of the widest one.

    The range goes from 0, or the least `min` of all if that is negative, to the greatest `max`, or
    0; `zero` is where 0 is. None stands for one without `min` or `max`.
    """
    known = [{name: read_exact(quantity) for name, quantity in row.items()} for row in rows]
    has_ends = [of.get("min") is not None and of.get("max") is not None for of in known]
    whole = [of for of, has in zip(known, has_ends, strict=True) if has]
    every = [Fraction(0), *(v for of in whole for v in of.values() if v is not None)]
    low, high = min(every), max(every)
    return [
        {
            name: _round_pixels(100 * (v - low) / (high - low))
            for name, v in {**of, "zero": Fraction(0)}.items()
            if v is not None
        }
        if has and low < high
        else None
        for of, has in zip(known, has_ends, strict=True)
    ]


def _find_y(axis: Axis, value: Fraction) -> float:
    return _round_pixels(BOTTOM - axis.compute_share(value) * (BOTTOM - TOP))


def _round_pixels(value: Fraction | float) -> float:
    return round(float(value), 1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "panel": build_panel,
    "point": point,
    "spans": build_spans,
    "varying": list_varying,
}
