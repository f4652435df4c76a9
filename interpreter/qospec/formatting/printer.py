"""Writes lines: words with what stands above and behind them, and knows where it stands."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.formatting.source import Written

WIDTH = 100
"""Columns that a line fills, but for comments and for what cannot be broken."""
STEP = "  "
"""One step of indentation."""


class Pen:
    """Writes a file's tokens, each with its comments, and breaks lines where it is told to.

    A comment behind a word is held back until the line ends, so that a `,` may still follow.
    """

    def __init__(self, written: Written) -> None:
        """Begin at the start of an empty text."""
        self._written = written
        self._lines: list[str] = []
        self._line = ""
        self._behind = ""
        self.indent = ""

    def finished(self) -> str:
        """Return the text."""
        self.end_line()
        return "".join(f"{line}\n" for line in self._lines)

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Indent by one step more."""
        before, self.indent = self.indent, self.indent + STEP
        yield
        self.indent = before

    # ---- lines

    def end_line(self) -> None:
        """Begin a new line if something stands on this one."""
        if self._line:
            self._lines.append(f"{self._line}  {self._behind}" if self._behind else self._line)
            self._line = self._behind = ""

    def blank_line(self) -> None:
        """Leave one line blank, but not at the start of the text and not a second."""
        self.end_line()
        if self._lines and self._lines[-1]:
            self._lines.append("")

    # ---- words

    def fits(self, first: int, last: int, after: int = 0) -> bool:
        """Return whether a stretch may stand here on one line, with so many columns behind it."""
        written = self._written
        if not written.may_be_one_line(first, last) or self._must_end(first):
            return False
        column = len(self._line) + len(written.gap(first)) if self._line else len(self.indent)
        return column + written.width(first, last) + after <= WIDTH

    def text(self, first: int, last: int) -> None:
        """Write a stretch that has no comments within on one line."""
        if self._must_end(first):
            with self.deeper():
                self._start_line(first)
        elif not self._line:
            self._start_line(first)
        else:
            self._line += self._written.gap(first)
        self._line += self._written.text(first, last)
        self._behind = self._written.trivia.behind.get(last, "")

    def words(self, first: int, last: int) -> None:
        """Write a stretch, on one line where comments let it be."""
        if self._written.may_be_one_line(first, last):
            if first <= last:
                self.text(first, last)
            return
        for at in range(first, last + 1):
            if not self._written.is_left_out(at):
                self.text(at, at)

    def comma(self, at: int | None, sign: str) -> None:
        """Write what parts two items: `sign` in place of the comma `at`, if there is one.

        A comma that carries comments of its own, which would get lost, stays where it is.
        """
        trivia = self._written.trivia
        if at is not None and (at in trivia.above or (self._behind and at in trivia.behind)):
            self.end_line()
            self.text(at, at)
            return
        self._line += sign
        if at in trivia.behind:
            self._behind = trivia.behind[at]

    def closer(self, at: int) -> None:
        """Write a closing bracket on a line of its own, below the comments before it."""
        with self.deeper():
            self.end_line()
            self.comments(at)
        self._line = self.indent + self._written.text(at, at)
        self._behind = self._written.trivia.behind.get(at, "")

    def comments(self, at: int) -> None:
        """Write the comments above a token, each on a line of its own."""
        trivia = self._written.trivia
        for place, comment in enumerate(trivia.above.get(at, ())):
            if place and comment.parted:
                self.blank_line()
            self._lines.append(f"{self.indent}{comment.text}")
        if at in trivia.above and at in trivia.parted and not self._written.closes(at):
            self.blank_line()

    def _must_end(self, first: int) -> bool:
        """Return whether the line must end before a token, for there is a comment."""
        return bool(self._line) and (bool(self._behind) or first in self._written.trivia.above)

    def _start_line(self, at: int) -> None:
        """Begin a line with what comes before a token: the comments above it."""
        self.end_line()
        self.comments(at)
        self._line = self.indent
