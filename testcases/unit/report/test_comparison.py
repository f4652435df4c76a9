"""What two records come to beside each other: better, worse, same, or nobody can tell."""

from fractions import Fraction
from typing import Any

import pytest

from qospec.report.comparison import MOST_LINES, compare_outcomes, describe_comparison
from qospec.report.render import render_comparison


def quantity(value: float | Fraction, unit: str = "s") -> dict[str, str]:
    return {"value": str(Fraction(value)), "unit": unit, "text": f"{value} {unit}"}


def outcome(
    values: list[int],
    comparison: str = "<=",
    verdict: str = "pass",
    *,
    seed: str = "0",
    label: str = "soon",
    case: str = "one",
) -> dict[str, Any]:
    """Return an outcome with one case of one statement, that measured these values in repeats."""
    statement = {
        "label": label,
        "kind": "expect" if comparison else "report",
        "verdict": verdict,
        "text": f"f.delay {comparison} 9 s",
        "measures": {"flow": "f", "metric": "transfer_delay", "statistic": "max"},
        "measured": quantity(values[0]),
        "comparison": comparison,
        "bound": quantity(9) if comparison else None,
        "tolerance": quantity(5) if comparison == "within" else None,
    }
    repeats = [{"f": {"transfer_delay.max": quantity(value)}} for value in values]
    return {
        "seed": seed,
        "provenance": {"numpy": "2", "qospec": "0"},
        "cases": [
            {"name": case, "verdict": verdict, "statements": [statement], "repeats": repeats}
        ],
    }


def compare(before: dict[str, Any], after: dict[str, Any]) -> tuple[str, str]:
    (row,) = compare_outcomes(before, after).rows
    return row.word, row.why


@pytest.mark.parametrize(
    ("comparison", "before", "after", "expected"),
    [
        ("<=", [5, 6], [5, 6], ("same", "")),
        ("<=", [5, 6], [4, 5], ("better", "fell in all 2 repeats")),
        ("<=", [5, 6], [5, 7], ("worse", "rose in some repeats")),
        ("<=", [5, 6], [6, 5], ("cannot tell", "some repeats rose, some fell")),
        (">=", [15, 16], [14, 15], ("worse", "fell in all 2 repeats")),
        ("==", [8], [7], ("worse", "")),
        ("within", [7], [8], ("better", "")),
        ("within", [8], [10], ("cannot tell", "no criterion says which way is better")),
    ],
)
def test_with_equal_seeds_each_repeat_has_its_counterpart(
    comparison: str, before: list[int], after: list[int], expected: tuple[str, str]
) -> None:
    assert compare(outcome(before, comparison), outcome(after, comparison)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # Four and four apart by chance alone: 2 of 70. Three and four: 2 of 35, which is above 5 %.
        ([5, 6, 7, 8], [1, 2, 3, 4], "better"),
        ([1, 2, 3, 4], [5, 6, 7, 8], "worse"),
        ([6, 7, 8], [1, 2, 3, 4], "cannot tell"),
        ([5, 6, 7, 8], [1, 2, 3, 5], "cannot tell"),
        ([5, 5], [5, 5, 5], "same"),
        ([5], [4], "cannot tell"),
    ],
)
def test_with_other_seeds_only_what_chance_hardly_does_is_told(
    before: list[int], after: list[int], expected: str
) -> None:
    assert compare(outcome(before), outcome(after, seed="1"))[0] == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("pass", "fail", ("worse", "its verdict")),
        ("fail", "pass", ("better", "its verdict")),
        ("pass", "inconclusive", ("cannot tell", "it was pass and is inconclusive")),
        ("error", "pass", ("cannot tell", "it was error and is pass")),
    ],
)
def test_a_verdict_decides_before_all_values(
    before: str, after: str, expected: tuple[str, str]
) -> None:
    assert compare(outcome([5], verdict=before), outcome([5], verdict=after)) == expected


