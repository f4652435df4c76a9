"""Charts over time: a line that holds each value for its interval."""

import re

import pytest

from qospec.report.charts.plot import CHARACTER
from qospec.report.charts.timelines import (
    BOTTOM,
    COLUMNS,
    LEFT,
    MOST_CHARTS,
    MOST_LINES,
    RIGHT,
    TOP,
    build_timelines,
)
from qospec.report.render import render

EVERY = {"value": "1/100", "unit": "s", "text": "10 ms"}


def report(values, label="rate", every=EVERY, unit="cell/s"):
    return {
        "kind": "report", "label": label, "verdict": "", "place": "a.qos:3:1", "text": "f.rate",
        "measured": None, "comparison": "", "bound": None, "tolerance": None, "note": "",
        "series": {"every": every, "unit": unit, "values": values},
    }  # fmt: skip


@pytest.fixture
def charts(document):
    """Return what draws a test of cases, each of some statements."""

    def charts(*cases, verdicts=None):
        made = [
            {
                **document["cases"][0], "test": "data_plane", "name": f"data_plane:load={n}%",
                "parameters": {"load": f"{n}%"}, "statements": list(statements),
                "verdict": (verdicts or {}).get(n, "pass"),
            }
            for n, statements in enumerate(cases, 1)
        ]  # fmt: skip
        return build_timelines({**document, "cases": made}).get("test-1", [])

    return charts


def test_each_value_is_held_for_its_interval(charts):
    (chart,) = charts([report("0 100 50 50")])
    quarter = (RIGHT - LEFT) / 4
    half = (TOP + BOTTOM) / 2
    assert chart["lines"][0]["path"] == (
        f"M{LEFT:.1f} {BOTTOM:.1f}H{LEFT + quarter:.1f}V{TOP:.1f}H{LEFT + 2 * quarter:.1f}"
        f"V{half:.1f}H{LEFT + 3 * quarter:.1f}H{RIGHT:.1f}"
    )
    assert [label["label"] for label in chart["below"]] == ["0", "10", "20", "30", "40"]
    assert chart["along"] == "time (ms)"
    assert chart["names"] == []


def test_a_line_is_broken_where_there_is_no_data(charts):
    (chart,) = charts([report("1 - 2 - -")])
    pieces = chart["lines"][0]["path"].split("M")[1:]
    assert [re.fullmatch(r"[\d.]+ [\d.]+H[\d.]+", piece) is not None for piece in pieces] == [
        True
    ] * 2


def test_of_very_many_intervals_no_extreme_is_lost(charts):
    many = ["5"] * 10_000
    many[4_321], many[4_322] = "0", "100"
    (chart,) = charts([report(" ".join(many))])
    path = chart["lines"][0]["path"]
    assert f"V{BOTTOM:.1f}H" in path
    assert f"V{TOP:.1f}H" in path
    assert path.count("H") <= 2 * COLUMNS


def test_of_many_cases_the_worst_are_drawn(charts):
    cases = [[report("1 2")] for _ in range(6)]
    (chart,) = charts(*cases, verdicts={5: "fail", 6: "inconclusive"})
    assert [name["text"] for name in chart["names"]] == ["1%", "2%", "5%", "6%"]
    assert (len(chart["lines"]), chart["left_out"]) == (MOST_LINES, 2)


def test_each_statement_has_a_chart_and_one_without_data_has_none(charts):
    asked = [report("1 2"), report("3 4", label="other"), report("- -", label="silent")]
    assert [chart["label"] for chart in charts(asked)] == ["rate", "other"]


def test_intervals_of_no_length_are_no_chart(charts):
    nothing = {"value": "0", "unit": "s", "text": "0 s"}
    assert charts([report("1 2", every=nothing)]) == []


def test_a_page_has_so_many_charts_and_no_more(document):
    tests = [{**document["tests"][0], "name": f"t{n}"} for n in range(MOST_CHARTS + 3)]
    cases = [
        {**document["cases"][0], "test": t["name"], "statements": [report("1 2")]} for t in tests
    ]
    found = build_timelines({**document, "tests": tests, "cases": cases})
    assert sum(map(len, found.values())) == MOST_CHARTS


def test_the_page_shows_the_chart(document):
    document["cases"][0]["statements"] = [report("1 2 3")]
    page = render(document, {}, "html")
    figure = re.search(r'<figure class="panel curves timeline">.*?</figure>', page, re.DOTALL)[0]
    assert "<b>rate</b> every 10 ms<small>f.rate, over time</small>" in figure
    assert 'aria-label="rate over time"' in figure
    assert figure.count('class="curve"') == 1


