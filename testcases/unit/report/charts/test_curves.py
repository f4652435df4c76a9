"""Charts over a number that is swept: lines, criteria, bars of intervals and names at line ends."""

import itertools
import re
from fractions import Fraction

import pytest

from qospec.report.charts.curves import LEFT, LINE, MOST_LINES, MOST_NAMES, TOP, build_curves
from qospec.report.charts.parameter import choose_axis, find_scale, show_value
from qospec.report.render import render
from qospec.report.views import arrange_columns

LOADS = ("10%", "50%", "90%")
SIZES = ("64B", "512B", "1_518B")


def seconds(value):
    return {"value": str(Fraction(value)), "unit": "s", "text": f"{value} s"}


def statement(measured, bound="10", *, comparison="<=", **more):
    return {
        "kind": "expect", "label": "delay", "text": "delay", "verdict": "pass", "place": "a:1:1",
        "measured": None if measured is None else seconds(measured), "comparison": comparison,
        "bound": seconds(bound), "tolerance": None, "note": "", **more,
    }  # fmt: skip


def swept(measure, bound=lambda **_: "10", **swept_values):
    """Return a case for each combination; `measure` gives what it measures."""
    found = []
    for values in itertools.product(*swept_values.values()):
        parameters = dict(zip(swept_values, values, strict=True))
        name = ",".join(f"{k}={v}" for k, v in parameters.items())
        measured = statement(measure(**parameters), bound(**parameters))
        found.append({"name": name, "parameters": parameters, "statements": [measured]})
    return found


def in_turn():
    """Return what measures 1, 2, 1, 2, and so on."""
    values = itertools.cycle(("1", "2"))
    return lambda **_: next(values)


def drawn(cases):
    return build_curves(arrange_columns(cases)[0], cases)


def by_size(load, size):
    return Fraction(load.rstrip("%")) / (2 + SIZES.index(size)) / 10


def test_a_load_is_drawn_along_and_each_size_has_a_line():
    (chart,) = drawn(swept(by_size, size=SIZES, load=LOADS))
    assert (chart["over"], chart["by"], chart["along"]) == ("load", "size", "load (%)")
    assert [line["name"] for line in chart["lines"]] == ["64 B", "512 B", "1_518 B"]
    assert [tick["label"] for tick in chart["below"]] == ["10", "50", "90"]
    for line in chart["lines"]:
        xs = [dot["x"] for dot in line["dots"]]
        assert xs == sorted(xs) == [tick["x"] for tick in chart["below"]]
        assert LEFT < xs[0] < xs[-1] < chart["right"]
        assert line["path"].count("L") + line["path"].count("H") == 2
    greatest, *_, least = (line["dots"][-1]["y"] for line in chart["lines"])
    assert TOP <= greatest < least <= chart["bottom"]


def test_the_middle_of_the_numbers_is_in_the_middle_of_the_chart():
    (chart,) = drawn(swept(lambda load: load.rstrip("%"), load=LOADS))
    first, middle, last = (dot["x"] for dot in chart["lines"][0]["dots"])
    assert 2 * middle == pytest.approx(first + last, abs=0.2)
    assert chart["lines"][0]["name"] == ""
    assert chart["right"] > 450


def test_the_order_of_cases_does_not_matter():
    cases = swept(by_size, size=SIZES, load=LOADS)
    (chart,), (turned,) = drawn(cases), drawn(sorted(cases, key=lambda c: c["name"], reverse=True))
    names = {line["name"]: line["path"] for line in chart["lines"]}
    assert {line["name"]: line["path"] for line in turned["lines"]} == names


def test_one_criterion_of_all_is_one_line_with_what_is_outside():
    (chart,) = drawn(swept(by_size, size=SIZES, load=LOADS))
    (limit,), (outside,) = chart["limits"], chart["outside"]
    assert limit["style"] is None
    assert re.fullmatch(rf"M{LEFT}.0 [\d.]+H{chart['right']}", limit["path"])
    assert outside == f"{limit['path']}V{TOP}H{LEFT}.0Z"


