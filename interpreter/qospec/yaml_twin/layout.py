"""YAML under construction: entries with their comments, and how they are laid out on lines.

Comments have a place above a statement and behind it, before the end of a block and behind the key
that it begins below, and within a value, which is then written on lines as it stands in the text.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.formatting import Written

WIDTH = 100
"""Columns that a line fills, but for comments and for a text that is longer by itself."""
STEP = "  "
LONGEST_KEY = 1_000
"""A longer key is marked by `?`: YAML looks for its `:` no further than 1,024 characters."""

_FIRST = re.compile(r"[-?:](?=\s|$)|[,\[\]{}#&*!|>'\"%@`]|---|\.\.\.")
_WITHIN = re.compile(r":(?=\s|$)|\s#|[^\S ]|  ")
_FLOW = re.compile(r"[,\[\]{}]|:(?=[,\[\]{}])")


def quoted(text: str, *, flow: bool, key: bool = False) -> str:
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
class Page:
    """What stands behind a key or a `-`: a text, a mapping, or a list.

    Attributes:
        kind: What this is: `text`, `lines` for a literal block, `edition`, `mapping` or `list`;
            `labelled` is either of these until all its entries are known.
        text: Of a scalar.
        entries: Of a mapping or a list.
        opened: Whether each entry stands on a line of its own, whatever would fit; of an edition,
            whether a blank line is before it.
        end: The comments before the end of the block, or before the edition.
    """

    kind: str
    text: str = ""
    entries: list[Entry] = field(default_factory=list)
    opened: bool = False
    end: list[Above] = field(default_factory=list)

    @property
    def is_lines(self) -> bool:
        """Return whether this is a text on lines of its own."""
        return self.kind == "lines" or (self.kind == "text" and "\n" in self.text)

    @property
    def is_text(self) -> bool:
        """Return whether this is a text of any sort."""
        return self.kind in {"text", "lines", "edition"}


@dataclass
class Above:
    """A comment on a line of its own; `parted`: a blank line is above."""

    text: str
    parted: bool = False


@dataclass
class Entry:
    """A key with its page, or an item of a list, with what stands around it.

    Attributes:
        key: Of an entry of a mapping.
        page: What it holds.
        above: The comments above.
        parted: Whether a blank line is above it, below the comments.
        opening: The comment behind its key, where its page goes on below.
        behind: The comment behind its end, for a page that is on one line.
    """

    page: Page
    key: str | None = None
    above: list[Above] = field(default_factory=list)
    parted: bool = False
    opening: str = ""
    behind: str = ""


def written(page: Page) -> str:
    """Return a file's page as text."""
    return "".join(f"{line}\n" for line in _lines(page, ""))


def _lines(page: Page, indent: str) -> Iterator[str]:
    """Yield the lines of a mapping or a list."""
    for entry in page.entries:
        yield from _above(entry.above, indent)
        if entry.parted:
            yield ""
        yield from _entry(entry, page.kind, indent)
    yield from _above(page.end, indent)


def _above(comments: list[Above], indent: str) -> Iterator[str]:
    for comment in comments:
        if comment.parted:
            yield ""
        yield indent + comment.text


def _entry(entry: Entry, kind: str, indent: str) -> Iterator[str]:
    key = quoted(entry.key or "", flow=False, key=True)
    head = indent + ("-" if kind == "list" else f"{key}:")
    if len(key) > LONGEST_KEY:
        yield f"{indent}? {key}"
        head = f"{indent}:"
    page = entry.page
    behind = f"  {entry.behind}" if entry.behind else ""
    if page.is_lines:
        yield f"{head} |-"
        yield from (f"{indent}{STEP}{line}".rstrip() for line in page.text.split("\n"))
        return
    if page.kind == "edition" and (page.end or entry.opening):
        yield f"{head}  {entry.opening}".rstrip()
        yield from _above(page.end, indent + STEP)
        yield from [""] * page.opened
        yield f"{indent}{STEP}{flat(page)}{behind}"
        return
    line = None if entry.opening else flat(page)
    fits = line is not None and len(head) + 1 + len(line) <= WIDTH
    if line is not None and (fits or behind or page.is_text):
        yield f"{head} {line}{behind}"
        return
    opening = f"  {entry.opening}" if entry.opening else ""
    below = _lines(page, indent + STEP)
    if kind == "list":
        yield f"{head} {next(below).lstrip()}"
    else:
        yield head + opening
    yield from below