def test_of_several_repeats_the_page_says_that_it_shows_the_first(document):
    its = document["cases"][0]
    its |= {"statements": [report("1 2 3")], "repeats": 6 * its["repeats"]}
    page = render(document, {}, "html")
    figure = re.search(r'<figure class="panel curves timeline">.*?</figure>', page, re.DOTALL)[0]
    assert "<small>f.rate, over time, the first of 6 repeats</small>" in figure
    assert 'aria-label="rate over time, the first of 6 repeats"' in figure


def changes(*its):
    return [
        {"at": {"value": f"{at}/1000", "unit": "s", "text": f"{at} ms"}, "what": what}
        for at, what in its
    ]


def changing(*its):
    """Return a report of 40 ms in which something changes."""
    made = report("1 2 3 4")
    made["series"]["changes"] = changes(*its)
    return made


def test_what_changes_is_a_line_at_its_time_with_its_words(charts):
    (chart,) = charts([changing((10, "load = 5 pkt/s"), (30, "restart = dut"))])
    quarter = (RIGHT - LEFT) / 4
    first, last = chart["changes"]
    assert (first["x"], last["x"]) == (LEFT + quarter, LEFT + 3 * quarter)
    assert (first["text"], last["text"]) == ("at 10 ms: load = 5 pkt/s", "at 30 ms: restart = dut")
    assert [change["short"] for change in chart["changes"]] == ["load = 5 pkt/s", "restart = dut"]
    assert [change["anchor"] for change in chart["changes"]] == ["start", "end"]
    assert first["y"] != last["y"]


def test_a_change_of_all_cases_is_one_line_and_another_says_whose_it_is(charts):
    (chart,) = charts([changing((10, "load = 5"))], [changing((10, "load = 5"), (20, "load = 9"))])
    assert [(change["text"], change["style"]) for change in chart["changes"]] == [
        ("at 10 ms: load = 5", None),
        ("2%: at 20 ms: load = 9", 1),
    ]
    assert [change["short"] for change in chart["changes"]] == ["load = 5", "2%: load = 9"]
    (chart,) = charts([report("1 2 3 4")])
    assert chart["changes"] == []


def test_a_change_of_some_cases_names_them(charts):
    both = changing((10, "load = 5"))
    (chart,) = charts([both], [both], [report("1 2 3 4")])
    assert [(change["text"], change["style"]) for change in chart["changes"]] == [
        ("1%, 2%: at 10 ms: load = 5", None)
    ]


def test_changes_whose_words_do_not_fit_have_numbers(charts):
    many = [(at, f"load = {'9' * 60} pkt/s") for at in range(1, 39, 4)]
    (chart,) = charts([changing(*many)])
    numbers = [change["number"] for change in chart["changes"]]
    assert numbers == [int(change["short"]) for change in chart["changes"]] == list(range(1, 11))
    (chart,) = charts([changing((10, "load = 5"))])
    assert chart["changes"][0]["number"] == 0


def test_words_of_changes_do_not_reach_into_each_other(charts):
    """Each is within the lines next to it."""
    for many in ([(at, "load = 9") for at in range(3, 39, 9)], [(at, "x") for at in range(1, 39)]):
        (chart,) = charts([changing(*many)])
        lines = [LEFT, *(change["x"] for change in chart["changes"]), RIGHT + 14]
        for number, change in enumerate(chart["changes"]):
            room = lines[number + 2] - lines[number + 1]
            if change["anchor"] == "end":
                room = lines[number + 1] - lines[number]
            assert 0 < len(change["short"]) * CHARACTER <= max(room, CHARACTER)


def test_the_page_lists_what_has_numbers_and_colours_what_is_of_one_case(document):
    first = document["cases"][0]
    long = f"load = {'9' * 90}"
    its = [{**first, "statements": [changing((at, long))]} for at in (10, 20)]
    for number, case in enumerate(its):
        case |= {"parameters": {"n": str(number)}, "name": f"{first['name']}{number}"}
    page = render({**document, "cases": its}, {}, "html")
    assert page.count('<g class="change s0">') == page.count('<g class="change s1">') == 1
    listed = re.search(r'<ol class="changes">(.*?)</ol>', page, re.DOTALL)[1]
    assert re.findall(r"<li>(.*?)</li>", listed) == [
        f"{n}: at {at}\u202fms: {long}".replace("\u202f", " ") for n, at in ((0, 10), (1, 20))
    ]


def test_the_page_draws_changes_and_names_them_in_words(document):
    case = document["cases"][0]
    case["statements"] = [changing((10, "load = 5_000 pkt/s"))]
    page = render({**document, "cases": [case]}, {}, "html")
    assert page.count('<g class="change">') == 1
    assert 'aria-label="rate over time; at 10 ms: load = 5\u202f000 pkt/s"' in page
    text = render({**document, "cases": [case]}, {}, "markdown")
    assert "\n\n- at 10 ms: `load = 5_000 pkt/s`\n\n| from, s | cell/s |\n" in text
