"""Tables for other programs and for comments: what was measured, and its time series."""

import csv
import io

import pytest
from markdown_it import MarkdownIt

from qospec.report.render import render
from qospec.report.series import list_intervals, write_decimal

SERIES = {
    "every": {"value": "1/100", "unit": "s", "text": "10 ms"},
    "unit": "cell/s",
    "values": "0 - 1/3",
}
ROWS = [("0", "0"), ("0.01", ""), ("0.02", "0.333333333333")]


@pytest.fixture
def with_series(document):
    document["cases"][0]["statements"][0]["series"] = SERIES
    return document


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("7", "7"),
        ("1000000000000", "1000000000000"),
        ("-1/3", "-0.333333333333"),
        ("1/100000000000", "0.00000000001"),
        ("3/2", "1.5"),
        ("100", "100"),
        ("true", "true"),
        ("[1 us, 2 us]", "[1 us, 2 us]"),
    ],
)
def test_a_decimal_is_plain(value, text):
    assert write_decimal(value) == text


def test_a_series_has_a_row_for_each_interval():
    found = [(row["start"], row["value"]) for row in list_intervals({"series": SERIES})]
    assert found == ROWS
    assert list_intervals({}) == []


def test_csv_has_a_line_for_each_statement_and_each_interval(with_series):
    text = render(with_series, {}, "csv")
    head, *lines = csv.reader(io.StringIO(text), strict=True)
    first = ["test", "case", "repeat", "statement", "kind", "verdict", "start_s", "value", "unit"]
    assert head == [*first, "scenario", "pvcs", "tolerance", "switch"]
    statements = [
        (case, statement) for case in with_series["cases"] for statement in case["statements"]
    ]
    assert len(lines) == len(statements) + len(ROWS)
    assert {len(line) for line in lines} == {len(head)}
    case, statement = statements[0]
    start = [case["test"], case["name"], "", statement["label"], statement["kind"]]
    start.append(statement["verdict"])
    assert lines[0][:6] == start
    assert lines[0][6] == ""
    values = ["1", "4_000", "", ""]
    assert lines[1:4] == [[*start, *row, "cell/s", *values] for row in ROWS]


def test_markdown_has_a_table_for_each_series(with_series):
    text = render(with_series, {}, "markdown")
    assert "\n## Time series\n" in text
    assert "\n| from, s | cell/s |\n|--:|--:|\n| 0 | 0 |\n| 0.01 | no data |\n" in text
    page = MarkdownIt("commonmark").enable("table").render(text)
    assert page.count("<table>") == 3
    assert '<td style="text-align:right">0.333333333333</td>' in page


def test_markdown_says_that_a_series_is_of_the_first_repeat(with_series):
    case = with_series["cases"][0]
    case["repeats"] = [case["metrics"]]
    assert "repeats\n\n| from, s |" not in render(with_series, {}, "markdown")
    case["repeats"] = [case["metrics"]] * 3
    assert ", first of 3 repeats\n\n| from, s |" in render(with_series, {}, "markdown")


def test_markdown_says_what_it_leaves_out(with_series):
    long = {**SERIES, "values": " ".join(["1"] * 60)}
    case = with_series["cases"][0]
    case["statements"] = [{**case["statements"][0], "series": long} for _ in range(20)]
    text = render(with_series, {}, "markdown")
    assert "\nand 10 more intervals\n" in text
    count = text.count("| from, s |")
    assert f"and {20 - count} more time series; the CSV report has them all" in text


def test_without_a_series_there_is_no_table_of_any(document):
    assert "Time series" not in render(document, {}, "markdown")
