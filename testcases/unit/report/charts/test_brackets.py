"""Bracket plots: each trial at its load and loss, and the bounds of each goal."""

import copy
import math
from fractions import Fraction

import pytest

from qospec.report.charts.brackets import LEFT, MOST, RIGHT, WIDTH, _Losses, build_brackets
from qospec.report.render import render


@pytest.fixture
def cases(phased):
    return phased["cases"]


def load_search(case):
    return case["phases"][0]


def test_each_search_is_a_chart_with_what_its_case_is_about(cases):
    found = build_brackets(cases)
    assert [(c["of"], c["search"]["variable"]) for c in found] == [
        ("64 B", "load"), ("64 B", "offered"), ("128 B", "load"), ("128 B", "offered"),
    ]  # fmt: skip
    assert [name["text"] for name in found[0]["names"]] == [
        "ndr (no loss): 26.76 Mbit/s to 26.86 Mbit/s",
        "pdr (loss ≤ 0.5 %): 26.86 Mbit/s to 26.95 Mbit/s",
    ]


def test_trials_are_marked_by_the_goals_that_they_are_good_for(cases):
    dots = {
        dot["title"].partition(",")[0]: dot for dot in build_brackets(cases)[0]["panels"][0]["dots"]
    }
    assert dots["1 Mbit/s"]["verdict"] == "pass"
    assert dots["100 Mbit/s"]["verdict"] == "fail"
    assert dots["26.95 Mbit/s"]["verdict"] == "inconclusive"
    assert dots["100 Mbit/s"]["title"] == (
        "100 Mbit/s, trial 1 of 1 s: 73.12 % lost (108_806 of 148_809); bad for ndr; bad for pdr"
    )
    assert "2 trials of 1 s" in dots["26.76 Mbit/s"]["title"]
    assert len(dots) == len(build_brackets(cases)[0]["panels"][0]["dots"])


def test_a_trial_that_is_judged_for_no_goal_is_plain(cases):
    load_search(cases[0])["trials"][0]["verdicts"] = {}
    assert build_brackets(cases)[0]["panels"][0]["dots"][0]["verdict"] == ""


def test_loss_grows_upwards_and_none_has_a_place_below_the_logarithm(cases):
    chart = build_brackets(cases)[0]
    dots = sorted(chart["panels"][0]["dots"], key=lambda dot: dot["x"])
    none = [dot["y"] for dot in dots if dot["verdict"] == "pass"]
    some = [dot["y"] for dot in dots if dot["verdict"] != "pass"]
    assert len(set(none)) == 1
    assert chart["top"] <= min(some)
    assert max(some) <= chart["none"] < none[0] < chart["bottom"]
    assert some == sorted(some, reverse=True)


@pytest.mark.parametrize(
    ("least", "labels"),
    [
        (None, ["100 %", "10 %", "1 %", "0"]),
        ("1/5000", ["100 %", "10 %", "1 %", "0.1 %", "0.01 %", "0"]),
        ("1/100000000", ["100 %", "1 %", "0.01 %", "0.0001 %", "0.000001 %", "0"]),
    ],
)
def test_the_axis_of_losses_reaches_down_to_the_least(least, labels):
    losses = _Losses([Fraction(0), *([Fraction(least)] if least else [])], 20, 220)
    assert [tick["label"] for tick in losses.list_ticks()] == labels
    assert losses.compute_y(Fraction(1)) == 20


def test_bounds_that_are_close_together_have_a_panel_of_their_own(cases):
    whole, near = build_brackets(cases)[0]["panels"]
    assert whole["left"] == LEFT
    assert near["right"] == WIDTH - RIGHT
    assert whole["right"] < near["left"]
    assert len(near["dots"]) < len(whole["dots"])
    assert [band["name"] for band in whole["bands"]] == ["", ""]
    ndr, pdr = near["bands"]
    assert (ndr["name"], pdr["name"]) == ("ndr", "pdr")
    assert ndr["x"] + ndr["width"] == pytest.approx(pdr["x"], abs=0.2)
    assert whole["zoomed"]["width"] < ndr["width"] + pdr["width"]
    (only,) = build_brackets(cases)[1]["panels"]
    assert only["zoomed"] is None


def test_a_result_without_a_bound_is_open_to_that_side(cases):
    near = build_brackets(cases)[2]["panels"][1]
    ndr, pdr = near["bands"]
    assert (ndr["open"], pdr["open"]) == ("high", "")
    assert ndr["x"] + ndr["width"] == near["right"]
    goal = load_search(cases[1])["goals"][0]
    goal |= {"lower": None, "upper": goal["lower"] or goal["upper"]}
    low = build_brackets(cases)[2]["panels"][1]["bands"][0]
    assert (low["open"], low["x"]) == ("low", near["left"])


