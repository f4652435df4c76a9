"""Charts of delays: their frequency and, below it, the share of longer delays.

Both have the same axis. The lower one is the complementary distribution function, on a logarithmic
axis where it has a tail, so that a criterion about a quantile is a corner that the curve must keep
out of: `p99 < 1 ms` says that at most 1 % of all delays lie right of 1 ms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.judge.verdict import VERDICTS
from qospec.record.bins import find_bin_start_ps
from qospec.report.charts.axis import Axis, find_decade, make_axis_between, write_number
from qospec.report.charts.corners import Corner, list_corners
from qospec.report.charts.curves import build_path, thin_labels
from qospec.report.charts.parameter import choose_axis
from qospec.report.charts.plot import CHARACTER, cut, list_varying, point
from qospec.report.charts.sample import read_exact
from qospec.report.text import write_metric_name
from qospec.report.views import find_worst, list_tests
from qospec.units import PS_PER_S

Record = Mapping[str, Any]

MOST_CHARTS = 40
"""The most charts on a page; each takes some 4,000 bytes."""
MOST_OF_A_TEST = 6
MOST_LINES = 4
"""The most cases in a chart: those that need attention first."""
MIN_BINS = 3
"""A distribution with fewer bins is just as readable as numbers."""
LONGEST_NAME = 48

WIDTH, LEFT, RIGHT = 500, 50, 486
TOP, MIDDLE, GAP, BOTTOM = 24, 100, 14, 256
BELOW = 44
DECADES_BEYOND = 1
"""A bound further from all delays than this number of powers of ten is named but not drawn."""
TAIL = Fraction(1, 100)
"""The share from which down the axis of shares is logarithmic."""
ROOM = Fraction(21, 20)
"""The ratio by which the axis extends beyond its content."""


class _Histogram(NamedTuple):
    """A case's delays: the edges of its bins in s, and the extremes."""

    case: Record
    statements: tuple[Record, ...]
    starts: tuple[Fraction, ...]
    counts: tuple[int, ...]
    least: Fraction
    greatest: Fraction

    @property
    def edges(self) -> tuple[Fraction, ...]:
        """Return the edges of the bins; the first and last are the extremes."""
        inner = (min(max(start, self.least), self.greatest) for start in self.starts[1:-1])
        return (self.least, *inner, self.greatest)

    @property
    def beyond(self) -> list[Fraction]:
        """Return for each edge the share of delays that are at least as long; 0 at the last."""
        longer = list(accumulate(reversed(self.counts), initial=0))
        return [Fraction(count, longer[-1]) for count in reversed(longer)]

    @property
    def verdict(self) -> str:
        return find_worst(
            statement["verdict"]
            for statement in self.statements
            if statement["verdict"] in VERDICTS
        )


class _Frame(NamedTuple):
    along: Axis
    up: Axis

    def compute_x(self, value: Fraction) -> float:
        inside = min(max(value, self.along.low), self.along.high)
        return round(LEFT + float(self.along.compute_share(inside)) * (RIGHT - LEFT), 1)

    def compute_y(self, share: Fraction) -> float:
        inside = max(share, self.up.low)
        return round(BOTTOM - float(self.up.compute_share(inside)) * (BOTTOM - MIDDLE - GAP), 1)


def build_distributions(document: Record) -> dict[str, list[dict[str, Any]]]:
    """Return the charts of delays by test's id: those of failed criteria first, as many as fit.

    A chart has `flow`, `metric` (in words), `note`, `names` (`text`, `style`, `dash`, of its lines,
    none if there is one), `left_out` (cases that it does not show), `width`, `height`, `left`,
    `right`, `top`, `middle` and `bottom` (where the histogram stands and the lower part does),
    `ticks` (`y`, `label`), `below` (`x`, `label`), `unit`, `lines` (`style`, `dash`, `area` of the
    histogram, `path`), `limits` (`path`, `style`, `x`, `name`), `marks` (`x`, `label`: names that
    have room) and `outside` (areas).
    """
    found = [
        (test["id"], flow, metric, its)
        for test in list_tests(document)
        for (flow, metric), its in _group_by_flow(test["cases"]).items()
        if any(_has_shape(histogram) for histogram in its)
    ]
    found.sort(key=lambda chart: -max(_rank_case(histogram) for histogram in chart[3]))
    charts: dict[str, list[dict[str, Any]]] = {}
    left = MOST_CHARTS
    for test, flow, metric, its in found:
        of_test = charts.setdefault(test, [])
        if left and len(of_test) < MOST_OF_A_TEST:
            left -= 1
            of_test.append({"flow": flow, "metric": write_metric_name(metric), **_build_chart(its)})
    return charts


def _group_by_flow(cases: Sequence[Record]) -> dict[tuple[str, str], list[_Histogram]]:
    found: dict[tuple[str, str], list[_Histogram]] = {}
    for case in cases:
        for delay in case.get("delays", ()):
            key = (delay["flow"], delay["metric"])
            its = tuple(_select_measuring(case, *key))
            found.setdefault(key, []).append(_build_histogram(case, its, delay))
    return found


