"""Files of the system: which are meant, and their text. Only regular files are opened."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from qospec.check.evaluate.context import CheckError, make_error
from qospec.diagnostics import suggest_name
from qospec.resources import STDLIB
from qospec.source import Source, Span
from qospec.syntax.limits import LONGEST
from qospec.writing import is_unicode
from qospec.yaml_twin.form import TEXT_SUFFIX, YAML_SUFFIXES, is_specification, is_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.syntax import ast

MAX_BYTES = 4 * LONGEST + 3
"""Of a file: a character takes at most 4 bytes, and a byte order mark of 3 may come first."""

NO_SUCH = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
"""Errors of the system for a name that does not exist."""

SUFFIXES = (TEXT_SUFFIX, *YAML_SUFFIXES)
"""Of files that hold a specification."""


def find_files(path: Path, exclude: Sequence[Path] = ()) -> Sequence[Path]:
    """Return the file of that name, or the specifications below that folder; raises CheckError."""
    if not is_folder(path):
        return [path]
    found = list_specifications(path, exclude)
    if not found:
        raise make_error(
            "E0106",
            f"there is no .qos file in {_name_folder(path)}",
            locate_file(path),
            help="name a file, or a folder that holds .qos files"
            + "; `qos init NAME` makes a project to begin with" * (path == Path()),
        )
    return found


def _name_folder(path: Path) -> str:
    return "this folder" if path == Path() else f"`{path}`"


def list_specifications(folder: Path, exclude: Sequence[Path] = ()) -> list[Path]:
    """Return the specifications in a folder, at any depth, except `exclude`; raises CheckError.

    They are its `.qos` files, and YAML files whose first key is `qos`.
    """
    return [
        path
        for path in list_importable(folder, exclude)
        if not is_yaml(path.name) or _is_ours(path)
    ]


def list_importable(
    folder: Path, exclude: Sequence[Path] = (), suffixes: tuple[str, ...] = SUFFIXES
) -> list[Path]:
    """Return the files in a folder that an import may mean, at any depth; raises CheckError.

    Links to folders are not followed, so that the walk ends.
    """
    left_out = {path for path in exclude if path != resolve_links(folder)}

    def walk() -> Iterator[tuple[Path, str]]:
        for parent, folders, names in os.walk(folder, onerror=refuse):
            here = resolve_links(Path(parent)) if left_out else Path(parent)
            folders[:] = [name for name in folders if here / name not in left_out]
            yield from ((Path(parent), name) for name in names if here / name not in left_out)

    def refuse(cause: OSError) -> None:
        raise _explain_unreadable(
            Path(cause.filename), locate_file(folder), _explain_cause(cause)
        ) from cause

    return sorted(
        parent / name
        for parent, name in walk()
        if name.endswith(suffixes) and not is_folder(parent / name)
    )


def _is_ours(path: Path) -> bool:
    try:
        return is_specification(read_content(path, None).decode("utf-8", "replace"))
    except CheckError:
        return False


def resolve_inside(file: Path, folder: Path) -> Path:
    """Return a file that was found in a folder; raises CheckError if a link leads out of there."""
    root = find_root(folder / "any")
    if not resolve_links(file).is_relative_to(root):
        raise make_error(
            "E0110",
            f"{shorten_path(file)} is a link that leads out of the project, to "
            f"{resolve_links(file)}",
            locate_file(file),
            note=describe_root(root),
            help="copy the file into the project, or name it by itself",
        )
    return file


def is_folder(path: Path) -> bool:
    """Return whether a folder exists; one that cannot be accessed does not."""
    return stat.S_ISDIR(_read_mode(path))


def is_file(path: Path) -> bool:
    """Return whether a regular file exists."""
    return stat.S_ISREG(_read_mode(path))


def is_there(path: Path) -> bool:
    """Return whether something of that name exists, even if it cannot be read."""
    try:
        path.lstat()
    except OSError as cause:
        return cause.errno not in NO_SUCH
    return True


def _read_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def resolve_links(path: Path) -> Path:
    """Return the path without links. Unlike `Path.resolve` it accepts links that form a cycle."""
    return Path(os.path.realpath(path))


def find_root(file: Path) -> Path:
    """Return the nearest folder above that holds a `qos.toml`, else the file's own."""
    folder = resolve_links(file).parent
    return next(
        (above for above in [folder, *folder.parents] if is_there(above / "qos.toml")), folder
    )


def find_named(name: str, home: str, what: str, span: Span) -> Path:
    """Return a file that a specification names, relative to itself, `home`.

    Raises:
        CheckError: It leads out of the project; `what` is the file in words.
        OSError: It is none.
        ValueError: There can be no such file.
    """
    path, root = Path(home).parent / name, find_root(Path(home))
    if Path(name).is_absolute() or not resolve_links(path).is_relative_to(root):
        raise make_error(
            "E0214",
            f"{what} is not in the project",
            span,
            note=describe_root(root),
            help="copy it into the project: neither a path nor a link may lead out of it",
        )
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise OSError(errno.EINVAL, "it is not a file")
    return path


