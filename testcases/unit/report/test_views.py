import pytest

from qospec.report import views
from qospec.report.headline import write_headline
from qospec.report.views import (
    arrange_columns,
    build_flow_tables,
    choose_title,
    compute_elapsed_s,
    find_worst,
    list_attention,
    list_differing,
    list_files,
    list_requirements,
    list_unmentioned,
    sum_seconds,
)
from qospec.report.words import (
    describe_confidence,
    describe_measured,
    describe_needed,
    find_subject,
    show_quantity,
    write_percent,
)


def statement(**more):
    return {
        "kind": "expect",
        "label": "quick",
        "text": "x < 1 ms",
        "comparison": "<",
        "bound": {"text": "1 ms"},
        "tolerance": None,
        "measured": None,
        "verdict": "pass",
        **more,
    }


def test_the_worst_verdict_counts():
    assert find_worst(["pass", "error", "fail"]) == "error"
    assert find_worst(["skip", "pass"]) == "pass"
    assert find_worst([]) == ""


def test_a_test_has_its_cases_and_their_worst_verdict(document):
    found = {test["name"]: test for test in views.list_tests(document)}
    assert found["cdvt"]["verdict"] == "fail"
    assert found["cdvt"]["counts"] == {"fail": 2, "pass": 1}
    assert [case["id"] for case in found["cdvt"]["cases"]] == ["case-5", "case-6", "case-7"]


def test_namesakes_in_two_files_share_no_case_that_says_its_place(document):
    first = document["tests"][0]
    document["tests"] = [first, {**first, "place": "other.qos:5:1"}]
    document["cases"] = [
        {**document["cases"][0], "place": first["place"]},
        {**document["cases"][1], "place": "other.qos:5:1"},
    ]
    assert [[c["id"] for c in test["cases"]] for test in views.list_tests(document)] == [
        ["case-1"],
        ["case-2"],
    ]


def test_requirements_come_first_and_then_tests_that_name_none(document):
    rows = [(row["name"], row["stated"], row["verdict"]) for row in list_requirements(document)]
    assert rows == [
        ("EANTC 2006, data plane", True, "inconclusive"),
        ("REQ-017", True, "inconclusive"),
        ("REQ-018 | <b>bold</b>", True, "error"),
        ("EANTC 2006, traffic management", True, "fail"),
        ("skipped", False, "skip"),
    ]


def test_errors_are_looked_at_before_fails_and_those_before_the_inconclusive(document):
    assert [case["verdict"] for case in list_attention(document)] == [
        "error",
        "fail",
        "fail",
        "inconclusive",
    ]


def test_a_reference_stands_with_the_file_that_names_it(document):
    assert [[r["name"] for r in f["references"]] for f in list_files(document)] == [
        ["delay_table"],
        [],
    ]
    assert [r["name"] for r in list_unmentioned(document)] == ["unused_table"]


def test_a_network_is_drawn_where_a_file_has_it_first(document):
    first, *_ = document["tests"]
    rate = {"networks": {"": {"lines": [{"rate": "1 bit/s"}]}}}
    others = [{**first, "name": "alike"}, {**first, "name": "faster", **rate}]
    others += [{**first, "name": "elsewhere", "place": "other.qos:9:1"}]
    document["tests"] = [first, *others]
    drawn = {test["name"]: test["drawn"] for f in list_files(document) for test in f["tests"]}
    assert drawn == {first["name"]: "", "alike": first["name"], "faster": "", "elsewhere": ""}


def test_the_title_is_the_folder_or_the_only_file(document):
    assert choose_title(document) == "eantc"
    document["tests"] = document["tests"][:1]
    assert choose_title(document) == "data_plane"
    document["tests"] = [{"place": "a.qos:1:1"}, {"place": "b.qos:1:1"}]
    assert choose_title(document) == "tests"


def test_statements_of_cases_stand_in_columns_even_where_one_has_none():
    first = {"statements": [statement(), statement(label="other")]}
    second = {"statements": [statement(bound={"text": "2 ms"}, verdict="fail")]}
    quick, other = arrange_columns([first, second])
    assert (quick["label"], quick["bound"], quick["verdict"]) == ("quick", None, "fail")
    assert (other["bound"], other["statements"][1]) == ("< 1 ms", None)


