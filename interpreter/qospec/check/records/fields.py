"""Fields of a kind: from a value to the type that the kind declares, with its bounds."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from qospec.catalogue.kinds import REQUIRED, Buffer, Duration, Lifetime, Load
from qospec.check.evaluate import mixes
from qospec.check.evaluate.context import CheckError, make_all, make_error
from qospec.check.evaluate.dimensions import (
    ANY_LAYER,
    BASE_UNITS,
    NUMBER,
    describe_dimension,
    with_unit,
    write_bound,
    write_example,
)
from qospec.check.evaluate.functions import Exponential
from qospec.check.evaluate.values import (
    POISON,
    Amount,
    Boolean,
    List,
    Map,
    Poison,
    Symbol,
    Text,
    Value,
)
from qospec.check.records import layers
from qospec.check.records.addresses import read_address
from qospec.check.records.captures import read_capture
from qospec.check.records.commands import read_command, read_ready
from qospec.check.records.curves import read_curve
from qospec.check.records.keys import read_key
from qospec.check.records.profiles import read_profile
from qospec.check.records.traces import read_trace
from qospec.diagnostics import correct_spelling, suggest_name
from qospec.protocol.atm import CELL_BYTES, CELL_PAYLOAD_BYTES
from qospec.protocol.encapsulation import LAYERS
from qospec.source import Span
from qospec.units import (
    CELL_RATE,
    CELLS,
    DATA,
    FRAMES,
    PACKET_RATE,
    PACKETS,
    PS_PER_S,
    RATE,
    TIME,
    Dimension,
    format_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qospec.catalogue.kinds import Curve, Domain, Kind, Parameter

NUMERIC: dict[str, tuple[Dimension, Fraction]] = {
    **BASE_UNITS,
    "ratio": (NUMBER, Fraction(1)),
    "integer": (NUMBER, Fraction(1)),
}
"""Per domain of numbers: its dimension, and the engine's base unit in the language's."""

WHOLE = ("time", "data", "cells", "packets", "calls", "integer")
"""Domains that the engine counts in whole base units."""

BITS_OF_A_BYTE = 8
BUFFERS: dict[Dimension, tuple[Literal["cell", "packet", "byte"], int, str]] = {
    CELLS: ("cell", 1, "cells"),
    PACKETS: ("packet", 1, "packets"),
    DATA: ("byte", BITS_OF_A_BYTE, "data"),
}
"""By dimension of a limit: what it counts, how many base units that is, and the domain of such."""

LIFETIMES: dict[Dimension, tuple[Literal["packet", "byte", "time"], Fraction]] = {
    PACKETS: ("packet", Fraction(1)),
    DATA: ("byte", Fraction(8)),
    TIME: ("time", Fraction(1, PS_PER_S)),
}
"""By dimension of a lifetime: the same."""

BITS_OF_A_CELL = {
    "": f"{CELL_BYTES} B/cell @cell",
    "cell": f"{CELL_BYTES} B/cell @cell",
    "payload": f"{CELL_PAYLOAD_BYTES} B/cell @payload",
}
"""What converts bits to cells, by the layer that counts them; no other layer can be converted."""


BY_MARK = {"limits by mark": "buffer", "ratios by mark": "ratio"}
MAPS = {
    "weights": "ratio",
    "counts": "integer",
    "sizes": "data",
    "loads": "load",
    "bursts": "burst",
    "windows": "moments",
    "codes": "integer",
    **BY_MARK,
}
"""Per domain of maps, from names or from numbers of marks: the domain of their values."""

KEYS = (("names", ("voice", "video", "data")), ("marks", ("0", "1", "2")))
"""The keys of such a map, and examples of them: names, then marks."""


def convert(value: Value, parameter: Parameter, kind: Kind, span: Span) -> Any:
    """Return the value as the field's type; None if it cannot be known yet; raises CheckError."""
    if isinstance(value, Poison):
        return None
    domain = parameter.domain
    name = parameter.alias or parameter.name
    if domain.name in NUMERIC:
        return _read_number(value, parameter, kind, span)
    if domain.name in MAPS:
        return _map(value, parameter, kind, span)
    if domain.name in CONVERTED:
        return CONVERTED[domain.name](value, parameter, kind, span)
    if domain.name in BOUNDED:
        return BOUNDED[domain.name](value, name, domain, span)
    others: dict[str, Callable[[Value, str, Span], Any]] = {
        "truth": _read_truth,
        "names": _read_names,
        "size mix": mixes.convert_mix,
        "address": read_address,
        "capture": read_capture,
        "command": read_command,
        "ready": read_ready,
        "key": read_key,
        "packet profile": partial(read_profile, counts=PACKET_RATE),
        "profile": partial(read_profile, counts=CELL_RATE),
        "trace": read_trace,
        "delay profile": partial(read_profile, counts=TIME),
        "loss profile": partial(read_profile, counts=NUMBER),
        "width": _read_width,
    }
    return others[domain.name](value, name, span)


