"""A specification that is being rewritten: its text, and the tree of it.

Every change is of the text, at places that the tree knows, and gives a new text. So what is kept is
what an author could have written, and nothing has to print trees.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from qospec.diagnostics import Edit, Problems
from qospec.source import Source, Span
from qospec.syntax import ast
from qospec.syntax.parser import parse
from qospec.yaml_twin.form import is_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAME = "shrunk.qos"
"""What messages would call the text; none of them is shown."""
_COMMENT = re.compile(r'("[^"\n]*")|[ \t]*#[^\n]*')
_COMMA = re.compile(r"\s*,")
_COMMA_BEFORE = re.compile(r",\s*\Z")
ATOMS = (
    ast.Number, ast.Quantity, ast.Text, ast.Boolean, ast.Path, ast.Call, ast.ListLiteral,
    ast.MapLiteral, ast.Record, ast.Layered,
)  # fmt: skip
"""What needs no parentheses, wherever it stands."""


class Draft:
    """A text with its tree."""

    def __init__(self, source: Source, tree: ast.File) -> None:
        self.source = source
        self.tree = tree

    @classmethod
    def read(cls, text: str) -> Draft | None:
        """Return the draft of a text; None if it does not parse."""
        source, problems = Source(NAME, text), Problems()
        tree = parse(source, problems)
        return None if tree is None or problems.errors else cls(source, tree)

    @property
    def text(self) -> str:
        """Return the text."""
        return self.source.text

    def quote(self, node: ast.Node) -> str:
        """Return a node as it is written, keys included."""
        return self.text[node.span.start : node.span.end]

    def quote_operand(self, node: ast.Node) -> str:
        """Return a node as it is written as a part of any expression."""
        return self.quote(node) if isinstance(node, ATOMS) else f"({self.quote(node)})"

    @cached_property
    def nodes(self) -> tuple[tuple[ast.Node, tuple[ast.Node, ...]], ...]:
        """Return all nodes in order, each with those that it is part of, the nearest last."""
        return tuple(_walk_below(self.tree, ()))

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every name in the text, whatever it is of, but those behind a dot."""
        texts = (
            node.text
            for node, above in self.nodes
            if isinstance(node, ast.Name)
            and not (isinstance(above[-1], ast.Path) and node is not above[-1].name)
        )
        return frozenset(texts) | {import_.name for import_ in self.tree.imports}

    def choose_free_name(self, *wanted: str) -> str:
        """Return the first of some names that nothing has, or the last one with a number."""
        for name in wanted:
            if name not in self.names:
                return name
        number = 2
        while f"{wanted[-1]}_{number}" in self.names:
            number += 1
        return f"{wanted[-1]}_{number}"

    def replace(self, node: ast.Node, text: str) -> Edit:
        """Return the change that writes something else in place of a node."""
        return Edit(node.span, text)

    def remove(self, node: ast.Node) -> Edit:
        """Return the change that removes a node, with the comma that parts it from the next."""
        start, end = node.span.start, node.span.end
        behind = _COMMA.match(self.text, end)
        before = _COMMA_BEFORE.search(self.text, 0, start)
        if behind is not None:
            end = behind.end()
        elif before is not None:
            start = before.start()
        return Edit(Span(self.source, start, end), "")

    def make_span(self, start: int, end: int) -> Span:
        """Return a range of the text."""
        return Span(self.source, start, end)

    def apply(self, edits: Iterable[Edit]) -> str:
        """Return the text with changes; what lies within a larger one is lost with it."""
        text, at, removing = "", 0, False
        for span, new in sorted(edits, key=lambda edit: (edit.span.start, -edit.span.end)):
            if span.start >= at:
                text += self.text[at : span.start] + new
                at, removing = span.end, not new
            elif removing and not new:
                at = max(at, span.end)
        return text + self.text[at:]


def _walk_below(
    node: ast.Node, above: tuple[ast.Node, ...]
) -> Iterator[tuple[ast.Node, tuple[ast.Node, ...]]]:
    yield node, above
    inside = (*above, node)
    for child in node.list_children():
        yield from _walk_below(child, inside)


def list_paths(node: ast.Node) -> Iterator[ast.Path]:
    """Yield all paths in a node."""
    if isinstance(node, ast.Path):
        yield node
    for child in node.list_children():
        yield from list_paths(child)


def without_comments(text: str) -> str:
    """Return a text without its comments, without blank lines and without indentation."""
    bare = _COMMENT.sub(lambda found: found[1] or "", text)
    return "\n".join(line.strip() for line in bare.splitlines() if line.strip()) + "\n"


def as_text(source: Source) -> Source:
    """Return a file without mistakes, in either form, as text of the language."""
    if not is_yaml(source.name):
        return source
    from qospec.yaml_twin.reader import transcribe_yaml

    text = transcribe_yaml(source, Problems())
    assert text is not None  # noqa: S101 -- it was checked
    return Source(NAME, text.text, source.recorded_as)
