"""A mistake anywhere is reported once, and what uses it neither fails nor repeats it.

The accepted files are broken in one place at a time.
"""

import itertools
from collections import Counter
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.catalogue.kinds import discover
from qospec.check import Checked
from qospec.diagnostics import Diagnostic, Problems
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.parser import parse

ACCEPTED = Path(__file__).parents[1] / "language" / "accept"
CATALOGUE = discover()
MISSING = "no_such_thing"
DECIDES = {"choices_left_out.qos": "parts"}
"""A `let` on which a choice depends: without it, what is left out otherwise is evaluated too."""


class Place(NamedTuple):
    """An expression of an accepted file."""

    file: str
    name: str
    start: int
    end: int


@cache
def places(file: str) -> list[tuple[Place, type]]:
    """Return the expressions of an accepted file, with the kinds of declaration they are of."""
    found = []
    tree = parse(Source(file, (ACCEPTED / file).read_text(encoding="utf-8")), Problems())
    for declaration in tree.declarations if tree else ():
        for expression in expressions(declaration):
            name = declaration.name.text
            place = Place(file, name, expression.span.start, expression.span.end)
            found.append((place, type(declaration)))
    return found


def expressions(node: Any) -> list[ast.Node]:
    if isinstance(node, tuple | list):
        return list(itertools.chain.from_iterable(map(expressions, node)))
    if not isinstance(node, ast.Node):
        return []
    inner = [
        expression
        for field in fields(node)
        for expression in expressions(getattr(node, field.name))
    ]
    return [node, *inner] if isinstance(node, get_args(ast.Expression)) else inner


FILES = sorted(path.name for path in ACCEPTED.glob("*.qos"))


def errors_with(place: Place, text: str) -> tuple[Diagnostic, ...]:
    """Return the errors of an accepted file in which an expression is replaced."""
    path = ACCEPTED / place.file
    whole = path.read_text(encoding="utf-8")
    broken = whole[: place.start] + text + whole[place.end :]
    return Checked([path], CATALOGUE, texts={path: broken}).problems.errors


@pytest.mark.parametrize("file", FILES)
def test_a_mistake_in_a_let_is_the_only_one(file: str) -> None:
    """Whatever uses it: it was an internal error for the range of a `forall`."""
    lets = {place.name: place for place, kind in reversed(places(file)) if kind is ast.Let}
    for name, place in lets.items():
        errors = errors_with(place, MISSING)
        own = [error for error in errors if error.message == f"nothing here is named `{MISSING}`"]
        assert [problem.span.start for problem in own] == [place.start], name
        assert errors == tuple(own) or DECIDES.get(file) == name, name


@given(
    st.deferred(lambda: st.sampled_from([place for file in FILES for place, _ in places(file)])),
    st.sampled_from([MISSING, '"x"', "0", "-1", "1 cell/foo", "[]", "1 s .. 3 s", "{ 1: 2 }"]),
)
def test_no_mistake_is_told_twice(place: Place, text: str) -> None:
    errors = Counter(
        (problem.code, problem.message, problem.span.source.name, problem.span.start)
        for problem in errors_with(place, text)
    )
    assert not [error for error, times in errors.items() if times > 1]


@pytest.mark.parametrize(
    "drawn",
    [
        "forall rate in 1 cell/s .. fastest",
        "forall rate in [1 cell/s, fastest]",
        "forall rate in all",
        "forall one in [1, 2]\n  forall rate in one * 1 cell/s .. fastest",
        "let most = 2 * fastest\n  forall rate: CellRate in 1 cell/s .. most",
        "forall rate in 1 cell/s .. 9 cell/s where rate < fastest",
        "forall rate in [1 cell/s, 9 cell/s] where rate < fastest",
    ],
)
@pytest.mark.parametrize("kind", ["property", "test"])
def test_a_mistake_that_a_draw_uses_is_told_where_it_is(drawn: str, kind: str) -> None:
    body = (
        "expect rate > 1 cell/s"
        if kind == "property"
        else """
  flow f = cbr { pcr = rate, cdvt = 1 ms } from a to b
  run { measure = 1 s }
  expect f.lost == 0 cell"""
    )
    text = f"""qos 1
import std.media
let fastest = 353_207 cell/foo
let all = [1 cell/s, fastest]
topology wire {{
  a, b = host
  link a -- b via media.stm1
}}
{kind} drawn{" on wire" * (kind == "test")} {{
  {drawn}
  {body}
}}
"""
    path = ACCEPTED / "drawn.qos"
    problems = Problems()
    Checked(None, CATALOGUE).check(text, path, problems)
    assert [error.message for error in problems.errors] == ["`foo` is not a unit"]
