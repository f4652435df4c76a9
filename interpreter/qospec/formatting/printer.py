"""The printer: writes tokens with their comments to lines, and knows the current column."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.formatting.source import ParsedSource

WIDTH = 100
"""Columns of a line, except for comments and for what cannot be broken."""
STEP = "  "
"""One step of indentation."""


class Printer:
    """Writes a file's tokens, each with its comments, and breaks lines on demand.

    A trailing comment is held back until the line ends, so that a `,` may still follow.
    """

    def __init__(self, parsed: ParsedSource) -> None:
        """Begin at the start of an empty text."""
        self._parsed = parsed
        self._lines: list[str] = []
        self._line = ""
        self._behind = ""
        self.indent = ""

    def join_text(self) -> str:
        """Return the text."""
        self.end_line()
        return "".join(f"{line}\n" for line in self._lines)

    @contextmanager
    def indent_more(self) -> Iterator[None]:
        """Indent by one more step."""
        before, self.indent = self.indent, self.indent + STEP
        yield
        self.indent = before

    # ---- lines

    def end_line(self) -> None:
        """Begin a new line unless this one is empty."""
        if self._line:
            self._lines.append(f"{self._line}  {self._behind}" if self._behind else self._line)
            self._line = self._behind = ""

    def leave_blank_line(self) -> None:
        """Leave one line blank, but never two, and none at the start of the text."""
        self.end_line()
        if self._lines and self._lines[-1]:
            self._lines.append("")

    # ---- words

    def fits(self, first: int, last: int, after: int = 0) -> bool:
        """Return whether a range of tokens fits on this line, with `after` columns to spare."""
        parsed = self._parsed
        if not parsed.may_be_one_line(first, last) or self._must_end(first):
            return False
        column = len(self._line) + len(parsed.find_gap(first)) if self._line else len(self.indent)
        return column + parsed.measure_width(first, last) + after <= WIDTH

    def write_text(self, first: int, last: int) -> None:
        """Write a range of tokens that has no comments within on one line."""
        if self._must_end(first):
            with self.indent_more():
                self._start_line(first)
        elif not self._line:
            self._start_line(first)
        else:
            self._line += self._parsed.find_gap(first)
        self._line += self._parsed.join_tokens(first, last)
        self._behind = self._parsed.trivia.trailing.get(last, "")

    def write_words(self, first: int, last: int) -> None:
        """Write a range of tokens, on one line where comments let it be."""
        if self._parsed.may_be_one_line(first, last):
            if first <= last:
                self.write_text(first, last)
            return
        for at in range(first, last + 1):
            if not self._parsed.is_left_out(at):
                self.write_text(at, at)

    def write_comma(self, at: int | None, sign: str) -> None:
        """Write what parts two items: `sign` in place of the comma `at`, if there is one.

        A comma that carries comments of its own, which would get lost, stays where it is.
        """
        trivia = self._parsed.trivia
        if at is not None and (at in trivia.above or (self._behind and at in trivia.trailing)):
            self.end_line()
            self.write_text(at, at)
            return
        self._line += sign
        if at in trivia.trailing:
            self._behind = trivia.trailing[at]

    def write_closer(self, at: int) -> None:
        """Write a closing bracket on a line of its own, below the comments before it."""
        with self.indent_more():
            self.end_line()
            self.write_comments(at)
        self._line = self.indent + self._parsed.join_tokens(at, at)
        self._behind = self._parsed.trivia.trailing.get(at, "")

    def write_comments(self, at: int) -> None:
        """Write the comments above a token, each on a line of its own."""
        trivia = self._parsed.trivia
        for place, comment in enumerate(trivia.above.get(at, ())):
            if place and comment.blank_above:
                self.leave_blank_line()
            self._lines.append(f"{self.indent}{comment.text}")
        if at in trivia.above and at in trivia.blank_above and not self._parsed.closes(at):
            self.leave_blank_line()

    def _must_end(self, first: int) -> bool:
        """Return whether a comment forces a line end before a token."""
        return bool(self._line) and (bool(self._behind) or first in self._parsed.trivia.above)

    def _start_line(self, at: int) -> None:
        """Begin a line with the comments above a token."""
        self.end_line()
        self.write_comments(at)
        self._line = self.indent
