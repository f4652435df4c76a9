"""Where each field of a declaration came from, through the chain of copies.

Source: spec/3-names.md, copies. Which value wins is the checker's answer; which lines it won over
is read from the text of each copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.declarations import TrafficValue
from qospec.check.records.record import Record
from qospec.check.records.spelling import find_parameter
from qospec.reference.kinds import describe_field
from qospec.reference.library import write_place
from qospec.reference.values import read_written_text, value_text
from qospec.syntax import ast

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.catalogue.kinds import Parameter
    from qospec.check.evaluate.values import Value
    from qospec.document import Document
    from qospec.reference.declarations import Declarations, Declared


def trace_origins(declared: Declared, declarations: Declarations) -> Document | None:
    """Return the fields of traffic or of a line, each with its origin; None if it has none."""
    record = _evaluate_record(declarations.evaluate(declared), declarations)
    if record is None:
        return None
    copies = list(follow_copies(declared, declarations))
    return {
        "kind": record.kind.name,
        "chain": [{"name": copy.name, "place": write_place(copy.node)} for copy in copies],
        "fields": list(trace_fields(record, copies, declarations, "")),
    }


def _evaluate_record(value: Value | None, declarations: Declarations) -> Record | None:
    """Return the record of a declaration: with defaults, else with unknown parameters."""
    if isinstance(value, TrafficValue):
        signature = value.signature
        inside = signature.make_placeholders(defaults=signature.has_defaults())
        value = value.evaluate_record(inside, declarations.evaluator)
    return value if isinstance(value, Record) else None


def follow_copies(declared: Declared | None, declarations: Declarations) -> Iterator[Declared]:
    """Yield a declaration, the one that it is a copy of or built on, and so on."""
    seen: list[ast.Declaration] = []
    while declared is not None and declared.node not in seen:
        yield declared
        seen.append(declared.node)
        node = declared.node
        base = node.base if isinstance(node, ast.Test) else getattr(node, "value", None)
        declared = declarations.find_named(declared.unit, base)


def trace_fields(
    record: Record, copies: list[Declared], declarations: Declarations, before: str
) -> Iterator[Document]:
    """Yield the fields of a record, then those of the records in it as `source.rate`."""
    for parameter in record.kind.parameters.values():
        yield from _trace_field(record, parameter, copies, declarations, before)
    if record.kind.role == "traffic":
        source = find_parameter(record.kind, "source")
        if source is not None and source.name in record.given:
            yield from _trace_field(record, source, copies, declarations, before)


def _trace_field(
    record: Record,
    parameter: Parameter,
    copies: list[Declared],
    declarations: Declarations,
    before: str,
) -> Iterator[Document]:
    described = describe_field(parameter, record.kind)
    given = record.given.get(parameter.name)
    value = record.evaluate_parameter(parameter, declarations.evaluator)
    inner = value if given is not None and isinstance(value, Record) else None
    if given is None:
        shown, place, written = described["default"], "", ""
    else:
        written = read_written_text(given.value)
        shown, place = value_text(value), write_place(given.name)
    yield {
        "name": before + described["name"],
        "value": inner.kind.name if inner else shown or written,
        "written": "" if inner or not shown or written == shown else written,
        "place": place,
        "default": given is None,
        "required": given is None and described["required"],
        "instead_of": list(_trace_overridden(record, parameter, place, copies)) if given else [],
        "description": described["description"],
    }
    if inner is not None:
        yield from trace_fields(inner, [], declarations, f"{before}{described['name']}.")


def _trace_overridden(
    record: Record, parameter: Parameter, place: str, copies: list[Declared]
) -> Iterator[Document]:
    """Yield what the copies say of a field in vain, the nearest first."""
    for copy in copies:
        value = getattr(copy.node, "value", None)
        statements = value.body.statements if isinstance(value, ast.Record) else ()
        for bind in statements:
            if not isinstance(bind, ast.Bind):
                continue
            for name in bind.names:
                if (
                    find_parameter(record.kind, name.text) == parameter
                    and write_place(name) != place
                ):
                    written = read_written_text(bind.value)
                    yield {"of": copy.name, "written": written, "place": write_place(name)}
