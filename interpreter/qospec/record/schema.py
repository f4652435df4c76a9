"""What every record of this schema holds, and what one lacks that was damaged or made by hand.

A shape is a type of plain values, a value that is more than its type says, an object with the
fields that it must have, or a list with the shape of each of its items. docs/record.md says what
the fields mean.
"""

from __future__ import annotations

import re
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.judge.verdict import NOT_APPLICABLE, VERDICTS
from qospec.record.steps import FINEST, HIGHEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Shape = Any


class Named(NamedTuple):
    """An object whose names an author chose; each value has this shape."""

    each: Shape


class OrNull(NamedTuple):
    """A value that may be null."""

    known: Shape


class MayLack(NamedTuple):
    """A field that not every record has."""

    there: Shape


class Such(NamedTuple):
    """A plain value of which reports read more than its type."""

    noun: str
    fits: Callable[[Any], bool]


TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def _is_time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).strftime(TIME_FORMAT) == str(value)
    except (TypeError, ValueError):
        return False


def _is_duration(value: Any) -> bool:
    """Return whether a number is a duration: neither below 0 nor beyond what can be added up."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and 0 <= value <= sys.float_info.max


def _is_counts(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[0-9]{1,20}( [0-9]{1,20}){0,999}", value))


def _is_values(value: Any) -> bool:
    each = r"(-|-?[0-9]+(/[1-9][0-9]*)?)"
    return isinstance(value, str) and bool(re.fullmatch(f"{each}( {each})*", value))


def _is_whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_place(value: Any) -> bool:
    plain = isinstance(value, str)
    return plain and bool(re.fullmatch(r".+:[0-9]{1,9}:[0-9]{1,9}", value, re.DOTALL))


TIME = Such("a time as `2026-11-21T10:11:12Z`", _is_time)
DURATION = Such("a number of seconds", _is_duration)
PLACE = Such("a place as `path:line:column`", _is_place)
COUNTS = Such("whole numbers with a space between them, 1,000 at most", _is_counts)
VALUES = Such("exact numbers, or `-`, with a space between them", _is_values)
PER_OCTAVE = Such(
    f"a power of two up to {FINEST}",
    lambda value: _is_whole(value, FINEST) and value.bit_count() == 1,
)
STEP = Such(f"a whole number up to {HIGHEST}", lambda value: _is_whole(value, HIGHEST))
VERDICT = Such(f"a verdict ({', '.join(VERDICTS)})", lambda value: value in VERDICTS)
MAY_JUDGE = Such(
    f'a verdict ({", ".join(VERDICTS)}), "{NOT_APPLICABLE}" or ""',
    lambda value: value in ("", NOT_APPLICABLE, *VERDICTS),
)
"""Of a statement: a report judges nothing."""

QUANTITY = {"value": str, "unit": str, "text": str, "error": MayLack(str)}
METRICS = Named(Named(OrNull(QUANTITY)))
SENT = {"contract": MayLack([[str]]), "source": MayLack(str)}
TEST = {
    "name": str,
    "description": str,
    "covers": [str],
    "place": PLACE,
    "links": [[str]],
    "controls": Named([[str]]),
    "not_reproduced": MayLack([{"what": str, "why": str}]),
    "flows": MayLack([{"name": str, "from": str, "to": str, "traffic": str, **SENT}]),
}
SERIES = {"every": QUANTITY, "unit": str, "values": VALUES}
MEASURES = {"flow": str, "metric": str, "statistic": str}
INTERVAL = {"lower": OrNull(QUANTITY), "upper": OrNull(QUANTITY), "repeats": int}
TERM = {
    "text": str,
    "verdict": MAY_JUDGE,
    "measures": MayLack(MEASURES),
    "measured": OrNull(QUANTITY),
    "comparison": str,
    "bound": OrNull(QUANTITY),
    "tolerance": OrNull(QUANTITY),
}
STATEMENT = {
    "label": str,
    "kind": str,
    "claim": MayLack(str),
    "verdict": MAY_JUDGE,
    "text": str,
    "place": PLACE,
    "measures": MayLack(MEASURES),
    "measured": OrNull(QUANTITY),
    "comparison": str,
    "bound": OrNull(QUANTITY),
    "tolerance": OrNull(QUANTITY),
    "terms": MayLack([TERM]),
    "confidence": MayLack(str),
    "interval": MayLack(OrNull(INTERVAL)),
    "series": MayLack(SERIES),
    "note": str,
    "caution": MayLack(str),
}
LOSS = {
    "repeat": MayLack(int),
    "flow": str,
    "element": str,
    "cause": str,
    "carries": MayLack(str),
    "cells": int,
}
DELAYS = {
    "flow": str,
    "metric": str,
    "least": QUANTITY,
    "greatest": QUANTITY,
    "per_octave": PER_OCTAVE,
    "first": STEP,
    "counts": COUNTS,
}
CASE = {
    "name": str,
    "test": str,
    "place": MayLack(PLACE),
    "parameters": Named(str),
    "verdict": VERDICT,
    "ran": MayLack(bool),
    "links": MayLack([[str]]),
    "run": {
        "warmup": MayLack(QUANTITY),
        "measure": MayLack(QUANTITY),
        "repeat": int,
        "common_draws": MayLack(bool),
    },
    "statements": [STATEMENT],
    "metrics": METRICS,
    "repeats": [METRICS],
    "delays": MayLack([DELAYS]),
    "losses": [LOSS],
    "why": [str],
    "errors": [str],
    "again": str,
}
FRAME = {
    "schema": int,
    "qospec": str,
    "seed": str,
    "tests": [TEST],
    "references": [{"name": str, "title": str, "place": PLACE, "entries": [[str]]}],
    "definitions": MayLack([{"name": str, "role": str, "summary": str, "source": str}]),
    "provenance": {
        "qospec": MayLack(str),
        "seed": MayLack(str),
        "python": str,
        "numpy": str,
        "numba": str,
        "sources": [{"name": str, "sha256": str, "text": str}],
        "limits": dict,
        "policy": dict,
    },
}
"""What is known before anything has run."""
PLAN = {**FRAME, "planned": [CASE]}
SUMMARY: Shape = {
    **dict.fromkeys(VERDICTS, int),
    "measured": MayLack(int),
    "criteria": MayLack(Named(int)),
}
OUTCOME = {**FRAME, "state": str, "verdict": VERDICT, "summary": SUMMARY, "cases": [CASE]}
TIMING = {
    "started": TIME,
    "finished": TIME,
    "compiling": MayLack(DURATION),
    "cases": Named(DURATION),
}

_NOUNS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def lacking(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """Yield what a value lacks, in words: `cases[0]` has no `verdict`."""
    if isinstance(shape, OrNull):
        yield from lacking(value, shape.known, path) if value is not None else ()
        return
    if isinstance(shape, Such):
        yield from () if shape.fits(value) else (f"`{path}` is not {shape.noun}",)
        return
    plain = isinstance(shape, type)
    kind: Any = shape if plain else list if isinstance(shape, list) else dict
    if not isinstance(value, kind):
        yield f"`{path}` is not {_NOUNS[kind]}"
    elif isinstance(shape, list):
        for number, each in enumerate(value):
            yield from lacking(each, shape[0], f"{path}[{number}]")
    elif isinstance(shape, Named):
        for name, each in value.items():
            yield from lacking(each, shape.each, f"{path}.{name}")
    elif isinstance(shape, dict):
        yield from _lacking_fields(value, shape, path)


def _lacking_fields(value: dict[str, Any], fields: dict[str, Shape], path: str) -> Iterator[str]:
    for name, each in fields.items():
        shape = each.there if isinstance(each, MayLack) else each
        if name in value:
            yield from lacking(value[name], shape, f"{path}.{name}" if path else name)
        elif shape is each:
            yield f"`{path}` has no `{name}`" if path else f"it has no `{name}`"
