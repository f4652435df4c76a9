"""The kinds of the catalogue as documents, with the text of their declarations."""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import REQUIRED, Buffer, read_documentation
from qospec.check.evaluate.dimensions import METRICS, write_bound
from qospec.check.records.fields import MAPS
from qospec.check.records.spelling import SOURCE, has_source
from qospec.dataclass import NamedTuple
from qospec.units import COUNT, COUNTED, format_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.catalogue.kinds import Domain, Kind, Parameter
    from qospec.document import Document


class DomainLabel(NamedTuple):
    """The name of a domain for readers, and an example of a value."""

    name: str
    example: str


LABELS = {
    "time": DomainLabel("a time", "250 us"),
    "data": DomainLabel("an amount of data", "480 B"),
    "rate": DomainLabel("a bit rate", "149.76 Mbit/s @cell"),
    "cell rate": DomainLabel("a cell rate", "30_000 cell/s"),
    "frame rate": DomainLabel("a frame rate", "830 frame/s"),
    "call rate": DomainLabel("a call rate", "15 call/s"),
    "calls": DomainLabel("a number of calls", "3 call"),
    "length": DomainLabel("a length", "50 km"),
    "cells": DomainLabel("a number of cells", "200 cell"),
    "ratio": DomainLabel("a ratio", "10%"),
    "integer": DomainLabel("a whole number", "4"),
    "truth": DomainLabel("true or false", "true"),
    "choice": DomainLabel("one of", ""),
    "names": DomainLabel("a list of names", "[high, low]"),
    "weights": DomainLabel("a map from names to numbers", "{ high: 3, low: 1 }"),
    "counts": DomainLabel("a map from names to whole numbers", "{ high: 3, low: 1 }"),
    "sizes": DomainLabel("a map from names to sizes", "{ high: 3_000 B, low: 1_500 B }"),
    "loads": DomainLabel("a map from names to rates", "{ high: 2 Mbit/s @ip, low: 1 Mbit/s @ip }"),
    "bursts": DomainLabel("a map from names to sizes", "{ high: 3_000 B, low: 1_500 B }"),
    "windows": DomainLabel(
        "a map from names to times, or to lists of times", "{ high: 250 us, low: 750 us }"
    ),
    "codes": DomainLabel(
        "a whole number, or a map from colours or numbers", "{ green: 1, yellow: 2, red: 3 }"
    ),
    "buffer": DomainLabel("a number of cells or packets, or a size", "64 pkt"),
    "burst": DomainLabel("a size, or a number of packets", "3_000 B"),
    "lifetime": DomainLabel("a number of packets, a size or a time", "10_000 pkt"),
    "load": DomainLabel("a rate of bits or packets", "64 kbit/s @ip"),
    "size mix": DomainLabel(
        "a size or a mix of sizes", "mix { 40 B: 7, 576 B: 4, 1_500 B: 1 } @ip"
    ),
    "curve": DomainLabel("a time, or a map from sizes to times", "{ 64 B: 250 us, 1_500 B: 1 ms }"),
    "trial": DomainLabel("a time, or a number of cells or packets", "1 s"),
    "width": DomainLabel("a ratio, or a difference of loads", "0.5%"),
    "duration": DomainLabel("a time, possibly random", "exponential(16 ms)"),
    "command": DomainLabel("a list of texts", '["iperf", "-s"]'),
    "ready": DomainLabel("a text, a port or a time", '"listening"'),
    "address": DomainLabel("an address", '"10.1.0.7"'),
    "capture": DomainLabel("the name of a pcap or pcapng file", '"site.pcapng"'),
    "profile": DomainLabel("the name of a CSV file of rates over time", '"day.csv"'),
    "delay profile": DomainLabel("the name of a CSV file of delays over time", '"leo.csv"'),
    "loss profile": DomainLabel("the name of a CSV file of losses over time", '"leo.csv"'),
    "trace": DomainLabel("the name of a trace of Mahimahi or a CSV file of rates", '"lte.up"'),
    "key": DomainLabel(
        "hexadecimal digits, or `file:` and the name of a file with them",
        '"00112233445566778899aabbccddeeff"',
    ),
    "times": DomainLabel("a list of times", "[6.72 us, 6.80 us]"),
    "delay per length": DomainLabel("a delay per length", "5 us/km"),
    "limits by mark": DomainLabel(
        "a map from marks to limits", "{ green: 192 pkt, yellow: 128 pkt }"
    ),
    "ratios by mark": DomainLabel("a map from marks to ratios", "{ green: 5%, yellow: 10% }"),
    "arrivals": DomainLabel("an arrival process", "constant { rate = 30_000 cell/s }"),
    "nodes": DomainLabel("a device of the topology, an element, or a list of these", "router"),
    "link ends": DomainLabel("a host, a device or a port, or a list of these", "dut.west"),
    "messages": DomainLabel("a list of names, or a map from names to values", "[setup, release]"),
    "timers": DomainLabel("a map from names to times", "{ answer: 4 s }"),
    "variables": DomainLabel("a map from names to numbers", "{ free: 100 }"),
    "output": DomainLabel("a name", "backup"),
    "sent messages": DomainLabel("a list of messages", "[callee.setup]"),
    "assignments": DomainLabel("a map from names to numbers", "{ free: free - 1 }"),
    "addresses": DomainLabel("a map from ports to numbers", "{ net: whom }"),
    "address of a machine": DomainLabel("a number or an address of packets", '"10.1.0.7"'),
    "contract": DomainLabel("a contract of cells", "cbr { pcr = 5_000 cell/s, cdvt = 250 us }"),
    "congestion": DomainLabel("a congestion control", "cubic"),
    "dropping": DomainLabel("a drop policy", "red { low = 16 pkt, high = 48 pkt, p = 10% }"),
}
"""By domain; one that is missing here is shown by its own name."""


