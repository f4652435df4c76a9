"""Charts of any values: negative, zero, equal, tiny, huge or missing, each is drawn within its box.

What is drawn is read from the page: no coordinate lies outside of the picture that it belongs to.
"""

import math
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.measure.tally import Delays
from qospec.record.histograms import describe_histogram
from qospec.report.charts.axis import (
    make_axis_around,
    make_axis_between,
    make_axis_over,
    make_axis_through,
    make_time_axis,
)
from qospec.report.charts.brackets import build_brackets
from qospec.report.charts.curves import build_curves
from qospec.report.charts.distributions import build_distributions
from qospec.report.charts.plot import build_panel, build_spans
from qospec.report.charts.timelines import build_timelines
from qospec.report.figures import align_figures
from qospec.report.render import render

UNITS = ["s", "cell", "bit/s", "B", "1", "%", "dBm"]
CORNERS = [
    Fraction(text)
    for text in ("0", "1", "-1", "1e-12", "-1e-12", "1e-40", "1e18", "-1e18", "1e400", "1e-400")
]
VALUES = st.one_of(
    st.sampled_from(CORNERS),
    st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**6),
    st.builds(lambda mantissa, power: mantissa * Fraction(10) ** power,
              st.integers(-999, 999), st.integers(-420, 420)),
)  # fmt: skip
MAYBE = st.none() | VALUES


def quantity(value, unit="s"):
    if value is None:
        return None
    percent = unit == "%"
    text = f"some{' %' if percent else ''}"
    return {"value": str(value), "unit": "1" if percent else unit, "text": text}


def statement(value, unit, verdict, bound, comparison, ends=()):
    made = {
        "label": "x", "kind": "expect", "verdict": verdict, "place": "a.qos:3:1",
        "text": f"x {comparison} y", "measured": quantity(value, unit), "comparison": comparison,
        "bound": quantity(bound, unit), "tolerance": quantity(Fraction(1, 8), unit), "note": "",
        "measures": {"flow": "f", "metric": "transfer_delay", "statistic": "p99"},
    }  # fmt: skip
    if not ends:
        return made
    lower, upper = (quantity(end, unit) for end in sorted(ends))
    interval = {"lower": lower, "upper": upper, "repeats": 3}
    return {**made, "confidence": "95 %", "interval": interval}


STATEMENTS = st.builds(
    lambda unit, rows: [statement(value, unit, *rest) for value, *rest in rows],
    st.sampled_from(UNITS),
    st.lists(
        st.tuples(
            MAYBE,
            st.sampled_from(["pass", "fail", "inconclusive"]),
            VALUES,
            st.sampled_from(["<", ">=", "==", "within"]),
            st.just(()) | st.tuples(VALUES, VALUES),
        ),
        min_size=3,
        max_size=6,
    ),
)


@given(st.lists(VALUES, min_size=1, max_size=6), st.sampled_from(UNITS))
def test_all_values_lie_on_their_axis_between_short_labels(values, unit):
    low, high = min(values), max(values)
    axes = [
        make_axis_over(values, unit),
        make_axis_through(values, unit),
        make_axis_around(low, high, unit),
    ]
    axes += [make_axis_between(low, high, unit)] if low < high else []
    axes += [make_time_axis(high)] if high > 0 else []
    for axis in axes:
        within = [value for value in values if axis.low <= value <= axis.high]
        assert len(within) == len(values) or axis == axes[-1]
        shares = [float(axis.compute_share(value)) for value in within]
        assert all(-1e-9 <= share <= 1 + 1e-9 for share in shares)
        assert all(math.isfinite(share) for share in shares)
    assert all(len(label) <= 30 for axis in axes[:1] for _, label in axis.ticks)


