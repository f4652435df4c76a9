"""Random times and sizes by their law: `exponential(16 ms)`."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from qospec.check.context import wrong
from qospec.check.dimensions import named
from qospec.check.mixes import BITS_OF_A_BYTE, Mix, one_layer
from qospec.check.values import Amount, Poison, Value
from qospec.dataclass import dataclass
from qospec.units import DATA, TIME, number_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.check.expressions import Evaluator
    from qospec.check.scope import Scope
    from qospec.source import Span
    from qospec.syntax import ast

ENDS = ("min", "max")
"""What limits a size."""
WAYS_OUT = "write `exponential(16 ms)`, or `exponential(500 B, min = 40 B, max = 1_500 B)`"
LARGEST_BYTES = 65_535
"""Of an IP packet. Source: RFC 791, 3.1."""
STEPS = 2**30
"""Probabilities of sizes are whole numbers of so many parts."""
EXACTLY = Context(prec=50)
"""With so many digits no step of a probability depends on how it is rounded; unlike a double's, the
exponential of a decimal has the same digits on every machine."""


@dataclass(frozen=True)
class Exponential(Value):
    """A time that is drawn by the exponential law; fields that take one are `duration`s."""

    what: ClassVar[str] = "a random time"
    mean: Amount


def exponential(evaluator: Evaluator, node: ast.Call, scope: Scope) -> Value:
    """Return the exponential law of a mean: of times, or of sizes within limits; raises Refused."""
    means = [each for each in node.arguments if each.name is None]
    ends = {each.name.text: each.value for each in node.arguments if each.name is not None}
    for argument in node.arguments:
        if argument.name is not None and argument.name.text not in ENDS:
            name = argument.name.text
            raise wrong("E0104", f"`exponential` has no parameter `{name}`", node.span)
    if len(means) != 1:
        message = "`exponential` takes one time, the mean, or one size"
        raise wrong("E0105", message, node.span, remedy=WAYS_OUT)
    mean = evaluator.plain(means[0].value, scope)
    if isinstance(mean, Poison):
        return mean
    if isinstance(mean, Amount) and mean.dimension == DATA:
        return _sizes(mean, ends, node, scope, evaluator)
    if not isinstance(mean, Amount) or mean.dimension != TIME:
        what = named(mean.dimension) if isinstance(mean, Amount) else mean.what
        message = f"`exponential` takes a time or a size, the mean, not {what}"
        raise wrong("E0204", message, means[0].span, remedy=WAYS_OUT)
    for name, value in ends.items():
        raise wrong("E0104", f"`exponential` of a time has no parameter `{name}`", value.span)
    return Exponential(mean)


def _sizes(
    mean: Amount,
    ends: Mapping[str, ast.Expression],
    node: ast.Call,
    scope: Scope,
    evaluator: Evaluator,
) -> Value:
    """Return the mix of sizes that the law comes to."""
    if set(ends) != set(ENDS):
        text = next(each.value.span.text for each in node.arguments if each.name is None)
        raise wrong(
            "E0105",
            "`exponential` of a size needs `min` and `max`",
            node.span,
            note="no packet is shorter than its headers or longer than its link takes",
            remedy=f"write `exponential({text}, min = 40 B, max = 1_500 B)`",
        )
    found = [mean]
    for name in ENDS:
        value = evaluator.plain(ends[name], scope)
        if isinstance(value, Poison):
            return value
        if not isinstance(value, Amount) or value.dimension != DATA:
            what = named(value.dimension) if isinstance(value, Amount) else value.what
            raise wrong("E0204", f"`{name}` is a size, not {what}", ends[name].span)
        found.append(value)
    layer = one_layer({each.layer for each in found}, node.span)
    known = [each.value / BITS_OF_A_BYTE for each in found if each.value is not None]
    if len(known) < len(found):
        return Mix(((None, None),), layer)
    mean_bytes, least, largest = known
    for name, size in zip(ENDS, (least, largest), strict=True):
        _whole(name, size, ends[name].span)
    if not (mean_bytes > 0 and least < largest):
        message = "the mean of `exponential` is more than 0, and `min` is below `max`"
        raise wrong("E0205", message, node.span)
    parts = probabilities(mean_bytes, int(least), int(largest))
    shown = (f"{number_text(size, exact=True)} B" for size in known)
    law = "exponential({}, min = {}, max = {})".format(*shown)
    sizes = tuple((Fraction(size * BITS_OF_A_BYTE), Fraction(many)) for size, many in parts)
    return Mix(sizes, layer, law=law)


def _whole(name: str, size: Fraction, span: Span) -> None:
    if size.denominator != 1:
        shown = number_text(size, exact=True)
        raise wrong("E0206", f"`{name}` is counted in whole bytes, this is {shown}", span)
    if not 0 < size <= LARGEST_BYTES:
        message = f"`{name}` is at least 1 B and at most {LARGEST_BYTES:_} B"
        raise wrong("E0205", message, span)


@cache
def probabilities(mean: Fraction, least: int, largest: int) -> tuple[tuple[int, int], ...]:
    """Return sizes, each with its probability in `STEPS`, of an exponential one within limits.

    What is drawn by the law is rounded to the nearest whole byte; what is then below the least or
    above the largest is that. So with F(x) = 1 - exp(-x / mean) a size k between them has the
    probability F(k + 1/2) - F(k - 1/2), and the mean is least + mean (exp(-least / mean) -
    exp(-largest / mean)), but for less than 1 / (24 mean).

    Args:
        mean: Of the law without its limits, in bytes; more than 0.
        least: In bytes; at least 1.
        largest: More than the least.
    """
    with localcontext(EXACTLY):
        reciprocal = Decimal(mean.denominator) / mean.numerator
        beyond, step = (-(least + Decimal("0.5")) * reciprocal).exp(), (-reciprocal).exp()
        below, parts = 0, []
        for size in range(least, largest):
            bound = int(((1 - beyond) * STEPS).to_integral_value())
            parts.append((size, bound - below))
            below, beyond = bound, beyond * step
    parts.append((largest, STEPS - below))
    return tuple((size, steps) for size, steps in parts if steps)
