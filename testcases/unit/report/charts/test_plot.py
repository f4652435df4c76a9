from fractions import Fraction

import pytest

from qospec.report.charts import plot
from qospec.report.charts.axis import make_axis_over, make_axis_through
from qospec.report.charts.plot import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    build_panel,
    build_spans,
    list_varying,
    point,
)
from qospec.report.charts.sample import read_exact, read_sample
from qospec.report.views import arrange_columns


def labels(axis):
    return [label for _, label in axis.ticks]


@pytest.mark.parametrize(
    ("values", "unit", "ticks", "shown"),
    [
        ([0, 7], "cell", ["0", "2", "4", "6", "8"], "cell"),
        ([0, 0], "cell", ["0", "1"], "cell"),
        ([0, 1], "cell", ["0", "1"], "cell"),
        ([12_000, 3_000], "", ["0", "5\u202f000", "10\u202f000", "15\u202f000"], ""),
        ([Fraction(1, 50_000)], "s", ["18", "19", "20", "21", "22"], "µs"),
        ([Fraction("0.0000163"), Fraction("0.0000276")], "s", ["0", "10", "20", "30"], "µs"),
        ([Fraction("0.5"), Fraction("0.6")], "%", ["50", "52", "54", "56", "58", "60"], "%"),
        ([0, Fraction(7, 10**6)], "%", ["0", "2", "4", "6", "8"], "× 10⁻⁶"),
        ([0, 149_760_000], "bit/s", ["0", "50", "100", "150"], "Mbit/s"),
        ([Fraction(-1, 100), Fraction("0.5")], "%", ["0", "20", "40", "60"], "%"),
        ([Fraction(-3), Fraction(2)], "s", ["-3", "-2", "-1", "0", "1", "2"], "s"),
        ([Fraction(-3), Fraction(-1)], "s", ["-3", "-2", "-1", "0"], "s"),
        ([0], "s", ["0", "0.2", "0.4", "0.6", "0.8", "1"], "s"),
    ],
)
def test_an_axis_has_few_round_ticks_in_a_fitting_unit(values, unit, ticks, shown):
    axis = make_axis_over([Fraction(value) for value in values], unit)
    assert labels(axis) == ticks
    assert axis.unit == shown


def test_an_axis_that_does_not_start_at_zero_says_so():
    axis = make_axis_over([Fraction(90), Fraction(100)], "cell")
    assert axis.note == "axis starts at 90 cell"
    assert make_axis_over([Fraction(10), Fraction(100)], "cell").note == ""


def test_values_decades_apart_have_a_logarithmic_axis():
    axis = make_axis_over([Fraction(1, 10**6), Fraction(3, 100)], "s")
    assert labels(axis) == ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]
    assert axis.note == "logarithmic axis"
    assert axis.compute_share(Fraction(1, 10**6)) == 0
    assert round(axis.compute_share(Fraction(1, 10**3)), 9) == 0.6


def test_the_unit_of_very_many_frames_is_said_once_and_labels_have_room():
    axis = make_axis_over([Fraction(90), Fraction(3 * 10**5)], "frame")
    assert labels(axis)[0] == "10"
    assert labels(axis)[-1] == "1\u202f000\u202f000"
    assert axis.unit == "frame"
    assert plot._find_left(axis) >= 9 * 6 + 6
    wide = make_axis_over([Fraction(40_000)], "frame/s")
    assert (wide.unit, plot._find_left(wide)) == ("kframe/s", 58)
    assert plot._find_left(make_axis_over([Fraction(7)], "cell")) == LEFT


@pytest.mark.parametrize("power", [-12, -3, 0, 4])
@pytest.mark.parametrize("spread", [0, Fraction(1, 7), 3])
def test_every_value_lies_on_its_axis(power, spread):
    values = [Fraction(10) ** power, Fraction(10) ** power * (1 + spread)]
    axis = make_axis_over(values, "s")
    assert all(0 <= axis.compute_share(value) <= 1 for value in values)
    assert 2 <= len(axis.ticks) <= 7


@pytest.mark.parametrize(
    ("values", "logarithmic"),
    [
        ([1, 10, 100, 1_000], True),
        ([1, 2, 5, 10, 20, 50, 100], True),
        ([1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100], False),
        ([1, 2, 3, 99, 100], False),
        ([0, 1, 10, 100], True),
        ([0, 10, 20, 30], False),
        ([5], False),
    ],
    ids=["decades", "in between", "even steps", "two ends", "from zero", "not decades", "one"],
)
def test_a_sweep_through_decades_goes_along_a_logarithmic_axis(values, logarithmic):
    axis = make_axis_through([Fraction(value) for value in values], "pkt")
    assert axis.logarithmic is logarithmic
    assert bool(axis.note) is logarithmic


