"""The bracket plot of a search: each trial at its load and loss, and the bounds of each goal.

Losses are on a logarithmic axis with a place of its own for none at all; loads are on one if their
range spans many powers of ten, as bursts do. Bounds that are close together beside the whole range
have a second panel around them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.judge.verdict import VERDICTS
from qospec.report.charts.axis import Axis, find_decade, make_axis_around, write_number
from qospec.report.charts.curves import COLOURS, DASHES, thin_labels
from qospec.report.charts.plot import CHARACTER, list_varying, point
from qospec.report.charts.sample import read_exact
from qospec.report.searches import describe_found, list_found, list_searches

Record = Mapping[str, Any]

WIDTH = 500
LEFT, RIGHT, TOP, BELOW = 50, 8, 12, 44
HEIGHT = 210
"""From the first row of names to the axis of loads."""
ROW = 14
"""The height of a goal's name above the chart."""
NONE = 32
"""The height of the place for no loss, below the logarithmic axis."""
GAP = 34
"""Between the two panels."""
WHOLE = Fraction(11, 20)
"""The part of the width that the panel of the whole range has beside another."""
CLOSE = Fraction(1, 10)
"""Bounds within this part of the range have a panel of their own."""
LEAST_BAND = 1.5
"""The least width of the band between bounds."""
MOST_DECADES = 6
MOST = 12
"""The most searches that are drawn for a test: those with problems first."""


class _Dot(NamedTuple):
    """All trials of one load that lost the same share."""

    load: Fraction
    loss: Fraction
    verdict: str
    title: str


class _Bounds(NamedTuple):
    """What was found for a goal; None where there is no such bound."""

    goal: Record
    lower: Fraction | None
    upper: Fraction | None


class _Losses:
    """The axis of losses: logarithmic, with a place for 0 below it."""

    def __init__(self, losses: Sequence[Fraction], top: float, bottom: float) -> None:
        positive = [loss for loss in losses if loss > 0]
        self.least = min(min(map(find_decade, positive), default=-2), -2)
        self._top, self._bottom, self.zero = top, bottom - NONE, bottom - NONE / 2

    def compute_y(self, loss: Fraction) -> float:
        """Return the height of a loss, a ratio of 1 at most."""
        if loss <= 0:
            return _round_pixels(self.zero)
        low = Fraction(10) ** self.least
        axis = Axis(low, Fraction(1), logarithmic=True, ticks=(), unit="", note="")
        return _round_pixels(self._bottom - axis.compute_share(loss) * (self._bottom - self._top))

    def list_ticks(self) -> list[dict[str, Any]]:
        """Return the ticks: powers of ten in percent, and none."""
        every = math.ceil(-self.least / MOST_DECADES)
        powers = [Fraction(10) ** power for power in range(0, self.least - 1, -every)]
        marks = [
            {"y": self.compute_y(power), "label": f"{write_number(power * 100)} %"}
            for power in powers
        ]
        return [*marks, {"y": self.compute_y(Fraction(0)), "label": "0"}]


