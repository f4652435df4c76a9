"""Which bits a field counts: a line those of cells or all that it sends, others of packets."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import OF_PACKETS
from qospec.check.evaluate.context import CheckError, error
from qospec.check.evaluate.dimensions import ANY_LAYER
from qospec.check.evaluate.values import Amount, Map
from qospec.diagnostics import Edit
from qospec.protocol.encapsulation import LAYERS
from qospec.source import Span

if TYPE_CHECKING:
    from collections.abc import Collection

    from qospec.catalogue.kinds import Kind, Parameter
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.records.record import Record

OF_CELLS = ("cell", "payload")
"""The layers of cells."""
OF_LINE = {"cell": "cell", "packet": "line"}
"""Which bits the rate of a line counts, by what it carries."""


def with_usual_layer(parameter: Parameter, record: Record, evaluator: Evaluator) -> Parameter:
    """Return a field; of a line's rate, what the line carries says which layer is the usual one."""
    carries = record.kind.parameter("carries")
    if parameter.domain.name != "rate" or carries is None or carries.name not in record.given:
        return parameter
    usual = OF_LINE.get(getattr(record.value_of(carries, evaluator), "name", ""))
    layers = sorted(parameter.domain.layers, key=lambda layer: layer != usual)
    return replace(parameter, domain=replace(parameter.domain, layers=tuple(layers)))


def verify_amounts(record: Record, carried: Collection[str], evaluator: Evaluator) -> None:
    """Report the amounts of data of an element, and of records in it, that count no IP packets.

    Where cells may pass, as `carried` says, their layers are as good.
    """
    fit = [*OF_PACKETS, *(OF_CELLS if "cell" in carried else ())]
    for name, each in record.given.items():
        parameter = record.kind.parameter(name)
        if parameter is None:
            continue
        value: Any = record.value_of(parameter, evaluator)
        if hasattr(value, "given"):
            verify_amounts(value, carried, evaluator)
        if parameter.domain.layers != OF_PACKETS or parameter.domain.name == "rate":
            continue
        entries = value.entries.values() if isinstance(value, Map) else [value]
        layers = [entry.layer for entry in entries if isinstance(entry, Amount)]
        other = next((layer for layer in layers if layer not in ("", ANY_LAYER, *fit)), None)
        if other is not None:
            evaluator.context.report(
                error(
                    "E0212",
                    f"`{parameter.alias or name}` counts the bytes of IP packets, @ip, "
                    f"not @{other}",
                    each.value.span,
                    help="give the bytes of IP packets, `@ip` or without a layer",
                )
            )


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
        cells = layers[0] == "cell"
        raise error(
            "E0212",
            f"`{parameter.alias or parameter.name}` counts the bits of "
            f"{'cells' if cells else 'packets, @' + layers[0]}, not @{value.layer}",
            span,
            help="give the rate that is left for cells, `@cell`; for packets, all that is sent, "
            "`@line`"
            if cells
            else f"give the rate `@{layers[0]}`",
        )


def _without_layer(parameter: Parameter, kind: Kind, what: str, span: Span) -> CheckError:
    """Return that a rate or size does not say which bits it counts."""
    layers = " ".join(f"@{layer}" for layer in LAYERS)
    usual = parameter.domain.layers[0]
    # An element counts the bits of one layer, or a line those of cells, as a rule.
    simple = kind.role == "element" and re.fullmatch(r"[0-9._]+ *[A-Za-z/]+", span.text)
    element = "a line's" if kind.duty == "line" else "packet"
    whose = element if kind.role == "element" else "traffic"
    example = f"write `{span.text} @{usual}`"
    return error(
        "E0210",
        f"this {what} does not say which bits it counts",
        span,
        note=f"{whose} {what}s need a layer: {layers}",
        help=f"for cells of 53 bytes {example}" if usual == "cell" else example,
        fix=(Edit(Span(span.source, span.end, span.end), f" @{usual}"),) if simple else (),
    )
