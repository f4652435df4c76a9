"""What may stand at a place of a file: keywords by the grammar, names by the checker.

A stand-in is put at the place, as a name that nothing has. For its message the checker compares it
with all that may be meant there; that is what is offered.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from qospec.diagnostics import Problems, collect_candidates
from qospec.source import Source
from qospec.syntax.grammar import load_grammar, load_keywords
from qospec.syntax.parser import parse_beginning
from qospec.syntax.tokens import tokenize
from qospec.units import list_units
from qospec.yaml_twin.form import is_yaml

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.syntax.automaton import Automaton

STAND_IN = "stand_in_of_completion"
_WORD = re.compile(r"\w+$")
_NUMBER = re.compile(r"(?<![\w.])[0-9][0-9_]*(\.[0-9_]+)?([ \t]+|(?=[a-zA-Zµμ%]))[a-zA-Zµμ/%]*$")
_RESTS = ("", "from a to a", "to a", "-- a via a", "via a", "{ }", "= 0", "-> a")
"""What may make a statement whole that is being written."""
_ALSO = ("= 0", "-> a")
"""Those of them that ask for something else: a field or a parameter, an end of a wire."""
_OPENING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}


def list_completions(
    name: str, text: str, offset: int, check: Callable[[str], object]
) -> dict[str, str]:
    """Return the words that may stand at a place, each with what it is: a keyword, a name, a unit.

    Args:
        name: Of the file.
        text: Of the file.
        offset: The place: behind what has been written of the word.
        check: Checks a text in place of that of the file.
    """
    before, after = text[:offset], re.sub(r"\A\w+", "", text[offset:])
    line = before[before.rfind("\n") + 1 :]
    if _is_within_text_or_comment(line):
        return {}
    if _NUMBER.search(line):
        return dict.fromkeys(list_units(), "unit")
    before = _WORD.sub("", before)
    words: list[str] = []
    rests = ["", ": 0"]
    if not is_yaml(name):
        automaton, rests = _parse(name, before, after)
        words = [w for w, kind in load_grammar().keywords.items() if automaton.accepts(kind)]
    with collect_candidates(STAND_IN) as found:
        for rest in rests:
            check(before + STAND_IN + rest + after)
    names = [word for word in found if word.isidentifier() and word != STAND_IN]
    return dict.fromkeys(words, "keyword") | dict.fromkeys(names, "name")


def _is_within_text_or_comment(line: str) -> bool:
    """Return whether the end of a line is within quotes, or behind a `#`."""
    outside = re.sub(r'"[^"]*"', "", line)
    return '"' in outside or "#" in outside


def _parse(name: str, before: str, after: str) -> tuple[Automaton, list[str]]:
    """Return the automaton before a name, and what may make statement and file whole behind it."""
    automaton, tokens = parse_beginning(Source(name, _cut_beginning(before)))
    behind = tokenize(Source(name, after), Problems()).kinds[:-1]
    opened: list[str] = []
    for kind in (*tokens.kinds, *behind):
        if kind in _OPENING:
            opened.append(_OPENING[kind])
        elif kind in ("RPAR", "RSQB", "RBRACE") and opened:
            opened.pop()
    closing = "".join(reversed(opened))
    inner = closing.partition("}")[0]
    following = behind[:1] or ["RBRACE"] * ("}" in closing)
    fitting = [
        (start, rest)
        for start, rest in product(dict.fromkeys(("", inner)), _RESTS)
        if automaton.accepts("NAME", *_list_kinds(f"{start} {rest}"), *following)
    ]
    chosen = [*fitting[:1], *((start, rest) for start, rest in fitting[1:] if rest in _ALSO)]
    rests = [f"{start} {rest} {closing[len(start) :]}\n" for start, rest in chosen]
    return automaton, rests or [f" {closing}\n"]


def _cut_beginning(before: str) -> str:
    """Return the first line, and the declaration that a text ends in: the others take time."""
    starts = [match.start() for match in _compile_declaration().finditer(before)]
    return f"qos 1\n{before[starts[-1] :]}" if starts else before


@cache
def _compile_declaration() -> re.Pattern[str]:
    """Return what begins a line if a declaration does; `let` may begin a statement, too."""
    words = (word for word in load_keywords()["declaration"] if word != "let")
    return re.compile(rf"^(?:{'|'.join(words)})(?= )", re.MULTILINE)


@cache
def _list_kinds(text: str) -> tuple[str, ...]:
    return tuple(tokenize(Source("", text), Problems()).kinds[:-1])
