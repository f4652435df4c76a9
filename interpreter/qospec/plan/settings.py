"""The fields of traffic and of its source, as an author would write them."""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import Duration, Load, SizeMix, read_declaration
from qospec.check.evaluate.dimensions import BASE_UNITS, write_bound
from qospec.dataclass import NamedTuple
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qospec.catalogue.kinds import Kind

MOST_LISTED = 6
"""Of a list, how many items are written."""
OF_PACKETS = {"cell rate": "packet rate", "cells": "packets"}
"""By domain of a field, what it counts in a source of packets."""
SHOWN_APART = ("connections",)
"""What a report says elsewhere."""


class FieldValue(NamedTuple):
    """The value of a field in words, and as a number, by which several can be put in order.

    `usual` says whether it is the default.
    """

    text: str
    number: Fraction | None
    usual: bool


def list_settings(kind: Kind, made: Any, *, packets: bool) -> Mapping[str, FieldValue]:
    """Return the fields that have a value, by their usual names.

    Args:
        kind: Of the traffic or the arrival process.
        made: What was built of it.
        packets: Whether what it sends are packets, and no cells.
    """
    found = {}
    for parameter in kind.parameters.values():
        value = vars(made)[parameter.name]
        if parameter.name in SHOWN_APART or value is None:
            continue
        domain = parameter.domain.name
        text = _text(value, OF_PACKETS.get(domain, domain) if packets else domain)
        usual = value == parameter.default
        found[parameter.alias or parameter.name] = FieldValue(text, _number(value), usual)
    return found


def _number(value: Any) -> Fraction | None:
    if isinstance(value, Load):
        return value.amount
    plain = isinstance(value, int | Fraction) and not isinstance(value, bool)
    return Fraction(value) if plain else None


def _text(value: Any, domain: str) -> str:
    """Return a value as an author would write it."""
    if isinstance(value, Load):
        layer = f" @{value.layer}" if value.layer else ""
        return _quantity(value.amount, "rate" if layer else "packet rate") + layer
    if isinstance(value, SizeMix):
        return _mix(value)
    if isinstance(value, Duration):
        mean = _quantity(value.mean_ps, "time")
        return mean if value.law == "constant" else f"{value.law}({mean})"
    if isinstance(value, tuple | array):
        of = "time" if domain == "times" else domain
        return _listed(value, lambda item: _text(item, of))
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return _quantity(value, domain)
    return _name(value, domain)


def _name(value: Any, domain: str) -> str:
    """Return what is no number in words; a contract of cells, with its terms."""
    if domain in ("capture", "profile"):
        return f"{value.name} (SHA-256 {value.digest})"
    if domain != "contract":
        return str(value).lower() if isinstance(value, bool) else str(value)
    kind = read_declaration(type(value))
    terms = list_settings(kind, value, packets=False).items()
    return f"{kind.name} {{ {', '.join(f'{n} = {t.text}' for n, t in terms if not t.usual)} }}"


def _quantity(value: int | Fraction, domain: str) -> str:
    """Return a number with its unit, exact where it has few digits."""
    exact = write_bound(value, domain)
    if "/" not in exact.partition(" ")[0] or domain not in BASE_UNITS:
        return exact
    dimension, factor = BASE_UNITS[domain]
    return format_value(value * factor, dimension)


def _listed(items: Sequence[Any], write: Callable[[Any], str]) -> str:
    more = len(items) - MOST_LISTED
    first = [*map(write, items[:MOST_LISTED])]
    return f"[{', '.join([*first, *([f'{more} more'] if more > 0 else [])])}]"


def _mix(mix: SizeMix) -> str:
    layer = f" @{mix.layer}" if mix.layer else ""
    if len(mix.parts) == 1:
        return f"{mix.parts[0][0]} B{layer}"
    if mix.law:
        return f"{mix.law}{layer}"
    parts = _listed(mix.parts, lambda part: f"{part[1]} of {part[0]} B")
    return f"{parts}{layer}{' in order' if mix.in_order else ''}"
