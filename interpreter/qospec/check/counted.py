"""Which bits a field counts: a line those of cells or all that it sends, a meter of packets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qospec.check.context import Refused, wrong
from qospec.check.dimensions import ANY_LAYER, LAYERS
from qospec.diagnostics import Edit
from qospec.source import Span

if TYPE_CHECKING:
    from qospec.catalogue import Kind, Parameter
    from qospec.check.values import Amount


def verify(value: Amount, parameter: Parameter, kind: Kind, span: Span) -> None:
    """Hold a rate, and a size of traffic, to say which bits it counts, once that is known."""
    if kind.role in ("element", "dropping") and parameter.domain.name == "data":
        return
    if value.layer == ANY_LAYER:
        return
    what = "rate" if parameter.domain.name == "rate" else "size"
    if not value.layer:
        raise _without_layer(parameter, kind, what, span)
    layers = parameter.domain.layers
    if kind.role == "element" and value.layer not in layers:
        cells = "cell" in layers
        raise wrong(
            "E0212",
            f"`{parameter.alias or parameter.name}` counts the bits of "
            f"{'cells' if cells else 'packets, @' + layers[0]}, this counts @{value.layer}",
            span,
            remedy="give the rate that is left for cells, `@cell`; of packets, all that is sent, "
            "`@line`"
            if cells
            else f"give the rate `@{layers[0]}`",
        )


def _without_layer(parameter: Parameter, kind: Kind, what: str, span: Span) -> Refused:
    """Return that a rate or size does not say which bits it counts."""
    layers = " ".join(f"@{layer}" for layer in LAYERS)
    usual = parameter.domain.layers[0]
    # An element counts the bits of one layer, or a line those of cells, as a rule.
    simple = kind.role == "element" and re.fullmatch(r"[0-9._]+ *[A-Za-z/]+", span.text)
    whose = "traffic" if kind.role != "element" else "a line's" if usual == "cell" else "packet"
    example = f"write `{span.text} @{usual}`"
    return wrong(
        "E0210",
        f"this {what} does not say which bits it counts",
        span,
        note=f"{whose} {what}s need a layer: {layers}",
        remedy=f"for cells of 53 bytes {example}" if usual == "cell" else example,
        fix=(Edit(Span(span.source, span.end, span.end), f" @{usual}"),) if simple else (),
    )
