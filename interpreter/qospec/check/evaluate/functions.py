"""The functions of the language: `min`, `ceil`, `worst` of what is measured, `exponential`, others.

`exponential(16 ms)` is a distribution of times, or of sizes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from qospec.check.evaluate import arithmetic
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.dimensions import NUMBER, describe_dimension, find_common_layer
from qospec.check.evaluate.mixes import BITS_OF_A_BYTE, Mix, require_one_layer
from qospec.check.evaluate.values import POISON, Amount, Boolean, Deferred, Poison, Value
from qospec.dataclass import dataclass
from qospec.model.expression import Measured, Operation
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.syntax import ast
from qospec.units import DATA, TIME, format_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast


def find_extreme(node: ast.Call, values: Sequence[Amount | Deferred | Poison]) -> Value:
    """Return the least or greatest of values of which some are measured; raises CheckError."""
    known = [value for value in values if isinstance(value, Amount | Deferred)]
    if len(known) < len(values):
        return POISON
    nodes = [argument.value for argument in node.arguments]
    place = next((n for n, amount in enumerate(known) if not arithmetic.is_zero(amount)), 0)
    like, first = known[place], nodes[place]
    for value, written in zip(known, nodes, strict=True):
        order = ast.Compare(operator="<", left=first, right=written, span=node.span)
        arithmetic.compare_values(order, like, value)
        layer = find_common_layer(like.layer, value.layer)
        if layer != like.layer:
            like, first = replace(like, layer=layer), written
    return _defer(node.path.name.text, known, [node.span for node in nodes], like)


def drop_sign(value: Deferred) -> Deferred:
    """Return a measured value without its sign."""
    made = Operation("abs", (value.expression,), value.dimension)
    return Deferred(made, value.dimension, value.exact, layer=value.layer)


def choose_worst(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    """Return a metric of the member of a group for which it is worst; raises CheckError."""
    if len(node.arguments) != 1 or node.arguments[0].name is not None:
        raise make_error(
            "E0105",
            "`worst` takes one metric of a group",
            node.span,
            help="write `worst(user.delay.p99)`",
        )
    argument = node.arguments[0].value
    value = evaluator.evaluate(argument, scope)
    if isinstance(value, Poison):
        return value
    unfinished = value.explain_unfinished(argument.span)
    if unfinished is not None:
        raise unfinished
    leaf = value.expression if isinstance(value, Deferred) else None
    if not isinstance(value, Deferred) or not isinstance(leaf, Measured):
        raise make_error(
            "E0204",
            "`worst` takes one metric of a group, not a calculation",
            argument.span,
            help="write `worst(…)` around one metric, and calculate with the result",
        )
    if leaf.members is None:
        raise make_error(
            "E0215",
            f"`{leaf.flow or leaf.text}` is not a group: it has no worst member",
            node.span,
            help=f"write `{argument.span.text}`",
        )
    kind = evaluator.context.catalogue.find("metric", leaf.metric)
    members = [select_member(value, leaf, number) for number in range(leaf.members)]
    # Where more is better, the least value of all members is the worst.
    operator = "min" if kind is not None and kind.build.better == "more" else "max"
    return _defer(operator, members, [argument.span] * len(members), value)


def select_member(value: Deferred, leaf: Measured, member: int) -> Deferred:
    """Return what is measured of one member of the group that a leaf is measured of."""
    whole = leaf.text.removeprefix(f"{leaf.network}." if leaf.network else "")
    behind = whole.removeprefix(leaf.flow)
    before = leaf.text.removesuffix(whole)
    text = f"{before}{leaf.flow}[{member}]{behind}"
    own = replace(leaf, member=member, members=None, text=text)
    return replace(value, expression=own)


def _defer(
    operator: str,
    values: Sequence[Amount | Deferred],
    places: Sequence[Span],
    like: Amount | Deferred,
) -> Deferred:
    operands = tuple(
        arithmetic.make_constant(value, place, like.dimension)
        for value, place in zip(values, places, strict=True)
    )
    exact = all(value.exact for value in values if isinstance(value, Deferred))
    made = Operation(operator, operands, like.dimension)
    return Deferred(made, like.dimension, exact, layer=like.layer)


SIZE_LIMITS = ("min", "max")
"""What limits a size."""
EXAMPLE_LIMITS = {"min": "40 B", "max": "1_500 B"}
"""Limits to show, where some are missing: of IP packets on Ethernet."""
HELP = "write `exponential(16 ms)`, or `exponential(500 B, min = 40 B, max = 1_500 B) @ip`"
_LAYER = re.compile(r"\s*@\s*(\w+)")
STEPS = 2**30
"""Probabilities of sizes are multiples of its inverse."""
EXACT = Context(prec=50)
"""With this precision, rounding never changes a step of a probability; unlike a double's, the
exponential of a decimal has the same digits on every machine."""


@dataclass(frozen=True)
class Exponential(Value):
    """A time that is exponentially distributed; fields that take one are `duration`s."""

    what: ClassVar[str] = "a random time"
    mean: Amount


def evaluate_exponential(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    """Return an exponential distribution of times, or of sizes within limits; raises CheckError."""
    means = [argument for argument in node.arguments if argument.name is None]
    ends = {
        argument.name.text: argument.value
        for argument in node.arguments
        if argument.name is not None
    }
    for argument in node.arguments:
        if argument.name is not None and argument.name.text not in SIZE_LIMITS:
            name = argument.name.text
            raise make_error("E0104", f"`exponential` has no parameter `{name}`", node.span)
    if len(means) != 1:
        message = "`exponential` takes one argument without a name, the mean: a time or a size"
        raise make_error("E0105", message, node.span, help=HELP)
    mean = evaluator.require_plain(means[0].value, scope)
    if isinstance(mean, Poison):
        return mean
    if isinstance(mean, Amount) and mean.dimension == DATA:
        return _mix_sizes(mean, ends, node, scope, evaluator)
    if not isinstance(mean, Amount) or mean.dimension != TIME:
        what = describe_dimension(mean.dimension) if isinstance(mean, Amount) else mean.what
        message = f"the mean of `exponential` is a time or a size, not {what}"
        raise make_error("E0204", message, means[0].span, help=HELP)
    if ends:
        name, value = next(iter(ends.items()))
        message = f"`exponential` of a time has no parameter `{name}`"
        given = " and ".join(f"`{end}`" for end in ends)
        help_text = f"leave {given} out, or give a size as the mean"
        raise make_error("E0104", message, value.span, help=help_text)
    return Exponential(mean)


def _mix_sizes(
    mean: Amount,
    ends: Mapping[str, ast.Expression],
    node: ast.Call,
    scope: Scope,
    evaluator: Evaluator,
) -> Value:
    """Return the distribution as a mix of sizes."""
    if set(ends) != set(SIZE_LIMITS):
        raise make_error(
            "E0105",
            "`exponential` of a size needs `min` and `max`",
            node.span,
            note="a packet is at least as long as its headers, and no longer than its link allows",
            help=f"write `{_with_limits(node, mean.layer)}`",
        )
    found = [mean]
    for name in SIZE_LIMITS:
        value = evaluator.require_plain(ends[name], scope)
        if isinstance(value, Poison):
            return value
        if not isinstance(value, Amount) or value.dimension != DATA:
            what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
            raise make_error("E0204", f"`{name}` is a size, not {what}", ends[name].span)
        found.append(value)
    layer = require_one_layer({amount.layer for amount in found}, node.span)
    known = [amount.value / BITS_OF_A_BYTE for amount in found if amount.value is not None]
    if len(known) < len(found):
        return Mix(((None, None),), layer)
    mean_bytes, least, largest = known
    for name, size in zip(SIZE_LIMITS, (least, largest), strict=True):
        _require_whole(name, size, ends[name].span)
    if not (mean_bytes > 0 and least < largest):
        message = "the mean of `exponential` is more than 0, and `min` is below `max`"
        raise make_error("E0205", message, node.span)
    parts = compute_probabilities(mean_bytes, int(least), int(largest))
    shown = (f"{format_number(size, exact=True)} B" for size in known)
    law = "exponential({}, min = {}, max = {})".format(*shown)
    sizes = tuple((Fraction(size * BITS_OF_A_BYTE), Fraction(many)) for size, many in parts)
    return Mix(sizes, layer, law=law)


def _with_limits(node: ast.Call, layer: str) -> str:
    """Return a distribution of sizes with both limits, and which bits they count.

    `layer` is that of the mean; if it has none, one follows the whole.
    """
    size = next(argument.value.span.text for argument in node.arguments if argument.name is None)
    own = f" @{layer}" if layer else ""
    ends = {name: usual + own for name, usual in EXAMPLE_LIMITS.items()}
    ends |= {
        argument.name.text: argument.value.span.text for argument in node.arguments if argument.name
    }
    behind = _LAYER.match(node.span.source.text, node.span.end)
    whole = "" if layer else f" @{behind[1] if behind else 'ip'}"
    limits = ", ".join(f"{name} = {ends[name]}" for name in SIZE_LIMITS)
    return f"exponential({size}, {limits}){whole}"


def _require_whole(name: str, size: Fraction, span: Span) -> None:
    if size.denominator != 1:
        shown = format_number(size, exact=True)
        raise make_error("E0206", f"`{name}` must be a whole number of bytes, found {shown}", span)
    if not 0 < size <= LARGEST_PACKET_BYTES:
        message = f"`{name}` is at least 1 B and at most {LARGEST_PACKET_BYTES:_} B"
        raise make_error("E0205", message, span)


@cache
def compute_probabilities(mean: Fraction, least: int, largest: int) -> tuple[tuple[int, int], ...]:
    """Return exponentially distributed sizes within limits, each with its probability in `STEPS`.

    What is drawn is rounded to the nearest whole byte; what is then below the least or
    above the largest is that. So with F(x) = 1 - exp(-x / mean) a size k between them has the
    probability F(k + 1/2) - F(k - 1/2), and the mean is least + mean (exp(-least / mean) -
    exp(-largest / mean)), but for less than 1 / (24 mean).

    Args:
        mean: Of the distribution without its limits, in bytes; more than 0.
        least: In bytes; at least 1.
        largest: More than the least.
    """
    with localcontext(EXACT):
        reciprocal = Decimal(mean.denominator) / mean.numerator
        beyond, step = (-(least + Decimal("0.5")) * reciprocal).exp(), (-reciprocal).exp()
        below, parts = 0, []
        for size in range(least, largest):
            bound = int(((1 - beyond) * STEPS).to_integral_value())
            parts.append((size, bound - below))
            below, beyond = bound, beyond * step
    parts.append((largest, STEPS - below))
    return tuple((size, steps) for size, steps in parts if steps)


def _evaluate_minimum(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    return _evaluate_extreme(evaluator, node, scope, largest=False)


def _evaluate_maximum(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    return _evaluate_extreme(evaluator, node, scope, largest=True)


def _evaluate_extreme(
    evaluator: Evaluator, node: ast.Call, scope: Scope, *, largest: bool
) -> Value:
    values = _evaluate_numbers(evaluator, node, scope)
    if not values:
        name = node.path.name.text
        raise make_error(
            "E0105", f"`{name}` needs at least one value", node.span, help="add a value"
        )
    if any(isinstance(value, Deferred) for value in values):
        return find_extreme(node, values)
    known = [value for value in values if isinstance(value, Amount | Poison)]
    best = known[0]
    for argument, value in zip(node.arguments[1:], known[1:], strict=True):
        if isinstance(best, Poison) or isinstance(value, Poison):
            best = POISON
            continue
        comparison = ast.Compare(
            operator=">" if largest else "<",
            left=argument.value,
            right=node.arguments[0].value,
            span=node.span,
        )
        better = arithmetic.compare_values(comparison, value, best)
        layer, published = (
            find_common_layer(value.layer, best.layer),
            value.published or best.published,
        )
        unknown = None in (value.value, best.value)
        best = value if isinstance(better, Boolean) and better.value else best
        best = replace(best, layer=layer, published=published)
        if unknown:
            best = replace(best, value=None, text="")
    return best


def _evaluate_absolute(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    values = _evaluate_numbers(evaluator, node, scope)
    if len(values) != 1:
        raise make_error("E0105", "`abs` takes one value", node.span)
    (value,) = values
    if isinstance(value, Poison):
        return value
    if isinstance(value, Deferred):
        return drop_sign(value)
    known = None if value.value is None else abs(value.value)
    return Amount(known, value.dimension, value.layer, published=value.published)


def _evaluate_rounded(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    """Return a whole number near a number, as the name says; raises CheckError."""
    name, values = node.path.name.text, _evaluate_numbers(evaluator, node, scope)
    if len(values) != 1:
        raise make_error("E0105", f"`{name}` takes one value", node.span)
    (value,), (argument,) = values, node.arguments
    if isinstance(value, Poison):
        return value
    if isinstance(value, Deferred):
        raise make_error(
            "E0204",
            f"`{name}` takes what is known before a run, not what is measured",
            argument.span,
            help="compare with whole numbers as they are, or within a tolerance",
        )
    if not (value.dimension.counted or value.dimension.is_ratio):
        raise make_error(
            "E0204",
            f"`{name}` takes a number without a unit, not {describe_dimension(value.dimension)}",
            argument.span,
            help=f"divide by what it is to be a multiple of, as in `{name}(96 B / (48 B))`",
        )
    whole = None if value.value is None else Fraction(ROUNDINGS[name](value.value))
    return Amount(whole, NUMBER, published=value.published)


ROUNDINGS: dict[str, Callable[[Fraction], int]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "round": lambda value: math.floor(abs(value) + Fraction(1, 2)) * (1 if value > 0 else -1),
}
"""By name; a half is rounded away from 0."""


def _evaluate_numbers(
    evaluator: Evaluator, node: ast.Call, scope: Scope
) -> list[Amount | Deferred | Poison]:
    """Return the arguments; POISON for each with a mistake, which is reported."""
    name = node.path.name.text
    found: list[Amount | Deferred | Poison] = []
    for argument in node.arguments:
        if argument.name is not None:
            raise make_error(
                "E0104", f"`{name}` has no parameter `{argument.name.text}`", argument.span
            )
        value = evaluator.evaluate(argument.value, scope)
        if not isinstance(value, Poison):
            value = arithmetic.require_number(value, argument.value.span, name)
        found.append(value)
    return found


FUNCTIONS = {
    "min": _evaluate_minimum,
    "max": _evaluate_maximum,
    "abs": _evaluate_absolute,
    **dict.fromkeys(ROUNDINGS, _evaluate_rounded),
    "worst": choose_worst,
    "exponential": evaluate_exponential,
}
