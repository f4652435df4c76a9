"""Which items pass where: cells or packets. A line, a port and most elements take one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import OF_PACKETS, Buffer
from qospec.check.device import predicates
from qospec.check.device.ports import Origin, find_leaving
from qospec.check.evaluate.context import make_error
from qospec.check.evaluate.dimensions import ANY_LAYER
from qospec.check.evaluate.values import Amount, Map
from qospec.check.records.layers import OF_CELLS, OF_LINE, list_layers, name_sent

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from qospec.check.device.ports import Part, Template
    from qospec.check.evaluate.context import Context
    from qospec.check.evaluate.evaluator import Evaluator
    from qospec.check.records.record import Record
    from qospec.source import Span

UNITS = {"cell": "cell", "packet": "pkt"}
CARRIED = tuple(UNITS)
ADAPTERS = {"cell": "aal_reassemble", "packet": "aal_segment"}
"""What takes these and sends the others."""
ADAPTED = "`aal_segment` makes cells of packets, and `aal_reassemble` packets of cells"
"""What to know where these meet."""


def find_carried_by_line(record: Record, arguments: Mapping[str, Any], evaluator: Evaluator) -> str:
    """Return what a line carries; report a rate that counts the wrong bits."""
    carries = str(arguments.get("carries", "cell"))
    rate = record.kind.find_parameter("rate")
    if rate is not None and "rate" in record.given:
        layer = getattr(record.evaluate_parameter(rate, evaluator), "layer", "")
        sent = name_sent(carries, in_cells="aal" in record.given)
        if layer not in ("", ANY_LAYER, OF_LINE[sent]):
            other = "" if sent != carries else f"write `carries = {choose_other(carries)}`, or "
            evaluator.context.report(
                make_error(
                    "E0212",
                    f"the rate of a line of {sent.replace(carries, carries + 's', 1)} counts "
                    f"@{OF_LINE[sent]}, not @{layer}",
                    record.given["rate"].value.span,
                    help=f"{other}give the rate @{OF_LINE[sent]}",
                )
            )
    return carries


def choose_other(carries: str) -> str:
    """Return the other of the two."""
    return CARRIED[carries == CARRIED[0]]


def verify(template: Template, context: Context) -> None:
    """Report elements and ports reached by items that they do not take.

    An element that was reached from one port is not followed again from another.
    """
    seen: set[tuple[Origin, str]] = set()
    for ports in template.ports.values():
        for index in range(1 if ports.count is None else ports.count):
            start = Origin(port=(ports.name, index))
            _follow(template, start, ports.carries, seen, context)


def _follow(
    template: Template,
    start: Origin,
    enters: str,
    seen: set[tuple[Origin, str]],
    context: Context,
) -> None:
    waiting = [(start, enters, "")]
    while waiting:
        origin, carries, maker = waiting.pop()
        end = template.wires.get(origin)
        if end is None:
            continue
        place = template.places.get(origin)
        if end.kind == "port" and template.ports[end.port[0]].carries != carries:
            adapts = f"put an `{ADAPTERS[carries]}` ahead of it, or declare it `: {carries}`"
            _report(
                f"`{end.port[0]}` is a port of {choose_other(carries)}s",
                (start, maker),
                carries,
                place,
                context,
                help_text=adapts if maker else "",
            )
        if end.kind != "element":
            continue
        part = template.parts[end.part]
        if not part.loose and carries not in find_carried(part):
            what = " and ".join(f"{carried}s" for carried in find_carried(part)) or "neither"
            help_text = _suggest_limit(part, carries) or _suggest_place(part, carries, maker)
            message, source = f"`{part.path}` is for {what}", (start, maker)
            _report(message, source, carries, place, context, help_text=help_text)
            continue
        template.kinds[end.part] = carries
        leaves = find_leaving(part, carries)
        onward = [(Origin(end.part, output), leaves) for output in part.outputs]
        maker = part.path if leaves != carries else maker
        waiting += [(*further, maker) for further in onward if further not in seen]
        seen.update(onward)


def _report(
    message: str,
    source: tuple[Origin, str],
    carries: str,
    place: Span | None,
    context: Context,
    *,
    help_text: str = "",
) -> None:
    """Report what does not take what comes from a port, or from the element that makes it."""
    (start, maker), other = source, choose_other(carries)
    way_out = f"put it where {other}s pass" if maker else f"declare the port `: {other}`"
    if place is not None:
        context.report(
            make_error(
                "E0425",
                f"{message}, but {carries}s come from `{maker or start.port[0]}`",
                place,
                note="" if help_text else ADAPTED,
                help=help_text or f"use one for {carries}s, or {way_out}",
            )
        )


def _suggest_limit(part: Part, carries: str) -> str:
    """Return the help for what would take these items if its limit or its messages were such."""
    if part.kind.duty == "machine":
        return (
            "give its messages a size in " + ("bytes: `size = 100 B`", "cells")[carries == "cell"]
        )
    limit: Buffer | None = part.element.buffer
    if carries in part.kind.carries and limit is not None and limit.unit == choose_other(carries):
        return f"its limit counts {limit.unit}s: write `{limit.amount:_} {UNITS[carries]}`"
    return ""


def _suggest_place(part: Part, carries: str, maker: str) -> str:
    """Return the help for what never takes these items, behind an element that makes them."""
    if not maker or carries in part.kind.carries or part.element.buffer is None:
        return ""
    return (
        f"put it ahead of `{maker}`, where {choose_other(carries)}s pass: `{part.kind.name}` takes"
        f" no {carries}s, and what queues them is a `fifo`"
    )


def find_carried(part: Part) -> tuple[str, ...]:
    """Return which items an element takes: by its kind, its fields and its conditions."""
    fit = {*part.kind.carries} & {*part.element.accepts}
    for condition in part.predicates:
        for asked in predicates.list_attributes(condition):
            fit &= {predicates.find_carrier(asked)}
    return tuple(carried for carried in CARRIED if carried in fit)


def verify_amounts(record: Record, carried: Collection[str], evaluator: Evaluator) -> None:
    """Report amounts of data of an element, and of records in it, that count what it does not.

    It counts IP packets, or what its field allows. Where cells may pass, as `carried` says, their
    layers are as good.
    """
    for name, field in record.given.items():
        parameter = record.kind.find_parameter(name)
        if parameter is None:
            continue
        value: Any = record.evaluate_parameter(parameter, evaluator)
        if hasattr(value, "given"):
            verify_amounts(value, carried, evaluator)
        counted = parameter.domain.layers
        if counted[:1] != OF_PACKETS or parameter.domain.name in ("rate", "load"):
            continue
        fit = [*counted, *(OF_CELLS if "cell" in carried else ())]
        entries = value.entries.values() if isinstance(value, Map) else [value]
        layers = [entry.layer for entry in entries if isinstance(entry, Amount)]
        other = next((layer for layer in layers if layer not in ("", ANY_LAYER, *fit)), None)
        if other is not None:
            evaluator.context.report(
                make_error(
                    "E0212",
                    f"`{parameter.alias or name}` counts the bytes of IP packets, "
                    f"{list_layers(counted)}, not @{other}",
                    field.value.span,
                    help="give the bytes of IP packets, `@ip` or without a layer",
                )
            )
