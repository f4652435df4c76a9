"""From the text of a YAML file to its nodes: texts, mappings and lists.

Our own loop composes PyYAML's events into nodes. It keeps each scalar as text, rejects what the
language does not use, and counts levels before anything could recurse over them. PyYAML's messages
about a text that is not YAML are replaced by our own.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import MOST, Diagnostic, Label
from qospec.source import Span
from qospec.syntax.lexical_errors import explain_hidden, shorten
from qospec.syntax.limits import DEEPEST, explain_too_long
from qospec.visible import find_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.diagnostics import Problems
    from qospec.source import Source


class _KnownError(NamedTuple):
    """Our message for PyYAML's messages that contain one of `phrases`.

    If it `begins`, it points at where the construct begins.
    """

    phrases: tuple[str, ...]
    message: str
    help: str
    begins: bool = False


_KNOWN = (
    _KnownError(("anchor",), "an anchor (`&`) is not allowed in a specification", "leave it out"),
    _KnownError(("alias",), "an alias (`*`) is not allowed in a specification", "put it in quotes"),
    _KnownError(
        ("tag",), "a tag (`!`) is not allowed in a specification", "put the text in quotes"
    ),
    _KnownError(
        ("directive", "incompatible"),
        "a directive (`%`) is not allowed in a specification",
        "leave it out",
    ),
    _KnownError(
        ("'\\t'", "tab character"), "this line is indented with a tab", "indent with spaces"
    ),
    _KnownError(
        ("found character that cannot start", "found character '@'", "found character '`'"),
        "a text cannot begin with this character",
        "put the text in quotes",
    ),
    _KnownError(
        ("while scanning a quoted scalar",),
        "this text is never closed",
        "close it with the quote that opens it",
        begins=True,
    ),
    _KnownError(
        ("allowed here ':', the first", "allowed in this context ':', the first"),
        "the indentation of this line does not fit the lines above",
        "indent it like the lines that it belongs to",
    ),
    _KnownError(
        ("mapping values are not allowed",),
        "this line has a second `:`",
        "put the text in quotes if the `:` belongs to it, or begin a new line",
    ),
    _KnownError(
        ("flow sequence",),
        "this `[` is never closed, or a `,` is missing in it",
        "put the text in quotes if it begins with `[`, else write `]`",
        begins=True,
    ),
    _KnownError(
        ("flow mapping",),
        "this `{` is never closed, or a `,` is missing in it",
        "put the text in quotes if it begins with `{`, else write `}`",
        begins=True,
    ),
    _KnownError(
        ("could not find expected ':'",), "expected `:` in this line", "write it after the key"
    ),
    _KnownError(
        ("block mapping", "block sequence", "block collection", "document start"),
        "the indentation of this line does not fit the lines above",
        "indent it like the lines that it belongs to",
    ),
)
"""The first that matches applies."""


def explain_yaml_error(error: Any, source: Source, shift: int) -> Diagnostic:
    """Return the diagnostic for a PyYAML error, whose marks are `shift` less than the source's."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not"
    mark = getattr(error, "problem_mark", None)
    place = mark.index + shift if mark is not None else len(source.text)
    begins = source.text[place : place + 1]
    first = begins not in source.text[:place].rpartition("\n")[2]
    text = f"{getattr(error, 'context', None) or ''} {problem} {begins!r}"
    text += ", the first of its line" if first else ""
    for words in _KNOWN:
        if any(phrase in text for phrase in words.phrases):
            if words.begins:
                mark = getattr(error, "context_mark", None) or mark
            return Diagnostic(
                "E0015", words.message, _find_span(mark, source, shift), help=words.help
            )
    return Diagnostic(
        "E0015", f"this cannot be read as YAML: {problem}", _find_span(mark, source, shift)
    )


def _find_span(mark: Any, source: Source, shift: int) -> Span:
    start = min(mark.index + shift, len(source.text)) if mark is not None else 0
    stop = start + 1 if source.text[start : start + 1].strip() else start
    return Span(source, start, stop)


LEVELS = 5 * DEEPEST
"""Nested lists and mappings: a block of the text takes up to five levels."""

