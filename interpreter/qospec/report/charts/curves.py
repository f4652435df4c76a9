"""Charts over a swept number: each quantity is a line over it.

The other swept parameters distinguish the lines. As in `plot`, ticks and criteria are computed as
fractions, and coordinates are rounded to a tenth of a pixel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.report.charts.axis import Axis, make_axis_over, make_axis_through
from qospec.report.charts.parameter import Scale, choose_axis
from qospec.report.charts.plot import CHARACTER, cut, list_varying, point
from qospec.report.charts.sample import (
    Sample,
    choose_unit,
    is_worth_drawing,
    read_sample,
    write_title,
)

Record = Mapping[str, Any]

WIDTH, HEIGHT = 500, 300
LEFT, TOP, BELOW = 50, 24, 44
MARGIN = 14
"""The distance from the last mark to the right edge, or to a line's name."""
LINE = 13
"""The distance from one line's name to the next."""
MOST_LINES = 8
"""With more lines, there is a chart for each value of the first swept parameter."""
MOST_NAMES = 24
"""The most lines that are readable in one chart."""
LONGEST_NAME = 24
DASHES = 4
COLOURS = 8


class _Mark(NamedTuple):
    """A case in a chart: its value of the swept number, and what it measured."""

    text: str
    x: Fraction
    sample: Sample
    statement: Record
    case: Record


class _Frame(NamedTuple):
    """The edges of a chart's drawing, and its axes."""

    left: float
    right: float
    bottom: float
    along: Axis
    up: Axis

    def compute_x(self, value: Fraction) -> float:
        return _round_pixels(self.left + self.along.compute_share(value) * (self.right - self.left))

    def compute_y(self, value: Fraction) -> float:
        return _round_pixels(self.bottom - self.up.compute_share(value) * (self.bottom - TOP))


Lines = Mapping[str, Sequence[_Mark]]


def build_curves(column: Record, cases: Sequence[Record]) -> list[dict[str, Any]]:
    """Return a column of `arrange_columns` as charts over a number; none if no number is swept.

    A chart has `width`, `height`, `left`, `right`, `top`, `bottom`, `of` (the values that hold for
    all of it), `over` and `by` (what varies along it, and from line to line), `by_short` (cut so
    that it fits above the names), `unit`, `note`, `ticks` (`y`, `label`), `below` (`x`, `label`),
    `along` (title of the axis below), `lines` (`name`, `style`, `dash`, `path`, `dots`, and for its
    name `x`, `y`, `lead`), `limits` (`path`, and `style`, which is None for all lines together) and
    `outside` (areas where the criterion does not hold). A dot has `x`, `y`, `bar`,
    `beyond` (1 for an arrow upwards, -1 downwards, 0 for none), `verdict` and `title`.
    """
    names = list_varying(cases)
    over = column.get("over")
    chosen = choose_axis(cases, [over] if over else names)
    if chosen is None or not is_worth_drawing(column["statements"]):
        return []
    over, scale = chosen
    others = [name for name in names if name != over]
    marks = list(_list_marks(column, cases, over, scale))
    if len({mark.x for mark in marks}) <= 1:
        return []
    charts = _split_marks(marks, others)
    if any(len(_group_lines(its, by)) > MOST_NAMES for _, its, by in charts):
        return []
    up = make_axis_over(
        [v for mark in marks for v in mark.sample.values], choose_unit(column["statements"])
    )
    level = make_axis_through([mark.x for mark in marks], scale.unit)
    title = f"{over} ({scale.unit})" if scale.unit else over
    return [
        {"of": of, "over": over, "along": title, **_build_chart(its, by, level, up)}
        for of, its, by in charts
    ]


def _list_marks(column: Record, cases: Sequence[Record], over: str, scale: Scale) -> list[_Mark]:
    return [
        _Mark(text, scale.values[text], found, statement, case)
        for statement, case in zip(column["statements"], cases, strict=True)
        if statement and (found := read_sample(statement)).measured is not None
        for text in [case["parameters"][over]]
    ]


def _split_marks(
    marks: Sequence[_Mark], others: list[str]
) -> list[tuple[str, Sequence[_Mark], list[str]]]:
    """Return the marks of each chart: one for all or, with too many lines, one per first value."""
    if len(others) <= 1 or len(_group_lines(marks, others)) <= MOST_LINES:
        return [("", marks, others)]
    by_first: dict[str, list[_Mark]] = {}
    for mark in marks:
        by_first.setdefault(point(mark.case, others[:1]), []).append(mark)
    return [
        (" · ".join(filter(None, [f"{others[0]} = {first}", of])), part, by)
        for first, its in by_first.items()
        for of, part, by in _split_marks(its, others[1:])
    ]


def _group_lines(marks: Sequence[_Mark], by: Sequence[str]) -> Lines:
    """Return the marks by the name of their line, each from left to right."""
    found: dict[str, list[_Mark]] = {}
    for mark in marks:
        found.setdefault(point(mark.case, by) if by else "", []).append(mark)
    return {name: sorted(its, key=lambda mark: mark.x) for name, its in found.items()}


