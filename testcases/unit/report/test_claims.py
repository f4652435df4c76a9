"""What reports say of claims: how many of each kind, what is only calibrated, what is not shown."""

import pytest

from qospec.record.statements import count_by_claim
from qospec.report.claims import (
    count_covered,
    describe_claims,
    describe_counts,
    list_not_reproduced,
    list_procedures,
)
from qospec.report.render import render
from qospec.report.views import arrange_columns, list_requirements
from qospec.report.words import describe_measured

IDLE = {"verdict": "not applicable", "measured": None, "bound": None, "comparison": ""}
FOLLOWED = {
    "follows": ["RFC 2544, 26.1"],
    "deviations": [{"what": "trials of 1 s", "why": "nothing is random"}],
}
LACKING = {"what": "figure 3-15", "why": "the text names no cause"}


@pytest.fixture
def claiming(document):
    """Return a record of which two criteria claim something and one does not apply."""
    exact, *_ = (s for s in document["cases"][0]["statements"] if s["kind"] == "expect")
    exact["claim"] = "exact"
    calibrated, *_ = (s for s in document["cases"][1]["statements"] if s["kind"] == "expect")
    calibrated["claim"] = "calibrated"
    *_, idle = (s for s in document["cases"][1]["statements"] if s["kind"] == "expect")
    assert idle is not calibrated
    idle.update(IDLE, note="it applies when pvcs > 10")
    document["tests"][0] |= {"not_reproduced": [LACKING], **FOLLOWED}
    return document


def test_criteria_are_counted_by_what_they_claim(claiming):
    found = count_by_claim(claiming["cases"])
    judged = [s for c in claiming["cases"] for s in c["statements"] if s["kind"] != "report"]
    assert (found["exact"], found["calibrated"], found["not applicable"]) == (1, 1, 1)
    assert found["none"] == len(judged) - 3


def test_one_line_says_so_and_what_does_not_count(claiming):
    found = count_covered(claiming)
    assert sum(found.values()) == len({n for test in claiming["tests"] for n in test["covers"]})
    of_statements, sentence = describe_claims(claiming).split("; ", 1)
    assert of_statements == f"statements covered: {describe_counts(found)}"
    assert sentence.startswith("criteria: 1 exact, 1 calibrated (not counted as reproduced), ")
    assert sentence.endswith(" without a claim; 1 not applicable")


def test_without_claims_there_is_no_sentence(document):
    assert describe_claims(document) == ""
    assert describe_counts(count_by_claim([])) == ""
    assert describe_counts({"none": 7, "not applicable": 2}) == "2 not applicable"


@pytest.mark.parametrize(
    ("claims", "only"),
    [
        (["calibrated"], "calibrated"),
        (["calibrated", "calibrated", ""], "calibrated"),
        (["consistent", ""], "consistent"),
        (["consistent", "calibrated"], "calibrated and consistent"),
        (["calibrated", "shape"], ""),
        (["shape"], ""),
        ([""], ""),
    ],
)
def test_by_what_is_calibrated_or_consistent_only_nothing_is_reproduced(document, claims, only):
    like = document["cases"][0]["statements"][1]
    its = [{**like, "kind": "expect", "claim": claim} for claim in claims]
    for case in document["cases"]:
        case["statements"] = its
    assert {requirement["only"] for requirement in list_requirements(document)} == {only}


def test_what_does_not_apply_is_shown_so_and_needs_nothing(claiming):
    idle = next(s for s in claiming["cases"][1]["statements"] if s["verdict"] == "not applicable")
    assert describe_measured(idle) == "not applicable"
    two = [claiming["cases"][0], claiming["cases"][1]]
    column = next(
        arrange_column
        for arrange_column in arrange_columns(two)
        if idle in arrange_column["statements"]
    )
    other = next(s for s in two[0]["statements"] if s["label"] == idle["label"])
    assert (column["verdict"], column["text"]) == (other["verdict"], other["text"])


