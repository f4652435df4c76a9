"""Documents as text: aligned, wrapped, code left alone."""

import pytest

from qospec.reference.listing import align_columns, describe_in_full, list_overview


def test_columns_are_aligned_and_the_last_is_wrapped() -> None:
    rows = [("a", "one two three four five six"), ("longer", "x")]
    assert list(align_columns(rows, 32)) == [
        "a       one two three four five",
        "        six",
        "longer  x",
    ]


def test_nothing_gives_nothing() -> None:
    assert list(align_columns([], 80)) == []
    assert list_overview([], 80) == ""


def test_a_narrow_terminal_still_shows_words() -> None:
    assert max(map(len, align_columns([("a" * 30, "word " * 20)], 40))) <= 30 + 2 + 24


@pytest.mark.parametrize("width", [40, 80, 110])
def test_examples_keep_their_lines(width: int) -> None:
    text = "Before  it.\n\n```qos\nqos 1\n\n  let a = 1 s\n```\n\nBehind it."
    document = {"name": "E0001", "summary": "title", "description": text}
    assert describe_in_full(document, width).split("\n") == [
        "E0001",
        "  title",
        "",
        "  Before it.",
        "",
        "      qos 1",
        "",
        "        let a = 1 s",
        "",
        "  Behind it.",
    ]
