"""What is drawn of a declared thing: fields of kinds, kinds themselves, and values as text.

Bounds are drawn, too, and what is usual between them. What is simplest comes first, since shrinking
goes there.
"""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hypothesis import reject
from hypothesis import strategies as st

from qospec.catalogue.kinds import (
    REQUIRED,
    Buffer,
    Command,
    Curve,
    Domain,
    Duration,
    Lifetime,
    Load,
    ProfileFile,
    Ready,
    SizeMix,
    TraceFile,
)
from qospec.check.evaluate.dimensions import BASE_UNITS, TYPES
from qospec.units import DATA, RATIO, WHOLE, choose_unit, format_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qospec.catalogue.kinds import Kind, Parameter
    from qospec.units import Dimension

STM1 = Fraction(149_760_000)
"""Of cells, in bit/s (ITU-T I.432.2)."""
SLOT_PS = 2_831_196
"""A cell on that line."""
NAMES = ("a", "b", "c")
TRACES = (
    TraceFile("a.up", "", "", (SLOT_PS, SLOT_PS, 3 * SLOT_PS)),
    TraceFile(
        "a.csv", "", "", (), ((0, 149_760_000), (3 * SLOT_PS, 0), (9 * SLOT_PS, 333_333_333))
    ),
)
DELAYS = (
    ProfileFile("d.csv", "", "", ((0, Fraction(SLOT_PS, 10**12)), (3 * SLOT_PS, Fraction(0)))),
)
LOSSES = (ProfileFile("l.csv", "", "", ((0, Fraction(1, 3)), (3 * SLOT_PS, Fraction(1)))),)
_MOST_DRAWS = 4
"""Of fields that do not fit together, before a whole example is given up."""

# ---- kinds


@st.composite
def draw_record(draw: st.DrawFn, /, kind: Kind, **given: Any) -> Any:
    """Draw an object of a kind with consistent fields; those `given` are not drawn."""
    layers = {layer for field in kind.parameters.values() for layer in _list_token_layers(field)}
    alike = _count_tokens(draw(st.sampled_from(sorted(layers)))) if layers else {}
    for _ in range(_MOST_DRAWS):
        fields = {
            name: given[name]
            if name in given
            else draw(
                alike[parameter.domain.name]
                if parameter.domain.name in alike
                else draw_value(parameter)
            )
            for name, parameter in kind.parameters.items()
        }
        if kind.open_fields:
            fields["classes"] = NAMES
        with suppress(ValueError):
            return kind.build(**fields)
    return reject()


def _list_token_layers(parameter: Parameter) -> tuple[str, ...]:
    """Return how tokens may be counted, if the field is a number of them; "": in packets."""
    return ("", *parameter.domain.layers) if parameter.domain.name == "burst" else ()


def _count_tokens(layer: str) -> dict[str, st.SearchStrategy[Any]]:
    """Return rates and bursts of tokens by domain; all of an element are counted alike."""
    unit: Any = "byte" if layer else "packet"
    rates = (Fraction(8), Fraction(64_000), STM1, Fraction(10**9, 7), Fraction(10**12))
    return {
        "load": st.sampled_from([Load(rate, layer) for rate in rates]),
        "burst": st.sampled_from([Buffer(n, unit) for n in (1_500, 0, 1, 64, 65_535, 2**31)]),
    }