def test_a_requirement_counts_only_criteria_that_are_of_it(claiming):
    test = claiming["tests"][0]
    exact = next(s for s in claiming["cases"][0]["statements"] if s.get("claim") == "exact")
    exact["covers"] = ["O45"]
    test["covers"] = ["table 1"]
    found = {requirement["name"]: requirement for requirement in list_requirements(claiming)}
    assert [of["name"] for of in found["O45"]["tests"]] == [test["name"]]
    assert (found["O45"]["criteria"]["exact"], sum(found["O45"]["criteria"].values())) == (1, 1)
    assert found["table 1"]["criteria"]["exact"] == 0
    for form in ("html", "markdown", "junit"):
        assert "O45" in render(claiming, {}, form)


@pytest.mark.parametrize(
    ("verdicts", "others", "all_of_it", "found"),
    [
        (("pass", "fail"), (), "fail", ("pass", "fail")),
        (("pass", "pass"), (), "pass", ("pass", "pass")),
        (("not applicable", "pass"), (), "pass", ("skip", "pass")),
        (("pass", "fail"), ("inconclusive",), "fail", ("inconclusive", "fail")),
        (("pass", "pass"), (), "error", ("error", "error")),
    ],
)
def test_criteria_of_another_statement_do_not_decide_a_requirement(
    claiming, verdicts, others, all_of_it, found
):
    case = claiming["cases"][0]
    like = next(s for s in case["statements"] if s.get("claim") == "exact")
    case["statements"] = [
        {**like, "verdict": verdict, "covers": [name]}
        for verdict, name in zip(verdicts, ("O1", "O2"), strict=True)
    ] + [{**like, "kind": "require", "verdict": verdict} for verdict in others]
    case["verdict"] = all_of_it
    claiming["cases"] = [case]
    rows = {row["name"]: row["verdict"] for row in list_requirements(claiming)}
    assert (rows["O1"], rows["O2"]) == found


def test_the_sentence_says_of_how_many_statements(claiming):
    covered = sum(count_covered(claiming).values())
    claiming["references"] = [{**claiming["references"][0], "statements": 56}]
    assert describe_claims(claiming).startswith(f"statements covered {covered} of 56: 1 exact")


def test_what_is_not_reproduced_is_listed_with_its_reason_and_tests(claiming):
    claiming["tests"][1]["not_reproduced"] = [LACKING]
    names = [test["name"] for test in claiming["tests"][:2]]
    assert list_not_reproduced(claiming) == [{**LACKING, "tests": names}]


def test_procedures_are_listed_with_their_tests(claiming):
    claiming["tests"][1] |= FOLLOWED
    names = [test["name"] for test in claiming["tests"][:2]]
    assert list_procedures(claiming) == [{**FOLLOWED, "tests": names}]


@pytest.mark.parametrize(
    ("form", "pieces"),
    [
        ("markdown", ["- follows: **RFC 2544, 26.1** (", "  - deviation: trials of 1 s: nothing"]),
        ("html", [">RFC 2544, 26.1</th>", "<td>trials of 1 s</td><td>nothing is random</td>"]),
        (
            "junit",
            ['"follows" value="RFC 2544, 26.1"', '"deviation" value="trials of 1 s: '],
        ),
        ("markdown", ["- not reproduced: **figure 3-15**: the text names no cause", "1 exact"]),
        ("html", ["not reproduced</span>", "the text names no cause", "<b>calibrated only</b>"]),
        ("html", ["criteria: 1 exact, 1 calibrated (not counted as reproduced)"]),
        ("html", ['<abbr title="not applicable: it applies when pvcs &gt; 10">n/a</abbr>']),
        ("junit", ['name="not reproduced" value="figure 3-15: the text names no cause"']),
        ("junit", ['name="not applicable" value="expect ', ': it applies when pvcs &gt; 10"']),
        ("junit", ['name="criteria" value="1 calibrated (not counted as reproduced)']),
        ("json", ['"claim": "exact"', '"not applicable"', '"figure 3-15"']),
    ],
)
def test_every_report_shows_it(claiming, form, pieces):
    for case in claiming["cases"]:
        for statement in case["statements"]:
            if form == "html" and "calibrated only" in pieces[-1] and statement.get("claim"):
                statement["claim"] = "calibrated"
    text = render(claiming, {}, form)
    assert [piece for piece in pieces if piece not in text] == []


def test_a_report_of_before_has_no_column_of_claims(document):
    assert "| requirement | test | cases | verdict |" in render(document, {}, "markdown")
    assert ">Criteria</th>" not in render(document, {}, "html")
