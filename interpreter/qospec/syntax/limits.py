"""Limits on the size and depth of a file, so that its tree can be walked recursively."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.diagnostics import Diagnostic
from qospec.source import Span
from qospec.syntax.grammar import load_grammar, load_keywords

if TYPE_CHECKING:
    from qospec.source import Source
    from qospec.syntax.tokens import Tokens

LONGEST = 500_000
"""Characters in a file."""
DEEPEST = 32
"""Levels of brackets."""
MOST_OPERATORS = 100
"""Operators on one path from the root of an expression to a leaf."""

_OPENERS = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSERS = frozenset({"RPAR", "RSQB", "RBRACE"})
_OPERATORS = frozenset({"PLUS", "MINUS", "TIMES", "OF", "OR", "AND", "NOT", "IF"})


def explain_too_long(source: Source) -> Diagnostic | None:
    """Return the error for a text that is too long to be parsed."""
    if len(source.text) <= LONGEST:
        return None
    message = f"this file has {len(source.text):_} characters, more than {LONGEST:_}"
    return Diagnostic("E0012", message, Span(source, 0, 0), help="split it, and import its parts")


@functools.cache
def _list_separators() -> frozenset[str]:
    """Return the tokens that no expression spans: punctuation, and words that begin a statement."""
    words = {"in", "where", "when", "every"}.union(
        *(table for name, table in load_keywords().items() if name in ("declaration", "statement"))
    )
    return frozenset(
        {"COMMA", "EQUAL", "COLON"} | {load_grammar().keywords[word] for word in words}
    )


@dataclass
class _Level:
    """An open bracket: operators since the last separator, the most below, the most before it."""

    operators: int = 0
    below: int = 0
    before: int = 0

    @property
    def height(self) -> int:
        return max(self.before, self.operators + self.below)


def explain_too_deep(tokens: Tokens) -> Diagnostic | None:
    """Return the error for brackets that nest too deep or an expression that is too large."""
    levels, separators = [_Level()], _list_separators()
    for at, kind in enumerate(tokens.kinds):
        level = levels[-1]
        if kind in _OPENERS:
            levels.append(_Level())
            if len(levels) > DEEPEST + 1:
                return _make_diagnostic(
                    tokens, at, f"brackets are nested more than {DEEPEST} levels deep"
                )
        elif kind in separators:
            level.before, level.operators, level.below = level.height, 0, 0
        elif kind in _OPERATORS or kind in _CLOSERS:
            if kind in _OPERATORS:
                level.operators += 1
            elif len(levels) > 1:
                levels.pop()
                levels[-1].below = max(levels[-1].below, level.height)
            if levels[-1].operators + levels[-1].below > MOST_OPERATORS:
                return _make_diagnostic(
                    tokens, at, f"this expression has more than {MOST_OPERATORS} operators"
                )
    return None


def _make_diagnostic(tokens: Tokens, at: int, message: str) -> Diagnostic:
    return Diagnostic("E0012", message, tokens.find_span(at), help="name parts of it with `let`")
