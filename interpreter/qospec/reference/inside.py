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
    for statement, loops in _statements(node.body.statements, ()):
        stands: Document = {"loops": list(loops)}
        if isinstance(statement, ast.Let):
            said: Document = {"value": written_text(statement.value), "description": statement.doc}
            found["values"].append({"name": statement.name.text, **said, **stands})
        elif isinstance(statement, ast.Bind):
            named = declarations.named_by(declared.unit, statement.value)
            comment = statement.doc or (named.comment[0] if named else "")
            said = {"type": written_text(statement.value), "description": comment}
            found["elements"] += [{"name": name.text, **said, **stands} for name in statement.names]
        elif isinstance(statement, ast.Machine):
            said = {"type": "machine", "description": statement.doc}
            found["elements"].append({"name": statement.name.text, **said, **stands})
        elif isinstance(statement, ast.Wire):
            found["wires"].append({"name": written_text(statement), **stands})
    return found


def _statements(
    statements: Sequence[ast.Statement], loops: tuple[str, ...]
) -> Iterator[tuple[ast.Statement, tuple[str, ...]]]:
    """Yield the statements of a body and of its loops, each with the loops that it stands in."""
    for each in statements:
        if isinstance(each, ast.Loop):
            loop = f"for {each.name.text} in {written_text(each.values)}"
            yield from _statements(each.body.statements, (*loops, loop))
        else:
            yield each, loops
