"""What searches found: in tables of every format, with their notes."""

import copy
import csv
import io
from fractions import Fraction

import pytest

from qospec.judge.found import LOWEST_BAD
from qospec.report.charts.columns import list_charted
from qospec.report.charts.curves import build_curves
from qospec.report.charts.sample import read_sample
from qospec.report.grid import build_grids
from qospec.report.render import render
from qospec.report.searches import (
    align_goal,
    describe_efforts,
    describe_found,
    list_found,
    list_goals,
    list_point_notes,
    list_search_notes,
)


def text(grid):
    columns = ([c.head, c.unit, *(cell.strip() for cell in c.cells)] for c in grid.columns)
    return [" | ".join(cells) for cells in zip(*columns, strict=True)]


def test_goals_come_before_reports_which_do_not_repeat_their_loads(phased):
    """The bounds are columns where they are asked for."""
    grid, curve = build_grids(phased["cases"], 110, 40)
    assert curve.title == "loss_free: loss in % at each offered in Mbit/s"
    head, units, *rows = (line.split(" | ") for line in text(grid))
    assert head == [
        "size", "verdict", "ndr.load", "pdr.load", "loss_free.offered", "ndr.lower", "ndr.upper",
        "latency.user.delay.mean",
    ]  # fmt: skip
    assert units == ["", "", *(["Mbit/s"] * 5), "us"]
    values = ["26.855 .. 26.953", "20 .. 30", "26.76", "26.86", "25.4"]
    assert rows == [
        ["64 B", "inconclusive", "26.758 .. 26.855", *values],
        ["128 B", "inconclusive", ">= 26.758", "26.855 .. 26.953 *", *values[1:]],
    ]


def test_a_report_of_a_load_names_its_goal(phased):
    for case in phased["cases"]:
        (report,) = [
            statement for statement in case["statements"] if statement["text"] == "ndr.load"
        ]
        report["label"] = "throughput"
        (report,) = [
            statement for statement in case["statements"] if statement["text"] == "ndr.lower"
        ]
        report["label"] = "at_least"
    grid, _ = build_grids(phased["cases"], 130, 40)
    assert text(grid)[0].startswith("size | verdict | throughput | pdr.load | ")
    assert "at_least" in text(grid)[0]


def bound(value):
    return {"value": str(value), "unit": "bit/s", "text": f"{value / 10**6} Mbit/s"}


def goal(lower, upper, *notes, complete=True):
    ends = [None if end is None else bound(end) for end in (lower, upper)]
    return {
        "name": "ndr", "lower": ends[0], "upper": ends[1], "notes": list(notes),
        "complete": complete, "regular": None not in ends,
    }  # fmt: skip


def case(*its):
    """Return a case that was repeated, with what each repeat found."""
    phases = [
        {"kind": "search", "name": "load", "variable": "load", "goals": [goal], "trials": []}
        for goal in its
    ]
    return {"name": "t", "phases": phases}


@pytest.mark.parametrize(
    ("its", "expected"),
    [
        ([(1_000_000, 2_000_000)], "1 .. 2"),
        ([(1_000_000, 2_000_000), (1_500_000, 3_000_000)], "1 .. 3"),
        ([(1_000_000, 2_000_000), (1_500_000, None)], ">= 1 *"),
        ([(None, 2_000_000), (1_000_000, 3_000_000)], "< 3 *"),
        ([(1_000_000, None), (1_500_000, None)], ">= 1"),
        ([(None, 2_000_000)], "< 2"),
        ([(None, 2_000_000), (1_000_000, None)], "none *"),
        ([(10_000_000, 10_000_100)], "10.0000 .. 10.0001"),
    ],
)
def test_of_repeats_the_interval_contains_all(its, expected):
    (of,) = list_goals([case(*(goal(*ends) for ends in its))])
    assert align_goal(of)[1] == [expected]


def test_a_case_without_the_search_has_a_blank():
    (of,) = list_goals([case(goal(1_000_000, 2_000_000)), {"name": "t"}])
    assert [text.strip() for text in align_goal(of)[1]] == ["1 .. 2", ""]


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((1_000_000, 2_000_000), "1.0 Mbit/s to 2.0 Mbit/s"),
        ((1_000_000, None), "irregular, at least 1.0 Mbit/s: no load was bad"),
        ((None, 2_000_000), "irregular, below 2.0 Mbit/s: the lowest load of the range was bad"),
        ((None, None), "irregular, no bound is known"),
    ],
)
def test_what_was_found_in_words(ends, words):
    assert describe_found(list_found([goal(*ends)])) == words


