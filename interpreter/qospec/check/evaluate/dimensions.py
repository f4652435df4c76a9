"""Dimensions and layers as messages name them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.protocol.atm import CELL_BYTES, CELL_PAYLOAD_BYTES
from qospec.units import (
    CALL_RATE,
    CALLS,
    CELL_RATE,
    CELLS,
    COUNT,
    DATA,
    DELAY_PER_LENGTH,
    FRAME_RATE,
    FRAMES,
    LENGTH,
    PACKET_RATE,
    PACKETS,
    PS_PER_S,
    RATE,
    RATIO,
    TIME,
    Dimension,
    count_decimals,
    find_base_unit,
    find_unit,
    format_number,
    format_value,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

NUMBER = COUNT

CELLS_IN_A_SECOND = "353_207"
"""Of the example in messages: an STM-1, 149.76 Mbit/s for cells. Source: ITU-T I.432.2."""

ANY_LAYER = "any"
"""The layer of a parameter while it is not known: it meets every other."""

TYPES: dict[str, Dimension] = {
    "Int": COUNT,
    "Ratio": RATIO,
    "Time": TIME,
    "Data": DATA,
    "Length": LENGTH,
    "Count": CELLS,
    "Packets": PACKETS,
    "Frames": FRAMES,
    "Calls": CALLS,
    "Rate": RATE,
    "CellRate": CELL_RATE,
    "PacketRate": PACKET_RATE,
    "FrameRate": FRAME_RATE,
    "CallRate": CALL_RATE,
}
"""Types of parameters that are quantities, and what they measure."""

METRICS: dict[str, Dimension] = {
    "cells": CELLS,
    "cell rate": CELL_RATE,
    "time": TIME,
    "ratio": RATIO,
    "count": COUNT,
    "rate": RATE,
    "data": DATA,
}
"""The dimension of each domain of metrics."""

BASE_UNITS: dict[str, tuple[Dimension, Fraction]] = {
    "time": (TIME, Fraction(1, PS_PER_S)),
    "data": (DATA, Fraction(8)),
    "rate": (RATE, Fraction(1)),
    "cell rate": (CELL_RATE, Fraction(1)),
    "length": (LENGTH, Fraction(1)),
    "cells": (CELLS, Fraction(1)),
    "packet rate": (PACKET_RATE, Fraction(1)),
    "frame rate": (FRAME_RATE, Fraction(1)),
    "call rate": (CALL_RATE, Fraction(1)),
    "calls": (CALLS, Fraction(1)),
    "packets": (PACKETS, Fraction(1)),
    "delay per length": (DELAY_PER_LENGTH, Fraction(1, PS_PER_S)),
}
"""Per domain of the catalogue: its dimension, and the engine's base unit in the language's."""


def describe_dimension(dimension: Dimension) -> str:
    """Return a dimension in words: "a time", "a number of cells"."""
    if dimension.is_ratio:
        return "a number"
    return dimension.name.replace("a count of", "a number of")


_USUAL_UNITS = {
    TIME: ("us", "ms", "s"),
    DATA: ("B", "kB"),
    LENGTH: ("m", "km"),
    RATE: ("kbit/s", "Mbit/s"),
    DELAY_PER_LENGTH: ("us/km",),
}
"""By dimension, the units that authors mostly write; of others, the base unit."""


def with_unit(text: str, dimension: Dimension, layer: str = "") -> str:
    """Return how to write a number with a unit: "write `3 us`, `3 ms` or `3 s`"."""
    units = _USUAL_UNITS.get(dimension, (find_base_unit(dimension),))
    after = f" @{layer}" if layer else ""
    if re.fullmatch(r"[0-9][0-9_.]*", text) is None:
        return f"give it a unit, such as `{units[0]}{after}`"
    *others, last = (f"`{text} {unit}{after}`" for unit in units)
    return f"write {', '.join(others)} or {last}" if others else f"write {last}"


_EXAMPLES = {
    TIME: "1 ms",
    DATA: "64 B",
    LENGTH: "1 km",
    RATE: "1 Mbit/s",
    RATIO: "10%",
    COUNT: "10",
    DELAY_PER_LENGTH: "5 us/km",
}
"""By dimension, a value as authors write it; of others, ten of the base unit."""


def write_example(dimension: Dimension, layer: str = "") -> str:
    """Return how to write a value: "write a time, such as `1 ms`"."""
    example = _EXAMPLES.get(dimension) or f"10 {find_base_unit(dimension)}"
    after = f" @{layer}" if layer else ""
    return f"write {describe_dimension(dimension)}, such as `{example}{after}`"


_WITH_LAYER = re.compile(r"([0-9][0-9_.]*) ?([A-Za-z][A-Za-z/]*) ?@([a-z]+)")
"""An amount as it is written: its number, its unit and its layer."""
_OF_A_CELL = {"cell": Fraction(CELL_BYTES), "payload": Fraction(CELL_PAYLOAD_BYTES)}
"""The bytes of a cell by the layer that counts them."""


def convert_layer(
    text: str,
    value: Fraction | None,
    wanted: str,
    lengths: Mapping[str, Fraction] = _OF_A_CELL,
    item: str = "a cell",
) -> str:
    """Return how to write an amount in the layer that is wanted; "" if that is not known.

    Args:
        text: The amount as it is written.
        value: The same in base units.
        wanted: The layer.
        lengths: The bytes of an item by layer.
        item: What has them, in words.
    """
    written = _WITH_LAYER.fullmatch(text)
    unit = find_unit(written[2]) if written else None
    if written is None or unit is None or value is None:
        return ""
    if wanted not in lengths or not lengths.get(written[3]):
        return ""
    share = lengths[wanted] / lengths[written[3]]
    number = value * share / unit.factor
    amount = f"({written[1]} {written[2]} * {share.numerator} / {share.denominator})"
    if count_decimals(number) is not None:
        amount = f"{format_number(number, exact=True)} {written[2]}"
    sizes = (f"{format_number(lengths[layer])} B @{layer}" for layer in (written[3], wanted))
    return f"write `{amount} @{wanted}`: {item} has {' and '.join(sizes)}"


def find_common_layer(first: str, second: str) -> str:
    """Return the layer of two values together whose layers do not conflict."""
    return second or first if first in ("", ANY_LAYER) else first


def write_bound(value: int | Fraction, domain: str, like: str = "") -> str:
    """Return a bound of the catalogue as an author writes it, in percent if `like` is."""
    if domain not in BASE_UNITS:
        unit = next((unit for unit in ("%", " ppm") if like.endswith(unit.strip())), "")
        known = find_unit(unit.strip())
        factor = known.factor if known else Fraction(1)
        return f"{format_number(value / factor, exact=True)}{unit}"
    dimension, factor = BASE_UNITS[domain]
    return format_value(value * factor, dimension, exact=True)


def write_like(value: Fraction, like: str) -> str:
    """Return a value as it would be written with the unit of `like`: `65%` like `15%`."""
    digits = len(like) - len(like.lstrip("0123456789_."))
    spelling = like[digits:].strip()
    if not spelling:
        return format_number(value, exact=True)
    known = find_unit(spelling.partition("@")[0].strip())
    factor = known.factor if known else Fraction(1)
    shown = format_number(value / factor, exact=True)
    return f"{shown}{spelling}" if spelling.startswith("%") else f"{shown} {spelling}"


def write_time_of_cells(cells: Fraction | None, spelt: str) -> str:
    """Return how to write the time that `spelt` cells take; None is not known yet."""
    line = f"{CELLS_IN_A_SECOND} cell/s"
    if cells is None:
        return f"at {line} write `{spelt} / ({line})`"
    taken = format_value(cells / Fraction(CELLS_IN_A_SECOND), TIME, digits=3)
    return f"at {line} these take {taken}: write `{taken}`"
