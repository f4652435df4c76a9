"""What is said to a person about their text: one form, all at once, in order of place."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.source import Span

MOST = 20
"""More errors than this help nobody."""


@dataclass(frozen=True)
class Label:
    """A place with a few words: the caret's own, or another place that makes it wrong."""

    span: Span
    text: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One mistake.

    Attributes:
        code: `E` for an error or `W` for a warning, and a number; `spec/errors.md` has its page.
        message: What is wrong, in the reader's words.
        span: Where.
        label: A few words under the caret.
        others: The other places that make it wrong.
        notes: Facts that help.
        help: One way out that can be applied.
    """

    code: str
    message: str
    span: Span
    label: str = ""
    others: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Return what its code begins with, as a word."""
        return "error" if self.code.startswith("E") else "warning"


class SpecificationError(Exception):
    """The specification is wrong; carries everything that is."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(d.message for d in self.diagnostics))


class Problems:
    """Collects the diagnostics of a phase."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int, int, str], Diagnostic] = {}

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic; the same one at the same place is kept once."""
        span = diagnostic.span
        key = (diagnostic.code, span.source.name, span.start, span.end, diagnostic.message)
        self._found.setdefault(key, diagnostic)

    @property
    def all(self) -> tuple[Diagnostic, ...]:
        """Return what was found, by file and place."""
        return tuple(
            sorted(self._found.values(), key=lambda d: (d.span.source.name, d.span.start, d.code))
        )

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Return the errors among them."""
        return tuple(d for d in self.all if d.severity == "error")

    def raise_errors(self) -> None:
        """Raise SpecificationError if there is an error."""
        if self.errors:
            raise SpecificationError(self.all)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the known name that is near enough to be meant, or nothing."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.67)
    return close[0] if close else ""
