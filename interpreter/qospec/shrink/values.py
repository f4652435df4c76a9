"""What expressions of a draft are worth: those that nothing else goes into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, LimitReached
from qospec.check.evaluate.scope import Scope
from qospec.check.evaluate.values import Amount, Boolean, List, Value, write_plain_value
from qospec.units import count_decimals, format_value

if TYPE_CHECKING:
    from qospec.check import Checked
    from qospec.syntax import ast


class Values:
    """Evaluates expressions with the checker's evaluator."""

    def __init__(self, checked: Checked) -> None:
        self._evaluator = checked.evaluator

    def write_value(self, node: ast.Expression) -> str | None:
        """Return a number, quantity or truth as its author would write it; None if it is none."""
        value = self._evaluate(node)
        return None if value is None else write_literal(value)

    def write_items(self, node: ast.Expression) -> list[str] | None:
        """Return the items of a list or range in this way; None if it is not one of those."""
        value = self._evaluate(node)
        if not isinstance(value, List):
            return None
        found = [write_literal(item) for item in value.items]
        return (
            [quantity for quantity in found if quantity is not None] if None not in found else None
        )

    def _evaluate(self, node: ast.Expression) -> Value | None:
        with self._evaluator.context.check_apart() as problems:
            try:
                value = self._evaluator.require_plain(node, Scope())
            except (CheckError, LimitReached, RecursionError):
                return None
            return None if problems.errors else value


def write_literal(value: Value) -> str | None:
    """Return a value as a literal; None if it has no end of decimals, or is no number or truth."""
    if isinstance(value, Boolean):
        return write_plain_value(value)
    if not isinstance(value, Amount) or value.value is None or count_decimals(value.value) is None:
        return None
    try:
        text = value.text or format_value(value.value, value.dimension, exact=True)
    except (KeyError, ValueError):
        return None  # of a dimension that has no unit
    return f"{text} @{value.layer}" if value.layer and "@" not in text else text
