import itertools
import re

import pytest
from markdown_it import MarkdownIt

from qospec.report.render import render
from qospec.report.text import escape_code, escape_markdown, select_fitting


def test_it_has_headline_requirements_and_what_to_look_at(document, timing):
    text = render(document, timing, "markdown")
    assert text.startswith("# ! error: eantc\n\nOf 10 cases, ")
    assert "| EANTC 2006, data plane | `data_plane` | 4 pass | ✓ pass |\n" in text
    assert "### ✗ fail: 2 cases of cdvt fail the same way\n" in text
    assert "measured `1320 cell` (in all `936 cell to 1320 cell`), needed `= 0 cell`" in text
    assert "- why: `1320 cells of ab: le155.upc[0] (policed)`" in text


@pytest.mark.parametrize("format_name", ["markdown", "html"])
def test_the_head_says_on_what_it_was_measured(document, timing, format_name):
    assert "Measured on" not in render(document, timing, format_name)
    document["provenance"]["backend"] = {"name": "kernel-vt", "kernel": "6.1.192-3"}
    head, _, _ = render(document, timing, format_name).partition("EANTC 2006, data plane")
    assert re.search(r"[.)]\s+Measured on kernel-vt, kernel 6\.1\.192-3\.[\n<]", head)
    document["provenance"]["backend"] = {"name": "otg://*here*?a=eth1"}
    assert "Measured on otg" in render(document, timing, format_name)


def test_a_criterion_is_shown_with_its_confidence(document):
    document["cases"][4]["statements"][0]["confidence"] = "95 %"
    text = render(document, {}, "markdown")
    assert "needed `= 0 cell` with 95 % confidence\n" in text
    assert text.count("confidence") == 1


def test_a_reader_of_markdown_sees_no_markup_of_the_record(document, timing):
    text = render(document, timing, "markdown")
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "<script" not in page
    assert "<b>" not in page
    assert page.count("<table>") == 2
    assert "REQ-018 | &lt;b&gt;bold&lt;/b&gt;" in page


@pytest.mark.slow
def test_a_comment_is_never_too_long_and_counts_what_it_leaves_out(large):
    large["tests"][3]["covers"] = [f"requirement {n}: {'x' * 100}" for n in range(250)]
    large["cases"] = large["cases"][:400]
    for case, word in zip(large["cases"], itertools.permutations("abcdefg"), strict=False):
        case["errors"] = ["".join(word)] if case["verdict"] == "fail" else []
    text = render(large, {}, "markdown")
    assert len(text) <= 65_000
    shown = text.count("\n### ")
    assert 50 < shown < 200
    assert f"and {200 - shown} more cases; the record has them all" in text
    assert "more requirements\n" in text


def test_one_case_too_long_for_a_comment_is_left_out(document):
    document["cases"][4]["statements"][0]["text"] = "y" * 100_000
    document["cases"][4]["statements"][0]["bound"] = None
    assert len(render(document, {}, "markdown")) <= 65_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b", "a \\| b"),
        ("*x* <b> `c` [d](e)", "\\*x\\* \\<b\\> \\`c\\` \\[d\\](e)"),
        ("@cell", "@&#8203;cell"),
        ("two\n\nlines", "two lines"),
    ],
)
def test_text_is_no_markup_and_mentions_nobody(text, expected):
    assert escape_markdown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x", "`x`"), ("a `b` c", "``a `b` c``"), ("`b`", "`` `b` ``"), ("a|b", "`a\\|b`"), ("", "")],
)
def test_code_is_fenced_by_more_ticks_than_it_has(text, expected):
    assert escape_code(text) == expected


def test_texts_fit_until_the_first_that_does_not():
    assert select_fitting(["aa", "bbb", "c"], 4) == ["aa"]


def test_what_was_not_run_is_one_line(interrupted):
    text = render(interrupted, {}, "markdown")
    assert text.startswith(
        "# ~ inconclusive: eantc\n\n4 of 7 cases ended; the run was interrupted."
    )
    assert "| `cdvt` | 3 not run | · not run |" in text
    assert "Not run, because the run was interrupted: `cdvt:tolerance=0us`, `cdvt:" in text
    assert "Needs attention" not in text


def test_an_inconclusive_criterion_of_a_failed_case_is_marked_and_last(document):
    failed = document["cases"][4]
    failed["statements"][1] |= {"verdict": "inconclusive", "label": "rare"}
    failed["statements"].reverse()
    text = render(document, {}, "markdown")
    block = text[text.index("\n### ✗ fail: `cdvt:tolerance=4us") :]
    _, mean, rare, *_ = block.split("\n- ")
    assert mean.startswith("**no\\_loss** ")
    assert rare.startswith("~ inconclusive: **rare** ")


def test_reported_values_are_in_a_table_also_of_a_single_case(document):
    document["tests"] = document["tests"][:1]
    document["cases"] = document["cases"][:1]
    page = render(document, {}, "markdown")
    assert (
        "### `data_plane`\n\n| verdict | difference\\_ab (s) |\n|---|--:|\n| ✓ pass | 0 |\n" in page
    )
