"""How many of something there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.context import wrong
from qospec.check.values import Amount, Poison
from qospec.units import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.syntax import ast


def count_of(node: ast.Expression, scope: Scope, evaluator: Evaluator) -> tuple[int, bool]:
    """Return how many of an array there are, and whether that is known.

    Where it depends on a parameter that is not known, one stands for all.
    """
    value = evaluator.plain(node, scope)
    if isinstance(value, Poison) or (isinstance(value, Amount) and value.value is None):
        return 1, False
    if not isinstance(value, Amount) or not value.dimension.is_ratio or value.value is None:
        raise wrong("E0204", f"a count is a whole number, this is {value.what}", node.span)
    if value.value.denominator != 1 or value.value < 0:
        shown = number_text(value.value, exact=True)
        raise wrong("E0205", f"a count is a whole number from 0, this is {shown}", node.span)
    if value.value > evaluator.context.limits.items:
        raise wrong(
            "E0603",
            f"an array of more than {evaluator.context.limits.items:_}",
            node.span,
            remedy="make it smaller",
        )
    return int(value.value), True


def once(arguments: Sequence[ast.Argument]) -> None:
    """Refuse an argument that is given twice by its name."""
    seen: dict[str, ast.Argument] = {}
    for each in arguments:
        name = each.name.text if each.name is not None else ""
        if name and name in seen:
            first = (seen[name].span, "first here")
            raise wrong("E0114", f"`{name}` is given twice", each.span, other=first)
        seen[name] = each
