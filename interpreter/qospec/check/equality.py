"""Equality of what is measured: what can be equal, and tolerances that would ask for it unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.check.context import Refused, wrong
from qospec.check.dimensions import NUMBER
from qospec.check.values import Amount, Open
from qospec.syntax import ast
from qospec.units import TIME, base_unit

if TYPE_CHECKING:
    from qospec.units import Dimension


def countable(left: Amount | Open, right: Amount | Open) -> bool:
    """Return whether equality can be judged: of counts, and of a ratio with 0."""
    if all(side.exact for side in (left, right) if isinstance(side, Open)):
        return True
    return left.dimension == NUMBER and (zero(left) or zero(right))


def zero(value: Amount | Open) -> bool:
    """Return whether a value is the literal 0, which fits every dimension."""
    return isinstance(value, Amount) and value.value == 0 and value.dimension == NUMBER


def nothing(value: Amount | Open) -> bool:
    """Return whether a value is 0, with a unit or without."""
    return isinstance(value, Amount) and value.value == 0


def never_equal(node: ast.Compare, left: Amount | Open, right: Amount | Open) -> Refused:
    """Return the mistake of asking whether a measured time or rate is equal to something."""
    remedy = f"write `{node.left.span.text} within 1% of {node.right.span.text}`"
    for end, other, side in ((right, left, node.left), (left, right, node.right)):
        if zero(end):
            remedy = f"compare with a bound: `{side.span.text} < {_little(other.dimension)}`"
    return wrong(
        "E0213", "what is measured is never equal to the last digit", node.span, remedy=remedy
    )


def narrow(node: ast.Within, a: Amount | Open, b: Amount | Open, *, share: bool) -> None:
    """Refuse a tolerance of no width, but where equality could be asked for as well."""
    if not isinstance(a, Open) and not isinstance(b, Open):
        return
    literal = isinstance(node.target, ast.Number | ast.Quantity)
    if countable(a, b) and not (share and literal):
        return
    width = f"{node.value.span.text} within {_little(a.dimension)} of {node.target.span.text}"
    raise wrong(
        "E0213",
        f"{node.tolerance.span.text} of 0 is 0: this only holds for 0 itself"
        if share
        else "what is measured is never equal to the last digit, and this tolerance is 0",
        node.tolerance.span,
        remedy=f"write a width, such as `{width}`",
    )


def _little(dimension: Dimension) -> str:
    return "1 us" if dimension == TIME else f"1 {base_unit(dimension)}".removesuffix(" 1")
