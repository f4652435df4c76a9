"""Charts of delays: histogram and shares that are longer, and what criteria keep out."""

import re
from fractions import Fraction

import pytest

from qospec.record.bins import find_bin
from qospec.report.charts.axis import make_axis_between
from qospec.report.charts.corners import list_corners
from qospec.report.charts.distributions import (
    BOTTOM,
    GAP,
    LEFT,
    MIDDLE,
    MOST_CHARTS,
    MOST_LINES,
    MOST_OF_A_TEST,
    RIGHT,
    TOP,
    build_distributions,
)
from qospec.report.render import render

US = Fraction(1, 10**6)
MS = 1000 * US
LOW = Fraction(2**23, 10**12)
"""8.4 us, at which a step begins."""


def seconds(value):
    return {"value": str(Fraction(value)), "unit": "s", "text": f"{float(value * 10**6):g} us"}


def criterion(statistic, comparison, bound, flow="f", verdict="pass"):
    return {
        "kind": "expect", "label": f"{flow} {statistic}", "verdict": verdict, "place": "a.qos:3:1",
        "text": f"{flow}.delay.{statistic} {comparison} x", "measured": seconds(20 * US),
        "measures": {"flow": flow, "metric": "transfer_delay", "statistic": statistic},
        "comparison": comparison, "bound": seconds(bound), "tolerance": None, "note": "",
    }  # fmt: skip


def delays(low, counts, flow="f", per_octave=1):
    """Return delays from `low` on, so many in each doubling."""
    return {
        "flow": flow, "metric": "transfer_delay", "least": seconds(low),
        "greatest": seconds(low * 2 ** (len(counts) - 1) * Fraction(3, 2)),
        "per_octave": per_octave, "first": find_bin(int(low * 10**12), per_octave),
        "counts": " ".join(map(str, counts)),
    }  # fmt: skip


TAIL = delays(LOW, [900, 90, 9, 1])
"""1,000 delays: a tenth of them is longer than 2 LOW, a hundredth than 4 LOW."""


@pytest.fixture
def charts(document):
    """Return what draws a test of cases, each with delays and statements."""

    def charts(*cases):
        made = [
            {
                **document["cases"][0], "test": "data_plane", "name": f"data_plane:load={n}%",
                "parameters": {"load": f"{n}%"}, "delays": found, "statements": statements,
            }
            for n, (found, *statements) in enumerate(cases, 1)
        ]  # fmt: skip
        (found,) = build_distributions({**document, "cases": made}).values()
        return found

    return charts


def points(path):
    """Return the corners of a path of M, L, H and V."""
    found, x, y = [], 0.0, 0.0
    for letter, numbers in re.findall(r"([MLHV])([\d. ]+)", path):
        values = [float(n) for n in numbers.split()]
        x, y = {"H": (values[0], y), "V": (x, values[0])}.get(letter, tuple(values))
        found.append((x, y))
    return found


def test_the_curve_falls_by_a_decade_where_a_tenth_is_longer(charts):
    (chart,) = charts(([TAIL], criterion("p99", "<", 1 * MS)))
    assert [tick["label"] for tick in chart["ticks"]] == ["100", "10", "1", "0.1"]
    heights = [tick["y"] for tick in chart["ticks"]]
    curve = points(chart["lines"][0]["path"])
    assert [y for _, y in curve[1:5]] == heights
    xs = [x for x, _ in curve]
    assert xs == sorted(xs)
    assert curve[-1][1] == BOTTOM, "nothing is longer than the greatest"


def test_equal_ratios_of_delays_are_equally_far_apart(charts):
    (chart,) = charts(([TAIL],))
    xs = [x for x, _ in points(chart["lines"][0]["path"])][1:5]
    assert xs[2] - xs[1] == pytest.approx(xs[1] - xs[0], abs=0.2)
    assert chart["note"] == "logarithmic axis"


def test_a_histogram_is_as_high_as_the_root_of_what_is_in_a_step(charts):
    (chart,) = charts(([delays(LOW, [900, 100, 400, 4])],))
    area = chart["lines"][0]["area"]
    tops = [MIDDLE - float(y) for y in re.findall(r"V([\d.]+)H", area)]
    assert tops == pytest.approx(
        [MIDDLE - TOP, (MIDDLE - TOP) / 3, (MIDDLE - TOP) * 2 / 3, 5.1], abs=0.1
    )
    assert area.endswith(f"V{MIDDLE}Z")


def test_a_quantile_is_a_corner_that_the_curve_keeps_out_of(charts):
    """Exactly 1 % is longer than the bound: there the curve goes through the corner."""
    (chart,) = charts(([TAIL], criterion("p99", "<", 4 * LOW)))
    one_percent = chart["ticks"][2]["y"]
    (limit,), (outside,) = chart["limits"], chart["outside"]
    corner = points(limit["path"])[-2]
    assert corner in points(chart["lines"][0]["path"])
    assert corner[1] == one_percent
    assert points(limit["path"])[-1] == (RIGHT, one_percent)
    assert points(outside)[0] == (corner[0], MIDDLE + GAP)
    assert chart["marks"] == [{"x": pytest.approx(corner[0], abs=60), "label": "p99 < 33.5544 us"}]


def test_a_least_bound_keeps_out_what_is_left_of_it(charts):
    (chart,) = charts(([TAIL], criterion("p50", ">", 10 * US)))
    (outside,) = chart["outside"]
    assert {x for x, _ in points(outside)} >= {LEFT}
    assert max(y for _, y in points(outside)) == BOTTOM