def from_default(parameter: Parameter) -> Value:
    """Return a field's default as a value of the language."""
    default, domain = parameter.default, parameter.domain
    if default is REQUIRED or default is None:
        return POISON
    if domain.name in NUMERIC and isinstance(default, int | Fraction):
        dimension, factor = NUMERIC[domain.name]
        return Amount(default * factor, dimension)
    return Boolean(default) if isinstance(default, bool) else POISON


def _read_number(
    value: Value, parameter: Parameter, kind: Kind, span: Span
) -> int | Fraction | None:
    dimension, factor = NUMERIC[parameter.domain.name]
    name = parameter.alias or parameter.name
    if not isinstance(value, Amount):
        expected, help_text = describe_dimension(dimension), ""
        if isinstance(value, Boolean) and parameter.domain.name == "integer":
            help_text = "write `1`, or how many there are" if value.value else "write `0`"
            if (parameter.domain.low or 0) > 0 and parameter.default is None:
                help_text = f"write which, from {parameter.domain.low} on, or leave it out"
        raise _explain_wrong_type(name, expected, value.what, span, help_text)
    if value.dimension != dimension and value.value != 0:
        raise _explain_dimension(parameter, value, span)
    if value.dimension == dimension and parameter.domain.name in ("rate", "data"):
        layers.verify(value, parameter, kind, span)
    if value.value is None:
        return None
    amount = value.value / factor
    result = (
        _require_whole(amount, name, parameter.domain, span)
        if parameter.domain.name in WHOLE
        else amount
    )
    _require_bounds(result, name, parameter.domain, span, value.text)
    return result


_SHARE = re.compile(r"[0-9][0-9_.]* ?%")
"""A share as it is written by itself."""


def _read_load(value: Value, parameter: Parameter, kind: Kind, span: Span) -> Load | None:
    """Return a rate of bits or packets; that of an element counts in few layers."""
    name, domain = parameter.alias or parameter.name, parameter.domain
    if not isinstance(value, Amount):
        raise _explain_wrong_type(name, "a rate", value.what, span)
    if value.dimension not in (RATE, PACKET_RATE):
        raise make_error(
            "E0202",
            f"`{name}` is a rate of bits or packets, not {describe_dimension(value.dimension)}",
            span,
            help=f"write `{span.text} of 1 Gbit/s @line`, with the rate of the line"
            if _SHARE.fullmatch(span.text)
            else "write `64 kbit/s @ip` or `40 pkt/s`",
        )
    if value.dimension == RATE and kind.role == "element":
        layers.verify(value, parameter, kind, span)
    elif value.dimension == RATE and value.layer != ANY_LAYER:
        mixes.require_layer(value.layer, "rate", span, LAYERS)
    if value.value is None:
        return None
    if value.value <= 0 and domain.low != 0:
        raise make_error("E0205", f"`{name}` must be more than 0", span, label="too small")
    counted, bits = (
        ("packet rate", BITS_OF_A_BYTE) if value.dimension == PACKET_RATE else ("rate", 1)
    )
    low, high = (
        None if bound is None else bound / Fraction(bits) for bound in (domain.low, domain.high)
    )
    bounds = replace(domain, name=counted, low=low, high=high)
    _require_bounds(value.value, name, bounds, span, value.text)
    return Load(value.value, value.layer)


