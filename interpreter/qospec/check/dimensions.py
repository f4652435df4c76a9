"""Dimensions and layers as the checker speaks of them."""

from __future__ import annotations

from fractions import Fraction

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
    RATE,
    RATIO,
    TIME,
    Dimension,
    number_text,
    text_of,
    unit,
)

PS = 10**12
"""Picoseconds in a second."""

NUMBER = COUNT

LAYERS = ("line", "frame", "ip", "payload", "cell")
"""Where bits are counted. Source: spec/2-quantities.md."""

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
}
"""What metrics say of themselves, and the dimension it means."""

BASE_UNITS: dict[str, tuple[Dimension, Fraction]] = {
    "time": (TIME, Fraction(1, PS)),
    "data": (DATA, Fraction(8)),
    "rate": (RATE, Fraction(1)),
    "cell rate": (CELL_RATE, Fraction(1)),
    "length": (LENGTH, Fraction(1)),
    "cells": (CELLS, Fraction(1)),
    "delay per length": (DELAY_PER_LENGTH, Fraction(1, PS)),
}
"""Per domain of the catalogue: its dimension, and one base unit of the engine in the language's."""


def named(dimension: Dimension) -> str:
    """Return a dimension in a reader's words: "a time", "a number of cells"."""
    if dimension.is_ratio:
        return "a number"
    return dimension.name.replace("a count of", "a number of")


def written_in(value: int | Fraction, domain: str) -> str:
    """Return a bound of the catalogue as an author writes it."""
    if domain not in BASE_UNITS:
        return number_text(Fraction(value), exact=True)
    dimension, factor = BASE_UNITS[domain]
    return text_of(value * factor, dimension, exact=True)


def written(value: Fraction, like: str) -> str:
    """Return a value as it would be written with the unit of `like`: `65%` like `15%`."""
    digits = len(like) - len(like.lstrip("0123456789_."))
    spelling = like[digits:].strip()
    if not spelling:
        return number_text(value, exact=True)
    known = unit(spelling.partition("@")[0].strip())
    factor = known.factor if known else Fraction(1)
    shown = number_text(value / factor, exact=True)
    return f"{shown}{spelling}" if spelling.startswith("%") else f"{shown} {spelling}"