def build_brackets(cases: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the searches of a test's cases as charts, at most `MOST`, in the order of the cases.

    Those that tried a single load, or lost nothing at any, are left out.

    A chart has `case`, `of` (its case's values of the swept parameters), `repeated` (whether there
    are several repeats), `search` (the record's),
    `width`, `height`, `left`, `right`, `top`, `bottom`, `ticks` (`y`, `label`), `none` (the height
    where the logarithmic axis ends), `names` (`style`, `dash`, `text` of each goal), `limits`
    (`y`, `style`: the loss that a goal allows) and `panels`. A panel has `left`, `right`, `below`
    (`x`, `label`), `along` (the title of its axis), `dots` (`x`, `y`, `verdict`, `title`), `bands`
    (`x`, `width`, `y`, `style`, `name`, and `open`: "", "low" or "high") and `zoomed` (`x`,
    `width`: the part that another panel enlarges), which may be None.
    """
    names = list_varying(cases)
    every = [
        (case, search)
        for case in cases
        for search in list_searches(case)
        if _is_worth_drawing(search)
    ]
    worst = sorted(every, key=lambda drawn: _weigh(*drawn))[:MOST]
    return [
        {
            "case": case["name"],
            "of": point(case, names) if names else "",
            "repeated": case["run"]["repeat"] > 1,
            **_build_chart(search),
        }
        for case, search in every
        if any(search is chosen for _, chosen in worst)
    ]


def _is_worth_drawing(search: Record) -> bool:
    """Return whether a search tried several loads, and lost anything: else there is no curve."""
    loads = {trial["load"]["value"] for trial in search["trials"]}
    return len(loads) > 1 and any(trial["lost"] for trial in search["trials"])


def _weigh(case: Record, search: Record) -> tuple[int, int]:
    """Return how soon a search is drawn: first one that found too little, last one without limit.

    That no load was bad is no problem: the device takes all that is offered.
    """
    short = any(not goal["complete"] or goal["lower"] is None for goal in search["goals"])
    limited = all(goal["upper"] is not None for goal in search["goals"])
    return 0 if short else 1 if limited else 2, -VERDICTS.index(case["verdict"])


def _build_chart(search: Record) -> dict[str, Any]:
    bounds = [_Bounds(g, read_exact(g["lower"]), read_exact(g["upper"])) for g in search["goals"]]
    dots = _build_dots(search)
    top = TOP + ROW * len(bounds)
    losses = _Losses([dot.loss for dot in dots], top, top + HEIGHT)
    ticks = losses.list_ticks()
    left = _round_pixels(max(LEFT, max(len(tick["label"]) for tick in ticks) * CHARACTER + 8))
    limits = [
        {"y": losses.compute_y(allowed), "style": style % COLOURS}
        for style, bound in enumerate(bounds)
        if (allowed := read_exact(bound.goal["loss"]))
    ]
    return {
        "search": search,
        "width": WIDTH,
        "height": top + HEIGHT + BELOW,
        "left": left,
        "right": WIDTH - RIGHT,
        "top": top,
        "bottom": top + HEIGHT,
        "none": top + HEIGHT - NONE,
        "ticks": ticks,
        "limits": limits,
        "names": [
            {"style": n % COLOURS, "dash": n % DASHES, "text": _build_legend(bound.goal)}
            for n, bound in enumerate(bounds)
        ],
        "panels": _build_panels(search, dots, bounds, losses, left),
    }


def _build_dots(search: Record) -> list[_Dot]:
    """Return the trials; those of one load and length that lost the same share are one dot."""
    found: dict[tuple[str, str, str], list[Record]] = {}
    for trial in search["trials"]:
        at = (trial[name]["value"] for name in ("load", "loss", "length"))
        found.setdefault((*at, _choose_shape(trial)), []).append(trial)
    return [
        _Dot(
            read_exact(its[0]["load"]) or Fraction(0),
            read_exact(its[0]["loss"]) or Fraction(0),
            verdict,
            _write_title(its),
        )
        for (*_, verdict), its in found.items()
    ]


def _choose_shape(trial: Record) -> str:
    """Return the shape of a trial: good for all goals, for none, or for some of them."""
    seen = set(trial["verdicts"].values())
    if len(seen) > 1:
        return "inconclusive"
    return {"good": "pass", "bad": "fail"}.get(seen.pop() if seen else "", "")


def _write_title(its: Sequence[Record]) -> str:
    first = its[0]
    trials = f"{len(its)} trials" if len(its) > 1 else f"trial {first['number']}"
    judged = "; ".join(f"{verdict} for {name}" for name, verdict in first["verdicts"].items())
    lost = f"{first['loss']['text']} lost ({first['lost']:_} of {first['sent']:_})"
    return f"{first['load']['text']}, {trials} of {first['length']['text']}: {lost}; {judged}"


def _build_legend(goal: Record) -> str:
    """Return a goal's name, the loss that it allows, and its bounds in words."""
    return f"{goal['name']} ({describe_allowed_loss(goal)}): {describe_found(list_found([goal]))}"


def describe_allowed_loss(goal: Record) -> str:
    """Return the loss that a goal allows, or the condition that it has, in words."""
    if goal["loss"] is None:
        return str(goal["meets"])
    return f"loss ≤ {goal['loss']['text']}" if read_exact(goal["loss"]) else "no loss"


def _build_panels(
    search: Record,
    dots: Sequence[_Dot],
    bounds: Sequence[_Bounds],
    losses: _Losses,
    left: float,
) -> list[dict[str, Any]]:
    """Return the panel of the whole range and, if bounds are close together, one around them."""
    unit = "%" if search["high"]["text"].endswith("%") else search["high"]["unit"]
    ends = [end for bound in bounds for end in bound[1:] if end is not None]
    low, high = (read_exact(search[end]) or Fraction(0) for end in ("low", "high"))
    span = max(ends) - min(ends) if ends else Fraction(0)
    whole = make_axis_around(low, high, unit)
    right = WIDTH - RIGHT
    if not span or whole.compute_share(max(ends)) - whole.compute_share(min(ends)) >= CLOSE:
        return [_Panel(left, right, whole, search, losses).draw(dots, bounds, None)]
    near = make_axis_around(max(low, min(ends) - span), min(high, max(ends) + span), unit)
    middle = left + float(WHOLE) * (right - left)
    inside = [dot for dot in dots if near.low <= dot.load <= near.high]
    return [
        _Panel(left, middle, whole, search, losses).draw(dots, bounds, near),
        _Panel(middle + GAP, right, near, search, losses).draw(inside, bounds, None),
    ]


class _Panel:
    """A part of a chart with its own axis of loads."""

    def __init__(
        self, left: float, right: float, along: Axis, search: Record, losses: _Losses
    ) -> None:
        self._left, self._right, self._along = left, right, along
        self._title = f"{search['variable']} ({along.unit})" if along.unit else search["variable"]
        self._losses = losses

    def _place_x(self, load: Fraction) -> float:
        inside = min(max(load, self._along.low), self._along.high)
        share = float(self._along.compute_share(inside))
        return _round_pixels(self._left + share * (self._right - self._left))

    def draw(
        self, dots: Sequence[_Dot], bounds: Sequence[_Bounds], near: Axis | None
    ) -> dict[str, Any]:
        """Return the panel with these trials; `near` is what another panel enlarges."""
        return {
            "left": _round_pixels(self._left),
            "right": _round_pixels(self._right),
            "along": self._title,
            "below": thin_labels(
                [(self._place_x(value), label) for value, label in self._along.ticks]
            ),
            "dots": [
                {
                    "x": self._place_x(dot.load),
                    "y": self._losses.compute_y(dot.loss),
                    "verdict": dot.verdict,
                    "title": dot.title,
                }
                for dot in dots
            ],
            "bands": [
                band
                for style, bound in enumerate(bounds)
                if (band := self._draw_band(bound, style, named=near is None)) is not None
            ],
            "zoomed": None
            if near is None
            else {
                "x": self._place_x(near.low),
                "width": _round_pixels(self._place_x(near.high) - self._place_x(near.low)),
            },
        }

    def _draw_band(self, bounds: _Bounds, style: int, *, named: bool) -> dict[str, Any] | None:
        """Return the room between the bounds of a goal; without one of them, up to the edge."""
        if bounds.lower is None and bounds.upper is None:
            return None
        start = self._left if bounds.lower is None else self._place_x(bounds.lower)
        end = self._right if bounds.upper is None else self._place_x(bounds.upper)
        width = max(end - start, LEAST_BAND)
        half = (len(bounds.goal["name"]) + 2) * CHARACTER / 2
        middle = min(max((start + end) / 2, self._left + half), self._right - half)
        return {
            "x": _round_pixels(start),
            "width": _round_pixels(width),
            "y": TOP + ROW * style,
            "middle": _round_pixels(middle),
            "style": style % COLOURS,
            "dash": style % DASHES,
            "name": bounds.goal["name"] if named else "",
            "open": "low" if bounds.lower is None else "high" if bounds.upper is None else "",
        }


def _round_pixels(value: Fraction | float) -> float:
    return round(float(value), 1)
