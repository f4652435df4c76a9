"""The body of a declaration as tables, by kind of statement.

A row has a name, a text as its author wrote it, and its comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.reference.values import read_written_text
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class Row(NamedTuple):
    """One line of a table; `loops` are those around it."""

    name: str
    text: str
    comment: str = ""
    loops: tuple[str, ...] = ()


class Section(NamedTuple):
    """A table under a title."""

    title: str
    rows: tuple[Row, ...]


_TITLES: dict[type, dict[type, str]] = {
    ast.Device: {ast.Bind: "Elements"},
    ast.Topology: {ast.Bind: "Nodes"},
    ast.Reference: {ast.Bind: "Published values"},
    ast.Test: {ast.Bind: "About"},
}
"""What a binding makes, by what holds it."""

_COMMON: dict[type, str] = {
    ast.Port: "Ports",
    ast.Let: "Values",
    ast.Wire: "Wires",
    ast.Machine: "Machines",
    ast.Link: "Links",
    ast.ForAll: "For all",
    ast.Sweep: "Sweeps",
    ast.Search: "Searches",
    ast.Goal: "Goals",
    ast.Point: "Points",
    ast.Flow: "Flows",
    ast.Control: "Controls",
    ast.Run: "Run",
    ast.Skip: "Skipped",
    ast.Criterion: "Criteria",
    ast.Report: "Reported",
}
"""Titles in the order of the page."""


def sections(node: ast.Declaration) -> tuple[Section, ...]:
    """Return the tables of a declaration: parameters, then what its body holds."""
    parameters = [_parameter(each) for each in getattr(node, "parameters", ())]
    found = {"Parameters": parameters}
    own = _TITLES.get(type(node), {})
    titles = {**own, **_COMMON}
    found |= {title: [] for title in titles.values()}
    body = getattr(node, "body", None)
    for statement, loops in _statements(body, ()):
        title = titles.get(type(statement))
        if title is not None:
            found[title] += [row._replace(loops=loops) for row in _rows(statement)]
    return tuple(Section(title, tuple(rows)) for title, rows in found.items() if rows)


def value_of(node: ast.Declaration) -> str:
    """Return the value of a `let` or traffic, or what a test is built on, as written."""
    if isinstance(node, ast.Test):
        return " ".join(filter(None, [_text(node.base), _text(node.topology, "on ")]))
    return _text(node.value) if isinstance(node, ast.Let | ast.Traffic) else ""


def _statements(
    body: ast.Body | None, loops: tuple[str, ...]
) -> Iterator[tuple[ast.Statement, tuple[str, ...]]]:
    """Yield the statements of a body and of the loops and searches in it."""
    for statement in body.statements if body else ():
        if isinstance(statement, ast.Loop):
            loop = f"{statement.name.text} in {read_written_text(statement.values)}"
            yield from _statements(statement.body, (*loops, loop))
            continue
        yield statement, loops
        if isinstance(statement, ast.Search):
            yield from _statements(statement.body, loops)


def _parameter(node: ast.Parameter) -> Row:
    default = f" = {read_written_text(node.default)}" if node.default else ""
    return Row(node.name.text, f"{node.annotation.text}{default}", node.doc)


def _rows(node: ast.Statement) -> list[Row]:
    """Return a statement as rows; one for each of its names."""
    doc = getattr(node, "doc", "")
    if isinstance(node, ast.Port):
        return [Row(read_written_text(name), node.carries.text, doc) for name in node.names]
    if isinstance(node, ast.Machine):
        return _transitions(node)
    if isinstance(node, ast.Run | ast.Goal | ast.Point):
        name = "" if isinstance(node, ast.Run) else node.name.text
        return [Row(f"{name} {row.name}".strip(), *row[1:]) for row in _binds(node.body)]
    name, text = _DESCRIPTIONS[type(node)](node)
    return [Row(name, text, doc)]


def _head(transition: ast.Transition) -> str:
    """Return a transition without its fields."""
    where = f" where {read_written_text(transition.where)}" if transition.where else ""
    return f"{read_written_text(transition.name)}{where} -> {transition.target.text}"


def _transitions(machine: ast.Machine) -> list[Row]:
    """Return the fields of a machine, then each transition of each state; a state may have none."""
    name = machine.name.text
    rows = [row._replace(name=f"{name}.{row.name}") for row in _binds(machine.body)]
    for state in machine.body.statements:
        if not isinstance(state, ast.State):
            continue
        transitions = [
            transition
            for transition in state.body.statements
            if isinstance(transition, ast.Transition)
        ]
        texts = [
            f"on {_head(transition)}{_text(transition.body, ' ')}" for transition in transitions
        ]
        comments = [transition.doc for transition in transitions]
        rows += [
            Row(f"{name}: {state.name.text}", text, comment)
            for text, comment in zip(texts or [""], comments or [state.doc], strict=True)
        ]
    return [rows[0]._replace(comment=rows[0].comment or machine.doc), *rows[1:]] if rows else []


def _binds(body: ast.Body) -> list[Row]:
    """Return a row for each binding, those of changes too, with their times."""
    found = []
    for each in body.statements:
        if isinstance(each, ast.Bind):
            found.append(Row(_names(each.names), read_written_text(each.value), each.doc))
        elif isinstance(each, ast.At):
            time = read_written_text(each.time)
            found += [row._replace(name=f"at {time}: {row.name}") for row in _binds(each.body)]
    return found


def _names(names: Sequence[ast.Name]) -> str:
    return ", ".join(name.text for name in names)


def _text(node: ast.Node | None, before: str = "", behind: str = "") -> str:
    """Return what an author wrote, between two words; nothing if it was left out."""
    return f"{before}{read_written_text(node)}{behind}" if node is not None else ""


def _flow(node: ast.Flow) -> str:
    sent = _text(node.traffic) + _text(node.body, " ")
    return sent + _text(node.origin, " from ") + _text(node.target, " to ")


def _criterion(node: ast.Criterion) -> str:
    condition = _text(node.condition) + _text(node.confidence, " with ", " confidence")
    return condition + _text(node.claim, " as ") + _text(node.when, " when ")


_DESCRIPTIONS: dict[type, Callable[[Any], tuple[str, str]]] = {
    ast.Bind: lambda node: (_names(node.names), _text(node.value)),
    ast.Let: lambda node: (node.name.text, _text(node.value)),
    ast.Wire: lambda node: ("", " -> ".join(map(_text, node.ends))),
    ast.Link: lambda node: (
        f"{_text(node.left)} -- {_text(node.right)}",
        _text(node.medium) + _text(node.body, " "),
    ),
    ast.Flow: lambda node: (node.name.text, _flow(node)),
    ast.Sweep: lambda node: (
        _names(node.names),
        _text(node.values) + _text(node.where, " where "),
    ),
    ast.Control: lambda node: (node.name.text, _text(node.topology)),
    ast.Criterion: lambda node: (
        f"{node.kind} {node.label.text if node.label else ''}".strip(),
        _criterion(node),
    ),
    ast.Report: lambda node: (
        node.label.text if node.label else "",
        _text(node.value) + _text(node.every, " every ") + _text(node.when, " when "),
    ),
    ast.Skip: lambda node: (node.reason.text, _text(node.condition, "unless ")),
    ast.Search: lambda node: (node.name.text, _text(node.values)),
    ast.ForAll: lambda node: (
        node.name.text,
        _text(node.values) + _text(node.where, " where "),
    ),
}
"""The name of a statement and what it says, put together from its parts."""
