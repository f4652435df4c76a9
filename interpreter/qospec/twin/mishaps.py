"""Words for what PyYAML says of a text that is not YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.diagnostics import Diagnostic
from qospec.source import Span

if TYPE_CHECKING:
    from qospec.source import Source


class _Words(NamedTuple):
    """What is said where PyYAML's own words hold `said`; `begins` points at what is under way."""

    said: tuple[str, ...]
    message: str
    help: str
    begins: bool = False


_KNOWN = (
    _Words(
        ("anchor",), "an anchor (`&`) has no place in this form of the language", "leave it out"
    ),
    _Words(
        ("alias",), "an alias (`*`) has no place in this form of the language", "put it in quotes"
    ),
    _Words(
        ("tag",), "a tag (`!`) has no place in this form of the language", "put the text in quotes"
    ),
    _Words(
        ("directive", "incompatible"),
        "a directive (`%`) has no place in this form of the language",
        "leave it out",
    ),
    _Words(
        ("'\\t'", "tab character"), "a tab stands where the line is indented", "indent with blanks"
    ),
    _Words(
        ("found character that cannot start", "found character '@'", "found character '`'"),
        "a text cannot begin with this character",
        "put the text in quotes",
    ),
    _Words(
        ("while scanning a quoted scalar",),
        "this text has no end",
        "close it with the quote that it begins with",
        begins=True,
    ),
    _Words(
        ("allowed here ':', the first", "allowed in this context ':', the first"),
        "this line does not fit those above it",
        "indent it as the lines that it belongs to",
    ),
    _Words(
        ("mapping values are not allowed",),
        "a second `:` stands in this line",
        "put the text in quotes if the `:` belongs to it, else begin a new line",
    ),
    _Words(
        ("flow sequence",),
        "this `[` is never closed, or a `,` is missing in it",
        "put the text in quotes if it begins with `[`, else write `]`",
        begins=True,
    ),
    _Words(
        ("flow mapping",),
        "this `{` is never closed, or a `,` is missing in it",
        "put the text in quotes if it begins with `{`, else write `}`",
        begins=True,
    ),
    _Words(
        ("could not find expected ':'",), "a `:` is missing in this line", "write it behind the key"
    ),
    _Words(
        ("block mapping", "block sequence", "block collection", "document start"),
        "this line does not fit those above it",
        "indent it as the lines that it belongs to",
    ),
)
"""The first that fits speaks."""


def mishap(error: Any, source: Source, shift: int) -> Diagnostic:
    """Return what to tell of an error of PyYAML's, whose places lie `shift` before the source's."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not"
    mark = getattr(error, "problem_mark", None)
    place = mark.index + shift if mark is not None else len(source.text)
    begins = source.text[place : place + 1]
    first = begins not in source.text[:place].rpartition("\n")[2]
    said = f"{getattr(error, 'context', None) or ''} {problem} {begins!r}"
    said += ", the first of its line" if first else ""
    for words in _KNOWN:
        if any(each in said for each in words.said):
            if words.begins:
                mark = getattr(error, "context_mark", None) or mark
            return Diagnostic("E0015", words.message, _span(mark, source, shift), help=words.help)
    return Diagnostic(
        "E0015", f"this cannot be read as YAML: {problem}", _span(mark, source, shift)
    )


def _span(mark: Any, source: Source, shift: int) -> Span:
    start = min(mark.index + shift, len(source.text)) if mark is not None else 0
    stop = start + 1 if source.text[start : start + 1].strip() else start
    return Span(source, start, stop)
