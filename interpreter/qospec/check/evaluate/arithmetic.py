"""Arithmetic and comparison of exact quantities with dimensions and layers.

What must be measured becomes a small tree under the same rules, so its mistakes show before a run.
Also: what can be equal, and tolerances so narrow that they amount to equality.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import (
    ANY_LAYER,
    NUMBER,
    convert_layer,
    describe_dimension,
    find_common_layer,
    with_unit,
    write_time_of_cells,
)
from qospec.check.evaluate.measurements import DeferredMetric, MetricValue
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    Deferred,
    DeferredBoolean,
    List,
    Poison,
    Symbol,
    Text,
    Value,
)
from qospec.model.expression import Constant, Expression, Operation
from qospec.protocol.encapsulation import LAYERS
from qospec.syntax import ast
from qospec.units import (
    CELL_RATE,
    CELLS,
    PACKET_RATE,
    RATE,
    RATIO,
    TIME,
    find_base_unit,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.check.evaluate.context import Limits
    from qospec.source import Span
    from qospec.syntax import ast
    from qospec.units import Dimension

VERBS = {"+": "add", "-": "subtract"}


def apply_operator(node: ast.Binary, left: Value, right: Value, limits: Limits) -> Value:
    """Return `left + right`, or with another operator."""
    if isinstance(left, Poison) or isinstance(right, Poison):
        return POISON
    a, b = (
        require_number(left, node.left.span, node.operator, right),
        require_number(right, node.right.span, node.operator, left),
    )
    if node.operator in VERBS:
        dimension = _require_equal(node, a, b)
    elif node.operator == "/":
        dimension = a.dimension / b.dimension
    else:
        if node.operator == "of" and a.dimension != NUMBER:
            raise make_error(
                "E0202",
                f"expected a ratio to the left of `of`, found {describe_dimension(a.dimension)}",
                node.left.span,
                help="write a ratio such as `80% of …`, or multiply with `*`",
            )
        dimension = a.dimension * b.dimension
    if dimension.is_ratio:
        dimension = NUMBER if _is_plain(node, a, b) else RATIO
    layer = _find_layer(node, a, b, dimension)
    if node.operator == "/" and isinstance(b, Amount) and b.value == 0:
        raise make_error("E0209", "division by zero", node.right.span, label="this is 0")
    if isinstance(a, Deferred) or isinstance(b, Deferred):
        return _defer(node, a, b, dimension, layer)
    value = _compute(node, a, b, limits)
    return Amount(value, dimension, layer, published=a.published or b.published)


def negate(node: ast.Unary, operand: Value) -> Value:
    """Return `-operand`."""
    if isinstance(operand, Poison):
        return POISON
    a = require_number(operand, node.operand.span, "-")
    if isinstance(a, Deferred):
        negative = Operation("negate", (a.expression,), a.dimension)
        return Deferred(negative, a.dimension, a.exact, layer=a.layer)
    text = f"-{a.text}" if a.text and not a.text.startswith("-") else ""
    return replace(a, value=None if a.value is None else -a.value, text=text)


def require_number(
    value: Value, span: Span, sign: str, beside: Value | None = None
) -> Amount | Deferred:
    """Return the value, which must be a number; `beside` is the one that it meets, if any."""
    if isinstance(value, Amount | Deferred):
        return value
    unfinished = _explain_unfinished(value, span, beside)
    if unfinished is not None:
        raise unfinished
    named = value.items if isinstance(value, List) else (value,)
    help_text = ""
    if sign == "of" and named and all(isinstance(item, Text) for item in named):
        claim = f"as exact of {' '.join(span.text.split())}"
        help_text = f"to say which published statement a criterion is of, write `{claim}`"
    raise make_error("E0204", f"`{sign}` needs numbers, not {value.what}", span, help=help_text)


def _explain_unfinished(value: Value, span: Span, beside: Value | None) -> CheckError | None:
    """Return the mistake of a value that is not whole yet; a layer that it meets is meant of it."""
    if isinstance(value, MetricValue) and isinstance(beside, Amount | Deferred):
        return value.explain_choice(span, beside.layer)
    return value.explain_unfinished(span)


def compare_values(node: ast.Compare, left: Value, right: Value) -> Boolean | Operation:
    """Return the result of `left == right` or another comparison; a condition if it is measured."""
    if isinstance(left, Poison) or isinstance(right, Poison):
        return Boolean(None)
    for value, beside, side in ((left, right, node.left), (right, left, node.right)):
        unfinished = _explain_unfinished(value, side.span, beside)
        if unfinished is not None:
            raise unfinished
    if not isinstance(left, Amount | Deferred) or not isinstance(right, Amount | Deferred):
        return Boolean(_compare_words(node, left, right))
    dimension = _require_comparable(left, right, node.left.span, node.right.span)
    if isinstance(left, Deferred) or isinstance(right, Deferred):
        if node.operator in ("==", "!=") and not is_decidable(left, right):
            raise explain_never_equal(node, left, right)
        return Operation(
            node.operator,
            (
                make_constant(left, node.left.span, dimension),
                make_constant(right, node.right.span, dimension),
            ),
        )
    published = left.published or right.published
    if left.value is None or right.value is None:
        return Boolean(None, published)
    return Boolean(_ORDER[node.operator](left.value, right.value), published)


def compare_within(
    node: ast.Within, value: Value, tolerance: Value, target: Value
) -> Operation | None:
    """Return the condition that a value is near another; None when an operand is in error."""
    if any(isinstance(operand, Poison) for operand in (value, tolerance, target)):
        return None
    a = require_number(value, node.value.span, "within", target)
    width = require_number(tolerance, node.tolerance.span, "within")
    b = require_number(target, node.target.span, "within", value)
    dimension = _require_comparable(a, b, node.value.span, node.target.span)
    share = width.dimension.is_ratio and not width.dimension.counted
    if not share:
        _verify_tolerance(node, dimension, a, width)
    if isinstance(width, Amount) and width.value is not None and width.value < 0:
        raise make_error("E0205", "a tolerance cannot be negative", node.tolerance.span)
    if is_zero(width) or (share and is_zero(b)):
        refuse_zero_tolerance(node, a, b, share=share and not is_zero(width))
    return Operation(
        "within share" if share else "within",
        (
            make_constant(a, node.value.span, dimension),
            make_constant(width, node.tolerance.span, width.dimension if share else dimension),
            make_constant(b, node.target.span, dimension),
        ),
    )


def _verify_tolerance(
    node: ast.Within, dimension: Dimension, a: Amount | Deferred, width: Amount | Deferred
) -> None:
    """Refuse a tolerance that is no width of that dimension."""
    if width.dimension != NUMBER:
        _require_comparable(a, width, node.value.span, node.tolerance.span)
    elif not dimension.is_ratio and not is_literal_zero(width):
        raise make_error(
            "E0204",
            f"the tolerance of {describe_dimension(dimension)} is a percentage or a width, not "
            "a plain number",
            node.tolerance.span,
            help=f"write a percentage, or a width with the unit of `{node.target.span.text}`",
        )


def is_equal(left: Value, right: Value) -> bool:
    """Return whether two values known before the run are equal."""
    if isinstance(left, Amount) and isinstance(right, Amount):
        return left.value == right.value and (left.dimension == right.dimension or left.value == 0)
    return isinstance(left, Text | Symbol | Boolean) and left == right


def make_constant(
    value: Amount | Deferred, span: Span, dimension: Dimension | None = None
) -> Expression:
    """Return a value as a leaf of a condition. A literal 0 takes the dimension of what it meets."""
    if isinstance(value, Deferred):
        return value.expression
    text = value.text or " ".join(span.text.split())
    number_or_zero = value.value if value.value is not None else Fraction(0)
    kept = value.dimension if value.value != 0 or dimension is None else dimension
    return Constant(number_or_zero, kept, text, published=value.published is not None)


def _defer(
    node: ast.Binary, a: Amount | Deferred, b: Amount | Deferred, dimension: Dimension, layer: str
) -> Deferred:
    sign = "*" if node.operator == "of" else node.operator
    alike = dimension if node.operator in VERBS else None
    operands = (make_constant(a, node.left.span, alike), make_constant(b, node.right.span, alike))
    exact = all(side.exact for side in (a, b) if isinstance(side, Deferred))
    exact &= sign != "/" or isinstance(b, Amount)
    return Deferred(Operation(sign, operands, dimension), dimension, exact, layer=layer)


def _is_plain(node: ast.Binary, a: Amount | Deferred, b: Amount | Deferred) -> bool:
    """Return whether a result without unit is a plain number, as 3 is, and no ratio, as 30% is."""
    if node.operator == "of":
        return b.dimension.counted
    measured_ratio = node.operator == "/" and (isinstance(a, Deferred) or isinstance(b, Deferred))
    return a.dimension.counted and b.dimension.counted and not measured_ratio


def _require_equal(node: ast.Binary, a: Amount | Deferred, b: Amount | Deferred) -> Dimension:
    if a.dimension == b.dimension or is_literal_zero(b):
        return a.dimension
    if is_literal_zero(a):
        return b.dimension
    preposition = "to" if node.operator == "+" else "from"
    to, of = (describe_dimension(operand.dimension) for operand in (a, b))
    what = f"{VERBS[node.operator]} {of} {preposition} {to}"
    raise make_error(
        "E0202",
        f"cannot {what}",
        node.right.span,
        label=f"this is {describe_dimension(b.dimension)}",
        secondary=(node.left.span, f"this is {describe_dimension(a.dimension)}"),
        help="give both the same kind of unit",
    )


def _require_comparable(
    left: Amount | Deferred, right: Amount | Deferred, first: Span, second: Span
) -> Dimension:
    if left.dimension == right.dimension or is_literal_zero(right):
        verify_layers(left, right, first, second)
        return left.dimension
    if is_literal_zero(left):
        return right.dimension
    raise make_error(
        "E0203",
        f"cannot compare {describe_dimension(left.dimension)} with "
        f"{describe_dimension(right.dimension)}",
        second,
        label=f"this is {describe_dimension(right.dimension)}",
        secondary=(first, f"this is {describe_dimension(left.dimension)}"),
        help=_suggest_zero(left, right, second),
    )


_SHARES = {"cell": "clr", "pkt": "loss"}
"""By what is counted, the metric that is a share of it."""


def _suggest_zero(left: Amount | Deferred, right: Amount | Deferred, second: Span) -> str:
    what, plain = describe_dimension(left.dimension), right.dimension == NUMBER
    if plain and isinstance(right, Amount):
        share = _SHARES.get(find_base_unit(left.dimension))
        if second.text.endswith("%") and share is not None:
            return f"measure a share, such as `{share}`, or give it a unit"
        return with_unit(second.text, left.dimension)
    if what == "a time" and right.dimension == CELLS:
        return write_time_of_cells(right.value if isinstance(right, Amount) else None, second.text)
    if right.dimension == RATE and left.dimension in (CELL_RATE, PACKET_RATE):
        return f"compare with {what}; `{_name_bit_rate(left, right.layer)}` counts bits"
    return f"compare with {what}"


def _name_bit_rate(measured: Amount | Deferred, layer: str) -> str:
    """Return how the bit rate is written of what another metric is measured of, in a layer."""
    counted = f".{layer}" if layer in LAYERS else ""
    if not isinstance(measured, DeferredMetric) or measured.metric.flow.place is not None:
        return f"bit_rate{counted}"
    return f"{measured.metric.flow.path}.bit_rate{counted}"


def _find_layer(
    node: ast.Binary, a: Amount | Deferred, b: Amount | Deferred, dimension: Dimension
) -> str:
    verify_layers(a, b, node.left.span, node.right.span)
    return find_common_layer(a.layer, b.layer) if dimension.has_data else ""


def verify_layers(a: Amount | Deferred, b: Amount | Deferred, first: Span, second: Span) -> None:
    """Refuse two values that count different bits; raises CheckError."""
    if len({a.layer, b.layer} - {"", ANY_LAYER}) > 1:
        raise make_error(
            "E0212",
            f"bits counted @{a.layer} meet bits counted @{b.layer}",
            second,
            label=f"@{b.layer}",
            secondary=(first, f"@{a.layer}"),
            help=_convert(a, b, second)
            or _convert(b, a, first)
            or "count both at the same layer: no operator converts between layers",
        )


def _convert(measured: Amount | Deferred, given: Amount | Deferred, span: Span) -> str:
    """Return how to write an amount in the layer that it meets; "" if not known.

    It is exact: of packets of which sizes are drawn, on average.
    """
    if not isinstance(given, Amount):
        return ""
    if not isinstance(measured, DeferredMetric):
        return convert_layer(span.text, given.value, measured.layer)
    flow = measured.metric.flow
    lengths = dict(flow.lengths) if flow.part == "user" and flow.place is None else {}
    item = f"each item of `{flow.flow}`"
    found = convert_layer(span.text, given.value, measured.layer, lengths, item)
    return found + (", on average" if found and flow.is_mixed else "")


def _compute(node: ast.Binary, a: Amount, b: Amount, limits: Limits) -> Fraction | None:
    if a.value is None or b.value is None:
        return None
    value = _RESULT[node.operator](a.value, b.value)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > limits.bits:
        message = f"this number needs more than {limits.bits:_} bits"
        raise make_error("E0604", message, node.span, help="use fewer or rounder numbers")
    return value


def _suggest_comparison(node: ast.Compare, left: Value, right: Value) -> str:
    """Return what to write in place of a comparison that there is not."""
    one, other = node.left.span.text, node.right.span.text
    if isinstance(left, DeferredBoolean):
        return f"it is a condition: write `{one}` alone"
    if isinstance(left, List) and isinstance(right, List):
        return "compare their items one by one" + (f": `{one}[0]`" if one.isidentifier() else "")
    if isinstance(right, List) and node.operator == "==":
        return f"write `{one} in {other}`"
    return ""


def _compare_words(node: ast.Compare, left: Value, right: Value) -> bool | None:
    if type(left) is not type(right) or not isinstance(left, Text | Symbol | Boolean):
        raise make_error(
            "E0203",
            f"cannot compare {left.what} with {right.what}",
            node.right.span,
            label=f"this is {right.what}",
            secondary=(node.left.span, f"this is {left.what}"),
            help=_suggest_comparison(node, left, right),
        )
    if node.operator not in ("==", "!="):
        raise make_error("E0203", f"`{node.operator}` cannot order {left.what}", node.span)
    if isinstance(left, Boolean) and (left.value is None or right == Boolean(None)):
        return None
    return (left == right) == (node.operator == "==")


_RESULT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "of": operator.mul,
}
_ORDER: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_decidable(left: Amount | Deferred, right: Amount | Deferred) -> bool:
    """Return whether equality can be decided: of counts, and of a ratio with 0."""
    if all(side.exact for side in (left, right) if isinstance(side, Deferred)):
        return True
    return left.dimension == NUMBER and (is_literal_zero(left) or is_literal_zero(right))


def is_literal_zero(value: Amount | Deferred) -> bool:
    """Return whether a value is the literal 0, which fits every dimension."""
    return isinstance(value, Amount) and value.value == 0 and value.dimension == NUMBER


def is_zero(value: Amount | Deferred) -> bool:
    """Return whether a value is 0, with a unit or without."""
    return isinstance(value, Amount) and value.value == 0


def explain_never_equal(
    node: ast.Compare, left: Amount | Deferred, right: Amount | Deferred
) -> CheckError:
    """Return the mistake of comparing a measured time or rate by equality."""
    help_text = f"write `{node.left.span.text} within 1% of {node.right.span.text}`"
    for end, other, side in ((right, left, node.left), (left, right, node.right)):
        if is_literal_zero(end):
            bound = _suggest_bound(other.dimension)
            help_text = f"compare with a bound: `{side.span.text} < {bound}`"
    why = "only counts are compared exactly: no times, no rates, no quotients of counts"
    message = "measured values are never exactly equal"
    return make_error("E0213", message, node.span, note=why, help=help_text)


def refuse_zero_tolerance(
    node: ast.Within, a: Amount | Deferred, b: Amount | Deferred, *, share: bool
) -> None:
    """Refuse a tolerance of no width, except where equality can be decided too."""
    if not isinstance(a, Deferred) and not isinstance(b, Deferred):
        return
    literal = isinstance(node.target, ast.Number | ast.Quantity)
    if is_decidable(a, b) and not (share and literal):
        return
    width = _suggest_bound(a.dimension)
    suggestion = f"{node.value.span.text} within {width} of {node.target.span.text}"
    raise make_error(
        "E0213",
        f"{node.tolerance.span.text} of 0 is 0: this holds for exactly 0 only"
        if share
        else "measured values are never exactly equal, and this tolerance is 0",
        node.tolerance.span,
        help=f"write a width, such as `{suggestion}`",
    )


def _suggest_bound(dimension: Dimension) -> str:
    return "1 us" if dimension == TIME else f"1 {find_base_unit(dimension)}".removesuffix(" 1")
