"""From a YAML file to the text of a `.qos` file that says the same, and to the tree of that."""

from __future__ import annotations

import re
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple, dataclass
from qospec.diagnostics import MOST, Diagnostic, Label, Problems, suggest_name
from qospec.source import Source, Span
from qospec.syntax import ast
from qospec.syntax.grammar import load_keywords
from qospec.syntax.lexical_errors import shorten
from qospec.syntax.limits import LONGEST
from qospec.syntax.parser import EDITION
from qospec.syntax.parser import parse as parse_text
from qospec.yaml_twin.expectations import Expectations, list_keys
from qospec.yaml_twin.nodes import Mapping, Scalar, Sequence, TranscriptionError, compose
from qospec.yaml_twin.scalars import DeferredError, ScalarWriter
from qospec.yaml_twin.shapes import BIND, BLOCK, FILE, Grouping, Role, Shape
from qospec.yaml_twin.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qospec.diagnostics import Problems
    from qospec.yaml_twin.nodes import Document, Node
    from qospec.yaml_twin.shapes import Part
    from qospec.yaml_twin.transcript import Transcript

_PLAIN = re.compile(r"[\w=<>!%/.-]+")
"""What may be put into a scalar of any style."""


@dataclass(frozen=True)
class TranscribedSpan(Span):
    """A span of a YAML file whose text is its transcription in the language."""

    text_span: Span = field(compare=False, repr=False, kw_only=True)

    @property
    def text(self) -> str:
        """Return the transcribed text."""
        return self.text_span.text

    def hide(self) -> None:
        """Show stars in place of its text, in the file and in the transcription."""
        super().hide()
        self.text_span.hide()

    def extend_to(self, other: Span) -> Span:
        """Return the span from here to the end of `other`."""
        text_span = (
            self.text_span.extend_to(other.text_span)
            if isinstance(other, TranscribedSpan)
            else self.text_span
        )
        return TranscribedSpan(self.source, self.start, other.end, text_span=text_span)


def parse(source: Source, problems: Problems) -> ast.File | None:
    """Return the tree of a YAML file; otherwise as `syntax.parser.parse`."""
    transcription = _transcribe(source, problems)
    if transcription is None:
        return None
    text = Source(source.name, transcription.transcript.text, source.recorded_as)
    found = Problems()
    tree = parse_text(text, found)
    starts = [diagnostic.span for diagnostic in found.errors]
    for diagnostic in found.all:
        problems.add(_map_diagnostic(diagnostic, transcription.transcript))
    for error in transcription.deferred:
        if not any(error.start <= start.end and start.start <= error.end for start in starts):
            problems.add(error.diagnostic)
    if tree is None:
        return None
    mapped = _TreeMapper(transcription.transcript).map_span(tree)
    return _with_unread(mapped, transcription.lost)


def transcribe_yaml(source: Source, problems: Problems) -> Source | None:
    """Return a YAML file in the text of the language, its comments included, but not formatted.

    None if there are errors in it.
    """
    found = Problems()
    transcription = _transcribe(source, found)
    if transcription is not None and parse(source, found) is not None and not found.errors:
        return Source(source.name, transcription.transcript.text)
    for diagnostic in found.all:
        problems.add(diagnostic)
    return None


def _transcribe(source: Source, problems: Problems) -> Transcription | None:
    read = compose(source, problems)
    transcription = transcribe(read, problems) if read is not None else None
    length = transcription.transcript.length if transcription is not None else 0
    if length > LONGEST:
        message = f"as a .qos file this has {length:_} characters, more than {LONGEST:_}"
        span = Span(source, 0, 0)
        problems.add(Diagnostic("E0012", message, span, help="split it, and import its parts"))
        return None
    return transcription


def _with_unread(tree: ast.File, lost: frozenset[str]) -> ast.File:
    return ast.File(**{**vars(tree), "unparsed": tree.unparsed | lost}) if lost else tree