def _build_chart(
    marks: Sequence[_Mark], by: Sequence[str], level: Axis, up: Axis
) -> dict[str, Any]:
    lines = _group_lines(marks, by)
    varied = " · ".join(by)
    longest = min(max(map(len, [*lines, varied])), LONGEST_NAME)
    room = longest * CHARACTER + 2 * MARGIN if longest else MARGIN
    height = max(HEIGHT, TOP + BELOW + (len(lines) + 1) * LINE)
    left = max(LEFT, max(len(label) for _, label in up.ticks) * CHARACTER + 8)
    frame = _Frame(_round_pixels(left), _round_pixels(WIDTH - room), height - BELOW, level, up)
    drawn = [_build_line(name, its, n, frame) for n, (name, its) in enumerate(lines.items())]
    return {
        "by": varied,
        "by_short": cut(varied, LONGEST_NAME * CHARACTER),
        "width": WIDTH,
        "height": height,
        "left": frame.left,
        "right": frame.right,
        "top": TOP,
        "bottom": frame.bottom,
        "unit": up.unit,
        "note": "; ".join(filter(None, [up.note, level.note])),
        "ticks": [{"y": frame.compute_y(value), "label": label} for value, label in up.ticks],
        "below": thin_labels([(frame.compute_x(value), label) for value, label in level.ticks]),
        "lines": _place_names(drawn, frame),
        **_build_criterion(lines, frame),
    }


def _build_line(name: str, marks: Sequence[_Mark], number: int, frame: _Frame) -> dict[str, Any]:
    dots = [
        {
            "x": frame.compute_x(mark.x),
            "y": frame.compute_y(mark.sample.measured or Fraction(0)),
            "bar": [frame.compute_y(end) for end in mark.sample.interval or ()],
            "beyond": mark.sample.beyond,
            "verdict": mark.statement["verdict"],
            "title": write_title(mark.statement, mark.case),
        }
        for mark in marks
    ]
    return {
        "name": cut(name, LONGEST_NAME * CHARACTER) if name else "",
        "style": number % COLOURS,
        "dash": (number + number // COLOURS) % DASHES,
        "path": build_path([(dot["x"], dot["y"]) for dot in dots]),
        "dots": dots,
        "end": (dots[-1]["x"], dots[-1]["y"]),
    }


def _place_names(lines: list[dict[str, Any]], frame: _Frame) -> list[dict[str, Any]]:
    """Return the lines with a place for each name: near the line's end, without overlaps."""
    order = sorted(lines, key=lambda line: line["end"][1])
    places: list[float] = []
    for line in order:
        places.append(max(line["end"][1], places[-1] + LINE if places else TOP))
    lowest = frame.bottom
    for number in reversed(range(len(places))):
        places[number] = min(places[number], lowest)
        lowest = places[number] - LINE
    for line, y in zip(order, places, strict=True):
        line["x"], line["y"] = _round_pixels(frame.right + MARGIN), _round_pixels(y)
        line["lead"] = build_path(
            [line["end"], (_round_pixels(frame.right + MARGIN - 3), line["y"])]
        )
    return lines


def _build_criterion(lines: Lines, frame: _Frame) -> dict[str, Any]:
    """Return the limits as paths and the areas beyond them.

    Lines that have the same limits share them; only those have areas, for others would overlap.
    """
    limits: list[dict[str, Any]] = []
    outside: list[str] = []
    marks = [mark for its in lines.values() for mark in its]
    every = {(mark.x, mark.sample.low, mark.sample.high) for mark in marks}
    shared = len({x for x, _, _ in every}) == len(every)
    for style, its in enumerate([marks] if shared else lines.values()):
        for side, edge in (("low", frame.bottom), ("high", TOP)):
            steps = {m.x: getattr(m.sample, side) for m in its}
            ends = [
                (frame.compute_x(x), frame.compute_y(v))
                for x, v in sorted(steps.items())
                if v is not None
            ]
            if not ends:
                continue
            ends = [(frame.left, ends[0][1]), *ends, (frame.right, ends[-1][1])] if shared else ends
            limits.append({"path": build_path(ends), "style": None if shared else style % COLOURS})
            if shared:
                outside.append(f"{build_path(ends)}V{edge}H{frame.left}Z")
    return {"limits": limits, "outside": outside}


def thin_labels(labels: Sequence[tuple[float, str]]) -> list[dict[str, Any]]:
    """Return labels below the axis that do not touch each other, always with the outermost."""

    def touches_label(a: tuple[float, str], b: tuple[float, str]) -> bool:
        return abs(a[0] - b[0]) < (len(a[1]) + len(b[1]) + 1) * CHARACTER / 2

    kept = list(labels[-1:])
    for label in labels[:-1]:
        if not any(touches_label(label, other) for other in kept):
            kept.append(label)
    return [{"x": x, "label": text} for x, text in sorted(kept)]


def build_path(points: Sequence[tuple[float, float]]) -> str:
    """Return a path through points, with horizontal runs merged."""
    (x, y), *rest = points
    text = f"M{x} {y}"
    for number, (right, level) in enumerate(rest):
        flat = number + 1 < len(rest) and rest[number + 1][1] == level == y
        if not flat:
            text += f"H{right}" if level == y else f"L{right} {level}"
        y = level
    return text


def _round_pixels(value: Fraction | float) -> float:
    return round(float(value), 1)
