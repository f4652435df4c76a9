"""Diagnostics: errors and warnings about a text, collected and reported together, by place."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Literal

from qospec.dataclass import NamedTuple, dataclass
from qospec.secret import WITHHELD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qospec.source import Span

MOST = 20
"""The number of errors that are shown; more would not help."""


NEAR = 0.66
"""The similarity from which a known name is suggested: one of three letters may be wrong."""
_SURE = 0.8
_SHORT = 4
"""The similarity from which it is certainly meant, and the length below which it never is."""

_NUMBER = re.compile("[0-9]+")
_COMPARED = 1_000
"""The number of known names that a misspelled one is compared with: comparing is slow."""


class Edit(NamedTuple):
    """A text that replaces a span."""

    span: Span
    text: str


@dataclass(frozen=True)
class Label:
    """A place with a short text: a secondary place of a diagnostic."""

    span: Span
    text: str = ""


@dataclass(frozen=True)
class Diagnostic:
    """One error or warning.

    Attributes:
        code: `E` for an error or `W` for a warning, and a number; `spec/errors.md` has its section.
        message: What is wrong.
        span: Where.
        label: A short text under the caret.
        secondary: Secondary places, which explain the error.
        notes: Facts that help.
        help: One remedy.
        fix: The edits that apply it, if they are certain to be right; `qos check --fix` makes them.
    """

    code: str
    message: str
    span: Span
    label: str = ""
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    fix: tuple[Edit, ...] = ()

    @property
    def severity(self) -> Literal["error", "warning"]:
        """Return the severity that the code begins with."""
        return "error" if self.code.startswith("E") else "warning"


@dataclass(frozen=True)
class Demand(Diagnostic):
    """One whose remedy says how much is needed: cases may need it to different degrees.

    Attributes:
        demanded: What is needed; degrees of other things are not compared.
        degree: How much of it: the remedy of a greater one is enough for a smaller one.
    """

    demanded: str = ""
    degree: Fraction = Fraction(0)

    def is_beyond(self, other: Diagnostic) -> bool:
        """Return whether another one's remedy would not be enough for this."""
        return (
            isinstance(other, Demand)
            and self.demanded == other.demanded
            and self.degree > other.degree
        )


class SpecificationError(Exception):
    """The specification is invalid; carries all its diagnostics."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(d.message for d in self.diagnostics))


class Problems:
    """Collects the diagnostics of a phase."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int, int, str], Diagnostic] = {}

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic; of the same one at the same place, that which demands most is kept."""
        span = diagnostic.span
        key = (diagnostic.code, span.source.name, span.start, span.end, diagnostic.message)
        known = self._found.setdefault(key, diagnostic)
        if isinstance(diagnostic, Demand) and diagnostic.is_beyond(known):
            self._found[key] = diagnostic

    def withdraw_fix(self, span: Span) -> None:
        """Remove the help and the fix of diagnostics at a span: the fix does not work."""
        for key, diagnostic in self._found.items():
            if diagnostic.fix and diagnostic.span == span:
                self._found[key] = replace(diagnostic, help="", fix=())

    @property
    def all(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics, by file and place, without a key in what they say."""
        found = map(_without_keys, self._found.values())
        return tuple(sorted(found, key=lambda d: (d.span.source.name, d.span.start, d.code)))

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Return the errors among them."""
        return tuple(d for d in self.all if d.severity == "error")

    def raise_errors(self) -> None:
        """Raise SpecificationError if there is an error."""
        if self.errors:
            raise SpecificationError(self.all)


def _without_keys(found: Diagnostic) -> Diagnostic:
    """Return a diagnostic whose words have nothing of what its sources do not show."""
    places = (found.span, *(label.span for label in found.secondary))
    sources = [place.source for place in places if WITHHELD in place.source.shown]
    for source in {id(source): source for source in sources}.values():
        secondary = (
            replace(label, text=source.without_keys(label.text)) for label in found.secondary
        )
        found = replace(
            found,
            message=source.without_keys(found.message),
            label=source.without_keys(found.label),
            secondary=tuple(secondary),
            notes=tuple(map(source.without_keys, found.notes)),
            help=source.without_keys(found.help),
        )
    return found


_sought: dict[str, dict[str, None]] = {}
"""By a name that stands for any, the names that may stand there."""


@contextmanager
def collect_candidates(stand_in: str) -> Iterator[dict[str, None]]:
    """Collect what a name that stands for any other is compared with: what may stand there."""
    _sought[stand_in] = {}
    try:
        yield _sought[stand_in]
    finally:
        del _sought[stand_in]


def _note_candidates(name: str, known: Iterable[str]) -> None:
    if name in _sought:
        _sought[name].update(dict.fromkeys(known))


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return the known name that is similar enough to be meant, or nothing.

    Nothing if several differ equally, and only in their numbers: the one written is not misspelt.
    """
    from difflib import get_close_matches

    compared = list(islice(known, _COMPARED))
    _note_candidates(name, compared)
    same = [
        candidate
        for candidate in compared
        if candidate.lower() == name.lower() or _is_anagram(candidate, name)
    ]
    if same:
        return same[0]
    close = get_close_matches(name, dict.fromkeys(compared), n=2, cutoff=NEAR)
    if len(close) > 1 and _has_another_number(name, *close):
        return ""
    return close[0] if close else ""


def correct_spelling(
    span: Span, written: str, known: Iterable[str], short: int = _SHORT
) -> tuple[Edit, ...]:
    """Return the edit that corrects the spelling of a name, if nothing else can have been meant.

    That is so if a single known name is similar and differs by about one letter, or by case. A name
    with fewer letters than `short` may be a name of its own.
    """
    from difflib import get_close_matches

    _note_candidates(written, known)
    close = get_close_matches(written, list(known), n=2, cutoff=NEAR)
    matches = [name for name in known if name.lower() == written.lower()]
    if len(matches) != 1:
        sure = (
            len(close) == 1
            and len(written) >= short
            and _measure_similarity(written, close[0]) >= _SURE
        )
        matches = close if sure else []
    return (Edit(span, matches[0]),) if matches and span.text == written else ()


def _measure_similarity(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return 1.0 if _is_anagram(one, other) else SequenceMatcher(None, one, other).ratio()


def _has_another_number(name: str, one: str, other: str) -> bool:
    if len({_NUMBER.sub("0", spelling) for spelling in (name, one, other)}) > 1:
        return False
    return _measure_similarity(one, name) == _measure_similarity(other, name)


def _is_anagram(one: str, other: str) -> bool:
    return len(one) == len(other) and sorted(one) == sorted(other)