_EXAMPLES = {
    ("frames", "mtu"): "9_180 B @ip",
    ("program", "mtu"): "1_280 B @ip",
    ("credit", "idle_slope"): "75 Mbit/s @line",
    ("frames", "size"): "9_180 B @ip",
    ("segmented", "mtu"): "9_180 B @ip",
    ("echo", "size"): "512 B @ip",
    ("echo", "answer_size"): "512 B @ip",
    ("lose", "bit_error_rate"): "1 / 1_000_000",
    ("jitter", "mean"): "50 us",
    ("jitter", "deviation"): "25 us",
    ("packets", "source"): "on_off { on = 16 ms, off = 16 ms }",
    ("epd", "at"): "64 cell",
    ("abr_queue", "limit"): "500 cell",
    ("red", "high"): "192 pkt",
    ("congested", "at"): "{ red: 1 pkt }",
    ("congested", "by"): "colour",
    ("threshold", "by"): "colour",
    ("wred", "by"): "colour",
    ("wred", "high"): "{ green: 256 pkt, yellow: 192 pkt }",
}
"""Of a kind's field for which the example of its domain is refused, or does not fit the others."""


def _read_source_comment(kind: Kind) -> str:
    otherwise = "by `gaps`" if "packet" in kind.carries else "as much as the contract allows"
    return f"What is emitted; by default {otherwise}."


def _list_derived_fields(kind: Kind) -> set[str]:
    """Return the fields of an arrival process that default to those of the traffic."""
    rate = {kind.build.rate_field} if kind.role == "arrivals" else set()
    return {*kind.from_contract, *rate}


def describe_kind(kind: Kind) -> Document:
    """Return the document of a kind: its text, its fields, and the traits of a metric."""
    text = read_documentation(kind.build)
    described: Document = {
        "name": kind.name,
        "aliases": list(kind.aliases),
        "role": kind.role,
        "summary": kind.summary,
        "description": text.partition("\n")[2].strip(),
        "source": kind.source,
        "fields": [describe_field(field, kind) for field in _describe_fields(kind)],
    }
    if kind.role == "element":
        described |= {"duty": kind.duty, "open": kind.open_fields}
    if kind.role == "metric":
        described |= _describe_measured(kind)
    return described


