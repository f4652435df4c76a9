"""What may have been meant by a unit that is none. Source: `misread` of spec/units.toml."""

from __future__ import annotations

from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NamedTuple

from qospec.units import number_text, table, tables, unit


class Misreading(NamedTuple):
    """The part that is no unit, what to ask the reader, and the units that may be meant."""

    part: str
    question: str
    readings: tuple[str, ...]
    sure: bool = False
    """Whether `spec/units.toml` knows one reading, and nothing to ask."""
    scale: Fraction = Fraction(1)
    """How many of the reading one of what was written is."""

    def help(self, number: str) -> str:
        """Return the ways out: "`200 Mbit/s` or `200 MB/s` (= 1600 Mbit/s)"."""
        ways = [self.written(number, reading) for reading in self.readings]
        shown = [f"`{way}`" for way in ways if way]
        last = unit(self.readings[-1]) if len(shown) > 1 else None
        if last is not None and last.canonical.startswith(("B", "kB", "MB", "GB", "TB")):
            bits = last.factor * Fraction(number.replace("_", ""))
            first = unit(self.readings[0])
            if first is not None and first.dimension == last.dimension:
                shown[-1] += f" (= {number_text(bits / first.factor)} {first.canonical})"
        return " or ".join(shown)

    def written(self, number: str, reading: str) -> str:
        """Return a number of what was written in the unit of a reading; "" if decimals cannot."""
        if self.scale != 1:
            number = number_text(Fraction(number.replace("_", "")) * self.scale, exact=True)
        if "/" in number:
            return ""
        return f"{number}{reading}" if reading == "%" else f"{number} {reading}"


def misreading(text: str) -> Misreading:
    """Return what may have been meant by a unit that is none. There may be no reading."""
    simple, _ = table()
    parts = text.split("/")
    wrong = next((part for part in parts if part not in simple), text)
    listed = tables()["misread"].get(wrong)
    row = listed or _other_capitals(wrong)
    units = row["units"]
    if not units:
        # A near spelling with another first letter would be another prefix: a thousand times off.
        units = get_close_matches(wrong, [known for known in simple if known[0] == wrong[:1]], n=1)
    candidates = ["/".join(each if part == wrong else part for part in parts) for each in units]
    readings = tuple(candidate for candidate in candidates if unit(candidate) is not None)
    factor, question = Fraction(row.get("is", "1").replace("_", "")), row.get("ask", "")
    if factor != 1:
        question = f"each is {number_text(factor, exact=True)} {units[0]}"
    scale = factor if wrong == parts[0] else 1 / factor
    sure = listed is not None and len(readings) == 1 and "ask" not in row
    return Misreading(wrong, question, readings, sure, scale)


def _other_capitals(wrong: str) -> dict[str, Any]:
    """Return all that may be meant by what is spelt so but for its capitals."""
    rows = tables()["misread"].items()
    alike = [row for each, row in rows if each.lower() == wrong.lower() and "is" not in row]
    spelt = [known.canonical for each, known in table()[0].items() if each.lower() == wrong.lower()]
    spelt += [each for row in alike for each in row["units"]]
    units = list(dict.fromkeys(spelt))
    asked = {row["ask"] for row in alike if row["units"] == units and "ask" in row}
    return {"units": units, "ask": next(iter(asked), "")}
