"""From a `.qos` file to the same in YAML.

What is written is the file in its one layout: each statement becomes an entry of its shape, with
the comments around it. Entries of one keyword that follow each other stand together below it, and
where a keyword comes again later the block becomes a list of mappings.
"""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from qospec.diagnostics import Problems
from qospec.formatting import Damaged, formatted, read
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.limits import too_long
from qospec.syntax.parser import EDITION
from qospec.yaml_twin.layout import Above, Entry, Page, flat, have_places, written
from qospec.yaml_twin.reader import text_of
from qospec.yaml_twin.shapes import Role, Shape, Way, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.formatting import Written
    from qospec.yaml_twin.shapes import Part

    Block = Callable[[Sequence[ast.Node], list[Entry], set[str]], Page]
    from collections.abc import Sequence

    from qospec.syntax import ast


class Entries:
    """Makes the entries of one file; `block` makes the page of a block."""

    def __init__(self, written: Written, block: Block) -> None:
        self._written = written
        self._tokens = written.tokens
        self._trivia = written.trivia
        self._block = block

    def entry(self, node: Any) -> Entry:
        """Return a statement's entry; one without a place for its comments is text as it stands."""
        shape = shape_of(node)
        first, last = self._written.stretch(node)
        one_line = self._written.may_be_one_line(first, last)
        if _may_be_keys(node) and (one_line or have_places(node, self._written)):
            entry = Entry(self._page(shape, node), self._name(shape, node))
            self.around(entry, first, last)
            if shape.block:
                entry.opening = self._opening(node.body)
            if self._ends(entry, last):
                return entry
        raw = self.around(Entry(Page("lines", self.slice(first, last))), first, last)
        raw.page.text += f"  {raw.behind}" if raw.behind else ""
        raw.behind = ""
        return raw

    def around(self, entry: Entry, first: int, last: int) -> Entry:
        """Give an entry what stands above a stretch and behind it."""
        behind = self._trivia.behind
        comma = last + (self._tokens.kinds[last + 1] == "COMMA")
        entry.above = self.above(first)
        entry.parted = first in self._trivia.parted
        entry.behind = behind.get(last) or behind.get(comma, "")
        if entry.behind and entry.page.is_lines:
            entry.page.text += f"  {entry.behind}"
            entry.behind = ""
        return entry

    def above(self, at: int) -> list[Above]:
        """Return the comments above a token."""
        return [Above(each.text, each.parted) for each in self._trivia.above.get(at, ())]

    def slice(self, first: int, last: int) -> str:
        """Return a stretch: on one line, or on several if it takes several in the text."""
        text = self._tokens.source.text
        start, end = self._tokens.starts[first], self._tokens.ends[last]
        if "\n" not in text[start:end]:
            return self._written.text(first, last)
        # A long head goes on further in than its statement, and what it opens closes at the margin.
        lines = (text[text.rfind("\n", 0, at) + 1 : end] for at in (start, end))
        margin = min((each[: len(each) - len(each.lstrip())] for each in lines), key=len)
        return dedent(margin + text[start:end])

    def behind(self, first: int, last: int) -> str:
        """Return a stretch on its lines, but for its first word."""
        text = self._tokens.source.text[self._tokens.ends[first] : self._tokens.ends[last]]
        line, _, lines = text.partition("\n")
        return f"{line.strip()}\n{dedent(lines)}"

    def _ends(self, entry: Entry, last: int) -> bool:
        """Put the comment behind a statement where it ends; return whether there is a place."""
        page = entry.page
        if not entry.behind or (not entry.opening and flat(page) is not None):
            return True
        if self._tokens.kinds[last] == "RBRACE":
            return False
        end, entry.behind, behind = page.entries[-1], "", entry.behind
        if end.page.is_lines:
            end.page.text += f"  {behind}"
        else:
            end.behind = behind
        return True

    def _opening(self, body: ast.Body) -> str:
        return self._trivia.behind.get(self._written.stretch(body)[0], "")

    # ---- names

    def _name(self, shape: Shape, node: Any) -> str | None:
        if shape.way is Way.LABELLED:
            return None if node.label is None else str(node.label.text)
        if shape.way is not Way.NAMED:
            return None
        first, _ = self._written.stretch(node)
        return self._written.text(first + bool(shape.key), self._end_of_name(node))

    def _end_of_name(self, node: Any) -> int:
        """Return the last token of what a statement is called, or of what it turns through."""
        if isinstance(node, ast.Loop):
            return self._written.stretch(node.values, node)[1]
        if isinstance(node, ast.ForAll):
            return self._written.stretch(node.annotation or node.name)[1]
        if isinstance(node, ast.Bind | ast.Sweep | ast.Port):
            last = self._written.stretch(node.names[-1])[1]
            return last + (self._tokens.kinds[last + 1] == "RPAR")
        return self._written.stretch(node.name)[1]

    # ---- parts

    def _page(self, shape: Shape, node: Any) -> Page:
        """Return what stands behind a statement's name."""
        short = shape.short
        if short is not None and not short.key and getattr(node, "body", None) is None:
            return Page("text", self._from(short, shape, node))
        entries = [entry for part in shape.parts if (entry := self._part(part, node)) is not None]
        if shape.block:
            page = self._block(node.body.statements, entries, {part.key for part in shape.parts})
            page.opened |= not isinstance(node, ast.Run | ast.Goal) and bool(page.entries)
            page.end = self.above(self._written.stretch(node.body)[1])
            return page
        if short is not None and [entry.key for entry in entries] == [short.key]:
            return entries[0].page
        return Page("mapping", entries=entries)

    def _from(self, short: Part, shape: Shape, node: Any) -> str:
        """Return all of a statement from a part on; without a field, behind the keyword."""
        first, last = self._written.stretch(node)
        if short.field:
            first, _ = self._written.stretch(getattr(node, short.field), node)
            return self.slice(first, last)
        return self.slice(first + shape.key.isalpha(), last)

    def _part(self, part: Part, node: Any) -> Entry | None:
        """Return the entry of a part, or None if it is not there."""
        if part.role is Role.PARAMETERS:
            return self._parameters(node)
        if part.role is Role.ENDS:
            first, last = self._written.stretch(node.left)[0], self._written.stretch(node.right)[1]
            return Entry(Page("text", self._written.text(first, last)), part.key)
        value = self._value(part, node)
        if value is None:
            return None
        if part.role is Role.BODY:
            page = self._block(value.statements, [], set())
            page.end = self.above(self._written.stretch(value)[1])
            return Entry(page, part.key, opening=self._opening(value))
        text = value.text if part.role is Role.TEXT else None
        if text is None:
            within = node if value is getattr(node, part.field) else None
            text = self.slice(*self._written.stretch(value, within))
        return Entry(Page("text", text), part.key)

    def _value(self, part: Part, node: Any) -> Any:
        """Return the node of a part; a record is two, what it is of and what it has."""
        value = getattr(node, part.field, None)
        if part.role is not Role.VALUE and not (part.role is Role.BODY and value is None):
            return value
        whole = getattr(node, "values" if isinstance(node, ast.ForAll) else "value", None)
        if not isinstance(whole, ast.Record):
            return value
        if self._written.stretch(whole, node) != self._written.stretch(whole):
            return value
        return whole.base if part.role is Role.VALUE else whole.body

    def _parameters(self, node: Any) -> Entry | None:
        opener = self._written.stretch(node.name)[1] + 1
        if self._tokens.kinds[opener] != "LPAR":
            return None
        page = Page("mapping")
        for each in node.parameters:
            first, last = self._written.stretch(each)
            start, _ = self._written.stretch(each.annotation)
            entry = Entry(Page("text", self.slice(start, last)), each.name.text)
            page.entries.append(self.around(entry, first, last))
            comma = last + (self._tokens.kinds[last + 1] == "COMMA")
            page.end = self.above(comma + 1)
        return Entry(page, "parameters", opening=self._trivia.behind.get(opener, ""))


def _may_be_keys(node: Any) -> bool:
    """Return whether the names in a statement can be keys: none twice, and none that misleads."""
    names = [each.name.text for each in getattr(node, "parameters", ())]
    mistaken = isinstance(node, ast.Transition) and node.name.text == "is"
    return not mistaken and len({*names}) == len(names)


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