def test_a_criterion_that_rises_with_the_load_bends():
    (chart,) = drawn(swept(by_size, lambda load, **_: load.rstrip("%"), size=SIZES, load=LOADS))
    (limit,) = chart["limits"]
    assert limit["path"].count("L") == 2
    assert limit["path"].endswith(f"H{chart['right']}")


def test_criteria_of_single_lines_have_their_style_and_shade_nothing():
    (chart,) = drawn(swept(by_size, lambda size, **_: len(size), size=SIZES, load=LOADS))
    assert [limit["style"] for limit in chart["limits"]] == [0, 1, 2]
    assert chart["outside"] == []


def test_an_interval_is_a_bar_that_is_drawn_whole():
    cases = swept(in_turn(), load=LOADS)
    ends = {"lower": seconds("0"), "upper": seconds("6"), "repeats": 5}
    cases[0]["statements"][0]["interval"] = ends
    (chart,) = drawn(cases)
    low, high = chart["lines"][0]["dots"][0]["bar"]
    assert (low, high < low) == (chart["bottom"], True)
    assert chart["lines"][0]["dots"][1]["bar"] == []
    ends["lower"] = seconds("-4")  # of what may be less than nothing
    (chart,) = drawn(cases)
    assert chart["lines"][0]["dots"][0]["bar"][0] > chart["lines"][0]["dots"][0]["y"]
    assert "-5" in [tick["label"] for tick in chart["ticks"]]


def test_a_case_without_data_has_no_mark():
    cases = swept(lambda load: None if load == "50%" else load[0], load=LOADS)
    (chart,) = drawn(cases)
    assert len(chart["lines"][0]["dots"]) == 2
    assert drawn(swept(lambda load: "1" if load == "50%" else None, load=LOADS)) == []


def test_names_stand_apart_beside_the_ends_of_their_lines():
    sizes = [f"{n}B" for n in range(100, 100 + MOST_NAMES)]
    (chart,) = drawn(swept(in_turn(), size=sizes, load=LOADS))
    ys = sorted(line["y"] for line in chart["lines"])
    assert min(b - a for a, b in itertools.pairwise(ys)) >= LINE
    assert ys[0] >= TOP
    assert ys[-1] <= chart["bottom"]
    styles = {(line["style"], line["dash"]) for line in chart["lines"]}
    assert len(styles) == MOST_NAMES


def test_more_names_than_can_be_read_are_not_drawn():
    sizes = [f"{n}B" for n in range(100, 101 + MOST_NAMES)]
    assert drawn(swept(in_turn(), size=sizes, load=LOADS)) == []


def test_many_lines_of_two_sweeps_are_a_chart_for_each_value_of_the_first():
    cases = swept(
        in_turn(),
        case=("plain", "acl"),
        size=[f"{n}B" for n in (64, 128, 256, 512, 1024)],
        load=LOADS,
    )
    charts = drawn(cases)
    assert [(chart["of"], chart["by"]) for chart in charts] == [
        ("case = plain", "size"),
        ("case = acl", "size"),
    ]
    assert len({tuple(tick["y"] for tick in chart["ticks"]) for chart in charts}) == 1
    (few,) = drawn(swept(in_turn(), case=("a", "b"), size=("64B", "512B"), load=LOADS))
    assert (few["by"], len(few["lines"])) == ("case · size", 4)
    assert len(few["lines"]) <= MOST_LINES


def test_labels_below_never_touch():
    loads = [f"{n}%" for n in (1, 2, 3, 5, 7, 90, 95, 100)]
    (chart,) = drawn(swept(in_turn(), load=loads))
    labels = [tick["label"] for tick in chart["below"]]
    assert labels[-1] == "100"
    assert "2" not in labels
    at = [tick["x"] for tick in chart["below"]]
    assert min(b - a for a, b in itertools.pairwise(at)) > 6


def test_very_many_values_have_round_ticks():
    (chart,) = drawn(swept(in_turn(), load=[f"{n}%" for n in range(3, 80)]))
    assert [tick["label"] for tick in chart["below"]] == ["20", "40", "60"]


def cases_of(*texts):
    return [{"parameters": {"x": text}} for text in texts]


