"""Puts scalars into a transcript: each in its place, and not beyond it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from qospec.diagnostics import Diagnostic
from qospec.source import Span
from qospec.twin import scalars
from qospec.twin.document import Unreadable
from qospec.twin.shapes import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.source import Source
    from qospec.twin.demands import Demands
    from qospec.twin.document import Scalar
    from qospec.twin.transcript import Transcript


class Doubt(NamedTuple):
    """What is to be told of a stretch of the text if the parser finds nothing wrong with it."""

    start: int
    end: int
    diagnostic: Diagnostic


class Speech:
    """Says scalars.

    Attributes:
        doubts: What holds more than its place asks for, unless the parser says so itself.
    """

    def __init__(self, source: Source, text: Transcript, demands: Demands) -> None:
        self.doubts: list[Doubt] = []
        self._source = source
        self._text = text
        self._demands = demands

    def say(self, scalar: Scalar, role: Role | None) -> None:
        """Say a scalar, if it stays in its place; without a role it may be statements."""
        text, offsets = scalars.said(scalar, self._source)
        if not text:
            what = role.value if role else "a statement"
            raise self._demands.wrong("E0011", f"{what} is missing", scalar)
        lines = scalar.style == scalars.LITERAL
        problem = scalars.unbalanced(text, lines=lines)
        if problem is not None:
            raise Unreadable(self._told(problem, scalar, offsets))
        start = self._text.said(text, scalar.start, scalar.end, offsets)
        problem = scalars.stranger(text, role) if role else None
        if problem is not None:
            told = self._told(problem, scalar, offsets)
            self.doubts.append(Doubt(start, self._text.length, told))
        if lines and "#" in text.rpartition("\n")[2]:
            self._text.line()

    def quote(self, scalar: Scalar) -> None:
        """Say a scalar that is a text in both forms, and in this one without its quotes."""
        kept = scalar.value.strip("\r\n")
        found = re.search(r'["\r\n]', kept)
        if found:
            what = 'no `"`' if found.group() == '"' else "one line"
            raise self._demands.wrong("E0008", f"a text holds {what}", scalar)
        text, offsets = scalars.said(scalar, self._source)
        self._text.word('"', scalar.start)
        self._text.glue()
        # Blanks at its ends are part of it.
        self._text.said(kept, scalar.start, scalar.end, offsets if kept == text else None)
        self._text.joined('"', scalar.end)

    def forget(self) -> None:
        """Forget the doubts about what was taken back."""
        self.doubts = [doubt for doubt in self.doubts if doubt.end <= self._text.length]

    def _told(
        self, problem: scalars.Problem, scalar: Scalar, offsets: Sequence[int] | None
    ) -> Diagnostic:
        """Return what is told of a problem within a scalar."""
        there = list(offsets or ())[problem.start : problem.end]
        span = Span(self._source, there[0], there[-1] + 1) if there else self._demands.span(scalar)
        return Diagnostic(problem.code, problem.message, span, help=problem.help)