def flat(page: Page, *, flow: bool = False) -> str | None:
    """Return a page on one line, or None if it takes several."""
    if page.is_text:
        if page.is_lines:
            return None
        return f'"{page.text}"' if page.kind == "edition" else quoted(page.text, flow=flow)
    if page.entries and (page.opened or page.end):
        return None
    parts = []
    for entry in page.entries:
        value = flat(entry.page, flow=True)
        if value is None or entry.above or entry.behind or entry.opening or entry.parted:
            return None
        if len(entry.key or "") > LONGEST_KEY:
            return None
        parts.append(f"{quoted(entry.key, flow=True)}: {value}" if entry.key is not None else value)
    inner = ", ".join(parts)
    return f"[{inner}]" if page.kind == "list" else f"{{{inner}}}"


_VALUES = {
    ast.Let: ("value",),
    ast.Bind: ("value",),
    ast.Traffic: ("value",),
    ast.Test: ("topology",),
    ast.Parameter: ("default",),
    ast.Link: ("medium",),
    ast.Flow: ("traffic",),
    ast.Sweep: ("values", "where"),
    ast.Control: ("topology",),
    ast.Search: ("values",),
    ast.ForAll: ("values",),
    ast.Criterion: ("condition",),
    ast.Report: ("value",),
    ast.Skip: ("condition",),
}
"""The fields of a statement that are a text of their own in YAML and may have several lines."""


def have_places(node: ast.Node, written: Written) -> bool:
    """Return whether YAML has a place for all comments of a statement, but for those in blocks."""
    first, last = written.stretch(node)
    known = _Places(written)
    known.statement(node)
    inner = known.inner
    return not any(
        (at > first and at in written.trivia.above and at not in known.above)
        or (at < last and at in written.trivia.behind and at not in known.behind)
        for at in range(first, last + 1)
        if not any(begin <= at <= end for begin, end in inner)
    )


class _Places:
    """The tokens of a statement above which and behind which YAML has a place.

    Attributes:
        above: Those above which there is one.
        behind: Those behind which there is one.
        inner: The stretches of what is in its blocks, which has places of its own.
    """

    def __init__(self, written: Written) -> None:
        self._written = written
        self.above: set[int] = set()
        self.behind: set[int] = set()
        self.inner: list[tuple[int, int]] = []

    def statement(self, node: ast.Node) -> None:
        for name in _VALUES.get(type(node), ()):
            value = getattr(node, name)
            if isinstance(value, ast.Record) and self._is_bare(value, node):
                self._value(value.base, value)
                self._body(value.body)
            elif value is not None:
                self._value(value, node)
        body = getattr(node, "body", None)
        parameters = getattr(node, "parameters", ())
        for each in parameters:
            self._parameter(each)
        if parameters:
            self.behind.add(self._written.stretch(parameters[0])[0] - 1)
            closer = self._written.stretch(parameters[-1])[1] + 1
            self.above.add(closer + (self._written.tokens.kinds[closer] == "COMMA"))
        if body is not None:
            self._body(body, opened=not parameters)

    def _is_bare(self, value: ast.Node, node: ast.Node) -> bool:
        return self._written.stretch(value, node) == self._written.stretch(value)

    def _value(self, value: ast.Node, node: ast.Node) -> None:
        first, last = self._written.stretch(value, node)
        self.above.update(range(first + 1, last + 1))
        self.behind.update(range(first, last))

    def _body(self, body: ast.Body, *, opened: bool = True) -> None:
        first, last = self._written.stretch(body)
        if body.statements:
            self.above.add(last)
            self.behind.update({first} if opened else ())
        for each in body.statements:
            begin, end = self._written.stretch(each)
            self.above.add(begin)
            self.inner.append((begin, end))

    def _parameter(self, node: ast.Parameter) -> None:
        first, last = self._written.stretch(node)
        comma = last + (self._written.tokens.kinds[last + 1] == "COMMA")
        self.above.add(first)
        self.behind.update((last, comma) if self._one_of(last, comma) else ())
        start = self._written.stretch(node.annotation)[0]
        if node.default is not None:
            self.above.update(range(start + 1, last + 1))
            self.behind.update(range(start, last))

    def _one_of(self, last: int, comma: int) -> bool:
        return not (comma > last and {last, comma} <= self._written.trivia.behind.keys())
