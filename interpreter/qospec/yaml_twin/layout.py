"""YAML output: entries with their comments, and their layout on lines.

Comments have a place above and after a statement, before the end of a block and after its key, and
within a value, which is then written on lines as it is in the text.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.formatting.printer import STEP, WIDTH
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.formatting import ParsedSource

LONGEST_KEY = 1_000
"""A longer key is marked with `?`: YAML searches at most 1,024 characters for its `:`."""

_FIRST = re.compile(r"[-?:](?=\s|$)|[,\[\]{}#&*!|>'\"%@`]|---|\.\.\.")
_WITHIN = re.compile(r":(?=\s|$)|\s#|[^\S ]|  ")
_FLOW = re.compile(r"[,\[\]{}]|:(?=[,\[\]{}])")


def quote(text: str, *, flow: bool, key: bool = False) -> str:
    """Return a text as a scalar on one line, in quotes where YAML needs them."""
    plain = (
        text
        and text == text.strip()
        and not _FIRST.match(text)
        and not _WITHIN.search(text)
        and not (flow and (_FLOW.search(text) or text[0] in "-?:"))
        and not (key and text.startswith("?"))
        and text != "<<"
    )
    return text if plain else "'" + text.replace("'", "''") + "'"


@dataclass
class Content:
    """The content of a key or of a list item: a text, a mapping or a list.

    Attributes:
        kind: What this is: `text`, `lines` for a literal block, `edition`, `mapping` or `list`;
            `labelled` is either of these until all its entries are known.
        text: Of a scalar.
        entries: Of a mapping or a list.
        opened: Whether each entry is on a line of its own even if all fit on one; of an edition,
            whether a blank line is before it.
        end: The comments before the end of the block, or before the edition.
    """

    kind: str
    text: str = ""
    entries: list[Entry] = field(default_factory=list)
    opened: bool = False
    end: list[CommentLine] = field(default_factory=list)

    @property
    def is_lines(self) -> bool:
        """Return whether this is a text on lines of its own."""
        return self.kind == "lines" or (self.kind == "text" and "\n" in self.text)

    @property
    def is_text(self) -> bool:
        """Return whether this is any kind of text."""
        return self.kind in {"text", "lines", "edition"}


@dataclass
class CommentLine:
    """A comment on a line of its own."""

    text: str
    blank_above: bool = False


@dataclass
class Entry:
    """A key with its content, or an item of a list, with its comments.

    Attributes:
        key: Of an entry of a mapping.
        content: What it holds.
        above: The comments above.
        blank_above: Whether a blank line is above it, below the comments.
        opening: The comment after its key, if its content is on the lines below.
        trailing: The comment after its end, if its content is on one line.
    """

    content: Content
    key: str | None = None
    above: list[CommentLine] = field(default_factory=list)
    blank_above: bool = False
    opening: str = ""
    trailing: str = ""


def render(content: Content) -> str:
    """Return a file's content as text."""
    return "".join(f"{line}\n" for line in _iterate_lines(content, ""))


def _iterate_lines(content: Content, indent: str) -> Iterator[str]:
    """Yield the lines of a mapping or a list."""
    for entry in content.entries:
        yield from _iterate_comments(entry.above, indent)
        if entry.blank_above:
            yield ""
        yield from _iterate_entry(entry, content.kind, indent)
    yield from _iterate_comments(content.end, indent)


def _iterate_comments(comments: list[CommentLine], indent: str) -> Iterator[str]:
    for comment in comments:
        if comment.blank_above:
            yield ""
        yield indent + comment.text


def _iterate_entry(entry: Entry, kind: str, indent: str) -> Iterator[str]:
    key = quote(entry.key or "", flow=False, key=True)
    head = indent + ("-" if kind == "list" else f"{key}:")
    if len(key) > LONGEST_KEY:
        yield f"{indent}? {key}"
        head = f"{indent}:"
    content = entry.content
    behind = f"  {entry.trailing}" if entry.trailing else ""
    if content.is_lines:
        yield f"{head} |-"
        yield from (f"{indent}{STEP}{line}".rstrip() for line in content.text.split("\n"))
        return
    if content.kind == "edition" and (content.end or entry.opening):
        yield f"{head}  {entry.opening}".rstrip()
        yield from _iterate_comments(content.end, indent + STEP)
        yield from [""] * content.opened
        yield f"{indent}{STEP}{flatten_content(content)}{behind}"
        return
    line = None if entry.opening else flatten_content(content)
    fits = line is not None and len(head) + 1 + len(line) <= WIDTH
    if line is not None and (fits or behind or content.is_text):
        yield f"{head} {line}{behind}"
        return
    opening = f"  {entry.opening}" if entry.opening else ""
    below = _iterate_lines(content, indent + STEP)
    if kind == "list":
        yield f"{head} {next(below).lstrip()}"
    else:
        yield head + opening
    yield from below


