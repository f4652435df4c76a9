"""What `-k` asks of a case's name: words, joined by `and`, `or`, `not` and parentheses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Asks = Callable[[str], bool]
    """Whether a name is wanted."""

_WORDS = re.compile(r"[()]|[^\s()]+")
_JOINTS = ("and", "or", "not", "(", ")")
_DEEPEST = 50
"""Parentheses and `not` within each other."""


class MatchError(ValueError):
    """What was asked for is no condition on names; the message is for the user."""


def matching(text: str) -> Asks:
    """Return whether a case's name is wanted; raises MatchError.

    `load=90%` asks for that very value of a sweep's variable, any other word for a name that holds
    it. Nothing wants all.
    """
    words = _WORDS.findall(text)
    if not words:
        return lambda _: True
    reader = _Reader(words)
    asked = reader.either(0)
    if reader.next:
        raise MatchError(f"`{reader.next}` is not expected there")
    return asked


class _Reader:
    """Reads a condition from left to right; `and` binds closer than `or`."""

    def __init__(self, words: list[str]) -> None:
        self._words = words

    @property
    def next(self) -> str:
        return self._words[0] if self._words else ""

    def either(self, depth: int) -> Asks:
        asked = [self._both(depth)]
        while self._took("or"):
            asked.append(self._both(depth))
        return lambda name: any(each(name) for each in asked)

    def _both(self, depth: int) -> Asks:
        asked = [self._one(depth)]
        while self._took("and"):
            asked.append(self._one(depth))
        return lambda name: all(each(name) for each in asked)

    def _one(self, depth: int) -> Asks:
        if depth > _DEEPEST:
            raise MatchError("it is nested too deeply")
        if self._took("not"):
            refused = self._one(depth + 1)
            return lambda name: not refused(name)
        if self._took("("):
            asked = self.either(depth + 1)
            if not self._took(")"):
                raise MatchError("a `)` is missing")
            return asked
        if self.next in ("", *_JOINTS):
            where = f"ahead of `{self.next}`" if self.next else "at the end"
            raise MatchError(f"a word is missing {where}")
        return _word(self._words.pop(0))

    def _took(self, word: str) -> bool:
        if self.next != word:
            return False
        self._words.pop(0)
        return True


def _word(word: str) -> Asks:
    variable, equals, _ = word.partition("=")
    if equals and variable.isidentifier():
        return lambda name: f",{word}," in f",{name.partition(':')[2]},"
    return lambda name: word in name
