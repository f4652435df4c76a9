"""A project's declarations as data for the templates of `stdlib/documentation/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.suite import NOUNS
from qospec.documentation.sections import list_sections, read_value
from qospec.reference.library import describe_declared
from qospec.reference.origins import trace_origins
from qospec.report.environment import render_template
from qospec.report.format import ReportError, read_format
from qospec.resources import STDLIB
from qospec.version import VERSION

if TYPE_CHECKING:
    from qospec.check.modules.loader import Unit
    from qospec.document import Document
    from qospec.reference.declarations import Declarations, Declared
    from qospec.report.format import Format

SCHEMA = 1
TEMPLATES = STDLIB / "documentation"


def list_formats() -> dict[str, Format]:
    """Return the formats of documentation by name."""
    return {path.stem: read_format(path) for path in sorted(TEMPLATES.glob("*.j2"))}


def render_page(declarations: Declarations, title: str, name: str) -> str:
    """Return the documentation of the files that were named, in a format.

    Raises:
        ReportError: A template has a mistake.
    """
    known = list_formats()
    if name not in known:
        raise ReportError(f"there is no documentation format `{name}`")
    return render_template(known[name], describe_project(declarations, title), {})


def describe_project(declarations: Declarations, title: str) -> Document:
    """Return all declarations of the files that were named."""
    units = [unit for unit in declarations.units if unit.named and unit.tree is not None]
    files = [_describe_file(unit, number, declarations) for number, unit in enumerate(units, 1)]
    return {"schema": SCHEMA, "qospec": VERSION, "title": title, "files": files}


def _describe_file(unit: Unit, number: int, declarations: Declarations) -> Document:
    return {
        "name": unit.source.name,
        "anchor": f"file-{number}",
        "comment": unit.tree.doc if unit.tree else "",
        "declarations": [
            _describe_declaration(declaration, f"file-{number}-{declaration.name}", declarations)
            for declaration in declarations.list_named()
            if declaration.unit is unit
        ],
    }


def _describe_declaration(declared: Declared, anchor: str, declarations: Declarations) -> Document:
    node = declared.node
    made = trace_origins(declared, declarations)
    on = getattr(node, "topology", None)
    title = getattr(node, "title", None)
    return {
        "declares": NOUNS[type(node)].split(" ", 1)[-1],
        "name": declared.name,
        "anchor": anchor,
        "on": " ".join(on.span.text.split()) if on is not None else "",
        "title": title.text if title is not None else "",
        "comment": node.doc,
        "place": describe_declared(declared)["place"],
        "value": "" if made else read_value(node),
        "kind": made["kind"] if made else "",
        "copies": [entry["name"] for entry in made["chain"][1:]] if made else [],
        "fields": [field for field in made["fields"] if not field["default"]] if made else [],
        "sections": [
            {"title": section.title, "rows": [row._asdict() for row in section.rows]}
            for section in list_sections(node)
        ],
    }