def draw_value(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Return values of a field, as its kind takes them: its bounds, and what is usual."""
    domain = parameter.domain
    if domain.name in USUAL:
        usual = st.sampled_from(_list_within(domain, USUAL[domain.name]))
        if domain.name in ("ratio", "data") and parameter.default is not REQUIRED:
            return st.just(parameter.default) | usual  # most go together with few others
        return st.none() | usual if parameter.default is None else usual
    return OTHERS[domain.name](parameter)


def _list_within(domain: Domain, usual: list[Any]) -> list[Any]:
    """Return the bounds of a domain, and what lies between them."""
    low, high = (
        otherwise if bound is None else type(usual[0])(bound)
        for bound, otherwise in ((domain.low, min(usual)), (domain.high, max(usual)))
    )
    return [low, high, *(value for value in usual if low <= value <= high)]


def _draw_integers(parameter: Parameter) -> st.SearchStrategy[int]:
    low = int(parameter.domain.low or 0)
    return st.integers(low, min(low + 3, int(parameter.domain.high or low + 3)))


def _draw_choices(parameter: Parameter) -> st.SearchStrategy[str | None]:
    some = st.sampled_from(parameter.domain.choices)
    return st.none() | some if parameter.default is None else some


def _draw_names(parameter: Parameter) -> st.SearchStrategy[tuple[str, ...]]:
    if parameter.default is REQUIRED:
        return st.integers(1, 3).map(lambda count: NAMES[:count])
    known: Any = parameter.default or NAMES[:2]
    return st.sets(st.sampled_from(sorted(known))).map(lambda s: tuple(sorted(s)))


def _draw_durations(parameter: Parameter) -> st.SearchStrategy[Duration]:
    means_ps = _list_within(parameter.domain, USUAL["time"])
    laws = st.sampled_from(["constant", "exponential"])
    return st.builds(Duration, st.sampled_from(means_ps), laws)


def _draw_by_mark(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from([("0", "1"), ("1",), ("green", "yellow", "red")])
    return keys.flatmap(lambda some: st.tuples(*(st.tuples(st.just(key), values) for key in some)))


_maps = st.integers(1, 3).flatmap(
    lambda count: st.tuples(
        *(st.tuples(st.just(name), st.sampled_from([1, 2, 5, 60, 1_500])) for name in NAMES[:count])
    )
)


def _count_names(parameter: Parameter) -> st.SearchStrategy[tuple[tuple[str, int], ...] | None]:
    """Draw a whole number for each name, within the bounds of the field."""
    low, high = int(parameter.domain.low or 0), int(parameter.domain.high or 0)
    counts = _maps.map(
        lambda some: tuple((name, min(max(count, low), high)) for name, count in some)
    )
    return st.none() | counts if parameter.default is None else counts


_windows = st.sampled_from(
    [
        (("a", (10**10,)),),
        (("a", (10**10,)), ("b", (10**11,))),
        (("a", (0, 10**10, 10**10 + 1, 10**11)), ("b", (1, 2 * 10**10))),
    ]
)
"""Long enough for the largest packet on a usual line: a longer one would never leave."""
_codes = st.sampled_from(
    [None, None, (("", 3),), (("green", 1), ("red", 2)), (("yellow", 7),), (("3", 1), ("5", 0))]
)
_times = st.lists(st.sampled_from([0, 1, SLOT_PS, 10**9]), min_size=1, max_size=4).map(tuple)
_ratios = st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1)])
buffers = st.one_of(
    st.builds(Buffer, st.sampled_from([1, 2, 5, 2**40]), st.just("cell")),
    st.builds(Buffer, st.sampled_from([1, 53, 300, 2**40]), st.just("byte")),
)
"""Limits on what waits."""
LOAD_OF_EACH = Load(Fraction(64_000), "ip")
_loads = st.sampled_from([Load(Fraction(64_000), "ip"), Load(Fraction(1_000, 7), "")])
_mixes = st.builds(
    SizeMix, st.sampled_from([((64, 1),), ((40, 7), (1_500, 1))]), st.just("ip"), st.booleans()
)
_some_lifetimes = st.builds(
    Lifetime,
    st.sampled_from([1, 2, 7, 300, SLOT_PS, 10**9]),
    st.sampled_from(["packet", "byte", "time"]),
)
_lifetimes = st.integers(0, 9).flatmap(lambda n: _some_lifetimes if n else st.none())
"""Seldom none, since most fields that go with one are refused then."""
_curves = st.sampled_from(
    [1, SLOT_PS, Curve(((64, SLOT_PS), (200, 1))), Curve(((53, 1), (64, 5), (65, 10**9 + 1)))]
)
USUAL: dict[str, list[Any]] = {
    "rate": [STM1, Fraction(44_736_000 * 84, 85)],
    "call rate": [Fraction(1, 7), Fraction(15), Fraction(10**4)],
    "calls": [1, 3, 1_000],
    "frame rate": [Fraction(1, 30), Fraction(3_332), Fraction(10**6, 7)],
    "cell rate": [Fraction(1, 30), Fraction(352_720), Fraction(10**12, 7)],
    "time": [1, SLOT_PS, 10**9],
    "trial": [1, SLOT_PS, 10**9],
    "data": [18, 64, 1_500],
    "length": [Fraction(1), Fraction(50_000)],
    "delay per length": [Fraction(5_000), Fraction(4_897, 7)],
    "cells": [1, 2, 64],
    "ratio": [Fraction(1, 7), Fraction(1, 2)],
}
"""By domain of numbers."""
OTHERS: dict[str, Callable[[Parameter], st.SearchStrategy[Any]]] = {
    "integer": _draw_integers,
    "truth": lambda _: st.booleans(),
    "choice": _draw_choices,
    "names": _draw_names,
    "weights": lambda _: _maps,
    "counts": _count_names,
    "sizes": lambda _: _maps,
    "loads": lambda _: st.just((("a", LOAD_OF_EACH), ("b", LOAD_OF_EACH))),
    "bursts": lambda _: st.sampled_from([1_500, 3_000]).map(
        lambda size: (("a", Buffer(size, "byte")), ("b", Buffer(2 * size, "byte")))
    ),
    "windows": lambda _: _windows,
    "codes": lambda _: _codes,
    "times": lambda _: _times,
    "buffer": lambda _: buffers,
    "limits by mark": lambda _: _draw_by_mark(buffers),
    "ratios by mark": lambda _: _draw_by_mark(_ratios),
    "burst": lambda _: _count_tokens("ip")["burst"],
    "lifetime": lambda _: _lifetimes,
    "load": lambda _: _loads,
    "size mix": lambda _: _mixes,
    "curve": lambda _: _curves,
    "duration": _draw_durations,
    "key": lambda _: st.none(),
    **dict.fromkeys(("capture", "profile"), lambda _: st.none()),  # no element has one
    "trace": lambda _: st.sampled_from(TRACES),
    "delay profile": lambda _: st.sampled_from(DELAYS),
    "loss profile": lambda _: st.sampled_from(LOSSES),
    "command": lambda _: st.just(Command(("true",))),
    "ready": lambda _: st.sampled_from([Ready("listening"), Ready(port=80), Ready(time_ps=10**9)]),
    "address": lambda _: st.sampled_from(["10.1.0.7", "2001:db8::1"]),
    "width": lambda _: _ratios,
    "contract": lambda _: st.none(),  # one concerns only where packets become cells
    "congestion": lambda _: st.none(),  # no property depends on it
    "dropping": lambda _: st.none(),  # which policy fits depends on the limit
}
"""By any other domain."""

# ---- values as a specification writes them

FACTORS = tuple(map(Fraction, ("1/2", "2", "1/4", "4", "1/16", "16")))
"""By how much a number differs from its default."""
WIDEST = 1_000
"""A bound is drawn if it is at most that many times what else is drawn: those of the catalogue are
bounds of what can be computed."""
MOST_PARTS = 4
"""The largest whole number without a unit, unless its default is larger: it counts parts, such as
ports."""
UNITS = dict(BASE_UNITS.values())
"""By dimension, the unit of the catalogue's bounds in the language's base unit."""


USUAL_OF_TYPE: dict[str, tuple[int | Fraction, ...]] = {
    "Int": (2, 1, 3, 4),
    "Ratio": (Fraction(1, 2), 0, 1),
    "Time": (Fraction(1, 10**5), 0, Fraction(1, 10**6), Fraction(1, 1_000)),
    "Data": (8 * 1_500, 8 * 64, 8 * 20_000),
    "Length": (1_000, 0, 50_000),
    "Count": (64, 1, 2, 4),
    "Packets": (64, 1, 2, 4),
    "Frames": (64, 1, 2, 4),
    "Calls": (10, 1, 2),
    "Rate": (10**7, 10**6, 64_000),
    "CellRate": (10_000, 100_000, 1_000, 10),
    "PacketRate": (10_000, 1_000, 10),
    "FrameRate": (10_000, 1_000, 10),
    "CallRate": (10, 1),
}
"""By type of a parameter, usual values in base units; the first is the simplest."""


def list_numbers(
    kind: str, default: Fraction | None, domains: Iterable[Domain], layer: str = ""
) -> list[str]:
    """Return values of a parameter as text, the simplest first.

    Args:
        kind: Its type, one of those that measure or count.
        default: Its default, in base units; None if it has none.
        domains: Of the fields that it is used in: values are within all of their bounds.
        layer: Which bits a rate counts; "" for none.
    """
    dimension = TYPES[kind]
    first = [] if default is None else [default]
    wanted = [*first, *(round_value(value * by, dimension) for value in first for by in FACTORS)]
    wanted += map(Fraction, USUAL_OF_TYPE[kind])
    bounds: list[Fraction] = []
    unit = UNITS.get(dimension, Fraction(1))
    for domain in domains:
        low = None if domain.low is None else Fraction(domain.low) * unit
        high = None if domain.high is None else Fraction(domain.high) * unit
        wanted = [v for v in wanted if (low is None or v >= low) and (high is None or v <= high)]
        bounds += [bound for bound in (low, high) if bound is not None]
    if kind == "Int":
        most = max([*first, Fraction(MOST_PARTS)])
        wanted = [value for value in wanted if value <= most]
    else:
        none = Fraction(0)
        least, most = min(wanted, default=none), max(wanted, default=none)
        wanted += [bound for bound in bounds if least <= bound * WIDEST and bound <= most * WIDEST]
    after = f" @{layer}" if layer else ""
    texts = (format_value(value, dimension, exact=True) + after for value in wanted)
    return list(dict.fromkeys(text.replace(" %", "%") for text in texts))


def round_value(value: Fraction, dimension: Dimension) -> Fraction:
    """Return a number near another with two digits; a whole one of what is counted."""
    if dimension in WHOLE:
        return Fraction(_with_two_digits(Fraction(max(1, round(value)))))
    if dimension == RATIO:
        return min(_with_two_digits(value), Fraction(1))
    _, factor = choose_unit(value, dimension)
    number = _with_two_digits(value / factor)
    return (Fraction(max(1, round(number))) if dimension == DATA else number) * factor


def _with_two_digits(value: Fraction) -> Fraction:
    if value <= 0:
        return Fraction(0)
    power = Fraction(10) ** (math.floor(math.log10(value)) - 1)
    return round(value / power) * power
