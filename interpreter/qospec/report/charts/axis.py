"""An axis of a chart: its range, its ticks, and the unit that makes their labels short."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from qospec.dataclass import dataclass

TICKS = 5
DECADES = 3
"""Positive values that span more than this many powers of ten get a logarithmic axis."""

SWEPT_DECADES = 2
"""So do the values of a sweep that spans as many, if most of them lie in its first quarter."""
MOST_VALUES = 20
"""Up to this number of values, the ticks are at the values."""
LEAST_OCTAVES = 3
"""So do sizes that span as many powers of two, if most are half as much again as the one before."""
ZERO_ROOM = 0.08
"""The part of a logarithmic axis at its lower end that is for 0, which a logarithm lacks."""
FEW_DECADES = 3
"""Up to this number of powers of ten, a logarithmic axis has ticks between them."""
MARGIN = Fraction(1, 25)
"""The margin beyond the first and the last value, as a part of the distance between them."""

BELOW = Fraction(1, 4)
"""The part of a step below zero that gets no tick."""

LEAST_SHOWN, MOST_SHOWN = Fraction(1, 1000), 10**9
"""What is less in its least unit, or as much in its greatest, is shown times a power of ten."""

_TIMES = {Fraction(1, 1000**n): unit for n, unit in enumerate(["s", "ms", "µs", "ns", "ps"])}
_LARGE = {Fraction(1000**n): prefix for n, prefix in ((3, "G"), (2, "M"), (1, "k"))}
_CONTINUOUS = ("s", "m")
_SIZES = ("B", "bit")
_PLAIN = ("", "1", "%")
_PREFIXED = ("bit/s", "B/s", "cell/s", "pkt/s", "frame/s", "bit", "B")


@dataclass(frozen=True)
class Axis:
    """An axis.

    Attributes:
        low: Value at its lower end, in base units.
        high: Value at its upper end.
        logarithmic: Whether equal distances are equal ratios.
        ticks: Values and their labels, upwards.
        unit: Of the labels.
        note: For the reader: where it starts, or that it is logarithmic.
        beside_zero: The lower end of what is logarithmic on an axis that begins with a place for 0;
            None on one without.
    """

    low: Fraction
    high: Fraction
    logarithmic: bool
    ticks: tuple[tuple[Fraction, str], ...]
    unit: str
    note: str
    beside_zero: Fraction | None = None

    def compute_share(self, value: Fraction) -> Fraction | float:
        """Return the position of a value: 0 at the lower end, 1 at the upper end."""
        if self.logarithmic:
            room = 0 if self.beside_zero is None else ZERO_ROOM
            if value <= 0:
                return room / 2
            low, high = _compute_log10(self.beside_zero or self.low), _compute_log10(self.high)
            return room + (1 - room) * (_compute_log10(value) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)


def make_axis_over(values: Sequence[Fraction], unit: str) -> Axis:
    """Return an axis for all values, from zero unless that would compress them too much.

    The unit is the values' base unit; "%" means a ratio to be shown in percent.
    """
    low, high = min(values), max(values)
    scale, shown = _choose_scale(max(abs(low), abs(high)), unit)
    if low > 0 and high / low > 10**DECADES:
        return _make_logarithmic_axis(low, high, unit)
    if 0 <= low <= high * Fraction(3, 5):
        low = Fraction(0)
    elif low < 0 and high <= 0 and high >= low * Fraction(3, 5):
        high = Fraction(0)
    if low == high:
        low, high = (low - abs(low) / 10, high + abs(high) / 10) if low else (low, scale)
    step = _choose_step((high - low) / scale) * scale
    if all(value.denominator == 1 for value in (low, high)) and unit not in _CONTINUOUS:
        step = max(step, Fraction(1))
    first, last = math.floor(low / step), math.ceil(high / step)
    end = first * step
    if -step * BELOW < low < 0:  # a tick below would leave most of its room empty
        first, end = 0, low
    ticks = tuple((n * step, write_number(n * step / scale)) for n in range(first, last + 1))
    note = f"axis starts at {ticks[0][1]} {shown}".strip() if ticks[0][0] > 0 else ""
    return Axis(end, ticks[-1][0], logarithmic=False, ticks=ticks, unit=shown, note=note)


def make_axis_through(values: Sequence[Fraction], unit: str) -> Axis:
    """Return an axis from the least value to the greatest, with margins, and ticks at values.

    Values are in `unit`. Where there are very many, ticks are at round numbers between them, or at
    some of them if it is logarithmic. That it is if the values span decades, or are sizes that
    double; 0 then has a place of its own.
    """
    known = sorted(set(values))
    from_zero = known[0] == 0 < known[-1]
    positive = known[1:] if from_zero else known
    low, high = positive[0], positive[-1]
    doubled = unit.partition(" @")[0].endswith(_SIZES) and _is_doubled(positive)
    logarithmic = low > 0 and (doubled or _is_crowded(positive))
    from_zero = from_zero and logarithmic
    if logarithmic:
        ends = low * Fraction(4, 5), high * Fraction(5, 4)
    else:
        low = known[0]
        air = (high - low) * MARGIN or Fraction(1)
        ends = low - air, high + air
    at = known
    if len(known) > MOST_VALUES and logarithmic:
        at = known[:: math.ceil(len(known) / MOST_VALUES)]
    elif len(known) > MOST_VALUES:
        step = _choose_step(high - low)
        at = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return Axis(
        Fraction(0) if from_zero else ends[0],
        ends[1],
        logarithmic=logarithmic,
        ticks=tuple((value, write_number(value)) for value in at),
        unit=unit,
        note=("swept along a logarithmic axis" + (" with a place for 0" if from_zero else ""))
        if logarithmic
        else "",
        beside_zero=ends[0] if from_zero else None,
    )


def make_axis_between(low: Fraction, high: Fraction, unit: str) -> Axis:
    """Return an axis from a value to a greater one, without margins, with round ticks.

    It is logarithmic if both are positive, and a power of ten or more apart; then each tick has its
    own unit.
    """
    if low <= 0 or high < 10 * low:
        scale, shown = _choose_scale(max(abs(low), abs(high)), unit)
        step = _choose_step((high - low) / scale) * scale
        at = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
        labels = [(value, write_number(value / scale)) for value in at]
        return Axis(low, high, logarithmic=False, ticks=tuple(labels), unit=shown, note="")
    last = find_decade(high)
    decades = range(find_decade(low), last + 1)
    within = (1, 2, 5) if len(decades) <= FEW_DECADES else (1,)
    at = [Fraction(10) ** power * n for power in decades for n in within]
    labels = [_write_label(value, unit) for value in at if low <= value <= high]
    note = "logarithmic axis"
    return Axis(low, high, logarithmic=True, ticks=tuple(labels), unit="", note=note)


def make_axis_around(low: Fraction, high: Fraction, unit: str) -> Axis:
    """Return an axis that contains two values, with margins, and round ticks between them.

    It is logarithmic if they span very many powers of ten.
    """
    if low > 0 and high / low > 10**DECADES:
        return _make_wide_axis(low, high, unit)
    air = (high - low) * MARGIN or abs(high) / 10 or Fraction(1)
    scale, shown = _choose_scale(max(abs(low), abs(high)), unit)
    step = _choose_step((high - low + 2 * air) / scale) * scale
    at = range(math.ceil((low - air) / step), math.floor((high + air) / step) + 1)
    ticks = tuple((n * step, write_number(n * step / scale)) for n in at if low < 0 or n >= 0)
    return Axis(low - air, high + air, logarithmic=False, ticks=ticks, unit=shown, note="")


def _make_wide_axis(low: Fraction, high: Fraction, unit: str) -> Axis:
    whole, part = divmod((_compute_log10(high) - _compute_log10(low)) * float(MARGIN), 1)
    air = Fraction(10) ** int(whole) * Fraction(10.0**part)
    ends = low / air, high * air
    first, last = find_decade(low), find_decade(high)
    every = math.ceil((last + 1 - first) / TICKS)
    at = [Fraction(10) ** power for power in range(first, last + 1, every)]
    within = [value for value in at if ends[0] <= value <= ends[1]]
    prefixed = unit in _PREFIXED and high >= min(_LARGE)
    ticks = [
        _write_label(tick, unit) if prefixed else (tick, write_number(tick)) for tick in within
    ]
    shown = "" if prefixed else unit
    return Axis(*ends, logarithmic=True, ticks=tuple(ticks), unit=shown, note="logarithmic axis")


def make_time_axis(length: Fraction) -> Axis:
    """Return an axis of time from 0 to a length in s, with ticks at round values."""
    scale, shown = _choose_scale(length, "s")
    step = _choose_step(length / scale) * scale
    at = [n * step for n in range(math.floor(length / step) + 1)]
    ticks = tuple((value, write_number(value / scale)) for value in at)
    return Axis(Fraction(0), length, logarithmic=False, ticks=ticks, unit=shown, note="")


def _write_label(value: Fraction, unit: str) -> tuple[Fraction, str]:
    scale, shown = _choose_scale(value, unit)
    return value, f"{write_number(value / scale)} {shown}".strip()


def _is_doubled(known: Sequence[Fraction]) -> bool:
    """Return whether a sweep goes through at least three octaves, mostly by large factors."""
    factors = [b / a for a, b in pairwise(known)] if known[0] > 0 else []
    large = [factor for factor in factors if factor >= Fraction(3, 2)]
    return 2 * len(large) > len(factors) and known[-1] >= known[0] * 2**LEAST_OCTAVES


def _is_crowded(known: Sequence[Fraction]) -> bool:
    """Return whether most values of a sweep through decades would be compressed into one corner."""
    ratio = known[-1] / known[0]
    crowded = known[len(known) // 2] <= (known[0] + known[-1]) / 4
    widest = max((b / a for a, b in pairwise(known)), default=Fraction(1))
    through = ratio >= 10**SWEPT_DECADES and widest * widest <= ratio
    return ratio > 10**DECADES or (through and crowded)


def _make_logarithmic_axis(low: Fraction, high: Fraction, unit: str) -> Axis:
    first, last = find_decade(low), find_decade(high)
    last += Fraction(10) ** last < high
    every = math.ceil((last - first) / TICKS)
    decades = [Fraction(10) ** n for n in range(first, last + 1)]
    at = decades[::every]
    alike = {_choose_scale(value, unit) for value in at} == {(Fraction(1), unit)}
    ticks = [(value, write_number(value)) if alike else _write_label(value, unit) for value in at]
    return Axis(
        decades[0],
        decades[-1],
        logarithmic=True,
        ticks=tuple(ticks),
        unit=unit if alike else "",
        note="logarithmic axis",
    )


def _compute_log10(value: Fraction) -> float:
    """Return the logarithm of a positive value, which may be beyond the range of a float."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def find_decade(value: Fraction) -> int:
    """Return the greatest power of ten that is at most a positive value."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    return power if Fraction(10) ** power <= value else power - 1


def _choose_step(span: Fraction) -> Fraction:
    """Return the least of 1, 2, 5, 10 … that divides a span into at most TICKS."""
    power = Fraction(10) ** find_decade(span / TICKS)
    return next(power * n for n in (1, 2, 5, 10) if span / (power * n) <= TICKS)


def _choose_scale(greatest: Fraction, unit: str) -> tuple[Fraction, str]:
    """Return the factor and name of the unit in which the greatest value is a short number."""
    scale, shown = _choose_unit(greatest, unit)
    if not greatest or LEAST_SHOWN <= greatest / scale < MOST_SHOWN:
        return scale, shown
    power = Fraction(10) ** (exponent := find_decade(greatest / scale))
    return scale * power, f"× 10{str(exponent).translate(_RAISED)} {shown}".rstrip()


def _choose_unit(greatest: Fraction, unit: str) -> tuple[Fraction, str]:
    if unit == "s":
        fitting = (item for item in _TIMES.items() if greatest >= item[0])
        return next(fitting, (Fraction(1, 10**12), "ps")) if greatest else (Fraction(1), "s")
    if unit in _PREFIXED:
        for scale, prefix in _LARGE.items():
            if greatest >= scale:
                return scale, f"{prefix}{unit}"
    if unit in _PLAIN and 0 < greatest < LEAST_SHOWN:
        return Fraction(1), ""
    if unit == "%":
        return Fraction(1, 100), unit
    return Fraction(1), "" if unit in _PLAIN else unit


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def write_number(value: Fraction) -> str:
    """Return a number of few digits as a decimal, with its thousands grouped."""
    text = f"{Decimal(value.numerator) / Decimal(value.denominator):,f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace(",", "\u202f")