def test_of_many_values_a_logarithmic_axis_has_ticks_at_some() -> None:
    values = [Fraction(0), *(Fraction(2) ** power for power in range(25))]
    axis = make_axis_through(values, "B")
    assert [value for value, _ in axis.ticks] == [0, *(2**power for power in range(1, 25, 2))]


def test_zero_has_a_place_ahead_of_a_logarithmic_axis():
    axis = make_axis_through([Fraction(value) for value in (0, 1, 10, 100)], "pkt")
    zero, *others = [axis.compute_share(value) for value, _ in axis.ticks]
    assert 0 < zero < others[0] < others[1] < others[2] < 1
    assert others[1] - others[0] == pytest.approx(others[2] - others[1])
    assert axis.note == "swept along a logarithmic axis with a place for 0"


SIZES_OF_RFC_2544 = [64, 128, 256, 512, 1_024, 1_280, 1_518]


@pytest.mark.parametrize(
    ("values", "unit", "logarithmic"),
    [
        (SIZES_OF_RFC_2544, "B", True),
        (SIZES_OF_RFC_2544, "B @ip", True),
        (SIZES_OF_RFC_2544, "pkt", False),
        (range(64, 1_519, 64), "B", False),
        ([64, 128, 256], "B", False),
    ],
    ids=["frames", "of a layer", "no sizes", "even steps", "two octaves"],
)
def test_sizes_that_double_are_at_equal_distances(values, unit, logarithmic):
    axis = make_axis_through([Fraction(value) for value in values], unit)
    assert axis.logarithmic is logarithmic
    first, second, third = (axis.compute_share(Fraction(value)) for value in (64, 128, 256))
    assert (second - first == pytest.approx(third - second)) is logarithmic


LIMIT = {"value": "100", "unit": "bit/s", "text": "100 bit/s"}


@pytest.mark.parametrize(
    ("limits", "beyond"),
    [((LIMIT, None), 1), ((None, LIMIT), -1), ((LIMIT, LIMIT), 0)],
    ids=["at least", "at most", "between"],
)
def test_what_is_only_known_to_be_at_least_a_value_has_an_arrow(limits, beyond):
    lower, upper = limits
    statement = {
        "measured": LIMIT,
        "bound": None,
        "comparison": "",
        "tolerance": None,
        "measured_limits": {"lower": lower, "upper": upper},
    }
    assert read_sample(statement).beyond == beyond
    assert read_sample({**statement, "measured_limits": None}).beyond == 0


def test_only_numbers_have_an_exact_value():
    assert read_exact({"value": "1/4096"}) == Fraction(1, 4096)
    assert read_exact({"value": "true"}) is None
    assert read_exact(None) is None


def sweep(document, test):
    return [case for case in document["cases"] if case["test"] == test]


def test_a_panel_has_a_mark_for_each_case_and_the_criterion_as_a_line(document):
    its = sweep(document, "cdvt")
    chart = build_panel(arrange_columns(its)[0], its)
    assert [dot["verdict"] for dot in chart["dots"]] == ["fail", "fail", "pass"]
    assert [limit["y"] for limit in chart["limits"]] == [BOTTOM, BOTTOM]
    assert (chart["limits"][0]["x1"], chart["limits"][0]["x2"]) == (LEFT, RIGHT)
    assert chart["dots"][0]["title"].endswith(": 1320 cell, needed = 0 cell")
    assert [label["text"] for label in chart["labels"]] == ["4 us", "5 us", "6 us"]


def test_a_criterion_that_varies_is_a_line_for_each_run_of_equal_ones(document):
    its = sweep(document, "data_plane")
    chart = build_panel(arrange_columns(its)[2], its)
    left, right = chart["limits"][0], chart["limits"][2]
    assert left["x2"] == right["x1"]
    assert left["y"] < right["y"]


def test_a_tolerance_is_a_band(document):
    its = sweep(document, "cdvt")
    chart = build_panel(arrange_columns(its)[1], its)
    assert len(chart["limits"]) == 6
    assert all(TOP <= limit["y"] <= BOTTOM for limit in chart["limits"])


