"""Modules: a file with what it declares, a folder with its modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.suite import NOUNS
from qospec.reference.declarations import Declarations, find_module_file
from qospec.reference.library import describe_declared, name_module
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from qospec.catalogue.kinds import Catalogue
    from qospec.diagnostics import Problems
    from qospec.document import Document


def load_module(
    parts: Sequence[str], root: Path, catalogue: Catalogue, problems: Problems
) -> Document | None:
    """Return what the file of `import a.b` declares, relative to a root; None if there is none."""
    file = find_module_file(parts, root)
    if file is None:
        return None
    declarations = Declarations.read([file], catalogue, problems)
    summary = f"a module: `import {'.'.join(parts)}`"
    return {**_make_document(parts, summary), "declares": list(_list_entries(declarations))}


def _list_entries(declarations: Declarations) -> Iterator[Document]:
    for declaration in declarations.list_named():
        summary = describe_declared(declaration)["summary"]
        node = declaration.node
        noun = "a template" if is_template(node) else NOUNS[type(node)]
        yield {"name": declaration.name, "type": noun, "description": summary}


def is_template(node: ast.Declaration) -> bool:
    """Return whether a declaration is a test that is only run by those that are built on it."""
    return isinstance(node, ast.Test) and (node.topology is None or bool(node.parameters))


def list_folder(parts: Sequence[str], declarations: Declarations) -> Document | None:
    """Return the modules of the library in a folder of it, as `std.devices`; None if none are."""
    names = sorted(name_module(unit.path) for unit in declarations.units if unit.named)
    inside = [name for name in names if name.startswith(f"{'.'.join(parts)}.")]
    if not inside:
        return None
    entries = [{"name": name, "description": ""} for name in inside]
    return {**_make_document(parts, "a folder of the library"), "modules": entries}


def list_names(declarations: Declarations) -> Iterator[str]:
    """Yield the full names of the library: of its modules, its folders, and what it declares."""
    for unit in declarations.units:
        parts = name_module(unit.path).split(".")
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    for declaration in declarations.list_named():
        yield describe_declared(declaration)["name"]


def _make_document(parts: Sequence[str], summary: str) -> Document:
    return {"sort": "module", "name": ".".join(parts), "summary": summary, "description": ""}
