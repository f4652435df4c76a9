"""What is said to a person about their text: one form, all at once, in order of place."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from qospec.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.source import Span

MOST = 20
"""More errors than this help nobody."""


NEAR = 0.66
"""How like a known name must be to be offered: of three letters one may be wrong."""
_SURE = 0.8
_SHORT = 4
"""How like it must be to be meant for sure, and how short a name may be a name of its own."""

_COMPARED = 1_000
"""With how many known names a misspelt one is compared: comparing takes longer than all else."""


class Edit(NamedTuple):
    """A text to put in the place of a span."""

    span: Span
    text: str


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
        fix: The edits that apply it, where that cannot be wrong; `qos check --fix` makes them.
    """

    code: str
    message: str
    span: Span
    label: str = ""
    others: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    fix: tuple[Edit, ...] = ()

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

    def take_fix_back(self, span: Span) -> None:
        """Tell no way out of what was told of a span and can be fixed: the fix does not do."""
        for key, each in self._found.items():
            if each.fix and each.span == span:
                self._found[key] = replace(each, help="", fix=())

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
    from difflib import get_close_matches

    compared = list(islice(known, _COMPARED))
    close = [each for each in compared if each.lower() == name.lower() or _swapped(each, name)]
    close = close or get_close_matches(name, compared, n=1, cutoff=NEAR)
    return close[0] if close else ""


def respelling(
    span: Span, written: str, known: Iterable[str], short: int = _SHORT
) -> tuple[Edit, ...]:
    """Return the edit that spells a name right, if nothing else can have been meant.

    So it is where a single known name is near and they differ by about one letter, or by capitals.
    What has fewer letters than `short` may be a name of its own.
    """
    from difflib import get_close_matches

    close = get_close_matches(written, list(known), n=2, cutoff=NEAR)
    alike = [name for name in known if name.lower() == written.lower()]
    if len(alike) != 1:
        sure = len(close) == 1 and len(written) >= short and _alike(written, close[0]) >= _SURE
        alike = close if sure else []
    return (Edit(span, alike[0]),) if alike and span.text == written else ()


def _alike(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return 1.0 if _swapped(one, other) else SequenceMatcher(None, one, other).ratio()


def _swapped(one: str, other: str) -> bool:
    return len(one) == len(other) and sorted(one) == sorted(other)