@pytest.mark.parametrize(
    ("statistic", "comparison", "bound", "found"),
    [
        ("p99_9", "<=", MS, [(MS, Fraction(1, 1000), True, "p99.9 ≤ 1000 us")]),
        ("max", "<", MS, [(MS, 0, True, "max < 1000 us")]),
        ("min", ">=", MS, [(MS, 1, False, "min ≥ 1000 us")]),
        ("mean", "<", MS, [(MS, None, True, "mean < 1000 us")]),
        ("std", "<", MS, []),
        ("p50", "!=", MS, []),
    ],
)
def test_what_a_criterion_asks_of_delays(statistic, comparison, bound, found):
    assert [
        tuple(corner) for corner in list_corners(criterion(statistic, comparison, bound))
    ] == found


def test_a_share_above_a_time_is_a_corner_at_that_time():
    asked = criterion("above_500000000", "<", 0)
    asked["bound"] = {"value": "1/1000", "unit": "1", "text": "0.1 %"}
    (found,) = list_corners(asked)
    assert found == (500 * US, Fraction(1, 1000), True, "< 0.1 % above 500 us")


def test_a_tolerance_has_two_sides():
    asked = {**criterion("p50", "within", 20 * US), "tolerance": seconds(5 * US)}
    assert [(corner.bound, corner.above) for corner in list_corners(asked)] == [
        (25 * US, True),
        (15 * US, False),
    ]


def test_a_bound_far_from_all_delays_is_named_and_not_drawn(charts):
    (chart,) = charts(([TAIL], criterion("max", "<", 1)))
    assert chart["limits"] == []
    assert chart["note"] == "logarithmic axis; beyond the axis: max < 1e+06 us"


def test_of_a_sweep_what_fails_is_drawn_and_then_the_highest_load(charts):
    cases = [([TAIL], criterion("max", "<", MS)) for _ in range(7)]
    cases[1] = ([TAIL], criterion("max", "<", MS, verdict="fail"))
    (chart,) = charts(*cases)
    assert [name["text"] for name in chart["names"]] == ["2%", "5%", "6%", "7%"]
    assert len(chart["lines"]) == MOST_LINES
    assert chart["left_out"] == 3


def test_what_fails_is_drawn_first(charts):
    flows = [f"f{n}" for n in range(MOST_OF_A_TEST + 2)]
    found = [{**TAIL, "flow": flow} for flow in flows]
    failing = criterion("max", "<", MS, flow=flows[-1], verdict="fail")
    drawn = charts((found, failing))
    assert [chart["flow"] for chart in drawn] == [flows[-1], *flows[: MOST_OF_A_TEST - 1]]


def test_a_page_has_so_many_charts_and_no_more(document):
    tests = [{**document["tests"][0], "name": f"t{n}"} for n in range(MOST_CHARTS)]
    cases = [
        {**document["cases"][0], "test": t["name"], "delays": [TAIL, {**TAIL, "flow": "g"}]}
        for t in tests
    ]
    drawn = build_distributions({**document, "tests": tests, "cases": cases})
    assert sum(map(len, drawn.values())) == MOST_CHARTS


def test_criteria_that_differ_have_the_colour_of_their_case(charts):
    found = charts(*(([TAIL], criterion("max", "<", n * 40 * US)) for n in (1, 2)))
    (chart,) = found
    assert [limit["style"] for limit in chart["limits"]] == [0, 1]
    assert chart["outside"] == []


def test_criteria_that_differ_are_shown_with_the_name_of_their_case(charts):
    shared = criterion("p99", "<", MS)
    own = [{**criterion("mean", "within", n * 20 * US), "tolerance": seconds(US)} for n in (1, 2)]
    (chart,) = charts(*(([TAIL], shared, values) for values in own))
    assert [name["text"] for name in chart["names"]] == [
        "1%: mean 20 us ± 1 us",
        "2%: mean 40 us ± 1 us",
    ]
    assert [mark["label"] for mark in chart["marks"]] == ["p99 < 1000 us"]


@pytest.mark.parametrize("counts", [[5], [5, 0, 0, 5]])
def test_delays_of_one_or_two_lengths_are_no_chart(document, counts):
    cases = [{**document["cases"][0], "delays": [delays(LOW, counts)]}]
    assert build_distributions({**document, "cases": cases}) == {}


def test_delays_above_the_least_begin_at_zero_and_end_on_the_axis(charts):
    moved = {**TAIL, "least": seconds(0)}
    (chart,) = charts(([moved],))
    assert points(chart["lines"][0]["path"])[0][0] == LEFT


def test_an_old_record_has_no_such_charts(document):
    assert build_distributions(document) == {}


def test_the_page_shows_the_chart_with_its_criteria(document):
    asked = criterion("p99", "<", 32 * US)
    document["cases"][0] |= {"delays": [TAIL], "statements": [asked]}
    page = render(document, {}, "html")
    figure = re.search(r'<figure class="panel curves delays">.*?</figure>', page, re.DOTALL)[0]
    assert "<b>f transfer delay</b> p99 &lt; 32 µs<small>" in figure
    assert figure.count('class="outside"') == figure.count('class="limit"') == 1


@pytest.mark.parametrize(
    ("low", "high", "labels", "unit"),
    [
        (20 * US, 50 * US, ["20", "30", "40", "50"], "µs"),
        (15 * US, 450 * US, ["20 µs", "50 µs", "100 µs", "200 µs"], ""),
        (US, 900 * MS, ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"], ""),
    ],
)
def test_an_axis_between_has_ticks_at_round_values(low, high, labels, unit):
    axis = make_axis_between(low, high, "s")
    assert ([label for _, label in axis.ticks], axis.unit) == (labels, unit)
    assert (axis.compute_share(low), axis.compute_share(high)) == (0, 1)
