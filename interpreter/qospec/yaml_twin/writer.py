"""From a `.qos` file to the same in YAML.

The formatted file is written: each statement becomes an entry of its shape, with its comments.
Consecutive statements of one keyword are grouped below it; if a keyword comes again later, the
block becomes a list of mappings.
"""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from qospec.diagnostics import Problems
from qospec.formatting import MeaningChangedError, format_text, read
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.limits import explain_too_long
from qospec.syntax.parser import EDITION
from qospec.yaml_twin.layout import (
    CommentLine,
    Content,
    Entry,
    can_place_comments,
    flatten_content,
    render,
)
from qospec.yaml_twin.reader import transcribe_yaml
from qospec.yaml_twin.shapes import Grouping, Role, Shape, find_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.formatting import ParsedSource
    from qospec.yaml_twin.shapes import Part

    Block = Callable[[Sequence[ast.Node], list[Entry], set[str]], Content]
    from collections.abc import Sequence

    from qospec.syntax import ast


class EntryBuilder:
    """Builds the entries of one file; `block` builds the content of a block."""

    def __init__(self, parsed: ParsedSource, block: Block) -> None:
        self._parsed = parsed
        self._tokens = parsed.tokens
        self._trivia = parsed.trivia
        self._block = block

    def build_entry(self, node: Any) -> Entry:
        """Return a statement's entry; one without places for its comments stays text."""
        shape = find_shape(node)
        first, last = self._parsed.find_token_range(node)
        one_line = self._parsed.may_be_one_line(first, last)
        if self._may_be_keys(node) and (one_line or can_place_comments(node, self._parsed)):
            entry = Entry(self._build_content(shape, node), self._name(shape, node))
            self.with_comments(entry, first, last)
            if shape.block and node.body is not None:
                entry.opening = self._write_opening(node.body)
            if self._place_trailing_comment(entry, last):
                return entry
        raw = self.with_comments(Entry(Content("lines", self.slice(first, last))), first, last)
        raw.content.text += f"  {raw.trailing}" if raw.trailing else ""
        raw.trailing = ""
        return raw

    def _may_be_keys(self, node: Any) -> bool:
        """Return whether a statement can be keys: no name twice, none that misleads, no `{ }` lost.

        A test without statements has a `{}` as keys if, and only if, nothing stands before that.
        """
        names = [parameter.name.text for parameter in getattr(node, "parameters", ())]
        mistaken = isinstance(node, ast.Transition) and node.name.span.text == "is"
        if isinstance(node, ast.Test) and not node.statements:
            has_head = node.base is not None or node.topology is not None
            has_head |= self._opens_parameters(node)
            mistaken = has_head == (node.body is not None)
        return not mistaken and len({*names}) == len(names)

    def _opens_parameters(self, node: Any) -> bool:
        """Return whether a declaration has `(` behind its name, perhaps for no parameters."""
        return self._tokens.kinds[self._parsed.find_token_range(node.name)[1] + 1] == "LPAR"

    def with_comments(self, entry: Entry, first: int, last: int) -> Entry:
        """Add the comments above and after a range of tokens to an entry."""
        behind = self._trivia.trailing
        comma = last + (self._tokens.kinds[last + 1] == "COMMA")
        entry.above = self.list_above(first)
        entry.blank_above = first in self._trivia.blank_above
        entry.trailing = behind.get(last) or behind.get(comma, "")
        if entry.trailing and entry.content.is_lines:
            entry.content.text += f"  {entry.trailing}"
            entry.trailing = ""
        return entry

    def list_above(self, at: int) -> list[CommentLine]:
        """Return the comments above a token."""
        return [
            CommentLine(comment.text, comment.blank_above)
            for comment in self._trivia.above.get(at, ())
        ]

    def slice(self, first: int, last: int) -> str:
        """Return a range of tokens: on one line, or on several if it takes several in the text."""
        text = self._tokens.source.text
        start, end = self._tokens.starts[first], self._tokens.ends[last]
        if "\n" not in text[start:end]:
            return self._parsed.join_tokens(first, last)
        # A long head goes on further in than its statement, and what it opens closes at the margin.
        lines = (text[text.rfind("\n", 0, at) + 1 : end] for at in (start, end))
        margin = min((line[: len(line) - len(line.lstrip())] for line in lines), key=len)
        return dedent(margin + text[start:end])

    def read_after_first_word(self, first: int, last: int) -> str:
        """Return a range of tokens on its lines, but for its first word."""
        text = self._tokens.source.text[self._tokens.ends[first] : self._tokens.ends[last]]
        line, _, lines = text.partition("\n")
        return f"{line.strip()}\n{dedent(lines)}"

    def _place_trailing_comment(self, entry: Entry, last: int) -> bool:
        """Put the comment behind a statement where it ends; return whether there is a place."""
        content = entry.content
        if not entry.trailing or (not entry.opening and flatten_content(content) is not None):
            return True
        if self._tokens.kinds[last] == "RBRACE":
            return False
        end, entry.trailing, behind = content.entries[-1], "", entry.trailing
        if end.content.is_lines:
            end.content.text += f"  {behind}"
        else:
            end.trailing = behind
        return True

    def _write_opening(self, body: ast.Body) -> str:
        return self._trivia.trailing.get(self._parsed.find_token_range(body)[0], "")

    # ---- names

    def _name(self, shape: Shape, node: Any) -> str | None:
        if shape.grouping is Grouping.LABELLED:
            return None if node.label is None else str(node.label.text)
        if shape.grouping is not Grouping.NAMED:
            return None
        first, _ = self._parsed.find_token_range(node)
        return self._parsed.join_tokens(first + bool(shape.key), self._end_of_name(node))

    def _end_of_name(self, node: Any) -> int:
        """Return the last token of what a statement is called, or of what it turns through."""
        if isinstance(node, ast.Loop):
            return self._parsed.find_token_range(node.values, node)[1]
        if isinstance(node, ast.At):
            return self._parsed.find_token_range(node.time, node)[1]
        if isinstance(node, ast.ForAll):
            return self._parsed.find_token_range(node.annotation or node.name)[1]
        if isinstance(node, ast.Bind | ast.Sweep | ast.Port):
            last = self._parsed.find_token_range(node.names[-1])[1]
            return last + (self._tokens.kinds[last + 1] == "RPAR")
        return self._parsed.find_token_range(node.name)[1]

    # ---- parts

    def _build_content(self, shape: Shape, node: Any) -> Content:
        """Return the content of a statement's name."""
        short = shape.short
        if short is not None and not short.key and getattr(node, "body", None) is None:
            return Content("text", self._from_part(short, shape, node))
        entries = [
            entry for part in shape.parts if (entry := self._build_part(part, node)) is not None
        ]
        if shape.block and node.body is not None:
            content = self._block(node.body.statements, entries, {part.key for part in shape.parts})
            content.opened |= not isinstance(
                node, ast.Run | ast.Goal | ast.Point | ast.At
            ) and bool(content.entries)
            content.end = self.list_above(self._parsed.find_token_range(node.body)[1])
            return content
        if short is not None and [entry.key for entry in entries] == [short.key]:
            return entries[0].content
        return Content("mapping", entries=entries)

    def _from_part(self, short: Part, shape: Shape, node: Any) -> str:
        """Return all of a statement from a part on; without a field, behind the keyword."""
        first, last = self._parsed.find_token_range(node)
        if short.field:
            first, _ = self._parsed.find_token_range(getattr(node, short.field), node)
            return self.slice(first, last)
        return self.slice(first + shape.key.isalpha(), last)

    def _build_part(self, part: Part, node: Any) -> Entry | None:
        """Return the entry of a part, or None if there is none."""
        if part.role is Role.PARAMETERS:
            return self._build_parameters(node)
        if part.role is Role.ENDS:
            first, last = (
                self._parsed.find_token_range(node.left)[0],
                self._parsed.find_token_range(node.right)[1],
            )
            return Entry(Content("text", self._parsed.join_tokens(first, last)), part.key)
        value = self._get_value(part, node)
        if value is None:
            return None
        if part.role is Role.BODY:
            content = self._block(value.statements, [], set())
            content.end = self.list_above(self._parsed.find_token_range(value)[1])
            return Entry(content, part.key, opening=self._write_opening(value))
        text = value.text if part.role is Role.TEXT else None
        if text is None:
            within = node if value is getattr(node, part.field) else None
            text = self.slice(*self._parsed.find_token_range(value, within))
        return Entry(Content("text", text), part.key)

    def _get_value(self, part: Part, node: Any) -> Any:
        """Return the node of a part; a record is two, what it is of and what it has."""
        value = getattr(node, part.field, None)
        if part.role is not Role.VALUE and not (part.role is Role.BODY and value is None):
            return value
        whole = getattr(node, "values" if isinstance(node, ast.ForAll) else "value", None)
        if not isinstance(whole, ast.Record):
            return value
        if self._parsed.find_token_range(whole, node) != self._parsed.find_token_range(whole):
            return value
        return whole.base if part.role is Role.VALUE else whole.body

    def _build_parameters(self, node: Any) -> Entry | None:
        if not self._opens_parameters(node):
            return None
        opener = self._parsed.find_token_range(node.name)[1] + 1
        content = Content("mapping")
        for parameter in node.parameters:
            first, last = self._parsed.find_token_range(parameter)
            start, _ = self._parsed.find_token_range(parameter.annotation)
            entry = Entry(Content("text", self.slice(start, last)), parameter.name.text)
            content.entries.append(self.with_comments(entry, first, last))
            comma = last + (self._tokens.kinds[last + 1] == "COMMA")
            content.end = self.list_above(comma + 1)
        return Entry(content, "parameters", opening=self._trivia.trailing.get(opener, ""))


