"""What is in a device: its values, its elements and its wires, as they are written.

Loops are not unrolled: how many turns they have may depend on a parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.reference.amounts import written_text
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.document import Document
    from qospec.reference.declarations import Declarations, Declared


def inside_document(declared: Declared, declarations: Declarations) -> Document:
    """Return what is in a device, in the order of its text."""
    node = declared.node
    assert isinstance(node, ast.Device)  # noqa: S101 -- the caller's choice
    found: Document = {"values": [], "elements": [], "wires": []}
    for statement, turns in _statements(node.body.statements, ()):
        if isinstance(statement, ast.Let):
            values = _entry(statement.name.text, written_text(statement.value), turns)
            found["values"].append({**values, "description": statement.doc})
        elif isinstance(statement, ast.Bind):
            named = declarations.named_by(declared.unit, statement.value)
            said = statement.doc or (named.comment[0] if named else "")
            made = written_text(statement.value)
            for name in statement.names:
                found["elements"].append({**_entry(name.text, made, turns), "description": said})
        elif isinstance(statement, ast.Machine):
            machine = _entry(statement.name.text, "machine", turns)
            found["elements"].append({**machine, "description": statement.doc})
        elif isinstance(statement, ast.Wire):
            found["wires"].append(_entry(written_text(statement), "", turns))
    return found


def _statements(
    statements: Sequence[ast.Statement], turns: tuple[str, ...]
) -> Iterator[tuple[ast.Statement, tuple[str, ...]]]:
    """Yield the statements of a body and of its loops, each with the loops that it stands in."""
    for each in statements:
        if isinstance(each, ast.Loop):
            turn = f"for {each.name.text} in {written_text(each.values)}"
            yield from _statements(each.body.statements, (*turns, turn))
        else:
            yield each, turns


def _entry(name: str, made: str, turns: tuple[str, ...]) -> Document:
    return {"name": name, "type": ", ".join(part for part in (made, *turns) if part)}
