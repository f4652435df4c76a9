"""What cannot be seen is found by Unicode's categories, and shown by a sign of its own."""

import re
import sys
import unicodedata

import pytest

from qospec.visible import find_hidden, is_hidden, make_lines_visible, make_visible

HIDDEN = [
    "\x00", "\x08", "\x1b", "\x7f", "\x85", "\x9b", "\u00ad", "\u034f", "\u061c", "\u115f",
    "\u180e", "\u200b", "\u200d", "\u2028", "\u2029", "\u202e", "\u2060", "\u2066", "\u3164",
    "\ud800", "\ue000", "\ufdd0", "\ufeff", "\ufff9", "\ufffe", "\uffff", "\U0001fffe",
    "\U000e0001", "\U000e0041", "\U000e0100", "\U000f0000", "\U0010ffff",
    "\u2800", "\u3000", "\ufe00", "\ufe0e", "\ufe0f", "\u1680", "\u2000", "\u2003", "\u200a",
    "\u205f", "\u180b", "\U0001d159", "\U0001d173", "\U0001bca0", "\U00016fe4", "\U00013441",
]  # fmt: skip


@pytest.mark.parametrize("character", HIDDEN, ids=lambda hidden: f"U+{ord(hidden):04X}")
def test_what_cannot_be_seen_is_hidden(character: str) -> None:
    assert is_hidden(character)
    assert list(find_hidden(f"ab{character}c")) == [2]
    assert make_visible(f"ab{character}c") == "ab\ufffdc"


@pytest.mark.parametrize("character", list("a ~ü ß→µ日本⁻½\u0301\ufffd\t\n😀⠁"))
def test_what_can_be_seen_and_what_lays_out_a_text_is_not(character: str) -> None:
    assert not is_hidden(character)
    assert list(find_hidden(f"ab{character}c")) == []


@pytest.mark.parametrize("character", list("\u00a0\u202f"))
def test_a_blank_that_reports_write_is_refused_in_a_text_and_shown_in_one(character: str) -> None:
    """Between digits it keeps a number together; two names that differ by it look alike."""
    assert is_hidden(character)
    assert list(find_hidden(f"ab{character}c")) == [2]
    assert (
        make_visible(f"1{character}000")
        == make_lines_visible(f"1{character}000")
        == f"1{character}000"
    )


@pytest.mark.slow
def test_all_that_python_s_tables_call_format_or_a_blank_is_hidden() -> None:
    """The ranges are of a later version of Unicode than the tables, and hold all of theirs."""
    seen = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in {"Cf", "Cc", "Zs", "Zl", "Zp", "Co", "Cs"}
        or re.search(r"VARIATION SELECTOR|HANGUL .*FILLER", unicodedata.name(character, ""))
        if character not in " \t\n" and not is_hidden(character)
    ]
    assert seen == []


def test_what_is_not_assigned_yet_is_taken_on_any_python_alike() -> None:
    assert not is_hidden("\u0378")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("a\r\nb\r\n", []),
        ("a\rb", [1]),
        ("a\r\r\n\rb\r", [1, 4, 6]),
        ("\ufeffqos 1", []),
        ("\ufeff\ufeff1\ufeff", [1, 3]),
        ("\n\ufeff", [1]),
        ("]^-\\\x1b", [4]),
    ],
)
def test_a_carriage_return_ends_a_line_and_a_byte_order_mark_begins_a_text(
    text: str, places: list[int]
) -> None:
    assert list(find_hidden(text)) == places


def test_what_is_shown_stays_on_its_line() -> None:
    assert make_visible("a\n\tb\r\x1b[32m✓ pass") == "a  b \ufffd[32m✓ pass"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("", ""), ("a\n\tb\r\n", "a\n\tb\r\n"), ("\ufeffa\rb\u2028", "\ufeffa\ufffdb\ufffd")],
)
def test_lines_stay_where_a_text_has_them(text: str, shown: str) -> None:
    assert make_lines_visible(text) == shown