def write_yaml(source: Source, problems: Problems) -> str | None:
    """Return a `.qos` file as YAML; None if there are errors in it.

    Raises:
        MeaningChangedError: If the result would say something else than the file.
    """
    text = format_text(source, problems)
    formatted_source = read(Source(source.name, text), Problems()) if text is not None else None
    if formatted_source is None:
        return None
    yaml = render(_Writer(formatted_source).write_file())
    beyond = explain_too_long(Source(f"{source.name} as YAML", yaml))
    if beyond is not None:
        problems.add(beyond)
        return None
    again = transcribe_yaml(Source(source.name, yaml), Problems())
    if again is None or format_text(again, Problems()) != text:
        raise MeaningChangedError(f"{source.name}: as YAML the file would say something else")
    return yaml


class _Writer:
    """Builds the content of one file."""

    def __init__(self, parsed: ParsedSource) -> None:
        self._parsed = parsed
        self._entries = EntryBuilder(parsed, self._build_block)

    # ---- the file

    def write_file(self) -> Content:
        edition = Entry(Content("edition", EDITION), "qos", self._entries.list_above(0))
        edition.blank_above = 0 in self._parsed.trivia.blank_above
        edition.content.end = self._entries.list_above(1)
        edition.content.opened = 1 in self._parsed.trivia.blank_above
        edition.opening = self._parsed.trivia.trailing.get(0, "")
        edition.trailing = self._parsed.trivia.trailing.get(1, "")
        heads = [edition, *self._build_imports()]
        content = self._build_block(self._parsed.tree.declarations, heads, set())
        content.opened = True
        content.end = self._entries.list_above(len(self._parsed.tokens.kinds) - 1)
        return content

    def _build_imports(self) -> list[Entry]:
        """Return the imports: those of one line are items, those of several are lists of items."""
        lines: list[Entry] = []
        kinds, begin = self._parsed.tokens.kinds, 2
        for node in self._parsed.tree.imports:
            _, last = self._parsed.find_token_range(node)
            if kinds[last + 1] != "COMMA":
                lines.append(self._import(begin, last))
                begin = last + 1
        if len(lines) == 1 and not (lines[0].above or lines[0].trailing):
            (only,) = lines
            return [Entry(only.content, "import", blank_above=only.blank_above)]
        for line in lines:
            line.content.opened = False
        content = Content("list", entries=lines, opened=True)
        return [Entry(content, "import", blank_above=_take_blank_above(lines[0]))] if lines else []

    def _import(self, first: int, last: int) -> Entry:
        items = self._parsed.join_tokens(first + 1, last).split(", ")
        if not self._parsed.may_be_one_line(first, last):
            items = [self._entries.read_after_first_word(first, last)]
        entry = Entry(Content("list", entries=[Entry(Content("text", item)) for item in items]))
        self._entries.with_comments(entry, first, last)
        if entry.trailing and flatten_content(entry.content) is None:
            entry.content.entries[0].content.text += f"  {entry.trailing}"
            entry.trailing = ""
        return entry

    # ---- blocks

    def _build_block(
        self, nodes: Sequence[ast.Node], heads: list[Entry], taken: set[str]
    ) -> Content:
        """Return the content of a block: a mapping, or a list of them where a key comes again.

        Args:
            nodes: The statements.
            heads: Entries before them in the first mapping.
            taken: The keys that mean something else in the first mapping.
        """
        items = [Entry(Content("mapping", entries=list(heads)))]
        used = {entry.key or "" for entry in heads} | taken
        group: Entry | None = None
        for node in nodes:
            shape, entry = find_shape(node), self._entries.build_entry(node)
            if entry.content.kind == "lines":
                items += [entry, Entry(Content("mapping"))]
                used, group = set(), None
                continue
            if group is not None and _is_joined(shape, group, entry):
                group.content.entries.append(entry)
                continue
            key = shape.key or entry.key or ""
            if key in used:
                items.append(Entry(Content("mapping")))
                used = set()
            used.add(key)
            transcription = _group(shape, entry)
            items[-1].content.entries.append(transcription)
            group = transcription if shape.key else None
        first, *others = items
        kept = [item for item in others if item.content.kind == "lines" or item.content.entries]
        if kept and (first.content.entries or taken):
            kept.insert(0, first)
        return _choose_mapping_or_list(kept or [first])


