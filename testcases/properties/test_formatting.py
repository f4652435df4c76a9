"""Whatever the layout of a file and the places of its comments, formatting keeps its meaning."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as draw

from qospec.diagnostics import Problems
from qospec.formatting import format_text
from qospec.formatting.equivalence import is_equivalent
from qospec.formatting.source import read_trivia
from qospec.resources import STDLIB
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.grammar import load_grammar
from qospec.syntax.parser import parse
from qospec.syntax.tokens import tokenize

TESTCASES = Path(__file__).parents[1]
TEXTS = [
    path.read_text(encoding="utf-8")
    for folder in (STDLIB, TESTCASES / "suites", TESTCASES / "language" / "accept")
    for path in sorted(folder.rglob("*.qos"))
]
IN_A_LINE = ["", " ", "\t  "]
BREAKS = [
    "\n", "\r\n  ", "\n\n\n", "  # one\n", "\n# two\n", " ## three\n", "\n\n## four\n\n",
    "\n## five\n", "\n\n# six\n\n## seven\n# eight\n", " #\n", "\n##\n",
]  # fmt: skip
WIDTHS = [100, 60, 30, 1]

KEYWORDS = set(load_grammar().keywords.values())

few = settings(max_examples=settings().max_examples // 2)


@cache
def pieces(text: str) -> list[str]:
    """Return what is between the tokens of a text and the tokens, in turn.

    A keyword that touches a dot is a name only as long as it does, so the two stay together; and so
    do `at` and `point` with what makes keywords of them on the same line.
    """
    tokens = tokenize(Source("a.qos", text), Problems())
    found: list[str] = []
    end, behind, before = 0, "", ""
    for kind, start, stop in zip(tokens.kinds, tokens.starts, tokens.ends, strict=True):
        touches = end == start and "DOT" in (kind, behind) and {kind, behind} & KEYWORDS
        if touches or behind in {"AT", "POINT"} or before == "POINT":
            found[-1] += text[end:stop]
        else:
            found += [text[end:start], text[start:stop]]
        end, behind, before = stop, kind, behind
    return found


@draw.composite
def other_layouts(get: draw.DrawFn) -> str:
    """Return a real file with other gaps; where a line ended there may begin a statement."""
    found = list(get(draw.sampled_from(TEXTS).map(pieces)))
    gaps = range(2, len(found), 2)
    share = get(draw.sampled_from([1, 8, 40]))
    random = get(draw.randoms(use_true_random=False))
    for at in gaps:
        if random.randrange(share) == 0:
            may_be_in_a_line = not ("\n" in found[at] or found[at] == "")
            found[at] = random.choice(BREAKS + [" ", "\t  "] * may_be_in_a_line)
    return "".join(found)


def tree(text: str) -> ast.File:
    problems = Problems()
    found = parse(Source("a.qos", text), problems)
    assert found is not None
    assert not problems.errors, (problems.all, text)
    return found


def comments(text: str) -> list[str]:
    return read_trivia(tokenize(Source("a.qos", text), Problems())).list_comments()


@pytest.mark.slow
@given(other_layouts(), draw.sampled_from(WIDTHS))
@few
def test_what_a_file_says_stays_and_formatting_again_changes_nothing(text: str, width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("qospec.formatting.printer.WIDTH", width)
        once = format_text(Source("a.qos", text), Problems())
        assert once is not None
        again = format_text(Source("a.qos", once), Problems())
    assert is_equivalent(tree(once), tree(text))
    assert comments(once) == comments(text)
    assert again == once
    assert all(line == line.rstrip() for line in once.split("\n"))
    assert "\n\n\n" not in once
    assert once.endswith("\n")
    assert not once.endswith("\n\n")


@draw.composite
def without_lines(get: draw.DrawFn) -> tuple[str, str]:
    """Return a real file without comments, and the same with other line ends within statements."""
    found = list(get(draw.sampled_from(TEXTS).map(pieces)))
    random = get(draw.randoms(use_true_random=False))
    plain, other = list(found), list(found)
    for at in range(0, len(found), 2):
        if "#" in found[at]:
            plain[at] = "\n" * bool(at)
            other[at] = plain[at]
        elif at > 2 and "\n" not in found[at] and random.randrange(4) == 0:
            other[at] = random.choice(["\n", " ", "\n  "])
    return "".join(plain), "".join(other)


@pytest.mark.slow
@given(without_lines())
@few
def test_where_lines_ended_within_a_statement_does_not_matter(texts: tuple[str, str]) -> None:
    plain, other = (format_text(Source("a.qos", text), Problems()) for text in texts)
    assert plain is not None
    assert plain == other