def _read_duration(value: Value, parameter: Parameter, kind: Kind, span: Span) -> Duration | None:
    mean = replace(parameter, domain=replace(parameter.domain, name="time"))
    if isinstance(value, Exponential):
        mean_ps = _read_number(value.mean, mean, kind, span)
        return None if mean_ps is None else Duration(int(mean_ps), "exponential")
    mean_ps = _read_number(value, mean, kind, span)
    return None if mean_ps is None else Duration(int(mean_ps))


def _read_times(
    value: Value, parameter: Parameter, kind: Kind, span: Span
) -> tuple[int | Fraction, ...] | None:
    if not isinstance(value, List):
        raise _explain_wrong_type(parameter.name, "a list of times", value.what, span)
    entry = replace(parameter, domain=replace(parameter.domain, name="time"))
    found: list[int | Fraction | None] = []
    for item in value.items:
        if isinstance(item, List):  # as in a mix of sizes, it contributes its items
            within = _read_times(item, parameter, kind, span)
            found.extend((None,) if within is None else within)
        else:
            found.append(convert(item, entry, kind, span))
    known = [value for value in found if value is not None]
    return tuple(known) if value.known and len(known) == len(found) else None


def _read_moments(
    value: Value, parameter: Parameter, kind: Kind, span: Span
) -> tuple[int | Fraction, ...] | None:
    """Return times; a single one needs no list."""
    single = List((value,)) if isinstance(value, Amount) else value
    return _read_times(single, parameter, kind, span)


def _read_curve(value: Value, parameter: Parameter, kind: Kind, span: Span) -> int | Curve | None:
    time = replace(parameter, domain=replace(parameter.domain, name="time"))
    name = parameter.alias or parameter.name
    return read_curve(value, name, span, lambda written, place: convert(written, time, kind, place))


def _read_trial(value: Value, parameter: Parameter, kind: Kind, span: Span) -> Any:
    """Return a time in ps, or a number of items as it is."""
    if isinstance(value, Amount) and value.dimension in (CELLS, PACKETS, FRAMES):
        return None if value.value is None else value
    timed = replace(parameter, domain=replace(parameter.domain, name="time"))
    try:
        return _read_number(value, timed, kind, span)
    except CheckError as mistake:
        if not isinstance(value, Amount) or value.dimension != NUMBER:
            raise
        help_text = f"{mistake.diagnostic.help}; items have a unit too, such as `pkt`"
        raise CheckError(replace(mistake.diagnostic, help=help_text)) from None


CONVERTED = {
    "load": _read_load,
    "duration": _read_duration,
    "times": _read_times,
    "moments": _read_moments,
    "curve": _read_curve,
    "trial": _read_trial,
}
"""Per domain of rates and of several times: the conversion."""


def _explain_dimension(parameter: Parameter, value: Amount, span: Span) -> CheckError:
    name, domain = parameter.alias or parameter.name, parameter.domain
    dimension, _ = NUMERIC[domain.name]
    layer = domain.layers[0] if dimension.has_data and domain.layers else ""
    help_text = write_example(dimension, layer)
    if dimension == CELL_RATE and value.dimension == RATE and value.layer in BITS_OF_A_CELL:
        written = (
            span.text
            if re.fullmatch(r"[\w.]+( *[\w/]+)?( *@\w+)?", span.text)
            else f"({span.text})"
        )
        help_text = f"divide by the bits of a cell: `{written} / ({BITS_OF_A_CELL[value.layer]})`"
    elif value.dimension == NUMBER:
        help_text = with_unit(span.text, dimension, layer)
    return make_error(
        "E0202",
        f"`{name}` is {describe_dimension(dimension)}, not {describe_dimension(value.dimension)}",
        span,
        label=f"this is {describe_dimension(value.dimension)}",
        help=help_text,
    )


