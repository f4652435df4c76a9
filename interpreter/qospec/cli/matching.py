"""Filters of cases by name, as `-k` takes them: words with `and`, `or`, `not` and parentheses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Filter = Callable[[str], bool]
    """Whether a name matches."""

_WORDS = re.compile(r"[()]|[^\s()]+")
_OPERATORS = ("and", "or", "not", "(", ")")
_DEEPEST = 50
"""Parentheses and `not` within each other."""


class MatchError(ValueError):
    """The text is not a valid filter; the message is for the user."""


def parse_filter(text: str) -> Filter:
    """Return the filter that a text stands for; raises MatchError.

    `load=90%` matches exactly that value of a sweep's variable, any other word a name that contains
    it. An empty text matches every case.
    """
    words = _WORDS.findall(text)
    if not words:
        return lambda _: True
    reader = _Reader(words)
    found = reader.read_disjunction(0)
    if reader.next:
        raise MatchError(f"unexpected `{reader.next}`")
    return found


class _Reader:
    """Reads a condition from left to right; `and` binds closer than `or`."""

    def __init__(self, words: list[str]) -> None:
        self._words = words

    @property
    def next(self) -> str:
        return self._words[0] if self._words else ""

    def read_disjunction(self, depth: int) -> Filter:
        found = [self._read_conjunction(depth)]
        while self._accept("or"):
            found.append(self._read_conjunction(depth))
        return lambda name: any(alternative(name) for alternative in found)

    def _read_conjunction(self, depth: int) -> Filter:
        found = [self._read_term(depth)]
        while self._accept("and"):
            found.append(self._read_term(depth))
        return lambda name: all(term(name) for term in found)

    def _read_term(self, depth: int) -> Filter:
        if depth > _DEEPEST:
            raise MatchError("it is nested too deeply")
        if self._accept("not"):
            refused = self._read_term(depth + 1)
            return lambda name: not refused(name)
        if self._accept("("):
            found = self.read_disjunction(depth + 1)
            if not self._accept(")"):
                raise MatchError("expected `)`")
            return found
        if self.next in ("", *_OPERATORS):
            where = f"before `{self.next}`" if self.next else "at the end"
            raise MatchError(f"expected a word {where}")
        return _name_filter(self._words.pop(0))

    def _accept(self, word: str) -> bool:
        if self.next != word:
            return False
        self._words.pop(0)
        return True


def _name_filter(word: str) -> Filter:
    variable, equals, _ = word.partition("=")
    if equals and variable.isidentifier():
        return lambda name: f",{word}," in f",{name.partition(':')[2]},"
    return lambda name: word in name