_COMMENT = re.compile(r"#[^\n]*")


class TranscriptionError(Exception):
    """An error that ends the transcription of the node that contains it."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


@dataclass
class Scalar:
    """A text. `start` and `end` include its quotes; `style` is the first of them, or `|`, `>`."""

    value: str
    start: int
    end: int
    style: str = ""


@dataclass
class Mapping:
    """Keys with their values, in order; `flow` is for `{…}`."""

    start: int
    end: int = 0
    flow: bool = False
    entries: list[tuple[Scalar, Node]] = field(default_factory=list)


@dataclass
class Sequence:
    """Items in order; `flow` is for `[…]`."""

    start: int
    end: int = 0
    flow: bool = False
    items: list[Node] = field(default_factory=list)


Node = Scalar | Mapping | Sequence


class Comment(NamedTuple):
    """A comment: where it begins and ends, and where the text before it ends."""

    start: int
    end: int
    previous_end: int


class Document(NamedTuple):
    """A file: its only node, and its comments in order."""

    source: Source
    root: Node
    comments: tuple[Comment, ...]


def compose(source: Source, problems: Problems) -> Document | None:
    """Return the content of a YAML file, or None if it cannot be parsed; report what is wrong."""
    beyond = explain_too_long(source) or _report_hidden(source)
    if beyond is not None:
        problems.add(beyond)
        return None
    try:
        return _Composer(source, problems).compose_document()
    except TranscriptionError as unreadable:
        problems.add(unreadable.diagnostic)
        return None


def _report_hidden(source: Source) -> Diagnostic | None:
    start = next(find_hidden(source.text), None)
    if start is None:
        return None
    error = explain_hidden(source.text[start])
    return Diagnostic(error.code, error.message, Span(source, start, start + 1), help=error.help)


def find_first_key(text: str) -> str | None:
    """Return the first key of the first mapping; None if something else comes first."""
    import yaml

    opened = False
    try:
        for event in _iterate_events(text.removeprefix("\ufeff")):
            if isinstance(event, yaml.ScalarEvent):
                return str(event.value) if opened else None
            opened = isinstance(event, yaml.MappingStartEvent)
    except yaml.YAMLError:
        return None
    return None


def _iterate_events(text: str) -> Iterator[Any]:
    """Yield PyYAML's events, from its C loader if there is one: the same, but faster."""
    import yaml

    yield from yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


