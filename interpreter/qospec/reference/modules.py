"""Modules: a file with what it declares, a folder with its modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.suite import NOUNS
from qospec.reference.declarations import Declarations, module_file
from qospec.reference.library import describe_declared, module_name
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from qospec.catalogue.kinds import Catalogue
    from qospec.diagnostics import Problems
    from qospec.document import Document


def module(
    parts: Sequence[str], root: Path, catalogue: Catalogue, problems: Problems
) -> Document | None:
    """Return what the file of `import a.b` declares, relative to a root; None if there is none."""
    file = module_file(parts, root)
    if file is None:
        return None
    declarations = Declarations([file], catalogue, problems)
    summary = f"a module: `import {'.'.join(parts)}`"
    return {**_document(parts, summary), "declares": list(_entries(declarations))}


def _entries(declarations: Declarations) -> Iterator[Document]:
    for each in declarations.named():
        summary = describe_declared(each)["summary"]
        node = each.node
        noun = "a template" if is_template(node) else NOUNS[type(node)]
        yield {"name": each.name, "type": noun, "description": summary}


def is_template(node: ast.Declaration) -> bool:
    """Return whether a declaration is a test that is only run by those that are built on it."""
    return isinstance(node, ast.Test) and (node.topology is None or bool(node.parameters))


def folder(parts: Sequence[str], declarations: Declarations) -> Document | None:
    """Return the modules of the library in a folder of it, as `std.devices`; None if none are."""
    names = sorted(module_name(unit.path) for unit in declarations.units if unit.named)
    inside = [each for each in names if each.startswith(f"{'.'.join(parts)}.")]
    if not inside:
        return None
    entries = [{"name": each, "description": ""} for each in inside]
    return {**_document(parts, "a folder of the library"), "modules": entries}


def names(declarations: Declarations) -> Iterator[str]:
    """Yield the full names of the library: of its modules, its folders, and what it declares."""
    for unit in declarations.units:
        parts = module_name(unit.path).split(".")
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    for each in declarations.named():
        yield describe_declared(each)["name"]


def _document(parts: Sequence[str], summary: str) -> Document:
    return {"sort": "module", "name": ".".join(parts), "summary": summary, "description": ""}
