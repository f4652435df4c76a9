"""Atomic writes: a file is replaced entirely or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


_USUAL = 0o666
"""Permissions of a new file, of which the user's mask takes some."""


class WriteError(Exception):
    """A file cannot be written; the message is for the user."""


def is_unicode(text: str) -> bool:
    """Return whether a text can be written: bytes of the system that are not UTF-8 cannot."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def write_whole(path: Path, text: str, mode: int | None = None) -> None:
    """Put a text in place of what a file holds, all of it or nothing.

    A link is followed, and a file keeps its permissions. What is no file, such as a device or a
    pipe, is written to as it is.

    Args:
        path: The file.
        text: What it is to hold.
        mode: The permissions that a file may have at most, be it new or not; None: one that exists
            keeps its own, and a new one has the usual.

    Raises:
        WriteError: It cannot be written.
    """
    data = text.encode("utf-8")
    try:
        known = _read_mode(path)
        if known is None or stat.S_ISREG(known):
            with _open_replacement(Path(os.path.realpath(path)), known, mode) as file:
                file.write(data)
        else:
            _write_to_device(path, data)
    except OSError as error:
        raise WriteError(f"cannot write `{path}`: {explain_failure(error)}") from error


def verify_folder(folder: Path) -> None:
    """Try whether a file can be made in a folder or, if there is none, in the one above it.

    Nothing stays.

    Raises:
        WriteError: No file can be made there.
    """
    import tempfile

    doing = "write in"
    try:
        if not folder.exists():
            doing = "make"
        nearest = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise WriteError(
            f"cannot {doing} the folder `{folder}`: {explain_failure(error)}"
        ) from error


def explain_failure(error: Exception) -> str:
    """Return the reason for a failure, in the system's words if it has any."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def _read_mode(path: Path) -> int | None:
    """Return the type and permissions of a file; None if there is none."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file whose content replaces what there is, all of it or, after an exception, nothing.

    As `write_whole` does, for what is too large to be held.

    Raises:
        WriteError: It cannot be written.
    """
    try:
        with _open_replacement(Path(os.path.realpath(path)), _read_mode(path)) as file:
            yield file
    except OSError as error:
        raise WriteError(f"cannot write `{path}`: {explain_failure(error)}") from error


@contextlib.contextmanager
def _open_replacement(path: Path, known: int | None, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open what replaces a file of these permissions, with none beyond those of `mode`."""
    if known is not None and not stat.S_ISREG(known):
        raise OSError(errno.EINVAL, "It is not a file")
    if known is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "It is not writable")
    import tempfile

    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        allowed = _USUAL & ~_read_umask() if known is None else stat.S_IMODE(known)
        Path(temporary).chmod(allowed if mode is None else allowed & mode)
        Path(temporary).replace(path)
        _make_durable(path.parent)
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)


def _write_to_device(path: Path, data: bytes) -> None:
    """Write to a device or a pipe; a pipe without a reader is an error, not waited for."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(error.errno, "It has no reader") from error
        raise
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _make_durable(folder: Path) -> None:
    """Make the new name durable; where that is not supported, no complete file is lost."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
