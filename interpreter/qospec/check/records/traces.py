"""Traces of links: Mahimahi's delivery opportunities, or CSV files of bit rates over time."""

from __future__ import annotations

import codecs
import functools
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import TraceFile, UnfitError
from qospec.check.evaluate.context import make_error
from qospec.check.modules import files
from qospec.check.records.captures import find_data
from qospec.check.records.profiles import MOST_BYTES, read_steps
from qospec.units import PS_PER_MS, RATE

if TYPE_CHECKING:
    from qospec.check.evaluate.values import Value
    from qospec.source import Span

MOST_DIGITS = 9
"""Of a time in ms: 11 days have as many."""


def read_trace(value: Value, name: str, span: Span) -> TraceFile:
    """Return the file of a field with what it holds; raises CheckError if that is no trace."""
    found = find_data(value, (name, "trace", "lte.up"), MOST_BYTES, span)
    with files.explain_unread(f"the trace `{found.name}`", span):
        try:
            opportunities_ps, rates = _read(found.path, found.digest)
        except UnfitError as cause:
            raise make_error(
                "E0214", f"the trace `{found.name}`: {cause}", span, help=cause.help
            ) from None
    return TraceFile(found.name, found.path, found.digest, opportunities_ps, rates)


@functools.lru_cache(maxsize=16)
def _read(path: str, digest: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Return the opportunities of a trace, in ps, or its rates; raises UnfitError, or OSError."""
    lines = Path(path).read_bytes().removeprefix(codecs.BOM_UTF8).splitlines()
    if lines and lines[0].strip().isdigit():
        return _read_opportunities(lines), ()
    if not lines or b"," not in lines[0]:
        raise UnfitError(
            "its first line is no number of milliseconds, and names no time and rate",
            "begin it with `time [s],rate [Mbit/s]`, or write, line by line, when 1_504 B are sent",
        )
    steps = read_steps(path, digest, RATE)
    if not steps[-1][1]:
        raise UnfitError("its last rate is 0, and stays", "end it with a rate above 0")
    uneven = next((rate for _, rate in steps if rate.denominator > 1), None)
    if uneven is not None:
        raise UnfitError(
            f"a rate of {float(uneven)} bit/s is no whole number of them",
            "give rates fewer decimals",
        )
    return (), tuple((at_ps, int(rate)) for at_ps, rate in steps)


def _read_opportunities(lines: list[bytes]) -> tuple[int, ...]:
    """Return the times of a trace of Mahimahi in ps."""
    found: list[int] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text.isdigit() or len(text) > MOST_DIGITS:
            written = text[:20].decode(errors="replace")
            raise UnfitError(
                f"line {number}: `{written}` is no time in whole milliseconds",
                "write one number a line, of at most 9 digits",
            )
        at_ps = int(text) * PS_PER_MS
        if found and at_ps < found[-1]:
            raise UnfitError(
                f"line {number}: the time is before the one above it",
                "write lines in order of time",
            )
        found.append(at_ps)
    if not found[-1]:
        raise UnfitError("all its times are 0", "end it with the time after which it begins anew")
    return tuple(found)
