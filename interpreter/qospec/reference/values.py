"""Values of the checker as text, and the units of the language with their dimensions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from qospec.check.evaluate.values import Amount, Boolean, Symbol, Text
from qospec.secret import redact
from qospec.syntax import ast
from qospec.units import find_base_unit, find_unit, format_number, format_value, load_table
from qospec.yaml_twin.reader import TranscribedSpan

if TYPE_CHECKING:
    from qospec.check.evaluate.values import Value
    from qospec.source import Span
    from qospec.units import Unit

_DIGITS = 6
_COMMENT = re.compile(r'("[^"\n]*")|#[^\n]*')
"""A comment, or a text, which may contain a `#`."""


def value_text(value: Value | None) -> str:
    """Return a known number, boolean, word or text as it would be written; else nothing."""
    if isinstance(value, Amount) and value.value is not None:
        shown = value.text or format_value(value.value, value.dimension, digits=_DIGITS)
        return f"{shown} @{value.layer}" if value.layer and "@" not in shown else shown
    if isinstance(value, Boolean) and value.value is not None:
        return "true" if value.value else "false"
    if isinstance(value, Symbol):
        return value.name
    return redact(f'"{value.text}"') if isinstance(value, Text) else ""


def read_written_text(node: ast.Node) -> str:
    """Return what an author wrote on one line, without comments and with `,` between statements."""
    span = _as_text(node.span)
    text, begin, line = span.source.shown, span.start, ""
    for end in [*_find_statement_starts(node), span.end]:
        kept = _COMMENT.sub(r"\1", text[begin:end])
        separator = ", " if line and not line.endswith(",") else " "
        line = f"{line}{separator}{' '.join(kept.split())}"
        begin = end
    return line.strip()


def _find_statement_starts(node: ast.Node) -> list[int]:
    """Return the starts of all statements in a node that follow another."""
    waiting, found = [node], []
    while waiting:
        within = waiting.pop()
        waiting += within.list_children()
        if isinstance(within, ast.Body):
            found += [_as_text(statement.span).start for statement in within.statements[1:]]
    return sorted(found)


def _as_text(span: Span) -> Span:
    """Return the span in the text of the language, which YAML is transcribed to."""
    return span.text_span if isinstance(span, TranscribedSpan) else span


EXAMPLE_NUMBER = "2"


def describe_units() -> list[dict[str, Any]]:
    """Return all simple units, in the order of `spec/units.toml`."""
    simple, alone = load_table()
    return [
        _describe_unit(name, known, compound=name not in alone) for name, known in simple.items()
    ]


def describe_unit(text: str) -> dict[str, Any] | None:
    """Return a unit, simple or compound as `kbit/s`; None if it is none."""
    known = find_unit(text)
    simple, alone = load_table()
    compound = text in simple and text not in alone
    return None if known is None else _describe_unit(text, known, compound=compound)


def _describe_unit(name: str, known: Unit, *, compound: bool) -> dict[str, Any]:
    blank = "" if name == "%" else " "
    amount = format_number(known.factor, exact=True)
    base = find_base_unit(known.dimension)
    return {
        "name": name,
        "dimension": known.dimension.name,
        "is": amount if known.dimension.is_ratio else f"{amount} {base}",
        "written": known.canonical,
        "compound": compound,
        "example": f"{EXAMPLE_NUMBER}{blank}{known.canonical}",
    }