def test_statements_of_one_label_are_distinguished_by_their_order():
    case = {"statements": [statement(), statement(text="y < 1 ms")]}
    assert [column["text"] for column in arrange_columns([case])] == ["x < 1 ms", "y < 1 ms"]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "< 1 ms"),
        ({"comparison": "=="}, "= 1 ms"),
        ({"comparison": ">="}, "≥ 1 ms"),
        ({"comparison": "within", "tolerance": {"text": "5 %"}}, "1 ms ± 5 %"),
        ({"bound": None, "comparison": ""}, "x < 1 ms"),
        ({"kind": "report"}, ""),
    ],
)
def test_what_is_needed_is_shown_in_signs(more, expected):
    assert describe_needed(statement(**more)) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"measured": {"text": "3 us"}}, "3 us"),
        ({}, "no data"),
        ({"comparison": "", "verdict": "pass"}, "holds"),
        ({"comparison": "", "verdict": "fail"}, "does not hold"),
        ({"comparison": "", "verdict": "inconclusive"}, "no data"),
    ],
)
def test_what_was_measured_is_shown_in_words(more, expected):
    assert describe_measured(statement(**more)) == expected


def test_metrics_are_parted_into_single_numbers_and_distributions():
    tables = build_flow_tables({"ab": {"sent": 1, "delay.min": 2}, "ba": {"sent": 3}})
    assert tables["plain"] == {
        "columns": ["sent"],
        "rows": [("ab", {"sent": 1}), ("ba", {"sent": 3})],
    }
    assert tables["statistics"] == {"delay": {"columns": ["min"], "rows": [("ab", {"min": 2})]}}


def test_what_differs_between_repeats_is_found():
    one, two = ({"value": n, "unit": "cell"} for n in ("1", "2"))
    repeats = [{"ab": {"sent": one, "lost": one}}, {"ab": {"sent": one, "lost": two}}]
    assert list_differing(repeats) == [("ab", "lost", [one, two])]
    assert list_differing([]) == []


def test_times_are_summed_as_far_as_they_are_known(document, timing):
    assert sum_seconds(document["cases"], timing) == 5.0
    assert sum_seconds(document["cases"], {}) == 0.0
    assert compute_elapsed_s(timing) == 20.0
    assert compute_elapsed_s({}) is None


def test_the_headline_of_a_pass_counts_what_held(document):
    document["cases"] = document["cases"][:1]
    assert write_headline(document) == "The one case of 1 test passes: all 5 expectations hold."


def test_the_headline_of_a_fail_names_the_first(document):
    document["cases"] = document["cases"][:6]
    assert write_headline(document) == (
        "Of 6 cases, 2 fail; 4 pass. 2 cases of cdvt fail the same way. Look first at "
        "cdvt:tolerance=4us,switch=switches.forerunner_le155 "
        "(no_loss, 1320 cell measured, = 0 cell needed; 1320 cells of ab: le155.upc[0] (policed))."
    )


def test_the_headline_counts_skips_apart(document):
    document["cases"] = [document["cases"][0], document["cases"][-1]]
    assert write_headline(document).endswith("all 5 expectations hold; 1 case was skipped.")
    document["cases"] = document["cases"][1:]
    assert write_headline(document) == "Nothing was judged: 1 case was skipped."


def test_a_run_that_was_interrupted_is_no_pass(interrupted):
    assert write_headline(interrupted) == (
        "4 of 7 cases ended; the run was interrupted. Of these, 4 pass."
    )
    assert list_attention(interrupted) == []
    found = {test["name"]: test for test in views.list_tests(interrupted)}
    assert (found["cdvt"]["verdict"], found["cdvt"]["counts"]) == ("", {"": 3})
    interrupted["cases"][0]["verdict"] = "skip"
    assert write_headline(interrupted).endswith("Of these, 3 pass and 1 case was skipped.")
    interrupted["cases"] = interrupted["cases"][4:]
    assert {test["verdict"] for test in views.list_tests(interrupted)} == {""}, "not inconclusive"
    assert {requirement["verdict"] for requirement in views.list_requirements(interrupted)} == {""}
    assert write_headline(interrupted) == (
        "0 of 3 cases ended; the run was interrupted. No case was run."
    )