def test_a_tolerance_in_percent_is_of_the_bound(document):
    its = sweep(document, "data_plane")
    its[0]["statements"][0]["verdict"] = "inconclusive"
    low, high = build_panel(arrange_columns(its, ("require",))[0], its)["limits"]
    assert low["y"] > high["y"]


def test_a_case_without_the_statement_has_no_mark(document):
    its = sweep(document, "cdvt")
    its[1]["statements"] = []
    assert len(build_panel(arrange_columns(its)[0], its)["dots"]) == 2


def test_cases_without_parameters_are_numbered_by_their_order_only(document):
    its = [{**case, "parameters": {}} for case in sweep(document, "cdvt")]
    chart = build_panel(arrange_columns(its)[0], its)
    assert (chart["axis"], chart["labels"]) == ("case", [])


def test_names_that_do_not_fit_side_by_side_are_slanted_and_all_there(document):
    names = ["fifo", "strict", "custom", "wrr", "drr", "scfq", "wfq", "wf2q_plus"]
    its = [{**document["cases"][4], "parameters": {"discipline": name}} for name in names]
    chart = build_panel(arrange_columns(its)[0], its)
    assert [label["text"] for label in chart["labels"]] == names
    assert chart["height"] == 196 + chart["slope"] > 196
    few = build_panel(arrange_columns(its[:3])[0], its[:3])
    assert (few["slope"], few["height"]) == (0, 196)


def test_a_case_without_data_is_marked_on_the_axis(document):
    its = sweep(document, "cdvt")
    its[1]["statements"][0] |= {"measured": None, "verdict": "inconclusive"}
    dots = build_panel(arrange_columns(its)[0], its)["dots"]
    assert (dots[1]["y"], dots[1]["verdict"]) == (BOTTOM, "inconclusive")
    assert ": no data," in dots[1]["title"]


def test_fewer_than_two_numbers_make_no_chart(document):
    its = sweep(document, "repeated")
    assert build_panel(arrange_columns(its)[0], its) is None


def test_a_thousand_cases_are_not_a_thousand_labels(large):
    its = large["cases"]
    chart = build_panel(arrange_columns(its)[0], its)
    assert len(chart["labels"]) < 20
    assert len(chart["dots"]) < 600


def test_the_parameters_that_distinguish_cases_are_found():
    its = [
        {"parameters": {"first": f, "second": f, "scenario": s, "pvcs": "4"}}
        for f in ("x.a", "x.b")
        for s in "123"
    ]
    assert list_varying(its) == ["first", "scenario"]
    assert list_varying(its[:1]) == []
    assert point(its[0], ["first", "scenario"]) == "a · 1"
    assert point({"name": "alone", "parameters": {}}, []) == "alone"


def test_outer_parameters_stand_in_groups_below_the_axis(document):
    its = [
        {**document["cases"][4], "parameters": {"pair": pair, "scenario": s}}
        for pair in ("a", "a name that is too long to fit")
        for s in "123"
    ]
    chart = build_panel(arrange_columns(its)[0], its)
    assert [group["text"] for group in chart["groups"]] == ["a", "a name that is too l…"]
    assert [label["text"] for label in chart["labels"]] == ["1", "2", "3"] * 2
    assert chart["groups"][0]["x2"] == chart["groups"][1]["x1"]


def test_a_distribution_is_shown_on_the_scale_of_the_widest():
    rows = [
        {"min": {"value": "1"}, "mean": {"value": "2"}, "max": {"value": "4"}},
        {"min": {"value": "1"}, "mean": None, "max": {"value": "8"}},
    ]
    rows += [{"min": None, "max": None}, {"mean": {"value": "1"}}]
    assert build_spans(rows) == [
        {"min": 12.5, "mean": 25.0, "max": 50.0, "zero": 0.0},
        {"min": 12.5, "max": 100.0, "zero": 0.0},
        None,
        None,
    ]


def test_the_scale_of_distributions_reaches_below_zero_if_one_does():
    rows = [
        {"min": {"value": "-4"}, "mean": {"value": "-2"}, "max": {"value": "1"}},
        {"min": {"value": "-1"}, "max": {"value": "0"}},
    ]
    assert build_spans(rows) == [
        {"min": 0.0, "mean": 40.0, "max": 100.0, "zero": 80.0},
        {"min": 60.0, "max": 80.0, "zero": 80.0},
    ]
