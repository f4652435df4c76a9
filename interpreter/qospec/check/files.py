"""Files as the system has them: which are named, and their text. Nothing but a file is opened."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.context import Refused, wrong
from qospec.diagnostics import did_you_mean
from qospec.source import Source, Span
from qospec.syntax.limits import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.syntax import ast

MOST_BYTES = 4 * LONGEST + 3
"""Of a file: no character takes more than 4, and a mark of 3 may come first."""


def named(path: Path) -> Sequence[Path]:
    """Return the file of that name, or the `.qos` files below the folder; raises Refused."""
    if not is_folder(path):
        return [path]
    files = sorted(file for file in path.rglob("*.qos") if not is_folder(file))
    if not files:
        raise wrong(
            "E0106",
            f"no .qos file is in {path}",
            Span(Source(str(path), ""), 0, 0),
            remedy="name a file, or a folder that holds .qos files",
        )
    return files


def is_folder(path: Path) -> bool:
    """Return whether a folder is there; what cannot be looked at is none."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Return whether a file is there that can be read to its end."""
    return stat.S_ISREG(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def real(path: Path) -> Path:
    """Return the path without links. Unlike `Path.resolve` it bears links that lead in a circle."""
    return Path(os.path.realpath(path))


def root_of(file: Path) -> Path:
    """Return the nearest folder above that holds a `qos.toml`, else the file's own."""
    folder = real(file).parent
    return next(
        (above for above in [folder, *folder.parents] if is_file(above / "qos.toml")), folder
    )


def shown(path: Path) -> str:
    """Return a path as short as it can be said here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def neighbours(folder: Path) -> list[str]:
    """Return the names of the `.qos` files in a folder."""
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".qos"))
    except OSError:
        return []


def source(path: Path, importer: ast.Import | None) -> Source:
    """Return the text of a file, by its path as it was written; raises Refused."""
    name = shown(real(path))
    data = _bytes(path, importer)
    if len(data) > MOST_BYTES:
        raise wrong(
            "E0012",
            f"this file has more than {LONGEST:_} characters",
            Span(Source(name, ""), 0, 0),
            remedy="split it, and import its parts",
        )
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        text = data[: error.start].decode("utf-8")
        raise wrong(
            "E0109",
            f"{name} is not UTF-8: byte {data[error.start]:#04x} at offset {error.start}",
            Span(Source(name, text), len(text), len(text)),
            other=(importer.span, "imported here") if importer else None,
            remedy="save it as UTF-8",
        ) from error


def _bytes(path: Path, importer: ast.Import | None) -> bytes:
    nowhere = importer.span if importer else Span(Source(shown(path), ""), 0, 0)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
            raise _unreadable(path, nowhere, what)
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        missing = isinstance(error, FileNotFoundError)
        raise _unreadable(path, nowhere, reason, missing=missing) from error


def _unreadable(path: Path, span: Span, reason: str, *, missing: bool = False) -> Refused:
    link = ""
    with suppress(OSError):
        link = f"it is a link to {path.readlink()}: "
    near = did_you_mean(path.name, neighbours(path.parent)) if missing and not link else ""
    return wrong(
        "E0106" if missing else "E0108",
        f"{shown(path)} cannot be read: {link}{reason}",
        span,
        remedy=f"did you mean {path.with_name(near)}?" if near else "name a file that can be read",
    )