def _describe_fields(kind: Kind) -> Iterator[Parameter]:
    yield from kind.parameters.values()
    if has_source(kind):
        yield SOURCE


_PLACES = {"flow": "of flows", "place": "of what passes a place inside the network"}


def _describe_measured(kind: Kind) -> Document:
    dimension = METRICS[kind.build.dimension]
    counted = [*dict.fromkeys(COUNTED[item].get(dimension, dimension) for item in kind.carries)]
    return {
        "dimension": " or ".join(
            "a number" if dimension is COUNT else dimension.name for dimension in counted
        ),
        "example": format_value(1, dimension),
        "statistics": [*filter(None, kind.list_statistics("cell"))],
        "packet_statistics": [*filter(None, kind.build.packet_statistics or ())],
        "series": [statistic or kind.name for statistic in kind.build.series],
        "exact": kind.build.exact,
        "measured": " and ".join(_PLACES[place] for place in kind.build.measured_at),
    }


def describe_field(parameter: Parameter, kind: Kind) -> Document:
    """Return the document of a field; bounds and default as an author writes them."""
    domain = parameter.domain
    label = LABELS.get(domain.name, DomainLabel(domain.name, ""))
    example = _EXAMPLES.get((kind.name, parameter.name)) or (*domain.choices, label.example)[0]
    if domain.name == "ratio" and (domain.low or 0) >= 1:
        example = "4"
    if domain.name == "rate":
        layer = f" @{domain.layers[0]}" if domain.layers else ""
        example = example.replace(" @cell", layer)
    return {
        "name": parameter.alias or parameter.name,
        "meaning": parameter.name.replace("_", " ") if parameter.alias else "",
        "type": _name_type(domain, label),
        "required": parameter.default is REQUIRED
        and parameter.name not in _list_derived_fields(kind),
        "default": write_default(parameter),
        "least": _write_bound(domain, domain.low),
        "most": _write_bound(domain, domain.high),
        "choices": list(domain.choices),
        "example": write_default(parameter) or example,
        "description": read_field_comments(kind).get(
            parameter.name, _read_source_comment(kind) if parameter is SOURCE else ""
        ),
    }


def _name_type(domain: Domain, label: DomainLabel) -> str:
    return f"{label.name} {' '.join(domain.choices)}" if domain.choices else label.name


_BOUNDED_AS = {
    **dict.fromkeys(("duration", "times", "curve", "trial"), "time"),
    "load": "rate",
    "burst": "data",
}
"""By domain, that of its bounds, if it is another one."""


def _write_bound(domain: Domain, bound: Any) -> str:
    if bound is None:
        return ""
    if domain.name in ("buffer", "lifetime", *MAPS):
        return str(bound)
    return write_bound(bound, _BOUNDED_AS.get(domain.name, domain.name))


def write_default(parameter: Parameter) -> str:
    """Return a default as an author would write it; "" for none."""
    default = parameter.default
    if default is REQUIRED or default is None:
        return ""
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, Buffer):
        return f"{default.amount} {'B' if default.unit == 'byte' else default.unit}"
    if isinstance(default, tuple):
        return f"[{', '.join(map(str, default))}]"
    return default if isinstance(default, str) else write_bound(default, parameter.domain.name)  # type: ignore[arg-type]


def read_field_comments(kind: Kind) -> dict[str, str]:
    """Return the docstring of each field of a kind's class, inherited fields included."""
    found: dict[str, str] = {}
    for whole in (*kind.described_in, kind.build):
        for cls in reversed(inspect.getmro(whole)):
            found |= _read_comments_below(cls)
    return found


@cache
def _read_comments_below(cls: type) -> Mapping[str, str]:
    """Return the docstring of each field of a class, cached because parsing its source is slow."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # built in, or its text was not shipped
        return {}
    if not isinstance(tree, ast.ClassDef):
        return {}
    found = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
        ):
            found[field.target.id] = " ".join(str(below.value.value).split())
    return found
