"""Sizes of packets: weighted, `mix { 40 B: 7, 576 B: 4 }`, or in order, `mix [40 B, 576 B]`."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.kinds import SizeMix
from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import ANY_LAYER, NUMBER, describe_dimension
from qospec.check.evaluate.values import Amount, List, Poison, Value
from qospec.dataclass import dataclass
from qospec.protocol.encapsulation import PACKET_LAYERS
from qospec.syntax import ast
from qospec.units import DATA, format_number

if TYPE_CHECKING:
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.evaluate.scope import Scope
    from qospec.source import Span

BITS_OF_A_BYTE = 8


@dataclass(frozen=True)
class Mix(Value):
    """Sizes in bits, each with its weight; None where a parameter is not known.

    If `in_order`, a size comes as many times in a row as its weight. `law` is their distribution.
    """

    what: ClassVar[str] = "a mix of sizes"
    sizes: tuple[tuple[Fraction | None, Fraction | None], ...]
    layer: str = ""
    in_order: bool = False
    law: str = ""

    @property
    def parts(self) -> int:
        """Return how many sizes it lists, since others may be made of these; 1 if it draws."""
        return len(self.sizes) if self.in_order else 1

    def count_at(self, layer: str) -> Mix:
        """Return the same, counted at a layer."""
        return replace(self, layer=layer)

    def require_order(self, span: Span) -> list[Amount]:
        """Return the sizes of one in order; raises CheckError if they are drawn."""
        if not self.in_order:
            raise make_error(
                "E0204",
                "a mix in order cannot hold sizes that are drawn at random",
                span,
                label="this draws them by weight",
                help="list sizes, or a mix that is in order itself: `mix [40 B, 576 B]`",
            )
        return [Amount(size, DATA, self.layer) for size, _ in self.sizes]


def evaluate_mix(node: ast.MixLiteral, scope: Scope, evaluator: Evaluator) -> Value:
    """Return a mix; raises CheckError."""
    if isinstance(node.sizes, ast.MapLiteral):
        return _mix_by_weight(node.sizes, node.span, scope, evaluator)
    return _mix_in_order(node.sizes, node.span, scope, evaluator)


def _mix_in_order(node: ast.ListLiteral, span: Span, scope: Scope, evaluator: Evaluator) -> Value:
    listed = evaluator.require_value(node, scope)  # refuses more than a list may have
    assert isinstance(listed, List)  # noqa: S101 -- a list is one
    found: list[Amount] = []
    for item, value in zip(node.items, listed.items, strict=True):
        known = evaluator.require_known(value, item)
        if isinstance(known, Poison):
            return known
        found += (
            known.require_order(item.span)
            if isinstance(known, Mix)
            else _evaluate_sizes(known, item.span)
        )
    if not found:
        raise make_error(
            "E0205",
            "this mix has no sizes",
            span,
            help="list at least one size: `mix [40 B, 576 B]`",
        )
    layer = require_one_layer({size.layer for size in found}, span)
    return Mix(tuple((size.value, Fraction(1)) for size in found), layer, in_order=True)


def _mix_by_weight(node: ast.MapLiteral, span: Span, scope: Scope, evaluator: Evaluator) -> Value:
    parts: dict[Fraction | None, Fraction | None] = {}
    layers: set[str] = set()
    single: set[Fraction | None] = set()
    for pair in node.pairs:
        sizes = evaluator.require_plain(pair.key, scope)
        weight = evaluator.require_plain(pair.value, scope)
        if isinstance(sizes, Poison) or isinstance(weight, Poison):
            return Poison()
        share = _evaluate_weight(weight, pair.value.span)
        many = _evaluate_sizes(sizes, pair.key.span)
        for size in many:
            layers.add(size.layer)
            if size.value in single and size.value is not None and len(many) == 1:
                raise make_error("E0102", f"duplicate size `{pair.key.span.text}`", pair.key.span)
            before = parts.get(size.value, Fraction(0))
            if share is None or before is None:
                parts[size.value] = None
            else:
                parts[size.value] = before + share / len(many)
        single |= {size.value for size in many if len(many) == 1}
    layer = require_one_layer(layers, span)
    if not parts or not any(weight is None or weight for weight in parts.values()):
        raise make_error(
            "E0205",
            "the weights of this mix sum to zero" if parts else "this mix has no sizes",
            span,
            help="give at least one size a weight: `mix { 40 B: 7, 576 B: 4 }`",
        )
    return Mix(tuple((size, weight) for size, weight in parts.items()), layer)


def require_one_layer(layers: set[str], span: Span) -> str:
    """Return the one layer at which the sizes of a mix are counted; "" if they have none."""
    if ANY_LAYER in layers:
        return ANY_LAYER
    if len(layers) > 1:
        layer = min(layers - {""})
        raise make_error(
            "E0212",
            "all sizes of a mix must be counted at one layer",
            span,
            note="no operator converts between layers",
            help=f"count each of them `@{layer}`",
        )
    return next(iter(layers), "")


def _evaluate_sizes(value: Value, span: Span) -> tuple[Amount, ...]:
    items = value.items if isinstance(value, List) else (value,)
    for item in items:
        if not isinstance(item, Amount) or item.dimension != DATA:
            what = describe_dimension(item.dimension) if isinstance(item, Amount) else item.what
            help_text = f"give it a unit: `{span.text} B`" if what == "a number" else ""
            raise make_error("E0204", f"expected a size, found {what}", span, help=help_text)
    return tuple(item for item in items if isinstance(item, Amount))


def _evaluate_weight(value: Value, span: Span) -> Fraction | None:
    if not isinstance(value, Amount) or value.dimension != NUMBER:
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        raise make_error(
            "E0204",
            f"expected a plain number as weight, found {what}",
            span,
            note="weights count packets, never bytes",
        )
    if value.value is not None and value.value < 0:
        raise make_error("E0205", "a weight is at least 0", span)
    return value.value


def convert_mix(value: Value, name: str, span: Span) -> SizeMix | None:
    """Return the sizes of a field as the catalogue has them; None if they are not known yet."""
    if isinstance(value, Amount) and value.dimension == DATA:
        value = Mix(((value.value, Fraction(1)),), value.layer)
    if not isinstance(value, Mix):
        what = describe_dimension(value.dimension) if isinstance(value, Amount) else value.what
        raise make_error(
            "E0204",
            f"`{name}` is a size or a mix of sizes, not {what}",
            span,
            help=f"write a mix that it declares, such as `{span.text}.simple`"
            if span.text == "imix"
            else "write `200 B @ip`, or `mix { 40 B: 7, 576 B: 4, 1_500 B: 1 } @ip`",
        )
    if value.layer == ANY_LAYER:
        return None
    require_layer(value.layer, "size", span)
    found: list[tuple[int, Fraction]] = []
    for size, weight in value.sizes:
        if size is None or weight is None:
            return None
        amount = size / BITS_OF_A_BYTE
        if amount.denominator != 1:
            shown = format_number(amount, exact=True)
            raise make_error(
                "E0206", f"`{name}` must be a whole number of bytes, found {shown}", span
            )
        if amount <= 0:
            raise make_error("E0205", f"`{name}` must be more than 0", span)
        if weight:
            found.append((int(amount), weight))
    common = math.lcm(*(weight.denominator for _, weight in found))
    whole = [int(weight * common) for _, weight in found]
    divisor = math.gcd(*whole)
    sizes = (size for size, _ in found)
    parts = tuple((size, part // divisor) for size, part in zip(sizes, whole, strict=True))
    return SizeMix(parts, value.layer, value.in_order, value.law)


def require_layer(
    layer: str, what: str, span: Span, layers: tuple[str, ...] = PACKET_LAYERS
) -> None:
    """Require that a rate or a size of packets says at which of some layers it counts."""
    listed = " ".join(f"@{packet_layer}" for packet_layer in PACKET_LAYERS)
    if not layer:
        raise _explain_unsaid(what, listed, span)
    if layer not in layers:
        raise make_error(
            "E0212",
            f"packets are not counted @{layer}",
            span,
            note=f"layers of packets: {listed}",
            help="count them at one of these",
        )


def _explain_unsaid(what: str, listed: str, span: Span) -> CheckError:
    return make_error(
        "E0210",
        f"this {what} does not say which bits it counts",
        span,
        note=f"traffic {what}s need a layer; those of packets: {listed}",
        help=f"for IP packets write `{span.text} @ip`",
    )