def _map_diagnostic(diagnostic: Diagnostic, transcript: Transcript) -> Diagnostic:
    """Return a diagnostic of the transcribed text as one of the YAML file."""

    def map_span(span: Span) -> Span:
        return _map_span(span, transcript)

    plain = all(_PLAIN.fullmatch(edit.text) for edit in diagnostic.fix)
    return replace(
        diagnostic,
        span=map_span(diagnostic.span),
        secondary=tuple(Label(map_span(label.span), label.text) for label in diagnostic.secondary),
        fix=tuple(edit._replace(span=map_span(edit.span)) for edit in diagnostic.fix if plain),
    )


def _map_span(span: Span, transcript: Transcript) -> TranscribedSpan:
    """Return where in the YAML file a range of tokens of the transcribed text comes from."""
    place = transcript.find_yaml_span(span.start, span.end)
    return TranscribedSpan(place.source, place.start, place.end, text_span=span)


class _TreeMapper:
    """Copies a tree with its spans mapped to the YAML file."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    def map_span(self, node: ast.Node) -> Any:
        """Return the same tree, its spans in the YAML file."""
        values: dict[str, Any] = {
            name: self._map_value(value) for name, value in vars(node).items()
        }
        return type(node)(**values)

    def _map_value(self, value: object) -> object:
        if isinstance(value, ast.Node):
            return self.map_span(value)
        if isinstance(value, tuple):
            return tuple(self._map_value(item) for item in value)
        if isinstance(value, Span):
            return _map_span(value, self._transcript)
        return value


_KEYWORDS = [shape.key for shape in BLOCK]
_LIST = "a list of texts"


class Transcription(NamedTuple):
    """A transcribed file.

    Attributes:
        transcript: The text, and where it comes from.
        deferred: Errors to report unless the parser reports the same text.
        lost: The words of what could not be transcribed.
    """

    transcript: Transcript
    deferred: tuple[DeferredError, ...]
    lost: frozenset[str]


def transcribe(document: Document, problems: Problems) -> Transcription:
    """Return a YAML file as text of the language; report what cannot be transcribed."""
    return _Transcriber(document, problems).transcribe_file()


class _Transcriber:
    """Transcribes the nodes of one file."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self._root = document.root
        self._source = document.source
        self._problems = problems
        self._text = Transcript(document.source, document.comments)
        self._expect = Expectations(document.source)
        self._scalars = ScalarWriter(document.source, self._text, self._expect)
        self._lost: set[str] = set()
        self._told = 0

    # ---- the file

    def transcribe_file(self) -> Transcription:
        self._try_transcribing(self._root, self._root, self._transcribe_items)
        self._text.write_comments_until(len(self._source.text) + 1)
        self._text.begin_line()
        return Transcription(self._text, tuple(self._scalars.deferred), frozenset(self._lost))

    def _transcribe_items(self) -> None:
        root = self._root
        items = [] if isinstance(root, Scalar) else self._expect.expect_mappings(root, "a file")
        if not items:
            self._transcribe_edition(root, [])
        for place, item in enumerate(items):
            entries = item.entries if isinstance(item, Mapping) else []
            if place == 0:
                entries = self._transcribe_edition(item, entries)
            if isinstance(item, Scalar):
                self._try_transcribing(item, item, partial(self._transcribe_text, item))
            for key, node in entries:
                self._try_transcribing(key, node, partial(self._transcribe_declarations, key, node))

    def _transcribe_edition(
        self, item: Node, entries: list[tuple[Scalar, Node]]
    ) -> list[tuple[Scalar, Node]]:
        """Transcribe the first key; return the others."""
        help_text = f'write `qos: "{EDITION}"`'
        key, node = entries[0] if entries else (item, item)
        if not isinstance(key, Scalar) or key.value != "qos":
            message = "the first key must name the edition of the language"
            self._report("E0002", message, key, f"{help_text} first")
            self._text.write_word(f"qos {EDITION}", key.start)
            return entries
        self._text.begin(key.start)
        if not isinstance(node, Scalar) or node.value.strip() != EDITION:
            self._report("E0002", _explain_unknown_edition(node), node, help_text)
        self._text.write_word("qos", key.start, key.end)
        if self._text.write_comments_until(node.start):
            self._text.begin(node.start)
        self._text.write_word(EDITION, node.start, node.end)
        return entries[1:]

    def _transcribe_declarations(self, key: Scalar, node: Node) -> None:
        if key.value == "import":
            self._transcribe_imports(key, node)
            return
        shape = next((shape for shape in FILE if shape.key == key.value), None)
        if shape is None:
            known = ["import", *(shape.key for shape in FILE)]
            raise self._expect.build_unknown_error(key, known, "declaration")
        self._group(shape, key, node)

    def _transcribe_imports(self, key: Scalar, node: Node) -> None:
        """Transcribe imports: texts share a line, each list among them is a line of its own."""
        items = self._expect.expect_sequence(node, key, _LIST).items
        together = [item for item in items if not isinstance(item, Sequence)]
        for item in items:
            if isinstance(item, Sequence):
                self._import(item.items)
        self._import(together)

    def _import(self, items: Iterable[Node]) -> None:
        for place, item in enumerate(items):
            scalar = self._expect.expect_scalar(item, "an import")
            if place:
                self._text.write_joined(",", scalar.start)
                self._text.write_comments_until(scalar.start)
            else:
                self._text.begin(scalar.start)
                self._text.write_word("import", scalar.start)
            self._scalars.write(scalar, Role.IMPORT)

    # ---- statements

    def _transcribe_block(
        self, node: Node, items: Iterable[Mapping | Scalar], opener: Node
    ) -> None:
        """Transcribe the statements of a block, in `{` and `}`."""
        self._text.write_word("{", opener.end, opener.end)
        for item in items:
            if isinstance(item, Scalar):
                self._try_transcribing(item, item, partial(self._transcribe_text, item))
                continue
            for key, value in item.entries:
                self._try_transcribing(key, value, partial(self._transcribe_statement, key, value))
        self._close("}", node)

    def _close(self, sign: str, node: Node) -> None:
        assert not isinstance(node, Scalar)  # noqa: S101 -- a block has items
        self._text.close(sign, node)

    def _transcribe_statement(self, key: Scalar, node: Node) -> None:
        bound = isinstance(node, Scalar) or (
            isinstance(node, Mapping)
            and any(key_node.value == "is" for key_node, _ in node.entries)
        )
        shape = next((shape for shape in BLOCK if shape.key == key.value), None)
        if shape is not None and not (bound and key.value in load_keywords()["field"]):
            self._group(shape, key, node)
        elif shape is None and not bound and suggest_name(key.value, _KEYWORDS):
            raise self._expect.build_unknown_error(key, _KEYWORDS, "statement")
        else:
            self._transcribe_node(BIND, key, key, node)

    def _transcribe_text(self, scalar: Scalar) -> None:
        """Transcribe an item that contains statements in the syntax of the text."""
        self._text.begin(scalar.start)
        self._scalars.write(scalar, None)

    def _group(self, shape: Shape, key: Scalar, node: Node) -> None:
        """Transcribe the statements below a keyword."""
        if shape.grouping is Grouping.ALONE:
            self._transcribe_node(shape, key, None, node)
        elif shape.grouping is Grouping.NAMED or (
            shape.grouping is Grouping.LABELLED and isinstance(node, Mapping)
        ):
            for name, value in self._expect.expect_mapping(node, key, shape.grouping.value).entries:
                self._try_transcribing(
                    name, value, partial(self._transcribe_node, shape, key, name, value)
                )
        else:
            for item in self._expect.expect_sequence(node, key, shape.grouping.value).items:
                if shape.grouping is Grouping.LABELLED and isinstance(item, Mapping):
                    for name, value in item.entries:
                        self._try_transcribing(
                            name, value, partial(self._transcribe_node, shape, key, name, value)
                        )
                else:
                    self._try_transcribing(
                        item, item, partial(self._transcribe_node, shape, key, None, item)
                    )

    def _transcribe_node(self, shape: Shape, key: Scalar, name: Scalar | None, node: Node) -> None:
        """Transcribe one declaration or statement."""
        first = name or (key if shape.grouping is Grouping.ALONE else node)
        self._text.begin(first.start)
        if shape.key.isalpha():
            end = key.end if shape.grouping is Grouping.ALONE else first.start
            self._text.write_word(shape.key, first.start, end)
        if name is not None:
            self._scalars.write(name, shape.name)
            if shape.grouping is Grouping.LABELLED:
                self._text.write_joined(":", name.end)
        if isinstance(node, Scalar) and shape.short is not None:
            self._transcribe_part(shape.short, key, node)
            return
        if not shape.parts and not shape.block:
            raise self._expect.build_error("E0016", "expected a text", first)
        heads, rest = self._split_parts(shape, first, node)
        for part in shape.parts:
            if part.key in heads:
                self._transcribe_part(part, *heads[part.key])
            elif part.required:
                message = f"the key `{part.key}` is missing{list_keys(shape)}"
                raise self._expect.build_error("E0016", message, first)
        if shape.block and not (shape.node is ast.Test and heads and _is_empty(rest)):
            self._transcribe_block(node, rest, first)

    def _split_parts(
        self, shape: Shape, first: Node, node: Node
    ) -> tuple[dict[str, tuple[Scalar, Node]], list[Mapping | Scalar]]:
        """Return the parts of a statement by their keys, and the other entries."""
        if not shape.block:
            node = self._expect.expect_parts(node, shape, first)
        heads: dict[str, tuple[Scalar, Node]] = {}
        rest = self._expect.expect_mappings(node, "a block", first)
        if rest and isinstance(head := rest[0], Mapping):
            beside = Mapping(head.start, head.end, head.flow)
            for key, value in head.entries:
                if shape.find_part(key.value):
                    heads[key.value] = key, value
                else:
                    beside.entries.append((key, value))
            rest[0] = beside
            if beside.entries and not shape.block:
                known = [part.key for part in shape.parts]
                raise self._expect.build_unknown_error(beside.entries[0][0], known, "key")
        return heads, rest

    # ---- parts of statements

    def _transcribe_part(self, part: Part, key: Scalar, node: Node) -> None:
        if part.role is Role.PARAMETERS:
            self._transcribe_parameters(key, node)
        elif part.role is Role.BODY:
            self._transcribe_block(node, self._expect.expect_mappings(node, "a block", key), key)
        else:
            scalar = self._expect.expect_scalar(node, part.role.value, key)
            if part.sign:
                self._text.write_word(part.sign, scalar.start)
            if part.role is Role.TEXT:
                self._scalars.write_quoted(scalar)
            else:
                self._scalars.write(scalar, part.role)

    def _transcribe_parameters(self, key: Scalar, node: Node) -> None:
        mapping = self._expect.expect_mapping(node, key, Role.PARAMETERS.value)
        self._text.write_word("(", key.end, key.end)
        for place, (name, value) in enumerate(mapping.entries):
            if place:
                self._text.write_joined(",", name.start)
            self._text.begin(name.start)
            self._scalars.write(name, Role.NAME)
            self._text.write_joined(":", name.end)
            self._scalars.write(self._expect.expect_scalar(value, "a type", name), Role.PARAMETER)
        self._text.close(")", mapping)

    # ---- mistakes

    def _try_transcribing(self, first: Node, last: Node, transcribe: Callable[[], None]) -> None:
        """Transcribe something, or report why not and leave it out, as after too many errors."""
        if self._told >= MOST:
            self._leave_out(first, last)
            return
        mark = self._text.take_mark()
        try:
            transcribe()
        except TranscriptionError as unreadable:
            self._told += 1
            self._problems.add(unreadable.diagnostic)
            self._text.rewind(mark)
            self._scalars.drop_deferred()
            self._leave_out(first, last)

    def _leave_out(self, first: Node, last: Node) -> None:
        text = self._source.text[first.start : last.end]
        self._lost.update(re.findall(r"[^\W\d]\w*", text))

    def _report(self, code: str, message: str, node: Node, help_text: str) -> None:
        self._problems.add(Diagnostic(code, message, self._expect.find_span(node), help=help_text))


def _is_empty(items: Iterable[Mapping | Scalar]) -> bool:
    """Return whether nothing is left for a block."""
    return all(isinstance(item, Mapping) and not item.entries for item in items)


def _explain_unknown_edition(node: Node) -> str:
    if not isinstance(node, Scalar) or not node.value.strip():
        return "the edition of the language is missing"
    return f"edition {shorten(node.value)} of the language is not known"
