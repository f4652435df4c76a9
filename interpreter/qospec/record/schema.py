"""The schema of a record, and a check for one that was damaged or written by hand.

A shape is a type of plain values, a plain value with a check, an object with the shape of each
field, or a list with the shape of its items. docs/record.md says what the fields mean.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.judge.verdict import NOT_APPLICABLE, VERDICTS
from qospec.record.bins import FINEST, HIGHEST
from qospec.record.quantity import EXACT, MOST_WRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Shape = Any


class MapOf(NamedTuple):
    """An object with names chosen by an author; all values have this shape."""

    values: Shape


class Nullable(NamedTuple):
    """A value that may be null."""

    shape: Shape


class Optional(NamedTuple):
    """A field that a record need not have."""

    shape: Shape


class Variant(NamedTuple):
    """An object whose `field`, a text, decides which of the shapes it has.

    Without `otherwise`, it has to be one of them.
    """

    field: str
    shapes: dict[str, Shape]
    otherwise: Shape = None


class Checked(NamedTuple):
    """A plain value with a check beyond its type."""

    noun: str
    fits: Callable[[Any], bool]


MOST_PARTS = 10**6
LONGEST_NAME = 4_096
"""Characters of the name of a file."""
LONGEST_S = 10**9
"""Seconds of the longest run."""
GREATEST = 2**63 - 1
"""No count is greater."""

_WORD = r"""(?:[\w@%+=:,./-]+|'[^']*(?:'"'"'[^']*)*')"""
"""A word of a command that no shell expands, as `shlex.quote` writes it."""

TIME_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def _is_time(value: Any) -> bool:
    try:
        return datetime.fromisoformat(value).strftime(TIME_FORMAT) == str(value)
    except (TypeError, ValueError):
        return False


def _is_duration(value: Any) -> bool:
    """Return whether a value is a duration: a number that is not negative, of some decades."""
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and 0 <= value <= LONGEST_S


def _is_counts(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"[0-9]{1,20}( [0-9]{1,20}){0,999}", value))


def _is_values(value: Any) -> bool:
    number = f"(-|{EXACT})"
    return isinstance(value, str) and bool(re.fullmatch(f"{number}( {number})*", value))


def _is_exact(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(EXACT, value))


def _is_confidence(value: Any) -> bool:
    pattern = r"(?:[0-9]{1,3}(?:\.[0-9]{1,300})? %)?"
    return isinstance(value, str) and bool(re.fullmatch(pattern, value))


def _is_command(value: Any) -> bool:
    """Return whether a value is one `qos run`, as `shlex.join` writes it; a shell runs no more."""
    pattern = rf"(?:qos run(?: {_WORD})*)?"
    return isinstance(value, str) and bool(re.fullmatch(pattern, value, re.ASCII))


def _is_hexadecimal(value: Any, size_bytes: int) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(f"[0-9a-f]{{{2 * size_bytes}}}", value))


SHA256 = Checked("a SHA-256", lambda value: _is_hexadecimal(value, 32))