def test_a_result_without_both_bounds_is_only_named(cases):
    for goal in load_search(cases[0])["goals"]:
        goal |= {"lower": None, "upper": None, "regular": False}
    chart = build_brackets(cases)[0]
    assert len(chart["panels"]) == 1
    assert chart["panels"][0]["bands"] == []
    assert chart["names"][0]["text"] == "ndr (no loss): irregular, no bound is known"


def test_a_search_that_tried_a_single_load_is_not_drawn(cases):
    search = load_search(cases[0])
    search["trials"] = [trial for trial in search["trials"] if trial["load"]["text"] == "1 Mbit/s"]
    assert [chart["search"]["variable"] for chart in build_brackets(cases[:1])] == ["offered"]


def test_the_axis_has_the_whole_range_so_that_charts_can_be_compared(cases):
    search = load_search(cases[0])
    search["trials"] = search["trials"][3:]
    for goal in search["goals"]:
        goal |= {"lower": None, "upper": None}
    (panel,) = build_brackets(cases[:1])[0]["panels"]
    assert max(dot["x"] for dot in panel["dots"]) < (LEFT + WIDTH) / 2


def test_of_very_many_searches_those_with_problems_are_drawn_in_order(cases):
    many = [copy.deepcopy(cases[0]) for _ in range(20)]
    for number, case in enumerate(many):
        case["name"] = f"router:size={number}"
        case["phases"] = case["phases"][:1]
    load_search(many[17])["goals"][0]["complete"] = False
    load_search(many[3])["goals"][0] |= {"upper": None, "regular": False}
    names = [chart["case"] for chart in build_brackets(many)]
    assert len(names) == MOST
    drawn = [n for n in range(MOST) if n != 3]
    assert names == [f"router:size={n}" for n in (*drawn, 17)], "not the one without a limit"


def test_charts_of_a_repeated_case_say_their_repeat(phased):
    assert "64 B, repeat 1</b>" not in render(phased, {}, "html")
    phased["cases"][0]["run"]["repeat"] = 2
    assert "64 B, repeat 1</b>" in render(phased, {}, "html")


def test_cases_without_searches_have_no_charts(document):
    assert build_brackets(document["cases"]) == []


def burst_search(case):
    """Return the first search with bursts of 1 to 300,000 frames, of which 88 pass."""
    search = load_search(case)

    def frames(count):
        return {"value": str(count), "unit": "frame", "text": f"{count} frame"}

    tried = [(1, 0), (88, 0), (89, 1), (1_000, 600), (300_000, 220_000)]
    trials = [
        {**search["trials"][0], "load": frames(count), "lost": lost, "sent": count,
         "loss": {"value": f"{lost}/{count}", "unit": "1", "text": "some"}}
        for count, lost in tried
    ]  # fmt: skip
    goal = {**search["goals"][0], "lower": frames(88), "upper": frames(89)}
    return search | {
        "variable": "burst", "low": frames(1), "high": frames(300_000), "trials": trials,
        "goals": [goal],
    }  # fmt: skip


def test_bursts_of_very_many_sizes_are_on_a_logarithmic_axis(cases):
    cases[0]["phases"] = [burst_search(cases[0])]
    whole, near = build_brackets(cases[:1])[0]["panels"]
    x = {dot["title"].partition(" ")[0]: dot["x"] for dot in whole["dots"]}
    assert x["1"] - whole["left"] > 5, "the shortest burst is not at the edge"
    part = (x["88"] - x["1"]) / (x["300000"] - x["1"])
    assert part == pytest.approx(math.log(88) / math.log(300_000), abs=0.01)
    assert [tick["label"] for tick in whole["below"]] == ["1", "100", "10\u202f000"]
    assert whole["along"] == "burst (frame)"
    assert [tick["label"] for tick in near["below"]] == ["87", "88", "89", "90"]


def test_a_search_that_lost_nothing_is_not_drawn(cases):
    for trial in load_search(cases[0])["trials"]:
        trial["lost"] = 0
    assert [chart["search"]["variable"] for chart in build_brackets(cases[:1])] == ["offered"]


def test_long_labels_of_small_losses_have_room_at_the_left(cases):
    first = next(trial for trial in load_search(cases[0])["trials"] if trial["lost"])
    first["loss"] = {"value": "1/100000000", "unit": "1", "text": "0.000001 %"}
    chart = build_brackets(cases[:1])[0]
    assert "0.000001 %" in [tick["label"] for tick in chart["ticks"]]
    assert chart["left"] == chart["panels"][0]["left"] == 10 * 6.2 + 8