def _explain_wrong_type(
    name: str, expected: str, what: str, span: Span, help_text: str = ""
) -> CheckError:
    message = f"`{name}` is {expected}, not {what}"
    return make_error("E0204", message, span, label=f"this is {what}", help=help_text)


def _require_whole(amount: Fraction, name: str, domain: Domain, span: Span) -> int:
    if amount.denominator == 1:
        return int(amount)
    if domain.name == "time":
        rounded = round(amount)
        if rounded == 0:
            raise make_error(
                "E0206",
                f"`{name}` is less than half a picosecond",
                span,
                note="times are whole picoseconds",
                help="write `0 s` for none",
            )
        return rounded
    unit = {"data": "bytes", "cells": "cells", "packets": "packets"}.get(domain.name, "")
    units = f" of {unit}" if unit else ""
    raise make_error(
        "E0206",
        f"`{name}` must be a whole number{units}, found {format_number(amount, exact=True)}",
        span,
        help="write a whole number",
    )


def _require_bounds(
    amount: int | Fraction, name: str, domain: Domain, span: Span, written: str = ""
) -> None:
    """Require an amount within the bounds of its field; they are shown as it was `written`."""
    like = written or span.text
    if domain.low is not None and amount < domain.low:
        least = write_bound(domain.low, domain.name, like)
        limit = "more than 0" if amount <= 0 < domain.low else f"at least {least}"
        raise make_error(
            "E0205",
            f"`{name}` must be {limit}, found {write_bound(amount, domain.name, like)}",
            span,
            label="too small",
            note=domain.beyond,
            help=f"write at least {least}",
        )
    if domain.high is not None and amount > domain.high:
        most = write_bound(domain.high, domain.name, like)
        raise make_error(
            "E0205",
            f"`{name}` must be at most {most}, found {write_bound(amount, domain.name, like)}",
            span,
            label="too large",
            note=domain.beyond,
            help=f"write at most {most}",
        )


def _read_truth(value: Value, name: str, span: Span) -> bool | None:
    if not isinstance(value, Boolean):
        raise _explain_wrong_type(name, "true or false", value.what, span)
    return value.value


def _read_choice(value: Value, name: str, domain: Domain, span: Span) -> str:
    text = (
        value.name if isinstance(value, Symbol) else value.text if isinstance(value, Text) else None
    )
    if text is None:
        help_text = f"write one of these words, as in `{name} = {domain.choices[0]}`"
        expected = "one of " + ", ".join(domain.choices)
        raise _explain_wrong_type(name, expected, value.what, span, help_text)
    if text not in domain.choices:
        place = value.span if isinstance(value, Symbol) else span
        near = suggest_name(text, domain.choices)
        raise make_error(
            "E0214",
            f"`{name}` cannot be `{text}`",
            span,
            secondary=(place, "from here") if place != span else None,
            note=f"choices of {name}: " + " ".join(domain.choices),
            near=near,
            help="choose one of them",
            fix=correct_spelling(place, text, domain.choices),
        )
    return text


def _read_width(value: Value, name: str, span: Span) -> Amount | None:
    """Return a share of a load, or a difference of two, as it is: the load says which it is."""
    if not isinstance(value, Amount):
        raise _explain_wrong_type(name, "a share or a difference", value.what, span)
    return None if value.value is None else value


def _read_names(value: Value, name: str, span: Span) -> tuple[str, ...] | None:
    if not isinstance(value, List):
        example = f"write `{name} = [{value.name}]`" if isinstance(value, Symbol) else ""
        raise _explain_wrong_type(name, "a list of names", value.what, span, example)
    found: dict[str, None] = {}
    for item in value.items:
        if isinstance(item, Poison):
            return None
        if not isinstance(item, Symbol):
            raise _explain_wrong_type(name, "a list of names", f"a list with {item.what}", span)
        if item.name in found:
            raise make_error("E0102", f"`{item.name}` is listed twice in `{name}`", item.span)
        found[item.name] = None
    return tuple(found)


