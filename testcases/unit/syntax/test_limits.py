"""How large and how deep a file may be."""

import sys

import pytest

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.limits import DEEPEST, LONGEST, MOST_OPERATORS
from qospec.syntax.parser import parse


def read(text: str) -> tuple[ast.File | None, list[str]]:
    problems = Problems()
    file = parse(Source("a.qos", text), problems)
    return file, [f"{problem.code} {problem.message}" for problem in problems.all]


def let(value: str) -> str:
    return f"qos 1\nlet x = {value}\n"


DEEP = [
    "(" * 100_000,
    "(" * DEEPEST + "(1)" + ")" * DEEPEST,
    "[" * 100_000 + "]" * 100_000,
    "a { b = " * 1_000,
    "- " * 100_000 + "1",
    "not " * 100_000 + "a",
    "1 + " * 100_000 + "1",
    "a or " * 100_000 + "b",
    "1 if a else " * 1_000 + "2",
    "f(" * 20 + "1" + " + 1, 0)" * 20 + " + 1" * MOST_OPERATORS,
    "- (" * 20 + "- " * 90 + "1" + ")" * 20,
]


@pytest.mark.slow
@pytest.mark.parametrize("value", DEEP, ids=range(len(DEEP)))
def test_what_is_too_deep_is_reported_and_not_read(value: str) -> None:
    file, told = read(let(value))
    assert file is None
    assert len(told) == 1
    assert told[0].startswith("E0012 ")


FLAT = [
    "(" * DEEPEST + "1" + ")" * DEEPEST,
    "[" + "1 + 2, " * 5_000 + "]",
    "f(" + "1 + 2 * 3, " * 1_000 + "0)",
    "1 + " * MOST_OPERATORS + "1",
    "a" + ".a" * 10_000,
]


@pytest.mark.parametrize("value", FLAT, ids=range(len(FLAT)))
def test_what_is_only_long_is_read(value: str) -> None:
    file, told = read(let(value))
    assert told == []
    assert file is not None


def test_the_deepest_tree_can_be_walked_by_recursion() -> None:
    file, _ = read(let("(" * DEEPEST + "- " * MOST_OPERATORS + "1" + ")" * DEEPEST))
    assert file is not None
    assert file == file  # noqa: PLR0124 -- equality walks it
    assert repr(file)
    assert sys.getrecursionlimit() <= 1_000


def test_a_file_may_be_so_long_and_no_longer() -> None:
    text = let("1 s")
    file, told = read(text + "#" * (LONGEST - len(text)))
    assert file is not None
    file, told = read(text + "#" * LONGEST)
    assert file is None
    assert told == [
        f"E0012 this file has {LONGEST + len(text):_} characters, more than {LONGEST:_}"
    ]


def test_a_number_has_so_many_digits_and_no_more() -> None:
    file, told = read(let("1" * 300))
    assert told == []
    file, told = read(let("1" * 100_000 + " s"))
    assert file is not None
    assert told == ["E0007 this number has 100000 digits, more than 300"]