@pytest.mark.parametrize(
    ("its", "words"),
    [
        (
            [(1_000_000, 2_000_000), (None, 3_000_000), (1_500_000, 2_500_000)],
            f"irregular, below 3.0 Mbit/s: {LOWEST_BAD} in 1 of 3 repeats",
        ),
        (
            [(1_000_000, None), (None, 3_000_000), (None, 2_000_000)],
            f"irregular, {LOWEST_BAD} in 2 of 3 repeats, no load was bad in 1 of 3 repeats",
        ),
        (
            [(1_000_000, 2_000_000), (None, None)],
            "irregular, no bound is known in 1 of 2 repeats",
        ),
    ],
)
def test_a_bound_that_some_repeats_miss_is_none_of_all(its, words):
    assert describe_found(list_found([goal(*ends) for ends in its])) == words


def test_a_note_of_some_repeats_says_of_how_many():
    its = [goal(1, 2, "all"), goal(None, 2, "all", "no load was good"), goal(1, 2, "all")]
    assert list_found(its).notes == ("all", "no load was good (in 1 of 3 repeats)")


def test_a_result_that_is_wider_than_required_says_so():
    wide = list_found([goal(1_000_000, 2_000_000, complete=False)])
    assert describe_found(wide).endswith(", wider than required")


def test_notes_are_shown_once_with_the_number_of_their_cases(phased):
    assert list_search_notes(phased["cases"]) == [
        "ndr.load: no load was bad, up to 100 Mbit/s (in 1 of 2 cases)",
        "pdr.load: loss inversion: 26.9 Mbit/s lost more than 27.3 Mbit/s (in 2 of 2 cases)",
        "pdr.load: the search reached its budget (in 1 of 2 cases)",
        "half was not run: `soak` has no lower bound (in 2 of 2 cases)",
    ]
    assert list_search_notes(phased["cases"][:1])[0].endswith("27.3 Mbit/s")


def test_a_point_that_was_not_run_is_no_note_where_the_cause_is_explained(phased):
    notes = list_search_notes(phased["cases"], explained=True)
    assert [note.partition(":")[0] for note in notes] == ["ndr.load", "pdr.load", "pdr.load"]


def test_notes_of_points_whose_names_end_in_digits_are_kept_apart():
    points = [
        {"kind": "point", "name": name, "ran": False, "note": "`ndr` has no lower bound"}
        for name in ("pdr_10", "pdr_50")
    ]
    assert list_search_notes(
        [{"name": "a", "phases": points}, {"name": "b", "phases": points}]
    ) == [
        "pdr_10 was not run: `ndr` has no lower bound (in 2 of 2 cases)",
        "pdr_50 was not run: `ndr` has no lower bound (in 2 of 2 cases)",
    ]


def lossy(repeat, lost):
    note = f"{lost} of 900 packets were lost"
    return {"name": "p", "kind": "point", "repeat": repeat, "ran": True, "note": note}


def test_notes_of_repeats_count_cases_and_name_the_repeat_of_the_numbers():
    one = {"name": "a", "phases": [lossy(1, 31), lossy(2, 12)]}
    other = {"name": "b", "phases": [lossy(1, 7), {**lossy(2, 0), "note": ""}]}
    assert list_search_notes([one, other]) == [
        "p: 31 of 900 packets were lost (in repeat 1, and the like in 2 of 2 cases)"
    ]
    assert list_search_notes([one]) == [
        "p: 31 of 900 packets were lost (in repeat 1, and the like in 2 of 2 repeats)"
    ]
    same = {"name": "c", "phases": [lossy(1, 5), lossy(2, 5), {**lossy(3, 0), "note": ""}]}
    assert list_search_notes([same]) == ["p: 5 of 900 packets were lost (in 2 of 3 repeats)"]
    assert list_point_notes(one) == [
        "p: 31 of 900 packets were lost (in repeat 1)",
        "p: 12 of 900 packets were lost (in repeat 2)",
    ]


def test_a_note_says_what_a_point_lost():
    point = {"kind": "point", "name": "half", "ran": True, "note": "3 of 9 packets were lost"}
    assert list_search_notes([{"name": "a", "phases": [point]}]) == [
        "half: 3 of 9 packets were lost"
    ]


def test_bounds_are_drawn_over_a_sweep_as_intervals_once(phased):
    drawn = {column["label"]: column for column in list_charted(phased["cases"])}
    assert list(drawn) == [
        "ndr.load", "pdr.load", "loss_free.offered", "loss_free", "ndr.load >= 20% of line",
        "ndr.load >= 26.8 Mbit/s @line", "latency.user.delay.mean",
    ]  # fmt: skip
    regular, irregular = (read_sample(statement) for statement in drawn["ndr.load"]["statements"])
    assert regular.interval == (Fraction(53515625, 2), Fraction(107421875, 4))
    assert (irregular.measured, irregular.interval) == (regular.measured, None)