def numbers(chart):
    """Yield the coordinates of a chart, at any depth, with the edge that each may not pass."""
    if isinstance(chart, dict):
        for name, part in chart.items():
            if name not in ("search", "titles", "note"):
                yield from numbers(part)
    elif isinstance(chart, list | tuple):
        for part in chart:
            yield from numbers(part)
    elif isinstance(chart, float | int):
        yield chart
    elif isinstance(chart, str) and re.match(r"M-?[\d.]+ ", chart):
        yield from map(float, re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", chart))


def check(chart):
    size = max(chart["width"], chart["height"]) + 1
    assert all(math.isfinite(number) and -size <= number <= size for number in numbers(chart))
    assert chart["left"] < chart["right"]


@given(STATEMENTS)
def test_any_column_is_drawn_over_its_cases(made):
    cases = [{"name": f"t:n={n}", "parameters": {"n": f"{n * n} cell"}} for n in range(len(made))]
    column = {"statements": made, "over": "n"}
    found = build_panel(column, cases)
    for chart in [*([found] if found else []), *build_curves(column, cases)]:
        check(chart)


TIMES_PS = st.one_of(st.integers(-(2**40), 2**40), st.integers(-3, 3), st.integers(-(2**62), 2**62))


def pooled(times_ps):
    """Return delays as a trial gives them, each in a bucket of its own."""
    ordered = sorted(times_ps)
    buckets = tuple(
        (time_ps, time_ps + 1, ordered.count(time_ps)) for time_ps in sorted(set(ordered))
    )
    squares = sum(time_ps**2 for time_ps in ordered)
    return Delays(len(ordered), sum(ordered), squares, ordered[0], ordered[-1], buckets)


@given(st.lists(st.lists(TIMES_PS, min_size=1, max_size=40), min_size=1, max_size=3), STATEMENTS)
def test_delays_of_any_sign_and_size_are_drawn(every, made):
    cases = [
        {
            "name": f"t:n={n}", "test": "t", "place": "a.qos:1:1", "parameters": {"n": f"{n} cell"},
            "verdict": "pass", "statements": made,
            "delays": [
                {"flow": "f", "metric": "transfer_delay", **describe_histogram([pooled(times)])},
            ],
        }
        for n, times in enumerate(every)
    ]  # fmt: skip
    tests = [{"name": "t", "place": "a.qos:1:1", "covers": [], "description": ""}]
    for charts in build_distributions({"tests": tests, "cases": cases}).values():
        for chart in charts:
            check(chart)


def test_delays_on_both_sides_of_zero_have_an_axis_of_equal_differences(document):
    """400 us too early to 100 us too late: the step at zero lies at four fifths of the axis."""
    times_ps = [-400_000_000, *(n * 10_000_000 for n in range(1, 11))]
    delays = {
        "flow": "f",
        "metric": "ip_packet_delay_variation",
        **describe_histogram([pooled(times_ps)]),
    }
    case = {**document["cases"][0], "delays": [delays]}
    ((chart,),) = build_distributions({**document, "cases": [case]}).values()
    at = {label["label"]: label["x"] for label in chart["below"]}
    assert chart["unit"] == "µs"
    assert at["0"] - at["-200"] == pytest.approx(at["-200"] - at["-400"], abs=0.11)
    assert chart["left"] < at["-400"] < at["0"] < chart["right"]


@given(st.lists(MAYBE, min_size=1, max_size=12), st.sampled_from(UNITS), VALUES)
def test_any_series_is_drawn(values, unit, every):
    series = {
        "every": quantity(abs(every) or Fraction(1)), "unit": unit,
        "values": " ".join("-" if value is None else str(value) for value in values),
    }  # fmt: skip
    made = {**statement(None, unit, "", None, ""), "kind": "report", "series": series}
    case = {
        "name": "t", "test": "t", "place": "a.qos:1:1", "parameters": {}, "verdict": "pass",
        "statements": [made], "repeats": [],
    }  # fmt: skip
    tests = [{"name": "t", "place": "a.qos:1:1", "covers": [], "description": ""}]
    for charts in build_timelines({"tests": tests, "cases": [case]}).values():
        for chart in charts:
            check(chart)


@given(st.lists(VALUES, min_size=2, max_size=6), st.lists(st.integers(0, 10**18), min_size=2,
       max_size=6))  # fmt: skip
def test_any_search_is_drawn(loads, losses):
    low, high = min(loads), max(loads)
    trials = [
        {
            "load": quantity(load, "bit/s"), "loss": quantity(Fraction(lost, 10**18), "1"),
            "length": quantity(Fraction(1)), "number": 1, "sent": 10**18, "lost": lost,
            "verdicts": {"ndr": "good" if not lost else "bad"},
        }
        for load, lost in zip(loads, losses, strict=False)
    ]  # fmt: skip
    goal = {
        "name": "ndr", "loss": quantity(Fraction(0), "1"), "complete": True, "regular": True,
        "lower": quantity(low, "bit/s"), "upper": quantity(high, "bit/s"), "notes": [], "why": [],
    }  # fmt: skip
    search = {
        "name": "load", "kind": "search", "repeat": 1, "variable": "load", "method": "binary",
        "low": quantity(low, "bit/s"), "high": quantity(high, "bit/s"), "step": None,
        "goals": [goal], "trials": trials,
    }  # fmt: skip
    case = {
        "name": "t", "parameters": {}, "verdict": "pass", "run": {"repeat": 1},
        "phases": [search], "statements": [],
    }  # fmt: skip
    for chart in build_brackets([case]):
        check(chart)


@given(st.lists(st.lists(MAYBE, min_size=3, max_size=3), min_size=1, max_size=5))
def test_any_extent_lies_between_the_ends_of_its_scale(rows):
    named = [dict(zip(("min", "mean", "max"), map(quantity, row), strict=True)) for row in rows]
    for extent, row in zip(build_spans(named), rows, strict=True):
        assert (extent is None) <= (row[0] is None or row[2] is None or row[0] == row[2] == 0)
        assert all(0 <= share <= 100 for share in (extent or {}).values())


@given(st.lists(MAYBE, min_size=1, max_size=6), st.sampled_from(["s", "cell", "1", "%"]))
def test_any_values_stand_below_each_other(values, unit):
    found = align_figures([quantity(value, unit) for value in values])
    assert len(found.texts) == len(values)


class _Attributes(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen += [value for _, value in attrs if tag in ("path", "line", "rect", "circle")]


@pytest.mark.parametrize("values", [
    ["-1/1000", "1/1000", "0"], ["0", "0", "0"], ["1/1000000000000"] * 3,
    ["1" + "0" * 18, "1" + "0" * 400, "-1" + "0" * 400], ["-1/3", "-1/4", "-1/5"],
])  # fmt: skip
def test_a_page_of_any_values_is_written(document, timing, values):
    cases = [
        {
            **document["cases"][0], "name": f"data_plane:n={n}", "parameters": {"n": str(n)},
            "statements": [statement(Fraction(value), "s", "fail", Fraction(values[0]), "<")],
            "metrics": {"ab": {"transfer_delay.min": quantity(Fraction(value)),
                               "transfer_delay.max": quantity(abs(Fraction(value)))}},
        }
        for n, value in enumerate(values)
    ]  # fmt: skip
    for name in ("html", "markdown", "csv", "junit", "json"):
        text = render({**document, "cases": cases}, timing, name)
        assert "data_plane" in text
    page = _Attributes()
    page.feed(render({**document, "cases": cases}, timing, "html"))
    assert page.seen
    assert not [text for text in page.seen if text and re.search(r"\b(nan|inf)\b|e\+", text)]