def _map(
    value: Value, parameter: Parameter, kind: Kind, span: Span
) -> tuple[tuple[str, Any], ...] | None:
    name = parameter.alias or parameter.name
    domain = replace(parameter.domain, name=MAPS[parameter.domain.name])
    if parameter.domain.name == "codes" and isinstance(value, Amount):
        code = convert(value, replace(parameter, domain=domain), kind, span)
        return None if code is None else (("", code),)
    if not isinstance(value, Map):
        keys, examples = KEYS[parameter.domain.name in BY_MARK]
        expected = f"a map from {keys} to numbers"
        raise _explain_wrong_type(name, expected, value.what, span, _as_map(value, examples))
    named = parameter.domain.name not in (*BY_MARK, "codes")
    if named and any(not isinstance(key, str) for key in value.entries):
        raise _explain_wrong_type(name, "a map from names", "a map from numbers", span)

    def convert_entry(key: Fraction | str) -> tuple[str, Any]:
        entry = replace(parameter, name=f"{name}[{key}]", alias="", domain=domain)
        pair = value.write_pair(str(key), span)
        place = pair.value.span if pair else span
        return str(key), convert(value.entries[key], entry, kind, place)

    found = make_all(convert_entry, value.entries)
    return None if any(amount is None for _, amount in found) else tuple(found)


def _as_map(value: Value, keys: Sequence[str]) -> str:
    """Return how to write a list as a map, with `keys` as examples."""
    if not isinstance(value, List):
        return ""
    numbers = [item.text or "1" for item in value.items if isinstance(item, Amount)]
    entries = ", ".join(
        f"{key}: {number}" for key, number in zip(keys, numbers or ["1"], strict=False)
    )
    return f"give each value its key, as in `{{ {entries} }}`"


def _read_buffer(value: Value, name: str, domain: Domain, span: Span) -> Buffer | None:
    what, way = "a number of cells or packets or a size", "write `64 cell`, `64 pkt` or `16 KiB`"
    if domain.name == "burst":
        what, way = "a size or a number of packets", "write `16 KiB` or `64 pkt`"
    if not isinstance(value, Amount):
        raise _explain_wrong_type(name, what, value.what, span)
    if value.dimension == NUMBER and value.text.isdigit() and domain.name != "burst":
        way = (
            f"write `{value.text} pkt` where packets wait, `{value.text} cell` where cells do, "
            "or a size such as `16 KiB`"
        )
    if value.dimension not in BUFFERS:
        raise make_error(
            "E0202",
            f"`{name}` is {what}, not {describe_dimension(value.dimension)}",
            span,
            help=way,
        )
    if value.value is None:
        return None
    unit, size, counted = BUFFERS[value.dimension]
    amount = value.value / size
    if amount.denominator != 1:
        shown = format_number(amount, exact=True)
        raise make_error(
            "E0206", f"`{name}` must be a whole number of {unit}s, found {shown}", span
        )
    _require_bounds(amount, name, replace(domain, name=counted), span)
    return Buffer(int(amount), unit, value.layer)


def _read_lifetime(value: Value, name: str, domain: Domain, span: Span) -> Lifetime | None:
    expected = "a number of packets, a size or a time"
    if not isinstance(value, Amount):
        raise _explain_wrong_type(name, expected, value.what, span)
    if value.dimension not in LIFETIMES:
        raise make_error(
            "E0202",
            f"`{name}` is {expected}, not {describe_dimension(value.dimension)}",
            span,
            help="write `10_000 pkt`, `1 GB` or `60 s`",
        )
    if value.value is None:
        return None
    unit, size = LIFETIMES[value.dimension]
    counted = replace(domain, name={"packet": "packets", "byte": "data"}.get(unit, unit))
    amount = _require_whole(value.value / size, name, counted, span)
    _require_bounds(amount, name, counted, span)
    return Lifetime(amount, unit)


BOUNDED = {
    "choice": _read_choice,
    "buffer": _read_buffer,
    "burst": _read_buffer,
    "lifetime": _read_lifetime,
}
"""Per domain with bounds or choices of its own: the conversion."""