def _select_measuring(case: Record, flow: str, metric: str) -> Iterator[Record]:
    """Yield the statements, or their terms, that measure only this."""
    for statement in case["statements"]:
        for term in statement.get("terms") or (statement,):
            of = term.get("measures", {})
            if (of.get("flow"), of.get("metric")) == (flow, metric):
                yield {**statement, **term}


def _build_histogram(case: Record, statements: tuple[Record, ...], kept: Record) -> _Histogram:
    counts = tuple(map(int, kept["counts"].split()))
    first, fine = kept["first"], kept["per_octave"]
    starts = tuple(find_bin_start_ps(first + n, fine) / PS_PER_S for n in range(len(counts) + 1))
    least, greatest = (read_exact(kept[name]) or Fraction(0) for name in ("least", "greatest"))
    return _Histogram(case, statements, starts, counts, least, greatest)


def _has_shape(histogram: _Histogram) -> bool:
    filled = sum(map(bool, histogram.counts))
    return filled >= MIN_BINS and histogram.edges[1] > 0 and histogram.least < histogram.greatest


def _rank_case(histogram: _Histogram) -> int:
    return VERDICTS.index(histogram.verdict) if histogram.verdict else -1


def _build_chart(every: Sequence[_Histogram]) -> dict[str, Any]:
    its = _choose_cases([histogram for histogram in every if _has_shape(histogram)])
    bounds = list(
        dict.fromkeys(c for histogram in its for s in histogram.statements for c in list_corners(s))
    )
    level, beyond = _make_delay_axis(its, bounds)
    frame = _Frame(level, _make_share_axis(its, bounds))
    shown = [corner for corner in bounds if level.low < corner.bound < level.high]
    styles = [{"style": n, "dash": n} for n in range(len(its))]
    return {
        "width": WIDTH,
        "height": BOTTOM + BELOW,
        "left": LEFT,
        "right": RIGHT,
        "top": TOP,
        "middle": MIDDLE,
        "bottom": BOTTOM,
        "unit": level.unit,
        "note": "; ".join(filter(None, [level.note, *beyond])),
        "ticks": [{"y": frame.compute_y(value), "label": label} for value, label in frame.up.ticks],
        "below": thin_labels([(frame.compute_x(value), label) for value, label in level.ticks]),
        "names": _build_names(its, shown),
        "left_out": len(every) - len(its),
        "lines": [
            {**style, "area": area, "path": _build_tail(histogram, frame)}
            for style, histogram, area in zip(styles, its, _build_areas(its, frame), strict=True)
        ],
        **_build_criteria(its, shown, frame),
    }


def _choose_cases(its: Sequence[_Histogram]) -> list[_Histogram]:
    """Return the cases that a chart shows: the worst, then the highest load, then the slowest."""
    cases = [histogram.case for histogram in its]
    swept = choose_axis(cases, list_varying(cases))

    def rank_urgency(histogram: _Histogram) -> tuple[Any, ...]:
        load = swept[1].values[histogram.case["parameters"].get(swept[0], "")] if swept else 0
        return -_rank_case(histogram), -load, -histogram.greatest

    first = sorted(range(len(its)), key=lambda n: rank_urgency(its[n]))[:MOST_LINES]
    return [its[n] for n in sorted(first)]


def _make_delay_axis(its: Sequence[_Histogram], bounds: Sequence[Corner]) -> tuple[Axis, list[str]]:
    """Return the axis of delays, and the bounds too far beyond it in words.

    A delay relative to another may be negative: then equal distances are equal differences.
    """
    low = min(histogram.least or histogram.edges[1] for histogram in its)
    high = max(histogram.greatest for histogram in its)
    reach = Fraction(10) ** DECADES_BEYOND
    least = low / reach if low > 0 else 0  # a bound is positive
    near = [bound.bound for bound in bounds if least <= bound.bound <= high * reach]
    far = dict.fromkeys(bound.words for bound in bounds if bound.bound not in near)
    low, high = min(low, *near, high), max(high, *near, low)
    if low <= 0:
        air = (high - low) * (ROOM - 1)
        low, high = low - air, high + air
    elif high < 10 * low:
        air = (high - low) * (ROOM - 1)
        low, high = max(low - air, low / 2), high + air
    else:
        low, high = low / ROOM, high * ROOM
    return make_axis_between(low, high, "s"), [f"beyond the axis: {words}" for words in far]


