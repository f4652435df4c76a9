"""Source texts and spans in them."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from functools import cached_property

from qospec.dataclass import dataclass
from qospec.secret import WITHHELD, redact, redact_words
from qospec.visible import make_visible


@dataclass(frozen=True)
class Source:
    """A text that a specification came from.

    Attributes:
        name: Its path as the user would write it here.
        text: What it holds.
        recorded_as: Its path as records have it, the same wherever the project and the library
            lie; "" if that is its name.
        digest: The SHA-256 of what a capture holds, whose text is ""; "" of all other files.
    """

    name: str
    text: str
    recorded_as: str = ""
    digest: str = ""

    @property
    def recorded_name(self) -> str:
        """Return its path as in records: `std/...` in the library, else relative to the project."""
        return self.recorded_as or self.name

    @property
    def is_of_library(self) -> bool:
        """Return whether it is a file of the library."""
        return self.recorded_name.startswith("std/")

    @cached_property
    def shown(self) -> str:
        """Return the text without the keys in it, as messages and records have it."""
        return redact(self.text)

    @property
    def sha256(self) -> str:
        """Return the SHA-256 as records have it: of a text, that of what is shown of it."""
        return self.digest or hashlib.sha256(self.shown.encode()).hexdigest()

    def hide(self, start: int, end: int) -> None:
        """Show stars in place of a text in quotes from now on, as it is meant as a key."""
        stars = re.sub(r"[^\"'\r\n]", WITHHELD, self.shown[start:end])
        vars(self)["shown"] = self.shown[:start] + stars + self.shown[end:]

    def without_keys(self, message: str) -> str:
        """Return what is said of the text, without what is not shown of it."""
        found = re.finditer(re.escape(WITHHELD) + "+", self.shown)
        withheld = " ".join(self.text[match.start() : match.end()] for match in found)
        return redact_words(message, withheld)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Return the offset at which each line begins."""
        starts = [0]
        for offset, character in enumerate(self.text):
            if character == "\n":
                starts.append(offset + 1)
        return tuple(starts)

    def find_position(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def read_line(self, number: int) -> str:
        """Return a line as it is shown, from 1, without its end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.shown[start:end].rstrip("\r\n")


@dataclass(frozen=True)
class Span:
    """A range of a source, as two offsets in characters."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """Return the text of the span, as it is shown."""
        return self.source.shown[self.start : self.end]

    @property
    def place(self) -> str:
        """Return `name:line:column`, which terminals make clickable."""
        line, column = self.source.find_position(self.start)
        return f"{make_visible(self.source.name)}:{line}:{column}"

    @property
    def recorded_place(self) -> str:
        """Return `name:line:column` with the name that records have."""
        line, column = self.source.find_position(self.start)
        return f"{self.source.recorded_name}:{line}:{column}"

    def __contains__(self, other: Span) -> bool:
        """Return whether another begins in it."""
        return other.source is self.source and self.start <= other.start < self.end

    def hide(self) -> None:
        """Show stars in place of its text, in whatever is shown of its source from now on."""
        self.source.hide(self.start, self.end)

    def extend_to(self, other: Span) -> Span:
        """Return the span from here to the end of `other`."""
        return Span(self.source, self.start, other.end)
