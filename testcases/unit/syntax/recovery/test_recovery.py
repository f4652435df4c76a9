"""One slip gives one error, and the rest of the file is still read."""

import re
from pathlib import Path

import pytest

from qospec.diagnostics import Diagnostic, Problems
from qospec.resources import STDLIB
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.grammar import load_grammar
from qospec.syntax.parser import parse

FILES = sorted((STDLIB / "devices").resolve().glob("*.qos"))
ALL = [*FILES, *sorted(Path(__file__).parents[3].glob("suites/eantc/*.qos"))]


def read(text: str) -> tuple[ast.File | None, tuple[Diagnostic, ...]]:
    problems = Problems()
    return parse(Source("a.qos", text), problems), problems.all


def only(text: str) -> Diagnostic:
    (diagnostic,) = read(text)[1]
    return diagnostic


BROKEN = """\
qos 1
import std.media

topology pair(
  count: Int = 2
) {{
  a = host(count = count)
  {slip}
  b = host(count = count)
}}

let last = 1 s
"""


@pytest.mark.parametrize(
    "slip",
    [
        "c = = host",
        "c = ",
        "c = [1, 2",
        "c host",
        "c = host)",
        "link a -- via media.stm1",
        "link a b via media.stm1",
        "for i in { link a -- b via m }",
        "flow f = g from a b",
        "run = 3",
        "expct a == b",
        "3 = host",
        "= host",
        "-> c",
        "c = host { x = 3, y = = 4 }",
        "sweep in [1, 2]",
        "let c",
        'skip unless a == b "why',
        "c = 10% .. 100% 10%",
    ],
)
def test_a_broken_statement_takes_nothing_else_with_it(slip: str) -> None:
    file, mistakes = read(BROKEN.format(slip=slip))
    assert len(mistakes) == 1
    assert file is not None
    topology, last = file.declarations
    assert isinstance(topology, ast.Topology)
    names = [
        statement.names[0].text
        for statement in topology.body.statements
        if isinstance(statement, ast.Bind)
    ]
    assert [names[0], names[-1]] == ["a", "b"]
    assert isinstance(last, ast.Let)


def test_a_line_that_is_deeper_goes_on_with_what_is_broken() -> None:
    text = "qos 1\ntest t on n {\n  expect :\n    a.b[0] < 1\n    and c.d > 2\n  e.f -> g\n}\n"
    file, (mistake,) = read(text)
    assert mistake.span.source.find_position(mistake.span.start)[0] == 3
    assert file is not None
    (test,) = file.declarations
    assert isinstance(test, ast.Test)
    assert [type(statement) for statement in test.body.statements] == [ast.Wire]


def test_what_could_not_be_read_leaves_its_names() -> None:
    file, _ = read("qos 1\nlet lost = (1 s + * twice)\nlet kept = lost\n")
    assert file is not None
    assert file.unparsed == {"lost", "twice"}
    assert [
        declaration.name.text
        for declaration in file.declarations
        if isinstance(declaration, ast.Let)
    ] == ["kept"]


def test_a_tree_whose_blocks_do_not_fit_is_not_trusted() -> None:
    file, mistakes = read("qos 1\ntopology a {\n  b = host\n\ntopology c {\n  d = host\n}\n")
    assert file is None
    assert [mistake.span.place for mistake in mistakes] == ["a.qos:2:12"]


@pytest.mark.parametrize(
    ("inside", "line"),
    [
        ("  for i in x {\n    link a -- b via m\n", 3),
        ("  for i in x {\n    for j in y {\n      a -> b\n    }\n", 3),
        ("  for i in x {\n    for j in y {\n      a -> b\n  }\n", 4),
        ("  run {\n  expect a == b\n", 3),
        ("", 2),
    ],
)
def test_the_block_that_lacks_its_end_is_found_by_its_indentation(inside: str, line: int) -> None:
    end = "" if not inside else "}\n"
    text = f"qos 1\ntest t on n {{\n{inside}{end}\nlet z = 1 s\ntest u on n {{ a -> b }}\n"
    diagnostic = only(text)
    assert diagnostic.message == "this `{` is never closed"
    assert diagnostic.span.place.split(":")[1] == str(line)


def test_a_misspelt_keyword_is_read_as_what_was_meant() -> None:
    file, mistakes = read("qos 1\ntopologi a {\n  lnik b -- c via m\n}\n")
    assert len(mistakes) == 2
    assert file is not None
    (topology,) = file.declarations
    assert isinstance(topology, ast.Topology)
    assert isinstance(topology.body.statements[0], ast.Link)


def test_more_mistakes_than_are_shown_are_not_looked_for() -> None:
    file, mistakes = read("qos 1\n" + "let = 3\n" * 100)
    assert file is None
    assert len(mistakes) == 20


@pytest.mark.slow
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_token_that_is_lost_costs_one_error_at_most(path: Path) -> None:
    """Every 17th token is taken out by itself, or of a large file 40; brackets and comments apart.

    A bracket may cost two: where it was, and where its partner is.
    """
    text = path.read_text(encoding="utf-8")
    tokens = re.finditer(r'"[^"\n]*"|#[^\n]*|\w+|->|--|==|\.\.|[^\w\s]', text)
    lost = [token for token in tokens if token.group()[0] not in "#{}()[]"][::17]
    for match in lost[:: len(lost) // 40 + 1]:
        _, mistakes = read(text[: match.start()] + text[match.end() :])
        assert len(mistakes) <= 1, (match.group(), [mistake.message for mistake in mistakes])


@pytest.mark.slow
def test_no_message_names_a_terminal() -> None:
    """What the parser accepts is told in the signs and words of the language."""
    names = set(load_grammar().spellings) | {"NAME", "INT", "FLOAT", "QUANTITY", "STRING", "CMP"}
    text = FILES[0].read_text(encoding="utf-8")
    for match in [*re.finditer(r"\w+|[^\w\s]", text)][::11]:
        _, mistakes = read(text[: match.start()] + " ? " + text[match.end() :])
        for mistake in mistakes:
            said = f"{mistake.message} {mistake.label} {mistake.help} {' '.join(mistake.notes)}"
            assert names.isdisjoint(re.findall(r"\b[A-Z]{2,}\b", said)), said
