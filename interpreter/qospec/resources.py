"""Where the specification and the library are, in a checkout as in a wheel; the hash of it all."""

import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent

SPEC = _PACKAGE / "spec"
"""The grammar, the tables of the language and its chapters."""

STDLIB = _PACKAGE / "stdlib"
"""Devices, traffic and report templates: what `import std.x` finds."""

_LOADED_NS = time.time_ns()
"""When this process began to load the package."""

_AHEAD_NS = 10**9
"""How far ahead of the clock the time of a file may be that was changed just now."""


@cache
def hash_program() -> str:
    """Return the SHA-256 of all files of the package, with their names, as this process loads them.

    A version is a promise that a checkout does not keep: between two releases, its files change. It
    is "" if one was changed since the process began, which then has loaded nobody knows what.
    """
    from hashlib import sha256  # it is loaded with a library that few commands need

    whole = sha256()
    for path in map(Path, sorted(list_program())):
        if is_changed_since(path, _LOADED_NS):
            return ""
        name = os.path.relpath(path, _PACKAGE)
        whole.update(f"{sha256(path.read_bytes()).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()


def is_changed_since(path: str | Path, since_ns: int) -> bool:
    """Return whether a file was changed since a time in ns, as its own time tells.

    A time more than a second ahead is that of another clock, and tells nothing: if it counted, a
    file with such a time would be changed in each run, for ever.
    """
    return since_ns <= Path(path).stat().st_mtime_ns <= time.time_ns() + _AHEAD_NS


def list_program(folder: str = "") -> Iterator[str]:
    """Yield the files of the package but compiled ones; `pathlib` takes ten times as long."""
    with os.scandir(folder or _PACKAGE) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from list_program(entry.path)
            elif entry.is_file():
                yield entry.path