def test_what_several_points_measured_is_one_chart_with_a_line_for_each(phased):
    for case in phased["cases"]:
        (report,) = [
            statement for statement in case["statements"] if "delay.mean" in statement["label"]
        ]
        case["statements"] += [report | {"label": f"delay[{at}.user]"} for at in ("low", "high")]
    column = {entry["label"]: entry for entry in list_charted(phased["cases"])}["delay"]
    assert [case["parameters"]["point"] for case in column["cases"]] == ["low"] * 2 + ["high"] * 2
    assert len(column["statements"]) == 4


def test_a_frame_loss_curve_is_drawn_over_the_load_with_a_line_for_each_case(phased):
    column = {entry["label"]: entry for entry in list_charted(phased["cases"])}["loss_free"]
    (chart,) = build_curves(column, column["cases"])
    assert (chart["over"], chart["by"], chart["unit"]) == ("offered", "size", "%")
    assert [line["name"] for line in chart["lines"]] == ["64 B", "128 B"]
    tried = {trial["load"]["value"] for trial in phased["cases"][0]["phases"][1]["trials"]}
    assert len(chart["lines"][0]["dots"]) == len(tried)


def test_what_searches_took_is_the_sum_of_their_trials(phased):
    assert describe_efforts(phased["cases"]) == [
        "load: 26 trials in 2 searches by mlrsearch, 26 s emulated",
        "offered: 18 trials in 2 searches by step, 1080 s emulated",
    ]
    assert describe_efforts(phased["cases"][:1])[0] == "load: 13 trials by mlrsearch, 13 s emulated"
    assert describe_efforts([{"name": "t"}]) == []


def test_a_page_has_the_table_the_charts_and_every_trial(phased):
    page = render(phased, {}, "html")
    assert page.count('<figure class="panel curves brackets">') == 4
    assert "26.758 – 26.855" in page
    assert "≥ 26.758" in page
    trials = [
        trial for case in phased["cases"] for p in case["phases"] for trial in p.get("trials", ())
    ]
    assert page.count("Trials of the search for load in ") == 2
    judged = [verdict for trial in trials for verdict in trial["verdicts"].values()]
    assert page.count("</span> good</td>") == judged.count("good")
    assert page.count("</span> bad</td>") == judged.count("bad")
    assert "The details of router:size=64_B have a table of all trials." in page


def test_without_criteria_there_is_one_table_of_the_cases(phased):
    assert 'aria-label="Cases of router' in render(phased, {}, "html")
    for case in phased["cases"]:
        case["verdict"] = "measured"
        case["statements"] = [
            statement for statement in case["statements"] if statement["kind"] == "report"
        ]
    page = render(phased, {}, "html")
    assert 'aria-label="Cases of router' not in page
    assert 'aria-label="Results of router"' in page


def test_the_method_lists_what_goals_ask_and_which_of_it_is_a_default(phased):
    page = render(phased, {}, "html")
    assert page.count("trials begin in an idle device") == 1
    goals_table = page[page.index('aria-label="Goals of searches"') :]
    assert '<th scope="rowgroup" colspan="7">router</th>' in goals_table
    assert goals_table.count('<th scope="row">') >= 3
    assert page.count("<small>default</small>") == 0, "one case has given them all"
    assert (
        render({**phased, "cases": phased["cases"][1:]}, {}, "html").count("default</small>") == 2
    )


def test_the_method_says_what_depends_on_the_case_or_the_load(phased):
    """Bursts of larger frames take longer: what the first case has is not what all have."""
    longer = {"value": "2", "unit": "s", "text": "2 s"}
    others = [phase for phase in phased["cases"][1]["phases"] if phase["kind"] == "search"]
    for goal in others[0]["goals"]:
        goal["trial"] = longer
    others[0]["high"] = {**others[0]["high"], "value": "1000000000", "text": "1 Gbit/s"}
    page = render(phased, {}, "html")
    table = page[page.index('aria-label="Goals of searches"') :]
    assert ">1 s to 2 s</td>" in table
    assert "1 Gbit/s; mlrsearch<small>the range depends on the case</small>" in table
    for case in phased["cases"]:
        for goal in case["phases"][0]["goals"]:
            goal["varies"] = True
    page = render(phased, {}, "html")
    assert ">up to 2 s</td>" in page[page.index('aria-label="Goals of searches"') :]
    assert page.count(">up to 1 s</td>") == 2, "both goals of the first case, in its details"


