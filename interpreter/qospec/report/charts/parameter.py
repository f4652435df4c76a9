"""Swept parameters as numbers: `1_518B` in a case's name is 1518 with the unit B."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from qospec.dataclass import NamedTuple
from qospec.units import RATIO, Unit, find_unit

Record = Mapping[str, Any]

_WRITTEN = re.compile(
    r"""(?P<number>[0-9][0-9_]{0,299}?(?:\.[0-9][0-9_]{0,299})?)
      (?:_per_(?P<divisor>[0-9][0-9_]{0,299}))?
      (?:\ ?(?P<unit>%|[A-Za-zµμ]+(?:(?:/|_per_)[A-Za-z]+)?))?
      (?:(?:\ ?@|-)(?P<layer>[a-z]+))?""",
    re.VERBOSE,
)
LEAST = 3
"""The fewest values that make a line; two can just as well be compared side by side."""


class Scale(NamedTuple):
    """The values of a parameter, by their text, in one unit."""

    values: Mapping[str, Fraction]
    unit: str


def find_scale(cases: Sequence[Record], name: str) -> Scale | None:
    """Return a parameter's values as numbers; None if one is not, or of another dimension.

    Whole numbers that follow each other, 1 to 4, number things and are names.
    """
    texts = dict.fromkeys(case["parameters"].get(name, "") for case in cases)
    found = {text: _read_quantity(text) for text in texts}
    known = {text: quantity for text, quantity in found.items() if quantity is not None}
    if len(known) < len(found) or len({(q.of.dimension, q.layer) for q in known.values()}) != 1:
        return None
    largest = max(known.values(), key=lambda quantity: quantity.value * quantity.of.factor)
    values = {text: q.value * q.of.factor / largest.of.factor for text, q in known.items()}
    if not largest.of.canonical and _is_numbering(sorted(values.values())):
        return None
    shown = f"{largest.of.canonical} @{largest.layer}" if largest.layer else largest.of.canonical
    return Scale(values, shown.replace("us", "µs"))


def show_value(text: str) -> str:
    """Return a value as people write it: `1_518 B @ip` of `1_518B-ip`, `1 / 512` of `1_per_512`.

    Other texts stay as they are.
    """
    match = _WRITTEN.fullmatch(text)
    found = _read_quantity(text)
    if match is None or found is None:
        return text
    number = match["number"]
    if match["divisor"]:
        number = f"{number} / {match['divisor']}"
    elif found.of.canonical in ("", "%"):
        return text
    layer = f"@{found.layer}" if found.layer else ""
    return " ".join(filter(None, [number, found.of.canonical, layer]))


def choose_axis(cases: Sequence[Record], names: Sequence[str]) -> tuple[str, Scale] | None:
    """Return the parameter on the axis of a chart with lines, with its values; None without one.

    That is a share in percent, such as a load, before all others; then the one of most values; of
    several, the last.
    """
    scales = {name: find_scale(cases, name) for name in names}
    fitting = [(name, s) for name, s in scales.items() if s is not None and len(s.values) >= LEAST]
    return max(
        reversed(fitting),
        key=lambda entry: (entry[1].unit == "%", len(entry[1].values)),
        default=None,
    )


class _Quantity(NamedTuple):
    value: Fraction
    of: Unit
    layer: str


def _read_quantity(text: str) -> _Quantity | None:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    written = (match["unit"] or "").replace("_per_", "/")
    of = find_unit(written) if written else Unit(RATIO, Fraction(1), "")
    if of is None:
        return None
    value = Fraction(match["number"].replace("_", ""))
    divisor = int((match["divisor"] or "1").replace("_", ""))
    return _Quantity(value / divisor, of, match["layer"] or "") if divisor else None


def _is_numbering(values: Sequence[Fraction]) -> bool:
    return list(values) == [values[0] + n for n in range(len(values))] and values[0] <= 1
