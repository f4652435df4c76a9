"""Values of the checker as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.values import Amount, Symbol, Truth, Wording
from qospec.units import text_of

if TYPE_CHECKING:
    from qospec.check.values import Value
    from qospec.syntax import ast

_DIGITS = 6


def value_text(value: Value | None) -> str:
    """Return a known number, truth, word or text as it would be written; else nothing."""
    if isinstance(value, Amount) and value.value is not None:
        shown = value.text or text_of(value.value, value.dimension, digits=_DIGITS)
        return f"{shown} @{value.layer}" if value.layer and "@" not in shown else shown
    if isinstance(value, Truth) and value.value is not None:
        return "true" if value.value else "false"
    if isinstance(value, Symbol):
        return value.name
    return f'"{value.text}"' if isinstance(value, Wording) else ""


def written_text(node: ast.Node) -> str:
    """Return what an author wrote, on one line."""
    return " ".join(node.span.text.split())
