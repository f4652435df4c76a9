"""Which bits a field counts: those of cells, all that a line sends, or those of packets."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.evaluate.dimensions import ANY_LAYER, convert_layer
from qospec.diagnostics import Edit
from qospec.protocol.encapsulation import LAYERS
from qospec.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Kind, Parameter
    from qospec.check.evaluate.values import Amount

OF_CELLS = ("cell", "payload")
"""The layers of cells."""
OF_LINE = {"cell": "cell", "packet": "line", "packet in cells": "cell"}
"""Which bits the rate of a line counts, by what it sends."""


def name_sent(carries: str, *, in_cells: bool) -> str:
    """Return what a line sends, as in `OF_LINE`, given what it carries and whether in cells."""
    return f"{carries} in cells" if in_cells and carries == "packet" else carries


def with_usual_layer(parameter: Parameter, sent: str) -> Parameter:
    """Return the rate of a line with the layer first that is usual for what the line sends."""
    usual = OF_LINE.get(sent)
    layers = sorted(parameter.domain.layers, key=lambda layer: layer != usual)
    return replace(parameter, domain=replace(parameter.domain, layers=tuple(layers)))


def verify(value: Amount, parameter: Parameter, kind: Kind, span: Span) -> None:
    """Require that a rate, or a size of traffic, says which bits it counts, once that is known."""
    layer = "" if value.layer == ANY_LAYER else value.layer
    if layer and kind.role == "traffic" and not parameter.domain.layers:
        raise make_error(
            "E0212",
            f"`{parameter.alias or parameter.name}` counts what is carried, not @{layer}",
            span,
            help=f"leave out `@{layer}`: headers come on top",
        )
    of_traffic = kind.role not in ("element", "dropping", "congestion") and parameter.domain.layers
    if not parameter.domain.layers or (parameter.domain.name == "data" and not of_traffic):
        return
    if value.layer == ANY_LAYER:
        return
    what = "size" if parameter.domain.name == "data" else "rate"
    if not value.layer:
        raise _without_layer(parameter, kind, what, span)
    layers = parameter.domain.layers
    if kind.role == "element" and value.layer not in layers:
        cells, counted = layers[0] == "cell", layers[:1] if kind.duty == "line" else layers
        raise make_error(
            "E0212",
            f"`{parameter.alias or parameter.name}` counts the bits of "
            f"{'cells' if cells else 'packets, ' + list_layers(counted)}, not @{value.layer}",
            span,
            help=convert_layer(span.text, value.value, layers[0])
            or "give the rate that is left for cells, `@cell`; for packets, all that is sent, "
            "`@line`"
            if cells
            else f"give the rate `@{layers[0]}`",
        )


def list_layers(layers: Sequence[str]) -> str:
    """Return the layers in which a field may count: "@ip, @frame or @line"."""
    *others, last = (f"@{layer}" for layer in layers)
    return f"{', '.join(others)} or {last}" if others else last


def _without_layer(parameter: Parameter, kind: Kind, what: str, span: Span) -> CheckError:
    """Return the mistake of a rate or size that does not say which bits it counts."""
    layers = " ".join(f"@{layer}" for layer in LAYERS)
    usual = parameter.domain.layers[0]
    # An element counts the bits of one layer, or a line those of cells, as a rule.
    simple = kind.role == "element" and re.fullmatch(r"[0-9._]+ *[A-Za-z/]+", span.text)
    element = "a line's" if kind.duty == "line" else "packet"
    whose = element if kind.role == "element" else "traffic"
    example = f"write `{span.text} @{usual}`"
    return make_error(
        "E0210",
        f"this {what} does not say which bits it counts",
        span,
        note=f"{whose} {what}s need a layer: {layers}",
        help=f"for cells of 53 bytes {example}" if usual == "cell" else example,
        fix=(Edit(Span(span.source, span.end, span.end), f" @{usual}"),) if simple else (),
    )
