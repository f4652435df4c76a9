"""Equivalence of syntax trees: the formatter's check on itself."""

from __future__ import annotations

from qospec.formatting.source import spell_unit
from qospec.syntax import ast


def is_equivalent(one: object, other: object) -> bool:
    """Return whether two trees are equal, doc comments included, units by what they mean."""
    if isinstance(one, ast.Quantity) and isinstance(other, ast.Quantity):
        return one.number == other.number and spell_unit(one.unit) == spell_unit(other.unit)
    if isinstance(one, ast.Node):
        return type(one) is type(other) and all(
            name == "span" or is_equivalent(value, getattr(other, name))
            for name, value in vars(one).items()
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_equivalent, one, other))
    return one == other
