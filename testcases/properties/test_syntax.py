"""Whatever the text, parsing ends, and errors are reported and never raised."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as draw
from night import is_night, shorten

from qospec.diagnostics import Problems
from qospec.rendering import render_all
from qospec.resources import STDLIB
from qospec.source import Source
from qospec.syntax.limits import LONGEST
from qospec.syntax.parser import parse

SUITES = Path(__file__).parents[1] / "suites"
FILES = [
    path.read_text(encoding="utf-8")
    for folder in (STDLIB, SUITES)
    for path in sorted(folder.rglob("*.qos"))
]
PIECES = [re.findall(r"\w+|[ \t]+|\n|[^\w\s]+", text) for text in FILES]
WORDS = sorted({piece for pieces in PIECES for piece in pieces})


def read(text: str) -> None:
    """Parse a text as the command does, up to what is printed."""
    problems = Problems()
    file = parse(Source("a.qos", text), problems)
    assert file is not None or problems.errors
    shown = render_all(problems.all)
    assert len(problems.errors) <= 60
    for error in problems.errors:
        assert 0 <= error.span.start <= error.span.end <= len(text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", shown)


@pytest.mark.slow
@given(draw.text(max_size=300))
def test_any_text_at_all(text: str) -> None:
    read(text)
    read(f"qos 1\n{text}")


@pytest.mark.slow
@given(draw.lists(draw.sampled_from(WORDS), max_size=120))
def test_any_words_in_any_order(words: list[str]) -> None:
    read("qos 1\n" + " ".join(words))


@pytest.mark.slow
@given(draw.data())
def test_any_real_file_with_any_damage(data: draw.DataObject) -> None:
    pieces = list(data.draw(draw.sampled_from(PIECES)))
    for _ in range(data.draw(draw.integers(1, 6))):
        place = data.draw(draw.integers(0, len(pieces) - 1))
        new = data.draw(draw.sampled_from(WORDS) | draw.text(max_size=3) | draw.just(""))
        cut = data.draw(draw.integers(0, 3))
        pieces[place : place + cut] = [new, *pieces[place : place + 1]]
    read("".join(pieces))


LARGE = {
    "zeros": "\x00" * shorten(LONGEST),
    "high characters": "\U0010ffff" * shorten(LONGEST),
    "parentheses": "qos 1\nlet x = " + "(" * shorten(100_000),
    "braces": "qos 1\n" + "{}" * shorten(100_000),
    "blanks": " " * shorten(LONGEST),
    "lines": "\n" * shorten(LONGEST),
    "digits": "qos 1\nlet x = " + "9" * shorten(400_000),
    "points": "qos 1\nlet x = " + "9." * shorten(200_000),
    "texts": 'qos 1\nlet x = "' + '"\n"' * shorten(100_000),
    "comments": "qos 1\n" + "## x\n" * shorten(90_000),
    "minus": "qos 1\nlet x = " + "- " * shorten(200_000),
    "one name": "qos 1\nlet " + "a" * shorten(400_000),
    "slips": "qos 1\n" + "x = = 1\n" * shorten(50_000),
    "blocks": "qos 1\n" + "topology x {\n" * shorten(30_000),
    "closers astray": "qos 1\n" + " }\n" * shorten(160_000),
    "import lines astray": "qos 1\n}\n" + " import\n" * shorten(60_000),
    "commas missing in one line": "qos 1\nlet x = [" + "1 " * shorten(240_000),
    "slips in one line": "qos 1\ndevice d { " + "a = 1 = 1 , " * shorten(40_000),
    "a slip before one line": "qos 1\ndevice d { = =\n" + "a = 1, " * shorten(30_000),
    "too long": "x" * 10_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_what_is_large_is_read_or_refused(text: str) -> None:
    """The larger of these take a second, by day a fifth of it.

    What is not linear takes minutes, by day several seconds.
    """
    start_s = time.process_time()
    read(text)
    assert time.process_time() - start_s < (30 if is_night() else 2)
