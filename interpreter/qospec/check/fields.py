"""Fields of a kind: from a value to the type that the kind declares, with its bounds."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from qospec.catalogue import REQUIRED, Buffer
from qospec.check import mixes
from qospec.check.context import Refused, wrong
from qospec.check.dimensions import BASE_UNITS, LAYERS, NUMBER, named, written_in
from qospec.check.values import (
    POISON,
    Amount,
    Poison,
    Series,
    Symbol,
    Table,
    Truth,
    Value,
    Wording,
)
from qospec.diagnostics import Edit, did_you_mean, respelling
from qospec.source import Span
from qospec.units import CELL_RATE, CELLS, DATA, PACKETS, RATE, Dimension, number_text

if TYPE_CHECKING:
    from qospec.catalogue import Domain, Kind, Parameter

NUMERIC: dict[str, tuple[Dimension, Fraction]] = {
    **BASE_UNITS,
    "ratio": (NUMBER, Fraction(1)),
    "integer": (NUMBER, Fraction(1)),
}
"""Per domain of numbers: its dimension, and one base unit of the engine in the language's."""

WHOLE = ("time", "data", "cells", "integer")
"""Domains that the engine counts in whole base units."""

BUFFERS: dict[Dimension, tuple[Literal["cell", "packet", "byte"], int]] = {
    CELLS: ("cell", 1),
    PACKETS: ("packet", 1),
    DATA: ("byte", 8),
}
"""By dimension of a limit: what it counts, and how many base units that is."""

BITS_OF_A_CELL = {
    "": "53 B/cell @cell",
    "cell": "53 B/cell @cell",
    "payload": "48 B/cell @payload",
}
"""What makes cells of bits, by the layer that counts them; no other is counted in cells."""


MAPS = {"weights": "ratio", "counts": "integer", "sizes": "data"}
"""Per domain of maps from names: the domain of what is under each."""


def convert(value: Value, parameter: Parameter, kind: Kind, span: Span) -> Any:
    """Return the value as the field's own type; None if it cannot be known yet; raises Refused."""
    if isinstance(value, Poison):
        return None
    domain = parameter.domain
    name = parameter.alias or parameter.name
    if domain.name in NUMERIC:
        return _number(value, parameter, kind, span)
    if domain.name == "choice":
        return _choice(value, name, domain, span)
    if domain.name in MAPS:
        return _map(value, parameter, kind, span)
    if domain.name == "buffer":
        return _buffer(value, name, domain, span)
    others = {"truth": _truth, "names": _names, "load": mixes.load, "size mix": mixes.size_mix}
    return others[domain.name](value, name, span)


def from_default(parameter: Parameter) -> Value:
    """Return a field's default as a value of the language."""
    default, domain = parameter.default, parameter.domain
    if default is REQUIRED or default is None:
        return POISON
    if domain.name in NUMERIC and isinstance(default, int | Fraction):
        dimension, factor = NUMERIC[domain.name]
        return Amount(default * factor, dimension)
    return Truth(default) if isinstance(default, bool) else POISON


def _number(value: Value, parameter: Parameter, kind: Kind, span: Span) -> int | Fraction | None:
    dimension, factor = NUMERIC[parameter.domain.name]
    name = parameter.alias or parameter.name
    if not isinstance(value, Amount):
        raise _sort(name, named(dimension), value.what, span)
    if value.dimension != dimension and value.value != 0:
        raise _dimension(name, dimension, value, span)
    if value.dimension == dimension and parameter.domain.name in ("rate", "data"):
        _layer(value, parameter, kind, span)
    if value.value is None:
        return None
    amount = value.value / factor
    result = (
        _whole(amount, name, parameter.domain, span) if parameter.domain.name in WHOLE else amount
    )
    _bounds(result, name, parameter.domain, span)
    return result


def _dimension(name: str, dimension: Dimension, value: Amount, span: Span) -> Refused:
    remedy = f"write {named(dimension)}"
    if dimension == CELL_RATE and value.dimension == RATE and value.layer in BITS_OF_A_CELL:
        written = (
            span.text
            if re.fullmatch(r"[\w.]+( *[\w/]+)?( *@\w+)?", span.text)
            else f"({span.text})"
        )
        remedy = f"divide by the bits of a cell: `{written} / ({BITS_OF_A_CELL[value.layer]})`"
    elif value.dimension == NUMBER:
        remedy = "give it a unit"
    return wrong(
        "E0202",
        f"`{name}` is {named(dimension)}, not {named(value.dimension)}",
        span,
        label=f"this is {named(value.dimension)}",
        remedy=remedy,
    )


def _sort(name: str, wanted: str, what: str, span: Span) -> Refused:
    return wrong("E0204", f"`{name}` is {wanted}, not {what}", span, label=f"this is {what}")