class _Composer:
    """Composes the events of one file into nodes."""

    def __init__(self, source: Source, problems: Problems) -> None:
        self._source = source
        self._problems = problems
        self._mark = 1 if source.text.startswith("\ufeff") else 0  # which PyYAML need not see
        self._open: list[Mapping | Sequence] = []
        self._keys: list[Scalar | None] = []  # of each open mapping, the key that has no value yet
        self._known: list[dict[str, Scalar]] = []
        self._root: Node | None = None
        self._documents = self._twice = 0
        self._last = 0
        self._comments: list[Comment] = []

    def compose_document(self) -> Document:
        for event in self._read_events():
            self._follow(event)
        self._look_for_comments(len(self._source.text))
        if self._root is None:
            self._root = Scalar("", 0, 0)
        return Document(self._source, self._root, tuple(self._comments))

    def _read_events(self) -> Iterator[Any]:
        import yaml

        try:
            yield from _iterate_events(self._source.text[self._mark :])
        except yaml.YAMLError as error:
            raise TranscriptionError(explain_yaml_error(error, self._source, self._mark)) from error

    def _follow(self, event: Any) -> None:
        what = type(event).__name__
        start, end = event.start_mark.index + self._mark, event.end_mark.index + self._mark
        if what == "DocumentStartEvent":
            self._begin(start, end)
            return
        if what == "AliasEvent":
            raise self._build_foreign_error(
                start, end, "an alias (`*`)", "write out what it stands for"
            )
        if getattr(event, "anchor", None) is not None:
            raise self._build_foreign_error(start, end, "an anchor (`&`)", "leave it out")
        if getattr(event, "tag", None) is not None:
            raise self._build_foreign_error(
                start, end, "a tag (`!`)", "leave it out: every value is text"
            )
        if what == "ScalarEvent":
            self._take_scalar(event, start, end)
        elif what in ("MappingStartEvent", "SequenceStartEvent"):
            transcription = Mapping if what == "MappingStartEvent" else Sequence
            self._add(transcription(start, flow=bool(event.flow_style)))
        elif what in ("MappingEndEvent", "SequenceEndEvent"):
            self._close(end)

    def _take_scalar(self, event: Any, start: int, end: int) -> None:
        if start == end:
            start = end = self._last  # nothing is behind a key: its end is the place
        self._look_for_comments(start)
        self._last = end
        style = "" if event.style in (None, "") else event.style
        if style in {"|", ">"}:
            self._look_at_head(start, end)
        self._add(Scalar(event.value, start, end, style))

    def _begin(self, start: int, end: int) -> None:
        self._documents += 1
        if self._source.text.startswith("%", start):
            raise self._build_foreign_error(start, end, "a directive (`%`)", "leave it out")
        if self._documents > 1:
            raise self._build_foreign_error(
                start, end, "a second document", "put it into a file of its own"
            )

    def _build_foreign_error(
        self, start: int, end: int, what: str, help_text: str
    ) -> TranscriptionError:
        message = f"{what} is not allowed in a specification"
        return TranscriptionError(
            Diagnostic("E0013", message, self._build_line_span(start, end), help=help_text)
        )

    def _build_line_span(self, start: int, end: int) -> Span:
        """Return a span that stays within its first line."""
        stop = self._source.text.find("\n", start)
        return Span(self._source, start, min(end, stop) if stop >= 0 else end)

    def _add(self, node: Node) -> None:
        """Add a node where it belongs: as a key, a value, an item, or the root."""
        if not self._open:
            self._root = node
        elif isinstance(within := self._open[-1], Sequence):
            within.items.append(node)
        elif self._keys[-1] is None:
            self._keys[-1] = self._take_key(node)
        else:
            self._pair(within, self._keys[-1], node)
            self._keys[-1] = None
        if not isinstance(node, Scalar):
            if len(self._open) == LEVELS:
                message = f"lists and mappings are nested more than {LEVELS} levels deep"
                raise TranscriptionError(
                    Diagnostic("E0012", message, self._build_line_span(node.start, node.start + 1))
                )
            self._open.append(node)
            self._keys.append(None)
            self._known.append({})

    def _take_key(self, node: Node) -> Scalar:
        if not isinstance(node, Scalar):
            span = self._build_line_span(node.start, node.start + 1)
            raise TranscriptionError(
                Diagnostic("E0013", "a key must be a text", span, help="put the key in quotes")
            )
        if node.value == "<<" and not node.style:
            raise self._build_foreign_error(
                node.start, node.end, "a merge key (`<<`)", "write out its keys"
            )
        return node

    def _pair(self, mapping: Mapping, key: Scalar, node: Node) -> None:
        known = self._known[-1].setdefault(key.value, key)
        if known is not key:
            self._twice += 1
            if self._twice > MOST:
                return
            self._problems.add(
                Diagnostic(
                    "E0014",
                    f"the key `{shorten(key.value)}` is given twice",
                    self._build_line_span(key.start, key.end),
                    secondary=(
                        Label(self._build_line_span(known.start, known.end), "first given here"),
                    ),
                    help="remove one, or write a list of mappings if both are meant",
                )
            )
            return
        mapping.entries.append((key, node))

    def _close(self, end: int) -> None:
        closed = self._open.pop()
        self._keys.pop()
        self._known.pop()
        closed.end = end if closed.flow else max(closed.start, self._last)

    def _look_for_comments(self, until: int) -> None:
        """Keep the comments between the last text and the next; no other `#` can be there."""
        for found in _COMMENT.finditer(self._source.text, self._last, until):
            self._comments.append(Comment(*found.span(), self._last))

    def _look_at_head(self, start: int, end: int) -> None:
        """Keep the comment after the indicator of a block scalar."""
        stop = self._source.text.find("\n", start, end)
        found = _COMMENT.search(self._source.text, start, end if stop < 0 else stop)
        if found is not None:
            self._comments.append(Comment(*found.span(), start))
