"""The seal of a record: a SHA-256 of each of its files, in the form that `sha256sum -c` reads.

A checksum is written before its file. So a file without one is not of the record, and of a run that
was killed at most the last file is missing. Whoever changes a file and the seal alike is not found
out by the seal: that is what a signature is for.
"""

from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

from qospec.writing import WriteError, explain_failure, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

NAME = "SHA256SUMS"
REPORT = "report."
"""How the names of reports begin."""
OUTCOMES = ("outcome.json", "outcome.json.gz")
"""Names of the file with the outcome: as it is, and packed."""
KINDS = ("*.json", OUTCOMES[1], "cases/*.json", f"{REPORT}*")
"""Names of files that are of a record; others may be a user's notes."""
LONGEST = 64 << 20
"""Bytes of a seal: one of some 600,000 files."""
_LINE = re.compile(rb"([0-9a-f]{64})  ((?:cases/)?[A-Za-z0-9_-][A-Za-z0-9._-]{0,200})\n")
"""Of names with a backslash or a line end, `sha256sum` would write something else."""


class SealError(Exception):
    """A seal is damaged; the message says why."""


def compute_checksum(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def append_checksum(folder: Path, name: str, checksum: str) -> None:
    """Add the checksum of a file that is about to be written for the first time.

    Raises:
        WriteError: It cannot be written.
    """
    path = folder / NAME
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(descriptor, _write_line(name, checksum))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise WriteError(f"cannot write `{path}`: {explain_failure(error)}") from error


def write_seal(folder: Path, checksums: Mapping[str, str]) -> None:
    """Write the checksums of all files in place of what there is; raises WriteError."""
    write_whole(folder / NAME, write_lines(checksums))


def write_lines(checksums: Mapping[str, str]) -> str:
    """Return the text of a seal with these checksums of files."""
    return "".join(_write_line(name, checksums[name]).decode() for name in sorted(checksums))


def is_sealable(name: str) -> bool:
    """Return whether a seal can name a file."""
    return _LINE.fullmatch(_write_line(name, compute_checksum(b""))) is not None


def _write_line(name: str, checksum: str) -> bytes:
    return f"{checksum}  {name}\n".encode("utf-8", "surrogatepass")


def parse_seal(data: bytes) -> dict[str, str]:
    """Return the checksum of each file that a seal names.

    A last line that was not finished, as a run that was killed leaves it, does not count.

    Raises:
        SealError: It is too large, a line is something else, or a file is named twice.
    """
    if len(data) > LONGEST:
        raise SealError("it is too large")
    checksums: dict[str, str] = {}
    whole = data[: data.rfind(b"\n") + 1]
    for number, line in enumerate(whole.splitlines(keepends=True), 1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise SealError(f"line {number} is not a checksum and the name of a file")
        checksum, name = found[1].decode(), found[2].decode()
        if name in checksums:
            raise SealError(f"it names `{name}` twice")
        checksums[name] = checksum
    return checksums


def list_unsealed(folder: Path, checksums: Iterable[str]) -> list[str]:
    """Return the files that are of a record by their names, but not by its seal."""
    there = (path for kind in KINDS for path in folder.glob(kind))
    names = {path.relative_to(folder).as_posix() for path in there}
    return sorted(names.difference(checksums))