def _is_joined(shape: Shape, group: Entry, entry: Entry) -> bool:
    """Return whether a statement goes into the group of the statement before."""
    if shape.key != group.key or shape.grouping is Grouping.ALONE:
        return False
    return shape.grouping is not Grouping.NAMED or all(
        other.key != entry.key for other in group.content.entries
    )


def _group(shape: Shape, entry: Entry) -> Entry:
    """Return a statement below its keyword, where others may join it."""
    if not shape.key:
        return entry
    if shape.grouping is Grouping.ALONE:
        entry.key = shape.key
        return entry
    kind = {Grouping.NAMED: "mapping", Grouping.LISTED: "list", Grouping.LABELLED: "labelled"}[
        shape.grouping
    ]
    content = Content(kind, entries=[entry], opened=True)
    return Entry(content, shape.key, blank_above=_take_blank_above(entry))


def _take_blank_above(entry: Entry) -> bool:
    """Take away the blank line above an entry, which goes above its key; return if there is one."""
    if entry.above:
        blank_above, entry.above[0].blank_above = entry.above[0].blank_above, False
    else:
        blank_above, entry.blank_above = entry.blank_above, False
    return blank_above


def _choose_mapping_or_list(items: list[Entry]) -> Content:
    for item in items:
        for entry in item.content.entries:
            _settle(entry)
    if len(items) == 1 and items[0].content.kind == "mapping":
        return items[0].content
    for item in items:
        if item.content.entries:
            first = item.content.entries[0]
            item.content.opened = True
            item.above, item.blank_above = first.above, first.blank_above
            first.above, first.blank_above = [], False
    return Content("list", entries=items, opened=True)


def _settle(entry: Entry) -> None:
    """Make a group of labelled statements a mapping, or a list where one lacks a label."""
    content = entry.content
    if content.kind == "labelled":
        labels = [entry.key for entry in content.entries]
        content.kind = "list" if None in labels or len({*labels}) < len(labels) else "mapping"
        if content.kind == "list":
            content.entries = [_split_label(entry) for entry in content.entries]


def _split_label(entry: Entry) -> Entry:
    if entry.key is None:
        return entry
    content = Content(
        "mapping", entries=[Entry(entry.content, entry.key, trailing=entry.trailing)], opened=True
    )
    return Entry(content, above=entry.above, blank_above=entry.blank_above)
