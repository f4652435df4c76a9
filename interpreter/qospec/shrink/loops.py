"""Loops written out: each iteration on its own, so that single ones can go."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.diagnostics import Edit
from qospec.shrink.draft import Draft, list_paths
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.shrink.values import Values

MOST = 100
"""Iterations that are written out."""
FLOWS = ("flows", "test_flows")
"""Of a point."""


class Renamed(NamedTuple):
    """Something in a loop, its iteration, and the name that it has outside of the loop."""

    name: str
    subscript: str
    new: str


def unroll_loop(
    draft: Draft, values: Values, loop: ast.Loop, within: ast.Node, known: list[Renamed]
) -> Draft | None:
    """Return a draft without one loop; None if its values are not known, or too many.

    Args:
        draft: The draft.
        values: What expressions are worth.
        loop: The loop, within no other one.
        within: The test or topology that it is in.
        known: What loops before it made; what this one makes is added.
    """
    items = values.write_items(loop.values)
    items = _list_names(draft, loop.values, within) if items is None else items
    if items is None or len(items) > MOST:
        return None
    whole = all(item.isdigit() for item in items)
    made = {statement.text for statement in _list_made(loop.body)}
    parts = list[str]()
    for place, item in enumerate(items):
        index = item if whole else str(place)
        new = {
            name: draft.choose_free_name(f"{name}{index}", f"{name}_{index}")
            for name in sorted(made)
        }
        known += [Renamed(name, index, new[name]) for name in sorted(made)]
        parts += _write_iteration(draft, loop, item, new)
    text = draft.apply([Edit(loop.span, "\n".join(parts))])
    found = Draft.read(text)
    name = within.name.text  # type: ignore[attr-defined]
    return None if found is None else with_names(found, values, name, known)


def _list_names(draft: Draft, values: ast.Expression, within: ast.Node) -> list[str] | None:
    """Return what a loop goes over that has names: what is listed, or the flows of a point."""
    if isinstance(values, ast.ListLiteral) and all(isinstance(e, ast.Path) for e in values.items):
        return [draft.quote(item) for item in values.items]
    last = values.trail[-1] if isinstance(values, ast.Path) and values.trail else None
    if not isinstance(last, ast.Name) or last.text not in FLOWS or not isinstance(within, ast.Test):
        return None
    flows = _list_flows(within, tested=last.text == "test_flows")
    point = draft.quote(values).removesuffix(f".{last.text}")
    return None if flows is None else [f"{point}.{flow}" for flow in flows]


def _list_flows(test: ast.Test, *, tested: bool) -> list[str] | None:
    """Return the flows of a test, or those that use a variable of a phase; None if in a loop."""
    statements = () if test.body is None else test.body.statements
    flows = [statement for statement in statements if isinstance(statement, ast.Flow)]
    phases = [
        statement for statement in statements if isinstance(statement, ast.Search | ast.Point)
    ]
    loops = [statement for statement in statements if isinstance(statement, ast.Loop)]
    if any(isinstance(inner, ast.Flow) for loop in loops for inner in loop.body.statements):
        return None
    variables = {phase.name.text for phase in phases if isinstance(phase, ast.Search)} | {
        name.text
        for phase in phases
        for bind in phase.body.statements
        if isinstance(bind, ast.Bind)
        for name in bind.names
    }
    using = [e for e in flows if any(path.name.text in variables for path in list_paths(e))]
    return [flow.name.text for flow in (using if tested and using else flows)]


def _list_made(body: ast.Body) -> Iterator[ast.Name]:
    """Yield the names of what a loop makes: flows, nodes, values."""
    for statement in body.statements:
        if isinstance(statement, ast.Flow | ast.Let):
            yield statement.name
        elif isinstance(statement, ast.Bind):
            yield from statement.names
        elif isinstance(statement, ast.Loop):
            yield from _list_made(statement.body)


def _write_iteration(draft: Draft, loop: ast.Loop, item: str, new: dict[str, str]) -> list[str]:
    """Return the statements of an iteration."""
    edits: list[Edit] = []
    for path in list_paths(loop.body):
        if path.name.text == loop.name.text:
            edits.append(draft.replace(path.name, item))
        elif path.name.text in new and not (path.trail and isinstance(path.trail[0], ast.Index)):
            edits.append(draft.replace(path.name, new[path.name.text]))
    edits += [draft.replace(name, new[name.text]) for name in _list_made(loop.body)]
    for statement in loop.body.statements:
        if (
            isinstance(statement, ast.Criterion)
            and statement.kind == "require"
            and statement.label is not None
        ):
            label = draft.make_span(statement.label.span.start, statement.condition.span.start)
            edits.append(Edit(label, ""))
    found = []
    for statement in loop.body.statements:
        offset = statement.span.start
        inside = [edit for edit in edits if edit.span in statement.span]
        text = draft.quote(statement)
        for edit in sorted(inside, key=lambda edit: -edit.span.start):
            start, end = edit.span.start - offset, edit.span.end - offset
            text = text[:start] + edit.text + text[end:]
        found.append(text)
    return found


def with_names(draft: Draft, values: Values, within: str, renamed: list[Renamed]) -> Draft:
    """Return a draft in which what loops made has names of its own: `f[2]` is `f2`."""
    new = {(known.name, known.subscript): known.new for known in renamed}
    edits: list[Edit] = []
    for node, above in draft.nodes:
        if not isinstance(node, ast.Path) or not _is_in(above, within):
            continue
        words: list[ast.Name | ast.Index] = [node.name, *node.trail]
        for word, index in pairwise(words):
            if isinstance(word, ast.Name) and isinstance(index, ast.Index):
                at = values.write_value(index.value)
                name = new.get((word.text, at or ""))
                if name is not None:
                    edits.append(Edit(word.span.extend_to(index.span), name))
    found = Draft.read(draft.apply(edits)) if edits else draft
    return found or draft


def _is_in(above: tuple[ast.Node, ...], name: str) -> bool:
    return any(
        isinstance(node, ast.Test | ast.Topology) and node.name.text == name for node in above
    )