def test_the_headline_of_an_interrupted_run_names_the_first_failure(interrupted):
    interrupted["cases"][0] |= {"verdict": "fail", "statements": [], "why": ["it rained"]}
    assert write_headline(interrupted) == (
        "4 of 7 cases ended; the run was interrupted. Of 4 cases, 1 fails; 3 pass. "
        "Look first at data_plane:scenario=1,pvcs=4_000 (it rained)."
    )


def test_a_number_with_an_error_is_about_right():
    about = {"text": "3 us", "error": "1/1024"}
    assert show_quantity(about) == "≈ 3 us"
    assert show_quantity({"text": "3 us"}) == "3 us"
    assert describe_measured(statement(measured=about)) == "≈ 3 us"
    assert describe_needed(statement(bound=about)) == "< ≈ 3 us"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"confidence": "95 %"}, " with 95 % confidence"),
        ({"confidence": ""}, ""),
        ({}, ""),
        ({"kind": "report", "confidence": "95 %"}, ""),
    ],
)
def test_a_criterion_may_ask_for_confidence(more, expected):
    assert describe_confidence(statement(**more)) == expected
    (column,) = arrange_columns([{"statements": [statement(**more)]}], ("expect", "report"))
    assert column["text"] == f"x < 1 ms{expected}"


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [("1/1024", "0.1 %"), ("1/1000", "0.1 %"), ("1/512", "0.2 %"), ("1/3", "40 %"), ("1", "100 %")],
)
def test_an_error_is_rounded_up(ratio, expected):
    assert write_percent(ratio) == expected


def test_the_headline_cuts_a_long_list(document):
    document["cases"] = [{**document["cases"][4], "why": ["none: a (0 x), b, c, d, e"]}]
    assert write_headline(document).endswith("none: a (0 x), b, c and 2 more).")


@pytest.mark.parametrize(
    ("text", "comparison", "about"),
    [
        ("x < 1 ms", "<", "x"),
        ("f.throughput >= 99% * min(a, b) with 95% confidence", ">=", "f.throughput"),
        ("size != 64 B or load < 9% or f.rate / (1 bit/s) < 2", "<", "f.rate / (1 bit/s)"),
        ("(a or b.lost) == 0", "==", "(a or b.lost)"),
        ("all of it", "", ""),
    ],
)
def test_what_a_statement_is_about_stands_ahead_of_its_comparison(text, comparison, about):
    one = statement(text=text, comparison=comparison, measured={"text": "1"})
    assert find_subject(one) == about


def test_what_is_reported_is_what_it_is_about():
    assert (
        find_subject(statement(kind="report", text="f.delay.p99", comparison="")) == "f.delay.p99"
    )


def test_each_term_of_a_criterion_has_a_column_that_names_what_it_measured():
    def term(flow, cells):
        return {
            "text": f"{flow}.policed == 0", "verdict": "pass" if not cells else "fail",
            "measured": {"value": str(cells), "unit": "cell", "text": f"{cells} cell"},
            "comparison": "==", "bound": {"value": "0", "unit": "cell", "text": "0 cell"},
            "tolerance": None,
        }  # fmt: skip

    text = "line.policed == 0 and tv.policed == 0"
    its = [
        {
            "statements": [
                statement(label="policed", text=text, terms=[term("line", 0), term("tv", n)])
            ]
        }
        for n in (0, 7)
    ]
    found = arrange_columns(its)
    assert [(entry["label"], entry["subject"], entry["verdict"]) for entry in found] == [
        ("policed", "line.policed", "pass"),
        ("policed", "tv.policed", "fail"),
    ]
    assert [statement["measured"]["text"] for statement in found[1]["statements"]] == [
        "0 cell",
        "7 cell",
    ]
