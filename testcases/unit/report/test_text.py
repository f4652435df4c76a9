import pytest

from qospec.report.text import (
    escape_csv,
    format_for_print,
    format_moment,
    format_seconds,
    list_source_lines,
    split_enumeration,
    split_list,
    split_pairs,
    split_paragraphs,
    strip_quotes,
    write_metric_name,
)


def test_blank_lines_part_paragraphs():
    assert split_paragraphs("one\ntwo\n \nthree\n") == ["one two", "three"]
    assert split_paragraphs("") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ 1: [20.2 us, 20.2 us], 2: 3 us }", [("1", "[20.2 us, 20.2 us]"), ("2", "3 us")]),
        ('{ "a, b": "c: d" }', [('"a, b"', '"c: d"')]),
        ("{\n  1: 2,\n}", [("1", "2")]),
        ("{}", []),
        ("{ no map }", []),
        ("20.2 us", []),
    ],
)
def test_a_written_map_has_keys_and_values(text, expected):
    assert split_pairs(text) == expected


def test_a_written_list_has_items():
    assert split_list("[1 cell, [2, 3]]") == ["1 cell", "[2, 3]"]
    assert split_list("1 cell") == ["1 cell"]


def test_a_written_text_loses_its_quotes_only():
    assert strip_quotes('"say \\"no\\""') == 'say "no"'
    assert strip_quotes("20.2 us") == "20.2 us"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("352_720 cell/s", "352\u202f720 cell/s"),
        ("20.2 us", "20.2 µs"),
        ("-0.3 us", "\u22120.3 µs"),
        ("us_0 10-3 a[-1] SHA-256", "us_0 10-3 a[\u22121] SHA-256"),
    ],
)
def test_quantities_are_set_as_in_print(text, expected):
    assert format_for_print(text) == expected


def test_a_metric_is_named_in_words():
    assert write_metric_name("transfer_delay.p99_9") == "transfer delay p99.9"


def test_times_are_short():
    assert [format_seconds(s) for s in (0.4132, 12.0, 200.2)] == ["0.413 s", "12 s", "3 min 20 s"]
    assert format_moment("2026-11-21T10:11:12Z") == "2026-11-21 10:11 UTC"


def test_a_source_s_pieces_have_kinds_and_make_up_the_line():
    line = 'covers = ["a # b"]  5 us # why'
    source = {"name": "x.qos", "text": line}
    (only,) = list_source_lines(source, {"cases": []})
    assert only["pieces"] == [
        ("", "covers = ["),
        ("text", '"a # b"'),
        ("", "]  "),
        ("number", "5 us"),
        ("", " "),
        ("comment", "# why"),
    ]


@pytest.mark.parametrize("line", ['"open', "a1 b_2 3x # \u2702", "", "##", "1_000.5%", "µ"])
def test_no_character_of_a_source_is_lost(line):
    lines = list_source_lines({"name": "x.qos", "text": line + "\n"}, {"cases": []})
    assert "".join(piece for _, piece in lines[0]["pieces"]) == line


def test_a_line_has_the_worst_verdict_of_what_stands_on_it(document):
    source = document["provenance"]["sources"][1]
    assert [line["verdict"] for line in list_source_lines(source, document)] == [
        "",
        "",
        "fail",
        "pass",
        "",
    ]


def test_a_sentence_with_a_list_is_parted():
    assert split_enumeration("none: a (0 x, y), b") == ("none:", ["a (0 x, y)", "b"])
    assert split_enumeration("it rained") == ("it rained", [])


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("calls.lost == 0", "calls.lost == 0"),
        ("=1+1", "'=1+1"),
        ("-2 /A1", "'-2 /A1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-f.lost < 3", "'-f.lost < 3"),
        ("+49 30 1", "'+49 30 1"),
        ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ('=HYPERLINK("a,b")', '"\'=HYPERLINK(""a,b"")"'),
        ("\t=1+1", "'\t=1+1"),
        ("-1.5", "-1.5"),
        ("-30 us", "-30 us"),
        ("-1e9", "-1e9"),
        ("-", "'-"),
        ("-1 A1+A2", "'-1 A1+A2"),
    ],
)
def test_no_field_of_csv_is_a_formula(text: str, field: str) -> None:
    assert escape_csv(text) == field
