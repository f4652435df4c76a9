"""The text of the language that a YAML file becomes, with a source map back to the YAML."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.source import Source
    from qospec.yaml_twin.nodes import Comment, Mapping
    from qospec.yaml_twin.nodes import Sequence as YamlSequence

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")


class _Piece(NamedTuple):
    """A piece of the text: where it comes from, and where each of its characters does."""

    start: int
    end: int
    offsets: Sequence[int] | None


class Mark(NamedTuple):
    """A position in a transcript to rewind to."""

    parts: int
    pieces: int
    length: int
    fresh: bool
    last: int
    comments: int


class Transcript:
    """Takes words, scalars and comments in the order of the text.

    Comments are placed by their position in the YAML: before a statement, after one on its line, or
    before the end of a block if they are indented like it.
    """

    def __init__(self, source: Source, comments: Sequence[Comment]) -> None:
        self._source = source
        self._comments = comments
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._pieces: list[_Piece] = []
        self._length = 0
        self._fresh = True  # at the beginning of a line
        self._glued = False
        self._last = 0  # where in the YAML the last piece ends
        self._next = 0  # the next comment

    @property
    def text(self) -> str:
        """Return the text so far."""
        return "".join(self._parts)

    @property
    def length(self) -> int:
        """Return the length of the text so far."""
        return self._length

    # ---- writing

    def write_word(self, text: str, start: int, end: int | None = None) -> None:
        """Write a token that is not in the YAML, or is in a key: a keyword, an operator."""
        self._write(text, _Piece(start, start if end is None else end, None))
        self._last = max(self._last, end or 0)

    def write_scalar(self, text: str, start: int, end: int, offsets: Sequence[int] | None) -> int:
        """Write the text of a scalar; return its offset."""
        self._write(text, _Piece(start, end, offsets))
        self._last = max(self._last, self._trim(start, end))
        return self._length - len(text)

    def write_joined(self, text: str, start: int) -> None:
        """Write a token that is not in the YAML, without a space before it."""
        self._write_raw(text, _Piece(start, start, None))

    def leave_out_space(self) -> None:
        """Write the next token without a space before it."""
        self._glued = True

    def begin_line(self) -> None:
        """Begin a new line."""
        if not self._fresh:
            self._write_raw("\n", None)
            self._fresh = True

    def begin(self, start: int) -> None:
        """Begin a statement, with the comments before it in the YAML."""
        self.write_comments_until(start)
        self.begin_line()
        self._write_blank_line(start)

    def write_comments_until(self, limit: int) -> bool:
        """Write the comments before an offset; return whether there are any."""
        first = self._next
        while self._next < len(self._comments) and self._comments[self._next].start < limit:
            self._write_comment(self._comments[self._next])
            self._next += 1
        return self._next > first

    def close(self, text: str, block: Mapping | YamlSequence) -> None:
        """Write the end of a block, and before it the comments that are in it."""
        self.write_comments_until(block.end)
        while not block.flow and self._next < len(self._comments):
            comment = self._comments[self._next]
            if comment.previous_end > block.end or not (
                self._is_trailing(comment)
                or self._find_column(comment.start) >= self._find_column(block.start)
            ):
                break
            self._write_comment(comment)
            self._next += 1
        self.begin_line()
        if block.flow:
            self._last = max(self._last, block.end)
        self.write_word(text, self._last)

    def _write(self, text: str, piece: _Piece) -> None:
        if not (self._fresh or self._glued):
            self._write_raw(" ", None)
        self._write_raw(text, piece)
        self._fresh = self._glued = False

    def _write_raw(self, text: str, piece: _Piece | None) -> None:
        if piece is not None:
            self._starts.append(self._length)
            self._pieces.append(piece)
        self._parts.append(text)
        self._length += len(text)

    def _write_comment(self, comment: Comment) -> None:
        if not self._is_trailing(comment):
            self.begin_line()
            self._write_blank_line(comment.start)
        elif not self._fresh:
            self._write_raw("  ", None)
        self._write_raw(self._source.text[comment.start : comment.end].rstrip(), None)
        self._write_raw("\n", None)
        self._fresh = True
        self._last = max(self._last, comment.end)

    def _is_trailing(self, comment: Comment) -> bool:
        return not self._fresh and "\n" not in self._source.text[self._last : comment.start]

    def _write_blank_line(self, start: int) -> None:
        if self._length and _BLANK_LINE.search(self._source.text, self._last, start):
            self._write_raw("\n", None)

    def _find_column(self, offset: int) -> int:
        return offset - self._source.text.rfind("\n", 0, offset)

    def _trim(self, start: int, end: int) -> int:
        return start + len(self._source.text[start:end].rstrip())

    # ---- rewinding

    def take_mark(self) -> Mark:
        """Return the current position."""
        parts, pieces = len(self._parts), len(self._pieces)
        return Mark(parts, pieces, self._length, self._fresh, self._last, self._next)

    def rewind(self, mark: Mark) -> None:
        """Drop what was written since a mark."""
        del self._parts[mark.parts :], self._starts[mark.pieces :], self._pieces[mark.pieces :]
        self._length, self._fresh, self._last, self._next = mark[2:]

    # ---- from the text to the YAML

    def find_yaml_span(self, start: int, end: int) -> Span:
        """Return where in the YAML a range of tokens of the text comes from."""
        if start == end:
            there = self._find_end(end)
            return Span(self._source, there, there)
        first = self._find_start(start)
        return Span(self._source, first, max(first, self._find_end(end)))

    def _find_piece(self, offset: int) -> tuple[_Piece, int]:
        """Return the piece at or before an offset, and how far behind its start that is."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return _Piece(0, 0, None), 0
        return self._pieces[at], offset - self._starts[at]

    def _find_start(self, offset: int) -> int:
        piece, inner = self._find_piece(offset)
        if piece.offsets:
            return piece.offsets[inner] if inner < len(piece.offsets) else piece.end
        return piece.start

    def _find_end(self, offset: int) -> int:
        piece, inner = self._find_piece(max(0, offset - 1))
        if piece.offsets:
            return piece.offsets[inner] + 1 if inner < len(piece.offsets) else piece.end
        return piece.end