def flatten_content(content: Content, *, flow: bool = False) -> str | None:
    """Return content on one line, or None if it takes several."""
    if content.is_text:
        if content.is_lines:
            return None
        return f'"{content.text}"' if content.kind == "edition" else quote(content.text, flow=flow)
    if content.entries and (content.opened or content.end):
        return None
    parts = []
    for entry in content.entries:
        value = flatten_content(entry.content, flow=True)
        if value is None or entry.above or entry.trailing or entry.opening or entry.blank_above:
            return None
        if len(entry.key or "") > LONGEST_KEY:
            return None
        parts.append(f"{quote(entry.key, flow=True)}: {value}" if entry.key is not None else value)
    inner = ", ".join(parts)
    return f"[{inner}]" if content.kind == "list" else f"{{{inner}}}"


_VALUES = {
    ast.Let: ("value",),
    ast.Bind: ("value",),
    ast.Traffic: ("value",),
    ast.Test: ("base", "topology"),
    ast.Parameter: ("default",),
    ast.Link: ("medium",),
    ast.Flow: ("traffic",),
    ast.Sweep: ("values", "where"),
    ast.Control: ("topology",),
    ast.Search: ("values",),
    ast.ForAll: ("values", "where"),
    ast.Criterion: ("condition",),
    ast.Report: ("value",),
    ast.Skip: ("condition",),
    ast.Transition: ("where",),
}
"""The fields of a statement that are a text of their own in YAML and may have several lines."""


def can_place_comments(node: ast.Node, parsed: ParsedSource) -> bool:
    """Return whether YAML has a place for all comments of a statement except those in blocks."""
    first, last = parsed.find_token_range(node)
    known = _CommentPlaces(parsed)
    known.mark_statement(node)
    inner = known.inner
    return not any(
        (at > first and at in parsed.trivia.above and at not in known.above)
        or (at < last and at in parsed.trivia.trailing and at not in known.trailing)
        for at in range(first, last + 1)
        if not any(begin <= at <= end for begin, end in inner)
    )


class _CommentPlaces:
    """The tokens of a statement above which and behind which YAML has a place.

    Attributes:
        above: Those above which there is one.
        trailing: Those after which there is one.
        inner: The stretches of what is in its blocks, which has places of its own.
    """

    def __init__(self, parsed: ParsedSource) -> None:
        self._parsed = parsed
        self.above: set[int] = set()
        self.trailing: set[int] = set()
        self.inner: list[tuple[int, int]] = []

    def mark_statement(self, node: ast.Node) -> None:
        for name in _VALUES.get(type(node), ()):
            value = getattr(node, name)
            if isinstance(value, ast.Record) and self._is_bare(value, node):
                self._mark_value(value.base, value)
                self._mark_body(value.body)
            elif value is not None:
                self._mark_value(value, node)
        body = getattr(node, "body", None)
        parameters = getattr(node, "parameters", ())
        for parameter in parameters:
            self._mark_parameter(parameter)
        if parameters:
            self.trailing.add(self._parsed.find_token_range(parameters[0])[0] - 1)
            closer = self._parsed.find_token_range(parameters[-1])[1] + 1
            self.above.add(closer + (self._parsed.tokens.kinds[closer] == "COMMA"))
        if body is not None:
            self._mark_body(body, opened=not parameters)

    def _is_bare(self, value: ast.Node, node: ast.Node) -> bool:
        return self._parsed.find_token_range(value, node) == self._parsed.find_token_range(value)

    def _mark_value(self, value: ast.Node, node: ast.Node) -> None:
        first, last = self._parsed.find_token_range(value, node)
        self.above.update(range(first + 1, last + 1))
        self.trailing.update(range(first, last))

    def _mark_body(self, body: ast.Body, *, opened: bool = True) -> None:
        first, last = self._parsed.find_token_range(body)
        if body.statements:
            self.above.add(last)
            self.trailing.update({first} if opened else ())
        for statement in body.statements:
            begin, end = self._parsed.find_token_range(statement)
            self.above.add(begin)
            self.inner.append((begin, end))

    def _mark_parameter(self, node: ast.Parameter) -> None:
        first, last = self._parsed.find_token_range(node)
        comma = last + (self._parsed.tokens.kinds[last + 1] == "COMMA")
        self.above.add(first)
        self.trailing.update((last, comma) if self._mark_comma(last, comma) else ())
        start = self._parsed.find_token_range(node.annotation)[0]
        if node.default is not None:
            self.above.update(range(start + 1, last + 1))
            self.trailing.update(range(start, last))

    def _mark_comma(self, last: int, comma: int) -> bool:
        return not (comma > last and {last, comma} <= self._parsed.trivia.trailing.keys())