def test_a_verdict_by_another_bound_is_no_worse() -> None:
    before, after = outcome([5]), outcome([5], verdict="fail")
    after["cases"][0]["statements"][0]["bound"] = quantity(4)
    after["provenance"]["policy"] = {"set": "limit=4s"}
    assert compare(before, after) == ("cannot tell", "its bound was 9 s and is 4 s")
    after["provenance"].pop("policy")  # what was not changed, but measured, may be worse
    assert compare(before, after) == ("worse", "its verdict")


def test_a_report_says_no_better_and_no_worse() -> None:
    before, after = (outcome([value], "", "") for value in (5, 4))
    assert compare(before, after) == ("cannot tell", "no criterion says which way is better")
    assert compare(before, before) == ("same", "")


def test_what_only_one_of_them_has_is_told() -> None:
    rows = compare_outcomes(outcome([5]), outcome([5], case="two")).rows
    assert [(row.case, row.word, row.why) for row in rows] == [
        ("one", "cannot tell", "only the first has it"),
        ("two", "cannot tell", "only the second has it"),
    ]
    rows = compare_outcomes(outcome([5]), outcome([5], label="late")).rows
    assert [(row.label, row.before, row.after) for row in rows] == [
        ("soon", "pass, 5 s", ""),
        ("late", "", "pass, 5 s"),
    ]


def describe(
    before: dict[str, Any], after: dict[str, Any], *texts: str, files: tuple[str, ...] = ("a",)
) -> dict[str, Any]:
    """Return what the page of a comparison shows, of a file that had these texts."""
    for run, text in zip((before, after), texts, strict=True):
        run |= {"qospec": "0", "state": "complete", "verdict": "fail"}
        run["tests"] = [
            {"name": f"t{n}", "place": f"{file}.qos:{n}:1"} for file in files for n in (1, 2)
        ]
        run["provenance"]["sources"] = [{"name": "a.qos", "text": text, "sha256": text[:64]}]
    document = describe_comparison(compare_outcomes(before, after), before, after)
    for run in (document["before"], document["after"]):
        run |= {"record": "records/1", "fingerprint": ""}
    return document


def test_a_page_shows_what_differs_of_files_and_of_statements() -> None:
    before, after = (outcome([value], label="<script>alert(1)</script>") for value in (5, 6))
    document = describe(before, after, "room = 4", "room = <9>")
    page = render_comparison(document)
    assert "<del>-room = 4</del>" in page
    assert "<ins>+room = &lt;9&gt;</ins>" in page
    assert "1 worse; each repeat with its counterpart" in page
    assert ("<script" not in page, "&lt;script&gt;" in page) == (True, True)
    assert "pass, 5" in page, "what was measured then"


def test_runs_of_two_back_ends_are_told_apart() -> None:
    before, after = outcome([5]), outcome([5])
    assert not describe(before, after, "", "")["backends"]
    after["provenance"]["backend"] = {"name": "kernel-vt", "kernel": "6.1"}
    document = describe(before, after, "", "")
    assert document["backends"] == (
        "the first was measured by the emulation, the second on kernel-vt"
    )
    assert " The first was measured by the emulation, the second on kernel-vt.</p>" in (
        render_comparison(document)
    )


def test_a_page_has_the_title_of_a_report_and_not_the_names_of_all_tests() -> None:
    page = render_comparison(describe(outcome([5]), outcome([5]), "", ""))
    assert "<h1>a</h1>" in page
    files = ("unh/vendor_a", "unh/vendor_b")
    page = render_comparison(describe(outcome([5]), outcome([5]), "", "", files=files))
    assert "<h1>unh</h1>" in page


def test_a_page_of_a_run_and_itself_has_no_difference() -> None:
    page = render_comparison(describe(outcome([5]), outcome([5]), "room = 4", "room = 4"))
    assert "Both were made of the same files." in page
    assert "Nothing is worse." in page


def test_a_page_shows_so_many_lines_of_what_changed() -> None:
    texts = ("".join(f"{word}{n}\n" for n in range(MOST_LINES)) for word in "ab")
    (file,) = describe(outcome([5]), outcome([5]), *texts)["files"]
    # two lines name the files and one the place, and each line of both is another one
    assert (len(file["lines"]), file["left_out"]) == (MOST_LINES, 3 + MOST_LINES)