@pytest.mark.parametrize(
    ("texts", "values", "unit"),
    [
        (("64B", "1_518 B"), ("64", "1518"), "B"),
        (("64B-frame", "128B @frame"), ("64", "128"), "B @frame"),
        (("500us", "2ms"), ("0.5", "2"), "ms"),
        (("10%", "12.5%"), ("10", "12.5"), "%"),
        (("1Mbit_per_s-line", "1Gbit/s @line"), ("0.001", "1"), "Gbit/s @line"),
        (("5us", "10µs"), ("5", "10"), "µs"),
        (("10", "100", "1_000"), ("10", "100", "1000"), ""),
    ],
)
def test_values_of_one_dimension_are_numbers_in_one_unit(texts, values, unit):
    scale = find_scale(cases_of(*texts), "x")
    assert scale is not None
    assert [scale.values[text] for text in texts] == [Fraction(value) for value in values]
    assert scale.unit == unit


@pytest.mark.parametrize(
    "texts",
    [
        ("wfq", "drr"),
        ("1ms", "1B"),
        ("64B-ip", "64B-frame"),
        ("1", "2", "3", "4"),
        ("0", "1"),
        ("3 parsec", "4 parsec"),
        ("1ms", "x.y"),
    ],
)
def test_names_and_numbered_things_are_no_numbers(texts):
    assert find_scale(cases_of(*texts), "x") is None


def test_a_share_goes_along_before_what_has_more_values():
    cases = swept(in_turn(), size=("64B", "128B", "256B", "512B"), load=LOADS)
    assert choose_axis(cases, ["size", "load"])[0] == "load"
    cases = swept(in_turn(), size=("64B", "128B", "256B", "512B"), time=("1s", "2s", "4s"))
    assert choose_axis(cases, ["size", "time"])[0] == "size"
    two = swept(in_turn(), size=("64B", "128B"), load=("10%", "20%"))
    assert choose_axis(two, ["size", "load"]) is None


def test_a_quantity_is_shown_as_people_write_it():
    written = ("1_518B", "10Mbit_per_s-line", "50%", "wfq", "17", "3parsec", "1_per_512", "1_per_0")
    expected = ["1_518 B", "10 Mbit/s @line", "50%", "wfq", "17", "3parsec", "1 / 512", "1_per_0"]
    assert [show_value(text) for text in written] == expected


def test_quotients_are_values_of_an_axis():
    cases = swept(in_turn(), weight=("1_per_512", "1_per_64", "0.5"))
    assert find_scale(cases, "weight").values == {
        "1_per_512": Fraction(1, 512), "1_per_64": Fraction(1, 64), "0.5": Fraction(1, 2),
    }  # fmt: skip


@pytest.fixture
def page(document, timing):
    cases = swept(by_size, size=SIZES, load=LOADS)
    inside = ("metrics", "repeats", "losses", "why", "errors", "run", "again")
    like = {key: document["cases"][4][key] for key in inside}
    document["cases"] = [{**like, **c, "test": "cdvt", "verdict": "pass"} for c in cases]
    return lambda: render(document, timing, "html")


def test_the_page_says_in_words_what_the_chart_shows(page):
    (svg,) = re.findall(r'<figure class="panel curves">.*?</figure>', page(), re.DOTALL)
    assert 'role="img" aria-label="delay over load, a line for each size"' in svg
    assert "<desc>3 lines: 64 B, 512 B, 1_518 B. The table below has the numbers.</desc>" in svg
    assert svg.count('class="curve"') == 3
    assert svg.count("<title>") == 9
    assert "<title>size=64B,load=10%: 1/2 s, needed ≤ 10 s</title>" in svg


def test_the_same_record_gives_the_same_page(page):
    assert page() == page()


def test_where_nothing_differs_there_is_nothing_to_see():
    cases = swept(lambda **_: "1", load=LOADS)
    assert drawn(cases) == []
    cases[1]["statements"][0]["verdict"] = "fail"
    assert len(drawn(cases)) == 1


def test_values_of_different_units_are_not_drawn_on_one_axis():
    cases = swept(in_turn(), load=LOADS)
    cases[1]["statements"][0]["measured"]["unit"] = "pkt"
    assert drawn(cases) == []
