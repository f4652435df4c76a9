"""The extension of VS Code: its colours are the language's, its files are there."""

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qospec.diagnostics import Problems
from qospec.source import Source
from qospec.syntax.grammar import load_grammar
from qospec.syntax.tokens import tokenize

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
GRAMMAR = EXTENSION / "syntaxes" / "qos.tmLanguage.json"
ACCEPTED = sorted((ROOT / "testcases" / "language" / "accept").glob("*.qos"))
WORDS = ("keyword.control", "keyword.operator.word", "storage.type", "constant.language")
"""Scopes of what is a keyword."""


def colour(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and scope of each part of a text: the first match wins, as in TextMate."""
    patterns = [(re.compile(rule["match"], re.MULTILINE), rule) for rule in read()["patterns"]]
    nearest = [regex.search(text) for regex, _ in patterns]
    at = 0
    while True:
        for number, (regex, _) in enumerate(patterns):
            match = nearest[number]
            if match is not None and match.start() < at:
                nearest[number] = regex.search(text, at)
        found = [(match.start(), number) for number, match in enumerate(nearest) if match]
        if not found:
            return
        _, number = min(found)
        match, pattern = nearest[number], patterns[number][1]
        assert match is not None
        if "captures" in pattern:
            for group, capture in pattern["captures"].items():
                yield *match.span(int(group)), capture["name"]
        else:
            yield *match.span(), pattern["name"]
        at = match.end()


def read() -> dict[str, list[dict[str, dict[str, dict[str, str]]]]]:
    return json.loads(GRAMMAR.read_text(encoding="utf-8"))


def test_the_grammar_is_the_one_that_is_generated() -> None:
    generator = runpy.run_path(str(ROOT / "editors" / "grammar.py"))
    built = json.loads(json.dumps(generator["build"]()))
    assert built == read(), "run `python editors/grammar.py`"


def test_tokens_have_the_colours_of_what_they_are() -> None:
    """Whether a word is a keyword, a number has a unit, a text ends: as the lexer says."""
    keywords = {kind: word for word, kind in load_grammar().keywords.items()}
    wrong, seen = [], set()
    for path in ACCEPTED:
        text = path.read_text(encoding="utf-8")
        tokens = tokenize(Source(path.name, text), Problems())
        scopes = {start: (end, scope) for start, end, scope in colour(text)}
        for number, kind in enumerate(tokens.kinds[:-1]):
            start, end = tokens.starts[number], tokens.ends[number]
            stop, scope = scopes.get(start, (-1, ""))
            seen.add(kind)
            is_word = scope.startswith(WORDS) and stop == end
            beside_dot = "DOT" in tokens.kinds[max(number - 1, 0) : number + 2]
            if kind in keywords and not beside_dot:
                fits = is_word
            elif kind == "NAME" or kind in keywords:
                fits = not is_word and scope != "" and stop == end
            elif kind in ("INT", "FLOAT"):
                fits = scope == "constant.numeric.qos" and stop == end
            elif kind == "QUANTITY":
                unit = [one for one in scopes if start < one < end]
                fits = [scopes[one] for one in unit] == [(end, "keyword.other.unit.qos")]
            elif kind == "STRING":
                fits = scope == "string.quoted.double.qos" and stop == end
            else:
                fits = not is_word
            if not fits:
                wrong.append(f"{path.name}: {kind} {text[start:end]!r}: {scope}")
    assert {"QUANTITY", "STRING", "NAME", "INT", "EXPECT", "AT", "POINT"} <= seen
    assert not wrong, "\n".join(wrong)


def list_parts(rule: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a rule of the tree-sitter grammar, and all that it is made of."""
    yield rule
    for part in [*rule.get("members", ()), *([rule["content"]] if "content" in rule else ())]:
        yield from list_parts(part)


def test_the_grammar_of_trees_has_each_node_and_each_keyword() -> None:
    """That its trees are the parser's is seen by `make tree-sitter`."""
    rules = runpy.run_path(str(ROOT / "editors" / "tree_sitter.py"))["build"]()["rules"]
    parts = [part for rule in rules.values() for part in list_parts(rule)]
    words = {part["value"] for part in parts if part["type"] == "STRING"}
    assert {word for word in words if word.isalpha()} == {*load_grammar().keywords}
    named = {part["value"] for part in parts if part["type"] == "ALIAS"} | {*rules}
    assert {rule.node for rule in load_grammar().rules if rule.node} <= named
    assert {part["name"] for part in parts if part["type"] == "SYMBOL"} <= {*rules, "unit"}


def test_the_extension_has_its_grammars_and_no_version_of_its_own() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == "0.0.0", "`make extension` takes it from the tag"
    for contributed in package["contributes"]["grammars"]:
        assert (EXTENSION / contributed["path"]).exists()
