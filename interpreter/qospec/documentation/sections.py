"""The body of a declaration as tables, by kind of statement.

A row has a name, a text as its author wrote it, and its comment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
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


def list_sections(node: ast.Declaration) -> tuple[Section, ...]:
    """Return the tables of a declaration: parameters, then what its body holds."""
    parameters = [_describe_parameter(parameter) for parameter in getattr(node, "parameters", ())]
    found = {"Parameters": parameters}
    own = _TITLES.get(type(node), {})
    titles = {**own, **_COMMON}
    found |= {title: [] for title in titles.values()}
    body = getattr(node, "body", None)
    for statement, loops in _iterate_statements(body, ()):
        title = titles.get(type(statement))
        if title is not None:
            found[title] += [row._replace(loops=loops) for row in _list_rows(statement)]
    return tuple(Section(title, tuple(rows)) for title, rows in found.items() if rows)


def read_value(node: ast.Declaration) -> str:
    """Return the value of a `let` or traffic, or what a test is built on, as written."""
    if isinstance(node, ast.Test):
        return " ".join(filter(None, [_read_text(node.base), _read_text(node.topology, "on ")]))
    return _read_text(node.value) if isinstance(node, ast.Let | ast.Traffic) else ""


def _iterate_statements(
    body: ast.Body | None, loops: tuple[str, ...]
) -> Iterator[tuple[ast.Statement, tuple[str, ...]]]:
    """Yield the statements of a body and of the loops and searches in it."""
    for statement in body.statements if body else ():
        if isinstance(statement, ast.Loop):
            loop = f"{statement.name.text} in {read_written_text(statement.values)}"
            yield from _iterate_statements(statement.body, (*loops, loop))
            continue
        yield statement, loops
        if isinstance(statement, ast.Search):
            yield from _iterate_statements(statement.body, loops)


def _describe_parameter(node: ast.Parameter) -> Row:
    default = f" = {read_written_text(node.default)}" if node.default else ""
    return Row(node.name.text, f"{node.annotation.text}{default}", node.doc)


def _list_rows(node: ast.Statement) -> list[Row]:
    """Return a statement as rows; one for each of its names."""
    doc = getattr(node, "doc", "")
    if isinstance(node, ast.Port):
        return [Row(read_written_text(name), node.carries.text, doc) for name in node.names]
    if isinstance(node, ast.Machine):
        return _list_transitions(node)
    if isinstance(node, ast.Run | ast.Goal | ast.Point):
        name = "" if isinstance(node, ast.Run) else node.name.text
        return [Row(f"{name} {row.name}".strip(), *row[1:]) for row in _list_binds(node.body)]
    name, text = _DESCRIPTIONS[type(node)](node)
    return [Row(name, text, doc)]


def _write_head(transition: ast.Transition) -> str:
    """Return a transition without its fields."""
    where = f" where {read_written_text(transition.where)}" if transition.where else ""
    return f"{read_written_text(transition.name)}{where} -> {transition.target.text}"


def _list_transitions(machine: ast.Machine) -> list[Row]:
    """Return the fields of a machine, then each transition of each state; a state may have none."""
    name = machine.name.text
    rows = [row._replace(name=f"{name}.{row.name}") for row in _list_binds(machine.body)]
    for state in machine.body.statements:
        if not isinstance(state, ast.State):
            continue
        transitions = [
            transition
            for transition in state.body.statements
            if isinstance(transition, ast.Transition)
        ]
        texts = [
            f"on {_write_head(transition)}{_read_text(transition.body, ' ')}"
            for transition in transitions
        ]
        comments = [transition.doc for transition in transitions]
        rows += [
            Row(f"{name}: {state.name.text}", text, comment)
            for text, comment in zip(texts or [""], comments or [state.doc], strict=True)
        ]
    return [rows[0]._replace(comment=rows[0].comment or machine.doc), *rows[1:]] if rows else []


def _list_binds(body: ast.Body) -> list[Row]:
    """Return a row for each binding, those of changes too, with their times."""
    found = []
    for statement in body.statements:
        if isinstance(statement, ast.Bind):
            found.append(
                Row(_join_names(statement.names), read_written_text(statement.value), statement.doc)
            )
        elif isinstance(statement, ast.At):
            time = read_written_text(statement.time)
            found += [
                row._replace(name=f"at {time}: {row.name}") for row in _list_binds(statement.body)
            ]
    return found


def _join_names(names: Sequence[ast.Name]) -> str:
    return ", ".join(name.text for name in names)


def _read_text(node: ast.Node | None, before: str = "", behind: str = "") -> str:
    """Return what an author wrote, between two words; nothing if it was left out."""
    return f"{before}{read_written_text(node)}{behind}" if node is not None else ""


def _describe_flow(node: ast.Flow) -> str:
    sent = _read_text(node.traffic) + _read_text(node.body, " ")
    ends = _read_text(node.origin, " from ") + _read_text(node.target, " to ")
    return sent + ends + _read_text(node.via, " via ")


def _describe_criterion(node: ast.Criterion) -> str:
    condition = _read_text(node.condition) + _read_text(node.confidence, " with ", " confidence")
    claim = _read_text(node.claim, " as ") + _read_text(node.covers, " of ")
    return condition + claim + _read_text(node.when, " when ")


_DESCRIPTIONS: dict[type, Callable[[Any], tuple[str, str]]] = {
    ast.Bind: lambda node: (_join_names(node.names), _read_text(node.value)),
    ast.Let: lambda node: (node.name.text, _read_text(node.value)),
    ast.Wire: lambda node: ("", " -> ".join(map(_read_text, node.ends))),
    ast.Link: lambda node: (
        f"{_read_text(node.left)} -- {_read_text(node.right)}",
        _read_text(node.medium) + _read_text(node.body, " "),
    ),
    ast.Flow: lambda node: (node.name.text, _describe_flow(node)),
    ast.Sweep: lambda node: (
        _join_names(node.names),
        _read_text(node.values) + _read_text(node.where, " where "),
    ),
    ast.Control: lambda node: (node.name.text, _read_text(node.topology)),
    ast.Criterion: lambda node: (
        f"{node.kind} {node.label.text if node.label else ''}".strip(),
        _describe_criterion(node),
    ),
    ast.Report: lambda node: (
        node.label.text if node.label else "",
        _read_text(node.value)
        + _read_text(node.every, " every ")
        + _read_text(node.when, " when "),
    ),
    ast.Skip: lambda node: (node.reason.text, _read_text(node.condition, "unless ")),
    ast.Search: lambda node: (node.name.text, _read_text(node.values)),
    ast.ForAll: lambda node: (
        node.name.text,
        _read_text(node.values) + _read_text(node.where, " where "),
    ),
}
"""The name of a statement and what it says, put together from its parts."""