@contextmanager
def explain_unread(what: str, span: Span) -> Iterator[None]:
    """Make errors of the system, of a file that is named, the author's: `what` in words."""
    try:
        yield
    except (OSError, ValueError) as cause:
        why = getattr(cause, "strerror", None) or "it is not a name of a file"
        raise make_error(
            "E0214",
            f"{what} cannot be read: {why}",
            span,
            help="name it relative to the file in which its name is written",
        ) from None


def shorten_path(path: Path) -> str:
    """Return a path as short as it can be written here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def describe_root(root: Path) -> str:
    """Return where a project is, in a sentence that names the folder."""
    here = f"the current folder, {root.name}"
    return f"the project's root is {here if root == Path.cwd() else shorten_path(root)}"


def locate_file(path: Path) -> Span:
    """Return the place of a mistake that concerns a file as a whole."""
    return Span(Source(shorten_path(path), ""), 0, 0)


def explain_too_many_files(most: int, span: Span) -> CheckError:
    """Return the mistake of too many files to read."""
    message = f"more than {most} files are read"
    return make_error("E0607", message, span, help="check a part of the project")


def explain_too_many_levels(most: int, span: Span) -> CheckError:
    """Return the mistake of too long a chain of imports."""
    message = f"more than {most} files import each other in a chain"
    return make_error("E0607", message, span, help="import what a file needs directly")


def list_neighbours(folder: Path) -> list[str]:
    """Return the names in a folder, as the system spells them."""
    try:
        return sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return []


def find_common_root(found: Sequence[Path]) -> Path:
    """Return the root of the project of some files; the common folder of several projects."""
    roots = [find_root(file) for file in found]
    return Path(os.path.commonpath(roots)) if roots else Path.cwd()


def is_of_library(path: Path) -> bool:
    """Return whether a file, its links resolved, is of the library."""
    return path.is_relative_to(resolve_links(STDLIB))


def write_recorded_path(path: Path, root: Path) -> str:
    """Return a file's path as records have it: `std/...` of the library, else from the root on."""
    if is_of_library(path):
        return Path("std", path.relative_to(resolve_links(STDLIB))).as_posix()
    return Path(os.path.relpath(path, root)).as_posix()


def read_source(
    path: Path, importer: ast.Import | None, root: Path | None = None, text: str | None = None
) -> Source:
    """Return the text of a file, by its path as it was written; raises CheckError.

    `root` is what its path in records is relative to, if it is to be in one. If there is a `text`,
    that is meant in place of what the file holds.
    """
    found = resolve_links(path)
    recorded_as = write_recorded_path(found, root) if root else ""
    name = shorten_path(found)
    if not is_unicode(name + recorded_as):
        span = importer.span if importer else locate_file(path)
        message = f"{name} cannot be read: its name is not UTF-8, and no record could hold it"
        raise make_error("E0108", message, span, help="rename it")
    if text is not None:
        return Source(name, text, recorded_as)
    return decode(name, read_content(path, importer), importer, recorded_as)


def decode(name: str, data: bytes, importer: ast.Import | None, recorded_as: str = "") -> Source:
    """Return the text of a file's bytes; raises CheckError."""
    if len(data) > MAX_BYTES:
        raise make_error(
            "E0012",
            f"this file has more than {LONGEST:_} characters",
            Span(Source(name, ""), 0, 0),
            help="split it, and import its parts",
        )
    try:
        return Source(name, data.decode("utf-8"), recorded_as)
    except UnicodeDecodeError as cause:
        text = data[: cause.start].decode("utf-8")
        raise make_error(
            "E0109",
            f"{name} is not UTF-8: byte {data[cause.start]:#04x} at offset {cause.start}",
            Span(Source(name, text), len(text), len(text)),
            secondary=(importer.span, "imported here") if importer else None,
            help="save it as UTF-8",
        ) from cause


def read_content(path: Path, importer: ast.Import | None) -> bytes:
    """Return the bytes of a file, up to one beyond the limit; raises CheckError."""
    span = importer.span if importer else locate_file(path)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "it is a folder" if stat.S_ISDIR(mode) else "it is not a regular file"
            raise _explain_unreadable(path, span, what)
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as cause:
        missing = isinstance(cause, FileNotFoundError)
        raise _explain_unreadable(path, span, _explain_cause(cause), missing=missing) from cause


def _explain_cause(cause: OSError) -> str:
    return (cause.strerror or str(cause)).lower()


def _explain_unreadable(
    path: Path, span: Span, reason: str, *, missing: bool = False
) -> CheckError:
    link = ""
    with suppress(OSError):
        link = f"it is a link to {path.readlink()}: "
    beside = [name for name in list_neighbours(path.parent) if name.endswith(SUFFIXES)]
    near = suggest_name(path.name, beside) if missing and not link else ""
    return make_error(
        "E0106" if missing else "E0108",
        f"{shorten_path(path)} cannot be read: {link}{reason}",
        span,
        help=f"did you mean {path.with_name(near)}?" if near else "name a file that can be read",
    )
