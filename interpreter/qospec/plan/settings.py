"""The fields of traffic, of its source and of elements, as an author would write them."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import (
    Buffer,
    Command,
    Curve,
    DataFile,
    Duration,
    Lifetime,
    Load,
    Ready,
    SizeMix,
    read_declaration,
)
from qospec.check.evaluate.dimensions import BASE_UNITS, write_bound
from qospec.dataclass import NamedTuple
from qospec.units import format_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qospec.catalogue.kinds import Kind

MOST_LISTED = 6
"""Of a list, how many items are written."""
OF_PACKETS = {"cell rate": "packet rate", "cells": "packets"}
"""By domain of a field, what it counts in a source of packets."""
SHOWN_APART = ("connections",)
"""What a report says elsewhere."""
MAX_NAMED = 3
"""The most alternatives that are listed where cases differ."""
MAPS = {
    "weights": "integer",
    "counts": "integer",
    "sizes": "data",
    "limits by mark": "buffer",
    "ratios by mark": "ratio",
}
"""By domain of a map, that of its items."""
COUNTED = {"packet": "pkt", "cell": "cell", "byte": "B"}
"""The units of limits."""


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
        text = _format_value(value, OF_PACKETS.get(domain, domain) if packets else domain)
        usual = value == parameter.default
        found[parameter.alias or parameter.name] = FieldValue(text, _to_number(value), usual)
    return found


def list_element_settings(kind: Kind, made: Any) -> Mapping[str, FieldValue]:
    """Return the fields of an element that have a value, but for keys and what decides nothing.

    Those of a drop policy follow it, as `drop.low`; of one that is not given it has the name.
    """
    found: dict[str, FieldValue] = {}
    idle = made.idle_fields if kind.role == "element" else ()
    for parameter in kind.parameters.values():
        domain, name = parameter.domain.name, parameter.alias or parameter.name
        value = vars(made).get(parameter.name)
        if parameter.name in idle or domain == "key":
            continue
        if domain == "dropping" and value is not None:
            policy = read_declaration(type(value))
            found[name] = FieldValue(policy.name, None, usual=False)
            inner = list_settings(policy, value, packets=False)
            found |= {f"{name}.{field}": setting for field, setting in inner.items()}
        elif value is None and parameter.domain.implied:
            found[name] = FieldValue(parameter.domain.implied, None, usual=True)
        elif value is not None:
            usual = value == parameter.default
            found[name] = FieldValue(_format_value(value, domain), _to_number(value), usual)
    return found


def _to_number(value: Any) -> Fraction | None:
    if isinstance(value, Load):
        return value.amount
    plain = isinstance(value, int | Fraction) and not isinstance(value, bool)
    return Fraction(value) if plain else None


def _format_value(value: Any, domain: str) -> str:
    """Return a value as an author would write it."""
    if type(value) in _WRITERS:
        return _WRITERS[type(value)](value)
    if domain in MAPS:
        items = [f"{name}: {_format_value(item, MAPS[domain])}" for name, item in value]
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, tuple | array):
        of = "time" if domain == "times" else domain
        return _format_list(value, lambda item: _format_value(item, of))
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return _format_quantity(value, domain)
    return _name(value, domain)


def _load(load: Load) -> str:
    layer = f" @{load.layer}" if load.layer else ""
    return _format_quantity(load.amount, "rate" if layer else "packet rate") + layer


def _format_duration(duration: Duration) -> str:
    mean = _format_quantity(duration.mean_ps, "time")
    return mean if duration.law == "constant" else f"{duration.law}({mean})"


def _format_curve(curve: Curve) -> str:
    return _format_list(curve.points, lambda at: f"{_format_quantity(at[1], 'time')} at {at[0]} B")


def _format_limit(value: Buffer | Lifetime) -> str:
    if value.unit == "time":
        return _format_quantity(value.amount, "time")
    layer = f" @{value.layer}" if isinstance(value, Buffer) and value.layer else ""
    return f"{value.amount:_} {COUNTED[value.unit]}{layer}"


def _name(value: Any, domain: str) -> str:
    """Return what is no number in words; a contract of cells, with its terms."""
    if isinstance(value, DataFile):
        return f"{value.name} (SHA-256 {value.digest})"
    if domain != "contract":
        return str(value).lower() if isinstance(value, bool) else str(value)
    kind = read_declaration(type(value))
    terms = list_settings(kind, value, packets=False).items()
    return f"{kind.name} {{ {', '.join(f'{n} = {t.text}' for n, t in terms if not t.usual)} }}"


@lru_cache(4_096)  # flows and cases of a sweep have most values in common
def _format_quantity(value: int | Fraction, domain: str) -> str:
    """Return a number with its unit, exact where it has few digits."""
    domain = "time" if domain == "curve" else domain
    exact = write_bound(value, domain)
    if "/" not in exact.partition(" ")[0] or domain not in BASE_UNITS:
        return exact
    dimension, factor = BASE_UNITS[domain]
    return format_value(value * factor, dimension)


def _format_list(items: Sequence[Any], write: Callable[[Any], str]) -> str:
    more = len(items) - MOST_LISTED
    first = [*map(write, items[:MOST_LISTED])]
    return f"[{', '.join([*first, *([f'{more} more'] if more > 0 else [])])}]"


def _mix(mix: SizeMix) -> str:
    layer = f" @{mix.layer}" if mix.layer else ""
    if len(mix.parts) == 1:
        return f"{mix.parts[0][0]} B{layer}"
    if mix.law:
        return f"{mix.law}{layer}"
    parts = _format_list(mix.parts, lambda part: f"{part[1]} of {part[0]} B")
    return f"{parts}{layer}{' in order' if mix.in_order else ''}"


def _format_command(command: Command) -> str:
    return f"[{', '.join(map(json.dumps, command.words))}]"  # whole: a part of it says little


def _format_ready(ready: Ready) -> str:
    if ready.text:
        return json.dumps(ready.text)
    return str(ready.port) if ready.port else _format_quantity(ready.time_ps, "time")


_WRITERS: dict[type, Callable[[Any], str]] = {
    Buffer: _format_limit,
    Command: _format_command,
    Curve: _format_curve,
    Duration: _format_duration,
    Lifetime: _format_limit,
    Load: _load,
    Ready: _format_ready,
    SizeMix: _mix,
}


# ---- over cases


def write_setting(found: Sequence[FieldValue | None]) -> str:
    """Return the values of a field over cases; numbers from the least to the most."""
    numbers = {
        field_value.number: field_value.text
        for field_value in found
        if field_value is not None and field_value.number is not None
    }
    if not all(field_value is not None and field_value.number is not None for field_value in found):
        return write_alternatives(
            "the default" if field_value is None else field_value.text for field_value in found
        )
    return write_range(numbers[end(numbers)] for end in (min, max))


def write_range(ends: Iterable[str]) -> str:
    """Return the least and the most of values, or the one that there is."""
    return " to ".join(dict.fromkeys(ends))


def write_alternatives(texts: Iterable[str]) -> str:
    """Return alternative texts joined by `or`: each once, and only the first few."""
    different = list(dict.fromkeys(texts))
    more = len(different) - MAX_NAMED
    others = f"{more} other{'s' * (more > 1)}"
    return " or ".join(different[:MAX_NAMED] + [others] * (more > 0))
