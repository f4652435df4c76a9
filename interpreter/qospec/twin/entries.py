"""From a statement to its entry in YAML: its name, its parts, and the comments around it."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from qospec.syntax import ast
from qospec.twin.comments import have_places
from qospec.twin.pages import Above, Entry, Page, flat
from qospec.twin.shapes import Role, Shape, Way, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.formatting import Written
    from qospec.twin.shapes import Part

    Block = Callable[[Sequence[ast.Node], list[Entry], set[str]], Page]


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