def test_markdown_has_the_table_and_its_notes(phased):
    page = render(phased, {}, "markdown")
    assert (
        "| 64 B | ~ inconclusive | 26.758 .. 26.855 | 26.855 .. 26.953 | 20 .. 30 "
        "| 26.76 | 26.86 | 25.4 |\n" in page
    )
    notes = "\n\n- ndr.load: no load was bad, up to 100 Mbit/s (in 1 of 2 cases)\n- pdr.load: "
    assert notes in page


def test_csv_has_a_line_for_each_bound_and_each_trial(phased):
    head, *lines = csv.reader(io.StringIO(render(phased, {}, "csv")), strict=True)
    assert head[9:] == ["size", "load (bit/s)", "offered (bit/s)"]
    assert {len(line) for line in lines} == {len(head)}
    bounds = [line for line in lines if line[4] == "goal"]
    assert bounds[0][2:10] == [
        "1", "ndr.lower", "goal", "regular", "", "26757812.5", "bit/s", "64 B",
    ]  # fmt: skip
    assert [line[7] for line in bounds if line[5] == "irregular"] == ["26757812.5", ""]
    trials = [line for line in lines if line[4] == "trial"]
    assert trials[9][5:] == [
        "ndr=bad pdr=good", "", "0.00261793158472", "1", "64 B", "26953125", "",
    ]  # fmt: skip


def test_junit_has_what_was_found_as_properties(phased):
    page = render(phased, {}, "junit")
    assert '<property name="goal ndr" value="load 26.76 Mbit/s to 26.86 Mbit/s"/>' in page
    assert '<property name="goal ndr" value="load irregular, at least 26.76 Mbit/s: ' in page


@pytest.mark.parametrize("name", ["html", "markdown", "csv", "junit"])
def test_a_search_that_did_nothing_is_no_error(phased, name):
    stopped = copy.deepcopy(phased)
    for case in stopped["cases"]:
        for phase in case["phases"]:
            if phase["kind"] == "search":
                phase["trials"] = []
                for goal in phase["goals"]:
                    goal |= {"lower": None, "upper": None, "regular": False, "complete": False}
    assert "router" in render(stopped, {}, name)


def depends_on_a_load(statement, lower, upper):
    """Return a report of a value between two limits in frame/s."""
    ends = [
        None if end is None else {"value": str(end), "unit": "frame/s", "text": f"{end} frame/s"}
        for end in (lower, upper)
    ]
    limits = {"lower": ends[0], "upper": ends[1]}
    shown = {"measured": ends[0], "measured_limits": limits, "interval": None}
    return statement | {"label": "frame_rate", "text": "frame_rate"} | shown


@pytest.mark.parametrize(
    ("ends", "cell", "words"),
    [
        ((39_821, 39_970), "39_821 .. 39_970", "39821 frame/s to 39970 frame/s"),
        ((148_810, None), ">= 148_810", "at least 148810 frame/s"),
        ((None, 1_488), "<= 1488", "at most 1488 frame/s"),
    ],
)
def test_a_value_that_depends_on_a_load_is_shown_with_its_limits(phased, ends, cell, words):
    case = phased["cases"][0]
    (report,) = [
        statement for statement in case["statements"] if "delay.mean" in statement["label"]
    ]
    case["statements"] = [depends_on_a_load(report, *ends)]
    phased["cases"] = [case]
    grid, *_ = build_grids([case], 110, 40)
    assert [column.cells[0] for column in grid.columns if column.head == "frame_rate"] == [cell]
    assert f'<property name="report frame_rate" value="{words}"/>' in render(phased, {}, "junit")
    assert cell in render(phased, {}, "markdown").replace("\\", "")
    lines = list(csv.reader(io.StringIO(render(phased, {}, "csv")), strict=True))
    limits = {line[3]: line[7] for line in lines if line[4] == "limit"}
    texts = ["" if end is None else str(end) for end in ends]
    assert limits == {"frame_rate.lower": texts[0], "frame_rate.upper": texts[1]}
    case["statements"][0]["note"] = "`ndr.offered` is about 148_810 pkt/s"
    page = render(phased, {}, "html")
    assert "about 148\u202f810 pkt/s" in page
    shown = cell.replace(" .. ", " – ").replace(">= ", "≥ ").replace("<= ", "≤ ")
    assert shown.replace("_", "\u202f") in page


def test_where_a_higher_load_was_good_the_interval_is_irregular():
    inverted = goal(1_000_000, 2_000_000) | {"regular": False}
    assert describe_found(list_found([inverted])) == "1.0 Mbit/s to 2.0 Mbit/s, irregular"
    assert align_goal(list_goals([case(inverted)])[0])[1] == ["1 .. 2 *"]
