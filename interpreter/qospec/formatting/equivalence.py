"""Equivalence of syntax trees: the formatter's check on itself."""

from __future__ import annotations

from qospec.formatting.source import spelling
from qospec.syntax import ast


def equivalent(one: object, other: object) -> bool:
    """Return whether two trees are equal, doc comments included, units by what they mean."""
    if isinstance(one, ast.Quantity) and isinstance(other, ast.Quantity):
        return one.number == other.number and spelling(one.unit) == spelling(other.unit)
    if isinstance(one, ast.Node):
        return type(one) is type(other) and all(
            name == "span" or equivalent(value, getattr(other, name))
            for name, value in vars(one).items()
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(equivalent, one, other))
    return one == other
