"""From the text of a YAML file to the tree of the language, which is that of the text."""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from qospec.dataclass import dataclass
from qospec.diagnostics import Diagnostic, Label, Problems
from qospec.source import Source, Span
from qospec.syntax import ast
from qospec.syntax.limits import LONGEST
from qospec.syntax.parser import parse as parse_text
from qospec.twin.document import document
from qospec.twin.transcription import transcribed

if TYPE_CHECKING:
    from qospec.twin.transcript import Transcript
    from qospec.twin.transcription import Transcribed

_PLAIN = re.compile(r"[\w=<>!%/.-]+")
"""What may be put into a scalar of any style."""


@dataclass(frozen=True)
class Twin(Span):
    """A stretch of a YAML file. What stands there is what it says in the text of the language."""

    said: Span = field(compare=False, repr=False, kw_only=True)

    @property
    def text(self) -> str:
        """Return what stands there, as the text has it."""
        return self.said.text

    def to(self, other: Span) -> Span:
        """Return the span from here to the end of `other`."""
        said = self.said.to(other.said) if isinstance(other, Twin) else self.said
        return Twin(self.source, self.start, other.end, said=said)


def parse(source: Source, problems: Problems) -> ast.File | None:
    """Return the tree of a YAML file; the rest is as `syntax.text.parse` has it."""
    made = _made(source, problems)
    if made is None:
        return None
    text = Source(source.name, made.transcript.text, source.recorded_as)
    told = Problems()
    tree = parse_text(text, told)
    starts = [diagnostic.span for diagnostic in told.errors]
    for diagnostic in told.all:
        problems.add(_moved_diagnostic(diagnostic, made.transcript))
    for doubt in made.doubts:
        if not any(doubt.start <= each.end and each.start <= doubt.end for each in starts):
            problems.add(doubt.diagnostic)
    if tree is None:
        return None
    moved = _Mover(made.transcript).moved(tree)
    return _with_unread(moved, made.lost)


def text_of(source: Source, problems: Problems) -> Source | None:
    """Return a YAML file in the text of the language, its comments included, but not laid out.

    None where a mistake is told.
    """
    found = Problems()
    made = _made(source, found)
    if made is not None and parse(source, found) is not None and not found.errors:
        return Source(source.name, made.transcript.text)
    for diagnostic in found.all:
        problems.add(diagnostic)
    return None


def _made(source: Source, problems: Problems) -> Transcribed | None:
    read = document(source, problems)
    made = transcribed(read, problems) if read is not None else None
    if made is not None and made.transcript.length > LONGEST:
        message = (
            f"as a .qos file this has {made.transcript.length:_} characters, more than {LONGEST:_}"
        )
        span = Span(source, 0, 0)
        problems.add(Diagnostic("E0012", message, span, help="split it, and import its parts"))
        return None
    return made


def _with_unread(tree: ast.File, lost: frozenset[str]) -> ast.File:
    return ast.File(**{**vars(tree), "unread": tree.unread | lost}) if lost else tree


def _moved_diagnostic(diagnostic: Diagnostic, transcript: Transcript) -> Diagnostic:
    """Return a diagnostic of the transcribed text as one of the YAML file."""

    def moved(span: Span) -> Span:
        return _moved(span, transcript)

    plain = all(_PLAIN.fullmatch(edit.text) for edit in diagnostic.fix)
    return replace(
        diagnostic,
        span=moved(diagnostic.span),
        others=tuple(Label(moved(label.span), label.text) for label in diagnostic.others),
        fix=tuple(edit._replace(span=moved(edit.span)) for edit in diagnostic.fix if plain),
    )


def _moved(span: Span, transcript: Transcript) -> Twin:
    """Return where in the YAML file a stretch of the transcribed text comes from."""
    place = transcript.place(span.start, span.end)
    return Twin(place.source, place.start, place.end, said=span)


class _Mover:
    """Copies a tree to the places that its text comes from."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    def moved(self, node: ast.Node) -> Any:
        """Return the same tree, its spans in the YAML file."""
        values: dict[str, Any] = {name: self._value(each) for name, each in vars(node).items()}
        return type(node)(**values)

    def _value(self, value: object) -> object:
        if isinstance(value, ast.Node):
            return self.moved(value)
        if isinstance(value, tuple):
            return tuple(self._value(each) for each in value)
        if isinstance(value, Span):
            return _moved(value, self._transcript)
        return value
