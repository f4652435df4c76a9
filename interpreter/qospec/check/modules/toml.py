"""TOML files with the places of their keys, so that mistakes are reported where they are."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from qospec.check.evaluate.context import CheckError, make_error
from qospec.check.modules import files
from qospec.diagnostics import suggest_name
from qospec.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MAX_CHARACTERS = 200_000
"""Length of a file: these are short lists."""

HEADER = re.compile(r"^[ \t]*\[([^\[\]\n]+)\]", re.MULTILINE)
KEY = re.compile(r"^[ \t]*([A-Za-z0-9_\"'-][A-Za-z0-9_\"' .\t-]*?)[ \t]*=[ \t]*", re.MULTILINE)
VALUE = re.compile(r"\[[^\]]*\]|\{[^}\n]*\}|\"[^\"\n]*\"|'[^'\n]*'|[^#\n]*[^#\s]")
AT = re.compile(r" ?\(at (?:line (\d+), column (\d+)|end of document)\)$")

NAMES = {
    str: "a text",
    int: "a whole number",
    list: "a list of texts",
    dict: "a table",
    bool: "true or false",
    float: "a number with a point",
}
"""Types of TOML, for messages."""

Fields = dict[str, Any]


class Table:
    """One table of a file: its fields, and the place of each."""

    def __init__(self, source: Source, path: tuple[str, ...], fields: Fields) -> None:
        self.path = path
        self.fields = fields
        self._source = source

    @property
    def name(self) -> str:
        """Return its name for messages."""
        return f"[{'.'.join(self.path)}]" if self.path else self._source.name

    def find_place(self, key: str = "", *, value: bool = False) -> Span:
        """Return the place of a key, or of its value; of the table itself without a key."""
        places = _find_places(self._source)
        whole = (*self.path, key) if key else self.path
        behind = places.get((*whole, "=")) if value else None
        while whole and whole not in places:
            whole = whole[:-1]
        return behind or places.get(whole) or Span(self._source, 0, 0)

    def check_known(self, known: Mapping[str, type], what: str = "field") -> Iterator[CheckError]:
        """Yield a mistake for each field that is unknown, or of another type."""
        for key, value in self.fields.items():
            expected = known.get(key)
            if expected is None:
                near = suggest_name(key, known)
                yield make_error(
                    "E0104",
                    f"{self.name} has no {what} `{key}`",
                    self.find_place(key),
                    note=f"{what}s of {self.name}: {' '.join(known)}",
                    near=near,
                    help="remove it",
                )
            elif not _is_a(value, expected):
                found = NAMES.get(type(value), "a date")
                yield make_error(
                    "E0204",
                    f"`{key}` is {NAMES[expected]}, not {found}",
                    self.find_place(key, value=True),
                )

    def find_table(self, key: str) -> Table | None:
        """Return the table of that name, if it is one."""
        fields = self.fields.get(key)
        return Table(self._source, (*self.path, key), fields) if isinstance(fields, dict) else None


def read(path: Path) -> Table:
    """Return the content of a TOML file; raises CheckError."""
    source = files.read_source(path, None)
    if len(source.text) > MAX_CHARACTERS:
        raise make_error(
            "E0116",
            f"{source.name} has more than {MAX_CHARACTERS:_} characters",
            Span(source, 0, 0),
            help="make it shorter",
        )
    try:
        return Table(source, (), tomllib.loads(source.text))
    except RecursionError:
        message, place = "it is nested too deeply", Span(source, 0, 0)
    except ValueError as cause:  # besides TOMLDecodeError: a number of too many digits
        message, place = _explain_mistake(str(cause), source)
    raise make_error(
        "E0116",
        f"{source.name} is not TOML: {message}",
        place,
        help='write tables as `[name]` and fields as `name = "value"`, each on its line',
    )


def _explain_mistake(said: str, source: Source) -> tuple[str, Span]:
    at = AT.search(said)
    words = said[: at.start()] if at else said
    start = len(source.text)
    if at is None:
        words, start = words.partition(":")[0], 0
    elif at[1]:
        line = min(int(at[1]), len(source.line_starts))
        start = source.line_starts[line - 1] + int(at[2]) - 1
    start = min(start, len(source.text))
    return words[:1].lower() + words[1:], Span(source, start, min(start + 1, len(source.text)))


def _is_a(value: object, expected: type) -> bool:
    if expected is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, expected) and not (expected is int and isinstance(value, bool))


def _find_places(source: Source) -> dict[tuple[str, ...], Span]:
    """Return the places of keys on lines of their own; those of values under key and "="."""
    found: dict[tuple[str, ...], Span] = {}
    above: tuple[str, ...] = ()
    marks = [*HEADER.finditer(source.text), *KEY.finditer(source.text)]
    for mark in sorted(marks, key=lambda match: match.start()):
        parts = tuple(part.strip(" \t\"'") for part in mark[1].split("."))
        here = Span(source, *mark.span(1))
        if mark.re is HEADER:
            above = parts
            found.setdefault(above, here)
            continue
        found.setdefault((*above, *parts), here)
        value = VALUE.match(source.text, mark.end())
        if value is not None:
            found.setdefault((*above, *parts, "="), Span(source, *value.span()))
    return found
