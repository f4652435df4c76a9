"""From a `.qos` file to the same in YAML.

What is written is the file in its one layout: each statement becomes an entry of its shape, entries
of one keyword that follow each other stand together below it, and where a keyword comes again later
the block becomes a list of mappings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Problems
from qospec.formatting import Damaged, formatted, read
from qospec.source import Source
from qospec.syntax.limits import too_long
from qospec.syntax.parser import EDITION
from qospec.twin.entries import Entries
from qospec.twin.pages import Entry, Page, flat, written
from qospec.twin.reading import text_of
from qospec.twin.shapes import Shape, Way, shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.formatting import Written
    from qospec.syntax import ast


def yaml_of(source: Source, problems: Problems) -> str | None:
    """Return a `.qos` file as YAML; None where a mistake is told.

    Raises:
        Damaged: If the result would say something else than the file.
    """
    text = formatted(source, problems)
    laid_out = read(Source(source.name, text), Problems()) if text is not None else None
    if laid_out is None:
        return None
    made = written(_Writer(laid_out).file())
    beyond = too_long(Source(f"{source.name} as YAML", made))
    if beyond is not None:
        problems.add(beyond)
        return None
    again = text_of(Source(source.name, made), Problems())
    if again is None or formatted(again, Problems()) != text:
        raise Damaged(f"{source.name}: as YAML the file would say something else")
    return made


class _Writer:
    """Makes the pages of one file."""

    def __init__(self, written: Written) -> None:
        self._written = written
        self._entries = Entries(written, self._block)

    # ---- the file

    def file(self) -> Page:
        edition = Entry(Page("edition", EDITION), "qos", self._entries.above(0))
        edition.parted = 0 in self._written.trivia.parted
        edition.page.end = self._entries.above(1)
        edition.page.opened = 1 in self._written.trivia.parted
        edition.opening = self._written.trivia.behind.get(0, "")
        edition.behind = self._written.trivia.behind.get(1, "")
        heads = [edition, *self._imports()]
        page = self._block(self._written.tree.declarations, heads, set())
        page.opened = True
        page.end = self._entries.above(len(self._written.tokens.kinds) - 1)
        return page

    def _imports(self) -> list[Entry]:
        """Return the imports: those of one line are items, those of several are lists of items."""
        lines: list[Entry] = []
        kinds, begin = self._written.tokens.kinds, 2
        for node in self._written.tree.imports:
            _, last = self._written.stretch(node)
            if kinds[last + 1] != "COMMA":
                lines.append(self._import(begin, last))
                begin = last + 1
        if len(lines) == 1 and not (lines[0].above or lines[0].behind):
            (only,) = lines
            return [Entry(only.page, "import", parted=only.parted)]
        for line in lines:
            line.page.opened = False
        page = Page("list", entries=lines, opened=True)
        return [Entry(page, "import", parted=_hoisted(lines[0]))] if lines else []

    def _import(self, first: int, last: int) -> Entry:
        items = self._written.text(first + 1, last).split(", ")
        if not self._written.may_be_one_line(first, last):
            items = [self._entries.behind(first, last)]
        entry = Entry(Page("list", entries=[Entry(Page("text", item)) for item in items]))
        self._entries.around(entry, first, last)
        if entry.behind and flat(entry.page) is None:
            entry.page.entries[0].page.text += f"  {entry.behind}"
            entry.behind = ""
        return entry

    # ---- blocks

    def _block(self, nodes: Sequence[ast.Node], heads: list[Entry], taken: set[str]) -> Page:
        """Return the page of a block: a mapping, or a list of them where a key comes again.

        Args:
            nodes: The statements.
            heads: What stands before them in the first mapping.
            taken: The keys that mean something else in the first mapping.
        """
        items = [Entry(Page("mapping", entries=list(heads)))]
        used = {entry.key or "" for entry in heads} | taken
        group: Entry | None = None
        for node in nodes:
            shape, entry = shape_of(node), self._entries.entry(node)
            if entry.page.kind == "lines":
                items += [entry, Entry(Page("mapping"))]
                used, group = set(), None
                continue
            if group is not None and _joins(shape, group, entry):
                group.page.entries.append(entry)
                continue
            key = shape.key or entry.key or ""
            if key in used:
                items.append(Entry(Page("mapping")))
                used = set()
            used.add(key)
            made = _group(shape, entry)
            items[-1].page.entries.append(made)
            group = made if shape.key else None
        first, *others = items
        kept = [each for each in others if each.page.kind == "lines" or each.page.entries]
        if kept and (first.page.entries or taken):
            kept.insert(0, first)
        return _mapping_or_list(kept or [first])


def _joins(shape: Shape, group: Entry, entry: Entry) -> bool:
    """Return whether a statement goes into the group of the statement before."""
    if shape.key != group.key or shape.way is Way.ALONE:
        return False
    return shape.way is not Way.NAMED or all(each.key != entry.key for each in group.page.entries)


def _group(shape: Shape, entry: Entry) -> Entry:
    """Return a statement below its keyword, where others may join it."""
    if not shape.key:
        return entry
    if shape.way is Way.ALONE:
        entry.key = shape.key
        return entry
    kind = {Way.NAMED: "mapping", Way.LISTED: "list", Way.LABELLED: "labelled"}[shape.way]
    page = Page(kind, entries=[entry], opened=True)
    return Entry(page, shape.key, parted=_hoisted(entry))


def _hoisted(entry: Entry) -> bool:
    """Take away the blank line above an entry, which goes above its key; return if there is one."""
    if entry.above:
        parted, entry.above[0].parted = entry.above[0].parted, False
    else:
        parted, entry.parted = entry.parted, False
    return parted


def _mapping_or_list(items: list[Entry]) -> Page:
    for item in items:
        for entry in item.page.entries:
            _settle(entry)
    if len(items) == 1 and items[0].page.kind == "mapping":
        return items[0].page
    for item in items:
        if item.page.entries:
            first = item.page.entries[0]
            item.page.opened = True
            item.above, item.parted = first.above, first.parted
            first.above, first.parted = [], False
    return Page("list", entries=items, opened=True)


def _settle(entry: Entry) -> None:
    """Make a group of labelled statements a mapping, or a list where one lacks a label."""
    page = entry.page
    if page.kind == "labelled":
        labels = [each.key for each in page.entries]
        page.kind = "list" if None in labels or len({*labels}) < len(labels) else "mapping"
        if page.kind == "list":
            page.entries = [_labelled_item(each) for each in page.entries]


def _labelled_item(entry: Entry) -> Entry:
    if entry.key is None:
        return entry
    page = Page("mapping", entries=[Entry(entry.page, entry.key, behind=entry.behind)], opened=True)
    return Entry(page, above=entry.above, parted=entry.parted)
