"""A draft as a file: without what it no longer needs for its form, in the one layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.diagnostics import Edit, Problems
from qospec.formatting import format_text
from qospec.shrink.draft import NAME, Draft
from qospec.source import Source
from qospec.syntax import ast
from qospec.syntax.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALLED = ("NAME", "RPAR", "RSQB")
"""Behind these, parentheses hold arguments."""


def lay_out(draft: Draft, comment: str) -> str:
    """Return a draft as a file in the one layout, with a comment above; tests come last."""
    draft = without_empty(draft)
    while (found := next(_list_plainer(draft), None)) is not None:
        draft = found
    parts = sorted(
        draft.tree.declarations,
        key=lambda declaration: isinstance(declaration, ast.Test | ast.Property),
    )
    imports = ", ".join(draft.quote(import_) for import_ in draft.tree.imports)
    head = "qos 1\n" + "".join(f"# {line}\n" for line in comment.splitlines())
    head += f"import {imports}\n" if imports else ""
    text = head + "\n" + "\n\n".join(draft.quote(part) for part in parts) + "\n"
    return format_text(Source(NAME, text), Problems()) or text


def without_empty(draft: Draft) -> Draft:
    """Return a draft without parentheses that hold no parameters, and without empty bodies.

    An empty `run` and empty loops go, too.
    """
    edits = [
        Edit(draft.make_span(node.name.span.end, node.body.span.start), " ")
        for node in draft.tree.declarations
        if isinstance(node, ast.Topology | ast.Device) and not node.parameters
    ]
    for node, above in draft.nodes:
        if isinstance(node, ast.Call) and not node.arguments and _is_plain(draft, node):
            edits.append(draft.replace(node, draft.quote(node.path)))
        elif isinstance(node, ast.Flow | ast.Link | ast.Record) and _is_empty(node.body):
            edits.append(Edit(node.body.span, ""))  # type: ignore[union-attr]
        elif isinstance(node, ast.Run | ast.Loop) and _is_empty(node.body) and _can_go(node, above):
            edits.append(draft.remove(node))
    found = Draft.read(draft.apply(edits)) if edits else None
    # What holds nothing but an empty loop is empty without it.
    return draft if found is None or found.text == draft.text else without_empty(found)


def _can_go(node: ast.Run | ast.Loop, above: tuple[ast.Node, ...]) -> bool:
    """Return whether an empty block may be left out."""
    beside = above[-1].list_children()
    phases = any(isinstance(sibling, ast.Search | ast.Point) for sibling in beside)
    return phases or isinstance(node, ast.Loop)


def _is_empty(body: ast.Body | None) -> bool:
    return body is not None and not body.statements


def _is_plain(draft: Draft, node: ast.Call) -> bool:
    """Return whether a call is of something that needs no parentheses: no function."""
    above = next(above for other, above in draft.nodes if other is node)
    return not isinstance(above[-1], ast.Binary | ast.Compare | ast.Criterion | ast.Within)


def _list_plainer(draft: Draft) -> Iterator[Draft]:
    """Yield the same draft without a pair of parentheses that means nothing."""
    tokens = tokenize(draft.source, Problems())
    opened: list[int] = []
    for at, kind in enumerate(tokens.kinds):
        if kind == "LPAR":
            opened.append(at)
        elif kind == "RPAR":
            first = opened.pop()
            if first and tokens.kinds[first - 1] in _CALLED:
                continue
            pair = [
                Edit(draft.make_span(tokens.starts[place], tokens.ends[place]), "")
                for place in (first, at)
            ]
            found = Draft.read(draft.apply(pair))
            if found is not None and found.tree == draft.tree:
                yield found
