"""Exact units: what each means, and values as text.

Values are fractions in base units: seconds, bits, metres, and counts of packets, frames, cells and
calls. The units stand in `spec/units.toml`. A count is a dimension of its own, so cells per second
and bits per second cannot be confused, and a rate divided by bytes per cell is a cell rate by
algebra.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import field
from fractions import Fraction
from typing import Any

from qospec.dataclass import NamedTuple, dataclass
from qospec.resources import SPEC

PS_PER_S = 10**12
PS_PER_MS = 10**9
"""Picoseconds in a second: engine and fields count time in whole ones."""

BASE = ("time", "data", "length", "pkt", "frame", "cell", "call")
BASE_UNITS = ("s", "bit", "m", "pkt", "frame", "cell", "call")


@dataclass(frozen=True)
class Dimension:
    """Exponents of time, data, length, packets, frames, cells and calls.

    `counted` only says how a value without a dimension is shown: 4_000, not 400_000 %.
    """

    exponents: tuple[int, ...] = (0,) * len(BASE)
    counted: bool = field(default=False, compare=False)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(tuple(a + b for a, b in zip(self.exponents, other.exponents, strict=True)))

    def __truediv__(self, other: Dimension) -> Dimension:
        return Dimension(tuple(a - b for a, b in zip(self.exponents, other.exponents, strict=True)))

    @property
    def is_ratio(self) -> bool:
        """Return whether it has no unit."""
        return not any(self.exponents)

    @property
    def has_data(self) -> bool:
        """Return whether it contains bits, so that their layer matters."""
        return self.exponents[1] != 0

    @property
    def name(self) -> str:
        """Return its name for readers: "a time", "a cell rate", "a count of cells"."""
        known = _NAMES.get(self)
        return known if known is not None else f"a quantity in {find_base_unit(self)}"


def _find_base(name: str) -> Dimension:
    if name not in BASE:
        raise ValueError(f"spec/units.toml: `{name}` is not in `BASE`")
    return Dimension(tuple(int(name == base) for base in BASE))


RATIO = Dimension()
COUNT = Dimension(counted=True)
"""The same dimension as a ratio, shown as a plain number."""
TIME, DATA, LENGTH, PACKETS, FRAMES, CELLS, CALLS = map(_find_base, BASE)
FREQUENCY = RATIO / TIME
RATE = DATA / TIME
PACKET_RATE = PACKETS / TIME
FRAME_RATE = FRAMES / TIME
CELL_RATE = CELLS / TIME
CALL_RATE = CALLS / TIME
SPEED = LENGTH / TIME
DELAY_PER_LENGTH = TIME / LENGTH
WHOLE = (COUNT, PACKETS, CELLS, FRAMES, CALLS)
"""Dimensions of what can be counted."""
COUNTED: dict[str, dict[Dimension, Dimension]] = {
    "cell": {},
    "packet": {CELLS: PACKETS, CELL_RATE: PACKET_RATE},
    "frame": {CELLS: FRAMES, CELL_RATE: FRAME_RATE},
}
"""What a dimension of cells is where something else is counted."""

_NAMES = {
    RATIO: "a ratio",
    TIME: "a time",
    DATA: "an amount of data",
    LENGTH: "a length",
    PACKETS: "a count of packets",
    FRAMES: "a count of frames",
    CELLS: "a count of cells",
    CALLS: "a count of calls",
    FREQUENCY: "a frequency",
    RATE: "a bit rate",
    PACKET_RATE: "a packet rate",
    FRAME_RATE: "a frame rate",
    CELL_RATE: "a cell rate",
    CALL_RATE: "a call rate",
    SPEED: "a speed",
    DELAY_PER_LENGTH: "a delay per length",
}


class Unit(NamedTuple):
    """A unit: its dimension, its value in base units, and its preferred spelling."""

    dimension: Dimension
    factor: Fraction
    canonical: str


@functools.lru_cache(maxsize=1024)
def find_unit(text: str) -> Unit | None:
    """Return a unit, or None if there is no such unit."""
    simple, alone = load_table()
    if text in simple:
        return simple[text]
    parts = text.split("/")
    if len(parts) != 2 or not all(part in simple and part not in alone for part in parts):  # noqa: PLR2004
        return None
    above, below = (simple[part] for part in parts)
    canonical = f"{above.canonical}/{below.canonical}"
    return Unit(above.dimension / below.dimension, above.factor / below.factor, canonical)


@functools.cache
def load_tables() -> dict[str, dict[str, dict[str, Any]]]:
    """Return `spec/units.toml` as data: rows by spelling, by dimension and `misread`."""
    with (SPEC / "units.toml").open("rb") as file:
        return tomllib.load(file)


@functools.cache
def load_table() -> tuple[dict[str, Unit], frozenset[str]]:
    """Return the simple units by spelling, and those that cannot be part of a compound."""
    simple: dict[str, Unit] = {}
    alone = set()
    for dimension, rows in load_tables().items():
        if dimension == "misread":
            continue
        above, _, below = dimension.partition("/")
        meaning = RATIO if above == "1" else _find_base(above)
        meaning = meaning / _find_base(below) if below else meaning
        for spelling, row in rows.items():
            factor = Fraction(row["factor"].replace("_", ""))
            simple[spelling] = Unit(meaning, factor, row.get("as", spelling))
            if row.get("alone"):
                alone.add(spelling)
    return simple, frozenset(alone)


def list_units() -> list[str]:
    """Return the units as they are usually written."""
    return list(dict.fromkeys(unit.canonical for unit in load_table()[0].values()))


@functools.cache
def find_base_unit(dimension: Dimension) -> str:
    """Return the base unit of a dimension: `s`, `bit/s`, or `1` for a ratio."""
    return _build_compound(BASE_UNITS, dimension.exponents)


def _build_compound(names: tuple[str, ...], exponents: tuple[int, ...]) -> str:
    above = [_write_power(name, n) for name, n in zip(names, exponents, strict=True) if n > 0]
    below = [_write_power(name, -n) for name, n in zip(names, exponents, strict=True) if n < 0]
    shown = " ".join(above) or "1"
    if not below:
        return shown
    return f"{shown}/{below[0]}" if len(below) == 1 else f"{shown}/({' '.join(below)})"


def _write_power(name: str, exponent: int) -> str:
    return name if exponent == 1 else f"{name}^{exponent}"


# ---- values as text

_FITTING = {
    TIME: ("s", "ms", "us", "ns"),
    DATA: ("GB", "MB", "kB", "B", "bit"),
    LENGTH: ("km", "m"),
    RATE: ("Tbit/s", "Gbit/s", "Mbit/s", "kbit/s", "bit/s"),
    FREQUENCY: ("Hz",),
    RATIO: ("%",),
    DELAY_PER_LENGTH: ("us/km",),
}
"""Units to show values in, the largest first. Anything else is shown in its base unit."""

_GROUPED = 10_000
_IN_BYTES = 100_000 * 8
_SHORT = 2
_FINEST = 15


def to_seconds(time_ps: int | None) -> Fraction | None:
    """Return a time of the engine in seconds; None is not known."""
    return None if time_ps is None else Fraction(time_ps, PS_PER_S)


def format_value(
    value: Fraction | int, dimension: Dimension, *, digits: int = 4, exact: bool = False
) -> str:
    """Return a value as text: `5.66 us`, `149.76 Mbit/s`, `352_720 cell/s`, `0.56 %`.

    Args:
        value: In base units.
        dimension: Of the value.
        digits: How many significant digits are kept. Whole units are never rounded away, nor is
            what
            two decimals show exactly.
        exact: Round nothing, as for a bound that an author wrote.
    """
    if dimension.is_ratio and dimension.counted:
        return format_number(value, digits=digits, exact=exact)
    return _format_value(Fraction(value), dimension, digits, exact=exact)


@functools.lru_cache(4096)  # a case shows most values several times
def _format_value(value: Fraction, dimension: Dimension, digits: int, *, exact: bool) -> str:
    *larger, (shown, factor) = _list_fitting(value, dimension)
    number = format_number(value / factor, digits=digits, exact=exact)
    if larger and not exact:
        above, most = larger[-1]
        if abs(Fraction(number)) * factor >= most:  # rounded up to one of the next unit
            shown, number = above, format_number(value / most, digits=digits)
    return f"{number} {shown}"


def choose_unit(value: Fraction, dimension: Dimension) -> tuple[str, Fraction]:
    """Return the unit in which a value is a short number: its spelling, "" for a count; its factor.

    The spelling is of the table that `format_value` uses, so one column of a table can have it.
    """
    if dimension.is_ratio and dimension.counted:
        return "", Fraction(1)
    return _list_fitting(value, dimension)[-1]


def _list_fitting(value: Fraction, dimension: Dimension) -> list[tuple[str, Fraction]]:
    """Return the units up to the one that fits a value, which is last."""
    fitting = _list_units(dimension)
    if dimension == DATA:
        if value % 8:
            return fitting[-1:]
        fitting = fitting[3:4] if abs(value) < _IN_BYTES else fitting[:3]
    least = abs(value) if value else 1
    too_large = sum(least < factor for _, factor in fitting[:-1])
    return fitting[: too_large + 1]


@functools.cache
def _list_units(dimension: Dimension) -> list[tuple[str, Fraction]]:
    """Return the units in which values are shown, the largest first, each with its factor."""
    spellings = _FITTING.get(dimension)
    if spellings is None:
        return [(find_base_unit(dimension), Fraction(1))]
    known = [(spelling, find_unit(spelling)) for spelling in spellings]
    return [(spelling, unit.factor) for spelling, unit in known if unit is not None]


def format_number(value: Fraction | int, *, digits: int = 4, exact: bool = False) -> str:
    """Return a number with few digits, grouped with `_` from 10_000 on; see `format_value`."""
    value = Fraction(value)
    sign, value = ("-", -value) if value < 0 else ("", value)
    if value.denominator == 1:
        return f"{sign}{_group_digits(value.numerator)}"
    places = count_decimals(value)
    if exact and places is None:
        return f"{sign}{_group_digits(value.numerator)}/{_group_digits(value.denominator)}"
    if not exact and (places is None or places > _SHORT):
        magnitude = len(str(int(value))) if value >= 1 else -_count_leading_zeros(value)
        needed = max(0, digits - magnitude)
        places = needed if places is None else min(needed, places)
    scaled = _round_value(value * 10 ** (places or 0))
    whole, rest = divmod(scaled, 10 ** (places or 0))
    tail = f"{rest:0{places}}".rstrip("0") if places else ""
    return f"{sign}{_group_digits(whole)}{'.' if tail else ''}{tail}"


def count_decimals(value: Fraction) -> int | None:
    """Return the number of decimals that show a value exactly; None if there are too many."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    return places if rest == 1 and places <= _FINEST else None


def _count_leading_zeros(value: Fraction) -> int:
    zeros = 0
    while value and value * 10 ** (zeros + 1) < 1:
        zeros += 1
    return zeros


def _round_value(value: Fraction) -> int:
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)


def _group_digits(number: int) -> str:
    return f"{number:_}" if number >= _GROUPED else str(number)