def _make_share_axis(its: Sequence[_Histogram], bounds: Sequence[Corner]) -> Axis:
    shares = [share for histogram in its for share in histogram.beyond if share]
    least = min(*shares, *(bound.level for bound in bounds if bound.level), Fraction(1))
    if least > TAIL:
        ticks = tuple((Fraction(n, 4), f"{25 * n}") for n in range(5))
        return Axis(Fraction(0), Fraction(1), logarithmic=False, ticks=ticks, unit="%", note="")
    lowest = find_decade(least)
    every = -(lowest // 6)
    ticks = tuple((Fraction(10) ** n, _write_percent(n)) for n in range(0, lowest - 1, -every))
    low = Fraction(10) ** lowest
    return Axis(low, Fraction(1), logarithmic=True, ticks=ticks, unit="%", note="")


def _write_percent(power: int) -> str:
    """Return a power of ten with an exponent of at most 0, in percent."""
    percent = Fraction(10) ** (power + 2)
    return write_number(percent) if power > -7 else f"10{str(power + 2).translate(_RAISED)}"  # noqa: PLR2004


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _build_areas(its: Sequence[_Histogram], frame: _Frame) -> list[str]:
    """Return histograms as areas, the highest of which reaches the top; "" of one without width."""
    steps = [list(_compute_heights(histogram, frame)) for histogram in its]
    highest = max((height for of in steps for _, _, height in of), default=1.0)
    scale = (MIDDLE - TOP) / highest
    areas = []
    for of in steps:
        if not of:
            areas.append("")
            continue
        text, last = f"M{of[0][0]} {MIDDLE}", float(MIDDLE)
        for _, right, height in of:
            y = round(MIDDLE - height * scale, 1)
            text += f"H{right}" if y == last else f"V{y}H{right}"
            last = y
        areas.append(f"{text}V{MIDDLE}Z")
    return areas


def _compute_heights(histogram: _Histogram, frame: _Frame) -> Iterator[tuple[float, float, float]]:
    """Yield the left and right edge and the height of each bin that is visible.

    That is the root of its share of all delays over its width; a share that is a hundred times
    another is ten times as high, so that both are seen. The first and the last step are cut at the
    extremes, and count as wide as others. What is below the axis is in the first step on it.
    """
    total, waiting = sum(histogram.counts), 0
    for (low, high), count, (start, end) in zip(
        pairwise(histogram.edges), histogram.counts, pairwise(histogram.starts), strict=True
    ):
        left, right = frame.compute_x(low), frame.compute_x(high)
        waiting += count
        if right > left:
            begin, beyond = max(min(start, low), frame.along.low), max(end, high)
            ratio = frame.along.logarithmic
            width = math.log2(beyond / begin) if ratio else float(beyond - begin)
            yield left, right, math.sqrt(waiting / total / width)
            waiting = 0


def _build_tail(histogram: _Histogram, frame: _Frame) -> str:
    """Return the share of longer delays as a path, down to 0 at the greatest delay."""
    points = [
        (frame.compute_x(edge), frame.compute_y(s))
        for edge, s in zip(histogram.edges, histogram.beyond, strict=True)
    ]
    end = points.pop()
    points = [
        (LEFT, frame.compute_y(Fraction(1))),
        *points,
        (end[0], points[-1][1]),
        (end[0], BOTTOM),
    ]
    return build_path(list(dict.fromkeys(points)))


def _build_criteria(
    its: Sequence[_Histogram], shown: Sequence[Corner], frame: _Frame
) -> dict[str, list[Any]]:
    """Return the criteria as corners; those that all lines share have areas."""
    limits: list[dict[str, Any]] = []
    outside: list[str] = []
    for corner in shown:
        whose = [n for n, histogram in enumerate(its) if corner in _list_corners(histogram)]
        shared = len(whose) == len(its)
        x, edge = frame.compute_x(corner.bound), RIGHT if corner.above else LEFT
        if corner.level is None:
            way = f"M{x} {TOP}V{BOTTOM}"
        else:
            y = frame.compute_y(corner.level)
            far = MIDDLE + GAP if corner.above else BOTTOM
            way = f"M{x} {TOP}V{MIDDLE}M{x} {far}V{y}H{edge}"
            if shared:
                outside.append(f"M{x} {far}V{y}H{edge}V{far}Z")
        style = None if shared else whose[0]
        limits.append({"path": way, "style": style, "x": x, "name": corner.words})
    shared_by_all = [limit for limit in limits if limit["style"] is None]
    marks = thin_labels(
        [(_keep_inside(bar["x"], bar["name"]), bar["name"]) for bar in shared_by_all]
    )
    return {"limits": limits, "outside": outside, "marks": marks}


def _build_names(its: Sequence[_Histogram], shown: Sequence[Corner]) -> list[dict[str, Any]]:
    """Return the names of several lines, each with the criteria that not all of them have."""
    if len(its) == 1:
        return []
    swept = list_varying([histogram.case for histogram in its])
    found = []
    for n, histogram in enumerate(its):
        text, asked = (
            cut(point(histogram.case, swept), LONGEST_NAME * CHARACTER),
            _list_corners(histogram),
        )
        own = [c.words for c in shown if c in asked and not all(c in _list_corners(o) for o in its)]
        words = f": {'; '.join(dict.fromkeys(own))}" if own else ""
        found.append({"text": f"{text}{words}", "style": n, "dash": n})
    return found


def _keep_inside(x: float, text: str) -> float:
    """Return the middle of a text near x that keeps it within the chart."""
    half = len(text) * CHARACTER / 2
    return round(min(max(x, half), WIDTH - half), 1)


def _list_corners(histogram: _Histogram) -> list[Corner]:
    return [corner for statement in histogram.statements for corner in list_corners(statement)]


FUNCTIONS: dict[str, Callable[..., Any]] = {"distributions": build_distributions}
