"""What is formatted says the same, or is not given."""

import pytest

from qospec.diagnostics import Problems
from qospec.formatting import MeaningChangedError, format_text
from qospec.formatting.equivalence import is_equivalent
from qospec.formatting.printer import Printer
from qospec.source import Source
from qospec.syntax.parser import parse

ANY_LAYOUT = """# A comment may stand before the first line.
qos 1
import std.media,
  std.devices.sitline as cipher
## What a doc comment says is kept.
let a = 1 s ## and so is what stands behind

let sums = (
  1 s
  + 2 s   # an expression goes on over a line's end
  - 500 ms
)
let list = [
  1 s,
  2 s,
]
topology pair(
  count: Int = 2  ## a new line parts parameters
  length: Length = 1 km, ## as a comma does
  other: Int = 1
) { x, y = host(count = count), for i in 0 .. count - 1 { link x[i] -- y[i] via media.stm1 } }"""

THE_LAYOUT = """# A comment may stand before the first line.
qos 1
import std.media, std.devices.sitline as cipher

## What a doc comment says is kept.
let a = 1 s  ## and so is what stands behind

let sums = (
  1 s
  + 2 s  # an expression goes on over a line's end
  - 500 ms
)
let list = [1 s, 2 s]

topology pair(
  count: Int = 2,  ## a new line parts parameters
  length: Length = 1 km,  ## as a comma does
  other: Int = 1
) {
  x, y = host(count = count)
  for i in 0 .. count - 1 {
    link x[i] -- y[i] via media.stm1
  }
}
"""


def test_a_whole_file(whole) -> None:
    assert whole(ANY_LAYOUT) == THE_LAYOUT


def test_what_cannot_be_read_is_reported_and_not_formatted() -> None:
    problems = Problems()
    assert format_text(Source("a.qos", "qos 1\nlet a = = 1\nlet b =  2\n"), problems) is None
    assert [error.code for error in problems.errors] == ["E0001"]


def test_a_file_that_would_be_too_long_to_read_is_reported(monkeypatch) -> None:
    monkeypatch.setattr("qospec.syntax.limits.LONGEST", 40)
    problems = Problems()
    assert (
        format_text(Source("a.qos", "qos 1\ntest t on n {x=1,y=1,z=1,a=1,b=1}"), problems) is None
    )
    (error,) = problems.errors
    assert error.code == "E0012"
    assert error.message == "formatted, this file has 63 characters, more than 40"


DEEP = {
    "signs": "not " * 50 + "- " * 49 + "a",
    "choices": "a if b else " * 99 + "c",
    "parentheses": "(a + " * 31 + "b" + ")" * 31,
    "records": "a { b = " * 31 + "c" + "}" * 31,
    "calls": "a(1, b = " * 31 + "c" + ")" * 31,
    "lists": "[x, " * 31 + "c" + "]" * 31,
    "maps": "{ 1: " * 31 + "c" + "}" * 31,
    "indices": "a[1 + " * 31 + "c" + "]" * 31,
}


@pytest.mark.parametrize("value", DEEP.values(), ids=DEEP)
def test_what_is_as_deep_as_may_be_is_laid_out(whole, monkeypatch, value: str) -> None:
    whole(f"qos 1\nlet x = {value}\n")
    monkeypatch.setattr("qospec.formatting.printer.WIDTH", 1)
    whole(f"qos 1\nlet x = {value}\n")


@pytest.mark.parametrize(
    ("lost", "instead"),
    [("# c", ""), ("1 s", "2 s"), ("(b)", "b.c"), ("## d", "#"), ("let x", "let")],
)
def test_a_result_that_says_something_else_is_not_given(monkeypatch, lost, instead) -> None:
    right = Printer.join_text
    monkeypatch.setattr(Printer, "join_text", lambda printer: right(printer).replace(lost, instead))
    with pytest.raises(MeaningChangedError, match="would change what"):
        format_text(Source("a.qos", "qos 1\n\n## d\nlet x = 1 s + (b)  # c\n"), Problems())


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("let a = 1 kbps", "let a = 1 kbit/s", True),
        ("let a = 1 us", "let a =\n 1 µs", True),
        ("let a = 1 kbps", "let a = 1 Mbit/s", False),
        ("let a = 1_0 s", "let a = 10 s", False),
        ("## d\nlet a = 1 s", "let a = 1 s", False),
        ("let a = [1]", "let a = [1, 1]", False),
        ("let a = [1, 2]", "let a = [2, 1]", False),
        ("let a = x - (y - z)", "let a = x - y - z", False),
    ],
)
def test_trees_are_the_same_but_for_the_spelling_of_units(one, other, equal) -> None:
    trees = [parse(Source("a.qos", f"qos 1\n{text}\n"), Problems()) for text in (one, other)]
    assert is_equivalent(*trees) is equal
