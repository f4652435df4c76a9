"""Profiles: CSV files of rates, delays or losses over time, with units in their first line."""

from __future__ import annotations

import csv
import functools
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import LONGEST_PS, ProfileFile, UnfitError
from qospec.check.evaluate.context import make_error
from qospec.check.modules import files
from qospec.check.records.captures import find_data
from qospec.units import CELL_RATE, PACKET_RATE, PS_PER_S, RATE, RATIO, TIME, find_unit

if TYPE_CHECKING:
    from qospec.check.evaluate.values import Value
    from qospec.source import Span
    from qospec.units import Dimension

MOST_BYTES = 2**24
MOST_STEPS = 10_000
"""Each is a source of its own while a trial runs."""
HIGHEST_RATE = Fraction(10**11)
UNITS = {
    CELL_RATE: ("rate", "cell/s"),
    PACKET_RATE: ("rate", "pkt/s"),
    RATE: ("rate", "Mbit/s"),
    TIME: ("delay", "ms"),
    RATIO: ("loss", "%"),
}
"""By what a column counts, its name and an example of its unit."""
HIGHEST = {
    "rate": (HIGHEST_RATE, "10^11 per second"),
    "delay": (Fraction(LONGEST_PS, PS_PER_S), "11 days"),
    "loss": (Fraction(1), "100 %"),
}
"""By its name, the greatest value."""
_COLUMN = re.compile(r"\s*(time|rate|delay|loss)\s*\[([^\]]+)\]\s*")
_NUMBER = re.compile(r"\s*[0-9]{1,18}(\.[0-9]{1,18})?\s*")


def read_profile(value: Value, name: str, span: Span, *, counts: Dimension) -> ProfileFile:
    """Return the file of a field with the values that it holds of one of UNITS.

    Raises:
        CheckError: It holds something else.
    """
    found = find_data(value, (name, "profile", "day.csv"), MOST_BYTES, span)
    with files.explain_unread(f"the profile `{found.name}`", span):
        try:
            steps = read_steps(found.path, found.digest, counts)
        except UnfitError as cause:
            raise make_error(
                "E0214", f"the profile `{found.name}`: {cause}", span, help=cause.help
            ) from None
    return ProfileFile(found.name, found.path, found.digest, steps)


@functools.lru_cache(maxsize=16)
def read_steps(path: str, _digest: str, counts: Dimension) -> tuple[tuple[int, Fraction], ...]:
    """Return the values of a file; raises UnfitError, or OSError of the system."""
    what, _ = UNITS[counts]
    (_, header), *lines = _read_rows(path) or [(1, [])]
    units = _read_header(header, counts)
    if not 1 <= len(lines) <= MOST_STEPS:
        raise UnfitError(
            f"expected 1 to {MOST_STEPS:_} lines of numbers, found {len(lines)}",
            f"write a line for each change of the {what}",
        )
    steps: list[tuple[int, Fraction]] = []
    for number, row in lines:
        step = _read_row(row, units, what, f"line {number}")
        if not steps and step[0]:
            raise UnfitError("its first time is not 0", f"say which {what} it begins with")
        if steps and step[0] <= steps[-1][0]:
            raise UnfitError(
                f"line {number}: the time is not later than the one above it",
                "write lines in order of time, each time once",
            )
        steps.append(step)
    if what == "rate" and not any(rate for _, rate in steps):
        raise UnfitError("no rate is above 0", "write at least one")
    return tuple(steps)


def _read_rows(path: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a file that are not empty, each with the number of its line."""
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        try:
            return [(reader.line_num, row) for row in reader if row]
        except UnicodeDecodeError:
            raise UnfitError("it is not text in UTF-8", "save it as CSV, in UTF-8") from None
        except csv.Error as error:
            raise UnfitError(f"line {reader.line_num}: {error}", "save it as CSV") from None


def _read_header(row: list[str], counts: Dimension) -> dict[str, tuple[int, Fraction]]:
    """Return for time and values the number of the column, and what one of its units is."""
    what, unit_of = UNITS[counts]
    wanted = {"time": TIME, what: counts}
    found: dict[str, tuple[int, Fraction]] = {}
    for number, cell in enumerate(row):
        column = _COLUMN.fullmatch(cell)
        unit = find_unit(column[2].strip()) if column else None
        if column and unit is not None and unit.dimension == wanted.get(column[1]):
            found.setdefault(column[1], (number, unit.factor))
    if len(found) < len(wanted):
        raise UnfitError(
            f"its first line does not name a time and a {what} with their units",
            f"begin it with `time [s],{what} [{unit_of}]`",
        )
    return found


def _read_row(
    row: list[str], units: dict[str, tuple[int, Fraction]], what: str, place: str
) -> tuple[int, Fraction]:
    """Return from when on, in ps, and which value."""
    values = {}
    for name, (number, factor) in units.items():
        cell = row[number] if number < len(row) else ""
        if not _NUMBER.fullmatch(cell):
            raise UnfitError(
                f"{place}: the {name} is `{cell.strip()[:20]}`, and no number",
                "write a number of at least 0, with a point before decimals",
            )
        values[name] = Fraction(cell.strip()) * factor
    at_ps = values["time"] * PS_PER_S
    if at_ps.denominator > 1 or at_ps > LONGEST_PS:
        raise UnfitError(
            f"{place}: the time is not one of whole picoseconds up to 11 days",
            "give it fewer decimals, or split the file",
        )
    highest, written = HIGHEST[what]
    if values[what] > highest:
        raise UnfitError(f"{place}: the {what} is too high", f"write at most {written}")
    return int(at_ps), values[what]