def _layer(value: Amount, parameter: Parameter, kind: Kind, span: Span) -> None:
    """Hold a rate, and a size of traffic, to say which bits it counts, once it is known."""
    if kind.role == "element" and parameter.domain.name == "data":
        return
    if value.value is None and not value.layer:
        return
    what = "rate" if parameter.domain.name == "rate" else "size"
    if not value.layer:
        layers = " ".join(f"@{layer}" for layer in LAYERS)
        whose = "a line's" if kind.role == "element" else "traffic"
        # A line counts the bits of cells and no others.
        simple = kind.role == "element" and re.fullmatch(r"[0-9._]+ *[A-Za-z/]+", span.text)
        raise wrong(
            "E0210",
            f"this {what} does not say which bits it counts",
            span,
            note=f"{whose} {what}s need a layer: {layers}",
            remedy=f"for cells of 53 bytes write `{span.text} @cell`",
            fix=(Edit(Span(span.source, span.end, span.end), " @cell"),) if simple else (),
        )
    if kind.role == "element" and value.layer not in ("cell", "line"):
        raise wrong(
            "E0212",
            f"`{parameter.name}` counts the bits of cells, this counts @{value.layer}",
            span,
            remedy="give the rate that is left for cells, `@cell`; of packets, all that is sent, "
            "`@line`",
        )


def _whole(amount: Fraction, name: str, domain: Domain, span: Span) -> int:
    if amount.denominator == 1:
        return int(amount)
    if domain.name == "time":
        rounded = round(amount)
        if rounded == 0:
            raise wrong(
                "E0206",
                f"`{name}` is less than half a picosecond",
                span,
                note="times are whole picoseconds",
                remedy="write `0 s` if none is meant",
            )
        return rounded
    units = {"data": "bytes", "cells": "cells"}.get(domain.name, "numbers")
    raise wrong(
        "E0206",
        f"`{name}` is counted in whole {units}, this is {number_text(amount, exact=True)}",
        span,
        remedy="write a whole number",
    )


def _bounds(amount: int | Fraction, name: str, domain: Domain, span: Span) -> None:
    if domain.low is not None and amount < domain.low:
        least = written_in(domain.low, domain.name, span.text)
        limit = "more than 0" if amount <= 0 < domain.low else f"at least {least}"
        raise wrong(
            "E0205",
            f"`{name}` must be {limit}",
            span,
            label="too small",
            remedy=f"write at least {least}",
        )
    if domain.high is not None and amount > domain.high:
        most = written_in(domain.high, domain.name, span.text)
        raise wrong(
            "E0205",
            f"`{name}` must be at most {most}",
            span,
            label="too large",
            remedy=f"write at most {most}",
        )


def _truth(value: Value, name: str, span: Span) -> bool | None:
    if not isinstance(value, Truth):
        raise _sort(name, "true or false", value.what, span)
    return value.value


def _choice(value: Value, name: str, domain: Domain, span: Span) -> str:
    text = (
        value.name
        if isinstance(value, Symbol)
        else value.text
        if isinstance(value, Wording)
        else None
    )
    if text is None:
        raise _sort(name, "one of " + ", ".join(domain.choices), value.what, span)
    if text not in domain.choices:
        place = value.span if isinstance(value, Symbol) else span
        near = did_you_mean(text, domain.choices)
        raise wrong(
            "E0214",
            f"`{name}` cannot be `{text}`",
            span,
            label=f"did you mean `{near}`?" if near else "",
            other=(place, "from here") if place != span else None,
            note=f"choices of {name}: " + " ".join(domain.choices),
            remedy=f"write `{near}`" if near else "choose one of them",
            fix=respelling(place, text, domain.choices),
        )
    return text


def _names(value: Value, name: str, span: Span) -> tuple[str, ...] | None:
    if not isinstance(value, Series):
        raise _sort(name, "a list of names", value.what, span)
    found: list[str] = []
    for item in value.items:
        if isinstance(item, Poison):
            return None
        if not isinstance(item, Symbol):
            raise _sort(name, "a list of names", f"a list with {item.what}", span)
        if item.name in found:
            raise wrong("E0102", f"`{item.name}` comes twice in `{name}`", item.span)
        found.append(item.name)
    return tuple(found)


def _map(
    value: Value, parameter: Parameter, kind: Kind, span: Span
) -> tuple[tuple[str, int | Fraction], ...] | None:
    if not isinstance(value, Table):
        raise _sort(parameter.name, "a map from names to numbers", value.what, span)
    domain = replace(parameter.domain, name=MAPS[parameter.domain.name])
    found = []
    for key, each in value.entries.items():
        if not isinstance(key, str):
            raise _sort(parameter.name, "a map from names", "a map from numbers", span)
        entry = replace(parameter, name=f"{parameter.name}[{key}]", alias="", domain=domain)
        amount = None if isinstance(each, Poison) else _number(each, entry, kind, span)
        if amount is None:
            return None
        found.append((key, amount))
    return tuple(found)


def _buffer(value: Value, name: str, domain: Domain, span: Span) -> Buffer | None:
    if not isinstance(value, Amount):
        raise _sort(name, "a number of cells or packets or a size", value.what, span)
    if value.dimension not in BUFFERS:
        raise wrong(
            "E0202",
            f"`{name}` is a number of cells or packets or a size, not {named(value.dimension)}",
            span,
            remedy="write `64 cell`, `64 pkt` or `16 KiB`",
        )
    if value.value is None:
        return None
    unit, size = BUFFERS[value.dimension]
    amount = value.value / size
    if amount.denominator != 1:
        shown = number_text(amount, exact=True)
        raise wrong("E0206", f"`{name}` is counted in whole {unit}s, this is {shown}", span)
    _bounds(amount, name, domain, span)
    return Buffer(int(amount), unit)
