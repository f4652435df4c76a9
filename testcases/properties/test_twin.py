"""YAML and back is the same file, wherever comments are; and any YAML is handled."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as draw
from night import sample_files, shorten

from qospec.diagnostics import Problems
from qospec.formatting import format_text, read
from qospec.formatting.equivalence import is_equivalent
from qospec.rendering import render_all
from qospec.resources import STDLIB
from qospec.source import Source
from qospec.syntax.limits import LONGEST
from qospec.syntax.tokens import tokenize
from qospec.yaml_twin.reader import parse, transcribe_yaml
from qospec.yaml_twin.writer import write_yaml

TESTCASES = Path(__file__).parents[1]
PATHS = [
    path
    for folder in (STDLIB, TESTCASES / "suites", TESTCASES / "language" / "accept")
    for path in sorted(folder.rglob("*.qos"))
]
TEXTS = [path.read_text(encoding="utf-8") for path in PATHS]
TWINS = [path.read_text("utf-8") for path in sorted((TESTCASES / "language").rglob("*.yaml"))]
PIECES = [re.findall(r"\w+|[ \t]+|\n|[^\w\s]", text) for text in TWINS]
SIGNS = ["&a ", "*a", "!t ", "<<: ", "|\n", "---\n", "? ", "- ", "\t", "\r", "\x00", "\u200b", "ü"]
WORDS = [*sorted({piece for pieces in PIECES for piece in pieces}), *SIGNS]
GAPS = ["\n\n", "  # one\n", "\n# two\n", " ## three\n", "\n\n## four\n\n", "\n\n# five\n\n# six\n"]

SPEC = importlib.util.spec_from_file_location("sentences", TESTCASES / "fuzz" / "sentences.py")
SENTENCES = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SENTENCES)

few = settings(max_examples=settings().max_examples // 4)


def assert_the_same(text: str) -> bool:
    """A text is the same after YAML and back; return whether it is one without mistakes."""
    once = format_text(Source("a.qos", text), Problems())
    made = write_yaml(Source("a.qos", text), Problems())
    if once is None or made is None:
        return False
    back = transcribe_yaml(Source("a.yaml", made), Problems())
    laid_out = read(Source("a.qos", once), Problems())
    assert back is not None
    assert laid_out is not None
    assert format_text(back, Problems()) == once
    assert is_equivalent(parse(Source("a.yaml", made), Problems()), laid_out.tree)
    assert write_yaml(back, Problems()) == made
    return True


@pytest.mark.parametrize("path", sample_files(PATHS), ids=lambda path: path.stem)
def test_every_file_is_the_same_after_yaml_and_back(path: Path) -> None:
    assert assert_the_same(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@given(draw.sampled_from(TEXTS), draw.sampled_from([2, 8, 40]), draw.randoms(use_true_random=False))
@few
def test_wherever_comments_stand_they_stay(text: str, share: int, random) -> None:
    tokens, end, found = tokenize(Source("a.qos", text), Problems()), 0, []
    for start, stop in zip(tokens.starts, tokens.ends, strict=True):
        gap = random.choice(GAPS) if end and not random.randrange(share) else text[end:start]
        found += [gap, text[start:stop]]
        end = stop
    assert_the_same("".join(found))


@pytest.mark.slow
@given(draw.randoms(use_true_random=False))
@few
def test_a_file_drawn_from_the_grammar_is_the_same(random) -> None:
    assert_the_same(SENTENCES.sentence(random))


def bear(text: str) -> None:
    """Read a YAML file as the command does, down to what is printed."""
    problems = Problems()
    tree = parse(Source("a.yaml", text), problems)
    assert tree is not None or problems.errors
    assert len(problems.errors) <= 100
    for error in problems.errors:
        assert 0 <= error.span.start <= error.span.end <= len(text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", render_all(problems.all))
    if tree is not None and not problems.errors:
        said = transcribe_yaml(Source("a.yaml", text), Problems())
        assert said is not None
        assert_the_same(said.text)


@pytest.mark.slow
@given(draw.text(max_size=200))
def test_any_text_at_all(text: str) -> None:
    bear(text)
    bear(f'qos: "1"\n{text}')


@pytest.mark.slow
@given(draw.sampled_from(PIECES), draw.randoms(use_true_random=False))
@few
def test_any_real_file_with_any_damage(pieces: list[str], random) -> None:
    found = list(pieces)
    for _ in range(random.randint(1, 6)):
        place = random.randrange(len(found))
        found[place : place + random.randint(0, 3)] = [random.choice(WORDS)]
    bear("".join(found))


@pytest.mark.parametrize("loader", ["C", "Python"])
def test_both_of_pyyaml_s_loaders_are_followed_alike(
    loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if loader == "Python":
        monkeypatch.delattr(yaml, "CBaseLoader")
    for text in TEXTS[:4]:
        assert assert_the_same(text)


LARGE = {
    "zeros": "\x00" * shorten(LONGEST),
    "high characters": "\U0010ffff" * shorten(LONGEST),
    "lists in a line": "[" * shorten(LONGEST),
    "lists by dashes": "- " * shorten(200_000),
    "mappings": "{a: " * shorten(100_000),
    "keys of keys": "? " * shorten(200_000),
    "blanks": " " * shorten(LONGEST),
    "comments": "# x\n" * shorten(120_000),
    "digits": f"qos: 1\nlet: {{x: {'9' * shorten(400_000)}}}",
    "keys": "qos: 1\nlet:\n" + "".join(f"  k{n}: 1\n" for n in range(shorten(30_000))),
    "equal keys": "qos: 1\nlet:\n" + "  k: 1\n" * shorten(60_000),
    "texts": "qos: 1\nlet: {x: '" + '""\n' * shorten(100_000) + "'}",
    "colons": "a: " * shorten(150_000),
    "parentheses": "qos: 1\nlet:\n  x: " + "(" * shorten(100_000),
    "wires": "qos: 1\ndevice: {d: {'->': [" + "a, " * shorten(100_000) + "]}}",
    "folded": 'qos: 1\nlet:\n  x: "' + 'a\\"\n   b' * shorten(60_000) + '"',
    "wrong shapes": "qos: 1\ndevice:\n  d:\n"
    + "".join(f"    k{n}: [a]\n" for n in range(shorten(20_000))),
    "too long": "x" * 10_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_what_is_large_is_read_or_refused(text: str) -> None:
    """What stops this is the test's own time: the larger of these take two seconds at night."""
    problems = Problems()
    parse(Source("a.yaml", text), problems)
    assert problems.errors or "keys" in text or text.startswith("qos")
    assert len(problems.errors) <= 100
    render_all(problems.all)