def _is_source(value: Any) -> bool:
    """Return whether a value names a file of the library or of the project, and no other."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or "\0" in value:
        return False
    return not {"", ".", ".."} & set(value.split("/"))


def _is_whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_part(value: Any) -> bool:
    whole = isinstance(value, dict) and value.keys() == {"number", "of"}
    return (
        whole
        and all(_is_whole(number, MOST_PARTS) for number in value.values())
        and (1 <= value["number"] <= value["of"])
    )


def _is_place(value: Any) -> bool:
    plain = isinstance(value, str)
    return plain and bool(re.fullmatch(r".+:[0-9]{1,9}:[0-9]{1,9}", value, re.DOTALL))


TIME = Checked("a time as `2026-11-21T10:11:12Z`", _is_time)
DURATION = Checked("a number of seconds", _is_duration)
PLACE = Checked("a place as `path:line:column`", _is_place)
COUNT = Checked("a whole number of at least 0", lambda value: _is_whole(value, GREATEST))
SOURCE = Checked("a path of the library or of the project", _is_source)
EXACT_NUMBER = Checked(
    f"an exact number as `-12` or `1/4096`, of at most {MOST_WRITTEN:_} digits", _is_exact
)
CONFIDENCE = Checked('a confidence as `95 %`, or ""', _is_confidence)
COMMAND = Checked('a command as `qos run a.qos::case --seed 0`, or ""', _is_command)
COUNTS = Checked("whole numbers with a space between them, 1,000 at most", _is_counts)
VALUES = Checked("exact numbers, or `-`, with a space between them", _is_values)
PER_OCTAVE = Checked(
    f"a power of two up to {FINEST}",
    lambda value: _is_whole(value, FINEST) and value.bit_count() == 1,
)
PART = Checked("a part, such as number 3 of 8", _is_part)
BIN = Checked(f"a whole number up to {HIGHEST}", lambda value: _is_whole(value, HIGHEST))
VERDICT = Checked(f"a verdict ({', '.join(VERDICTS)})", lambda value: value in VERDICTS)
MAY_JUDGE = Checked(
    f'a verdict ({", ".join(VERDICTS)}), "{NOT_APPLICABLE}" or ""',
    lambda value: value in ("", NOT_APPLICABLE, *VERDICTS),
)
"""The verdict of a statement; a report has none."""
TRIAL_VERDICT = Checked('"good" or "bad"', lambda value: value in ("good", "bad"))

QUANTITY = Variant(
    "unit",
    {"": {"value": str, "unit": str, "text": str, "error": Optional(EXACT_NUMBER)}},
    {"value": EXACT_NUMBER, "unit": str, "text": str, "error": Optional(EXACT_NUMBER)},
)
"""One without a unit is a condition or a text."""
METRICS = MapOf(MapOf(Nullable(QUANTITY)))
SENT = {"contract": Optional([[str]]), "source": Optional(str)}
SETTINGS = {"given": [[str]], "defaults": [[str]]}
"""Pairs of a name and a value."""
NETWORK = {
    "lines": [{"links": [[str]], "rate": str, "delay": str, **SETTINGS}],
    "nodes": [
        {
            "names": [str],
            "device": str,
            **SETTINGS,
            "elements": [{"names": [str], "kind": str, **SETTINGS}],
        }
    ],
}
TEST = {
    "name": str,
    "description": str,
    "covers": [str],
    "place": PLACE,
    "links": [[str]],
    "controls": MapOf([[str]]),
    "networks": Optional(MapOf(NETWORK)),
    "not_reproduced": Optional([{"what": str, "why": str}]),
    "follows": Optional([str]),
    "deviations": Optional([{"what": str, "why": str}]),
    "flows": Optional([{"name": str, "from": str, "to": str, "traffic": str, **SENT}]),
}
SERIES = {
    "every": QUANTITY,
    "unit": str,
    "values": VALUES,
    "changes": Optional([{"at": QUANTITY, "what": str}]),
}
MEASURES = {"flow": str, "metric": str, "statistic": str}
INTERVAL = {"lower": Nullable(QUANTITY), "upper": Nullable(QUANTITY), "repeats": COUNT}
LIMITS = {
    "lower": Nullable(QUANTITY),
    "upper": Nullable(QUANTITY),
    "exclusive": Optional(bool),
}
SIDES = {
    "measured": Nullable(QUANTITY),
    "measured_limits": Optional(LIMITS),
    "comparison": str,
    "bound": Nullable(QUANTITY),
    "bound_limits": Optional(LIMITS),
    "tolerance": Nullable(QUANTITY),
}
TERM = {"text": str, "verdict": MAY_JUDGE, "measures": Optional(MEASURES), **SIDES}
STATEMENT = {
    "label": str,
    "kind": str,
    "claim": Optional(str),
    "covers": Optional([str]),
    "verdict": MAY_JUDGE,
    "text": str,
    "place": PLACE,
    "measures": Optional(MEASURES),
    **SIDES,
    "terms": Optional([TERM]),
    "confidence": Optional(CONFIDENCE),
    "interval": Optional(Nullable(INTERVAL)),
    "series": Optional(SERIES),
    "note": str,
    "caution": Optional(str),
}
DISCIPLINE = {"repeat": COUNT, "element": str, "name": str, "sent": COUNT, "dropped": COUNT}
PROGRAM = {
    "repeat": COUNT,
    "flow": str,
    "host": str,
    "command": [str],
    "ended": str,
    "failure": str,
    "sent": COUNT,
    "stdout": str,
    "stderr": str,
    "stdout_bytes": COUNT,
    "stderr_bytes": COUNT,
}
LOSS = {
    "repeat": Optional(COUNT),
    "flow": str,
    "element": str,
    "cause": str,
    "carries": Optional(str),
    "cells": COUNT,
}
WAIT = {
    "flow": str,
    "places": [
        {
            "element": str,
            "mean": QUANTITY,
            "most": QUANTITY,
            "mean_wait": Optional(QUANTITY),
            "longest_wait": Optional(QUANTITY),
            "share": Optional(QUANTITY),
        }
    ],
}
BOUND = {
    "what": str,
    "most": Nullable(QUANTITY),
    "measured": Nullable(QUANTITY),
    "share": Nullable(QUANTITY),
    "why": str,
}
HANG = {
    "network": str,
    "machine": str,
    "state": str,
    "instances": COUNT,
    "why": str,
    "trial": Optional(str),
    "meant": bool,
}
DELAYS = {
    "flow": str,
    "metric": str,
    "least": QUANTITY,
    "greatest": QUANTITY,
    "per_octave": PER_OCTAVE,
    "first": BIN,
    "counts": COUNTS,
}
TRIAL = {
    "load": QUANTITY,
    "number": COUNT,
    "length": QUANTITY,
    "stands_for": Optional(COUNT),
    "sent": COUNT,
    "lost": COUNT,
    "loss": QUANTITY,
    "verdicts": MapOf(TRIAL_VERDICT),
}
"""Of a search."""
GOAL = {
    "name": str,
    "loss": Nullable(QUANTITY),
    "meets": Optional(str),
    "trial": QUANTITY,
    "total": QUANTITY,
    "exceed": QUANTITY,
    "width": QUANTITY,
    "varies": Optional(bool),
    "defaults": Optional([str]),
    "lower": Nullable(QUANTITY),
    "upper": Nullable(QUANTITY),
    "regular": bool,
    "complete": bool,
    "throughput": Optional(Nullable(QUANTITY)),
    "evidence": Optional(str),
    "notes": [str],
    "why": [str],
}
PHASE = Variant(
    "kind",
    {
        "search": {
            "name": str,
            "kind": str,
            "repeat": COUNT,
            "variable": str,
            "method": str,
            "low": QUANTITY,
            "high": QUANTITY,
            "step": Nullable(QUANTITY),
            "goals": [GOAL],
            "trials": [TRIAL],
            "emulated": QUANTITY,
        },
        "point": {
            "name": str,
            "kind": str,
            "repeat": COUNT,
            "measure": QUANTITY,
            "repeats": COUNT,
            "flows": [str],
            "ran": bool,
            "note": str,
        },
    },
)
CASE = {
    "name": str,
    "test": str,
    "place": Optional(PLACE),
    "parameters": MapOf(str),
    "verdict": VERDICT,
    "ran": Optional(bool),
    "links": Optional([[str]]),
    "run": {
        "warmup": Optional(QUANTITY),
        "measure": Optional(QUANTITY),
        "repeat": COUNT,
        "common_draws": Optional(bool),
        "payload": Optional(bool),
        "promises": Optional(bool),
    },
    "statements": [STATEMENT],
    "phases": Optional([PHASE]),
    "metrics": METRICS,
    "repeats": [METRICS],
    "delays": Optional([DELAYS]),
    "losses": [LOSS],
    "disciplines": Optional([DISCIPLINE]),
    "precision": Optional(QUANTITY),
    "programs": Optional([PROGRAM]),
    "bounds": Optional([BOUND]),
    "waits": Optional([WAIT]),
    "hangs": Optional([HANG]),
    "why": [str],
    "errors": [str],
    "again": COMMAND,
}
REFERENCE = {
    "name": str,
    "title": str,
    "place": PLACE,
    "entries": [[str]],
    "statements": Optional(COUNT),
}
FRAME = {
    "schema": int,
    "qospec": str,
    "seed": str,
    "part": Optional(PART),
    "tests": [TEST],
    "references": [REFERENCE],
    "definitions": Optional([{"name": str, "role": str, "summary": str, "source": str}]),
    "provenance": {
        "qospec": Optional(str),
        "seed": Optional(str),
        "backend": Optional(MapOf(str)),
        "python": str,
        "numpy": str,
        "numba": str,
        "sources": [{"name": SOURCE, "sha256": str, "text": Optional(str)}],
        "limits": MapOf(COUNT),
        "policy": MapOf(str),
    },
}
"""What is known before the run."""
JOINED = {"cases": [CASE]}
PLAN = {**FRAME, "planned": [CASE]}
SUMMARY: Shape = {
    **dict.fromkeys(VERDICTS, COUNT),
    "measured": Optional(COUNT),
    "not run": Optional(COUNT),
    "criteria": Optional(MapOf(COUNT)),
    "statements": Optional(MapOf(COUNT)),
    "published": Optional(MapOf(COUNT)),
}
OUTCOME = {**FRAME, "state": str, "verdict": VERDICT, "summary": SUMMARY, "cases": [CASE]}
TIMING = {
    "started": TIME,
    "finished": TIME,
    "compiling": Optional(DURATION),
    "cases": MapOf(DURATION),
    "program": Optional(SHA256),
    "kept": Optional([{"record": str, "started": TIME, "cases": [str]}]),
}
SIGNATURE = {
    "schema": int,
    "algorithm": Checked("`Ed25519`", lambda value: value == "Ed25519"),
    "outcome": SHA256,
    "public_key": Checked("a key of 32 bytes", lambda value: _is_hexadecimal(value, 32)),
    "signature": Checked("a signature of 64 bytes", lambda value: _is_hexadecimal(value, 64)),
}

_NOUNS = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def list_violations(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """Yield in words where a value does not have its shape: `cases[0]` has no `verdict`."""
    if isinstance(shape, Nullable):
        yield from list_violations(value, shape.shape, path) if value is not None else ()
        return
    if isinstance(shape, Checked):
        yield from () if shape.fits(value) else (f"`{path}` is not {shape.noun}",)
        return
    if isinstance(shape, Variant):
        yield from _list_variant_violations(value, shape, path)
        return
    plain = isinstance(shape, type)
    kind: Any = shape if plain else list if isinstance(shape, list) else dict
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        yield f"`{path}` is not {_NOUNS[kind]}"
    elif isinstance(shape, list):
        for number, item in enumerate(value):
            yield from list_violations(item, shape[0], f"{path}[{number}]")
    elif isinstance(shape, MapOf):
        for name, item in value.items():
            yield from list_violations(item, shape.values, f"{path}.{name}")
    elif isinstance(shape, dict):
        yield from _list_field_violations(value, shape, path)


def _list_variant_violations(value: Any, of: Variant, path: str) -> Iterator[str]:
    found = list(list_violations(value, dict, path)) or list(
        list_violations({of.field: value.get(of.field)}, {of.field: str}, path)
    )
    shape = of.otherwise if found else of.shapes.get(value[of.field], of.otherwise)
    if not found and shape is None:
        found = [f"`{path}.{of.field}` is not one of {', '.join(of.shapes)}"]
    yield from found or list_violations(value, shape, path)


def _list_field_violations(
    value: dict[str, Any], fields: dict[str, Shape], path: str
) -> Iterator[str]:
    for name, field in fields.items():
        shape = field.shape if isinstance(field, Optional) else field
        if name in value:
            yield from list_violations(value[name], shape, f"{path}.{name}" if path else name)
        elif shape is field:
            yield f"`{path}` has no `{name}`" if path else f"it has no `{name}`"
