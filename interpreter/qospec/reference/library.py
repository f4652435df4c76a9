"""Devices and media of the library, read from its files: values, elements and wires as written.

Loops are not unrolled: their iterations may depend on a parameter.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.records.record import Record
from qospec.diagnostics import Problems
from qospec.reference.declarations import Declarations, Declared
from qospec.reference.values import read_written_text, value_text
from qospec.resources import STDLIB
from qospec.syntax import ast
from qospec.visible import make_visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.catalogue.kinds import Catalogue
    from qospec.document import Document
    from qospec.reference.declarations import Declarations, Declared


@functools.cache
def load_library(catalogue: Catalogue) -> Declarations:
    """Return the whole library, read once."""
    problems = Problems()
    found = Declarations.read([STDLIB], catalogue, problems)
    problems.raise_errors()
    return found


def describe_devices(declarations: Declarations) -> list[Document]:
    """Return every device of the files that were named."""
    return [
        describe_device(declaration, declarations)
        for declaration in declarations.list_named()
        if isinstance(declaration.node, ast.Device)
    ]


def describe_media(declarations: Declarations) -> list[Document]:
    """Return every `let` of the files that were named which is a line."""
    return list(_list_media(declarations))


def _list_media(declarations: Declarations) -> Iterator[Document]:
    for declaration in declarations.list_named():
        value = (
            declarations.evaluate(declaration) if isinstance(declaration.node, ast.Let) else None
        )
        if not isinstance(value, Record) or value.kind.duty != "line":
            continue
        fields = [
            {
                "name": parameter.alias or parameter.name,
                "value": value_text(value.evaluate_parameter(parameter, declarations.evaluator)),
            }
            for parameter in value.kind.parameters.values()
        ]
        yield {**describe_declared(declaration), "kind": value.kind.name, "fields": fields}


def describe_declared(declared: Declared) -> Document:
    """Return the name of a declaration, its comment and its place."""
    summary, description = declared.comment
    return {
        "name": f"{name_module(declared.unit.path)}.{declared.name}",
        "summary": summary,
        "description": description,
        "place": write_place(declared.node),
    }


def name_module(path: Path) -> str:
    """Return the name by which a file is imported: `std.devices.sitline`, or its own name."""
    inside = path.resolve()
    if not inside.is_relative_to(STDLIB.resolve()):
        return make_visible(path.stem)
    return ".".join(["std", *inside.relative_to(STDLIB.resolve()).with_suffix("").parts])


def describe_device(declared: Declared, declarations: Declarations) -> Document:
    """Return a device with its parameters and ports, and what is in it."""
    node = declared.node
    assert isinstance(node, ast.Device)  # noqa: S101 -- the caller's choice
    ports = [
        {
            "name": name.name.text,
            "count": read_written_text(name.count) if name.count else "",
            "carries": statement.carries.text,
            "description": statement.doc,
        }
        for statement in node.body.statements
        if isinstance(statement, ast.Port)
        for name in statement.names
    ]
    parameters = describe_parameters(declared, declarations)
    outside = {**describe_declared(declared), "parameters": parameters, "ports": ports}
    return {**outside, **describe_body(declared, declarations)}


def describe_parameters(declared: Declared, declarations: Declarations) -> list[Document]:
    """Return the parameters of a declaration: type, default, and where the default is from."""
    parameters = getattr(declared.node, "parameters", ())
    signature = getattr(declarations.evaluate(declared), "signature", None)
    known = (
        signature.make_placeholders(defaults=True).names
        if signature and signature.has_defaults()
        else {}
    )
    context = declarations.evaluator.context
    return [
        {
            "name": parameter.name.text,
            "type": parameter.annotation.text,
            "default": read_written_text(parameter.default) if parameter.default else "",
            "value": value_text(known[parameter.name.text].evaluate(context))
            if parameter.name.text in known
            else "",
            "description": parameter.doc
            or _read_calibration(parameter.default, declared, declarations),
            "place": write_place(parameter),
        }
        for parameter in parameters
    ]


def _read_calibration(
    default: ast.Expression | None, declared: Declared, declarations: Declarations
) -> str:
    """Return the comment of the `let` that a default names."""
    if not isinstance(default, ast.Path):
        return ""
    trail = [step.text for step in default.trail if isinstance(step, ast.Name)]
    named = declarations.find(declared.unit, [default.name.text, *trail])
    return named.node.doc if named is not None else ""


def write_place(node: ast.Node) -> str:
    """Return the file and the line of a node; files of the library by their place in it."""
    source = node.span.source
    line, _ = source.find_position(node.span.start)
    path, library = Path(source.name).resolve(), STDLIB.resolve()
    inside = path.is_relative_to(library)
    shown = f"std/{path.relative_to(library).as_posix()}" if inside else source.name
    return f"{make_visible(shown)}:{line}"


def describe_body(declared: Declared, declarations: Declarations) -> Document:
    """Return what is in a device, in the order of its text."""
    node = declared.node
    assert isinstance(node, ast.Device)  # noqa: S101 -- the caller's choice
    found: Document = {"values": [], "elements": [], "wires": []}
    for statement, loops in _iterate_statements(node.body.statements, ()):
        place: Document = {"loops": list(loops)}
        if isinstance(statement, ast.Let):
            entry: Document = {
                "value": read_written_text(statement.value),
                "description": statement.doc,
            }
            found["values"].append({"name": statement.name.text, **entry, **place})
        elif isinstance(statement, ast.Bind):
            named = declarations.find_named(declared.unit, statement.value)
            comment = statement.doc or (named.comment[0] if named else "")
            entry = {"type": read_written_text(statement.value), "description": comment}
            found["elements"] += [{"name": name.text, **entry, **place} for name in statement.names]
        elif isinstance(statement, ast.Machine):
            entry = {"type": "machine", "description": statement.doc}
            found["elements"].append({"name": statement.name.text, **entry, **place})
        elif isinstance(statement, ast.Wire):
            found["wires"].append({"name": read_written_text(statement), **place})
    return found


def _iterate_statements(
    statements: Sequence[ast.Statement], loops: tuple[str, ...]
) -> Iterator[tuple[ast.Statement, tuple[str, ...]]]:
    """Yield the statements of a body and of its loops, each with the loops around it."""
    for statement in statements:
        if isinstance(statement, ast.Loop):
            loop = f"for {statement.name.text} in {read_written_text(statement.values)}"
            yield from _iterate_statements(statement.body.statements, (*loops, loop))
        else:
            yield statement, loops
