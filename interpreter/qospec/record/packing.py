"""Packed files: what is large is compressed as `gzip` does, which `zcat` and Python read.

Another zlib may pack equal texts into other bytes, so it is the text that has a fingerprint.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from io import BytesIO
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LARGEST_PLAIN = 1 << 20
"""Characters of a file that is not packed, so that people and `grep` read it."""
LEVEL = 6
_PIECE = 1 << 20
"""Bytes that are unpacked at once where they are not kept."""


class PackingError(ValueError):
    """Bytes are not packed; the message says why."""


class _HashedFile:
    """A file that is written to, and the SHA-256 of what was written."""

    def __init__(self, file: IO[bytes]) -> None:
        self.hash = hashlib.sha256()
        self._file = file

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def pack(parts: Iterable[str], file: IO[bytes]) -> str:
    """Write a text, given in parts, packed into a file; return the SHA-256 of what was written."""
    hashed = _HashedFile(file)
    with gzip.GzipFile("", "wb", LEVEL, hashed, mtime=0) as packed:
        for part in parts:
            packed.write(part.encode())
    return hashed.hash.hexdigest()


def unpack(data: bytes, most: int) -> bytes:
    """Return what was packed, or of that the first `most` bytes; raises PackingError."""
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
            return packed.read(most)
    except (OSError, EOFError, zlib.error) as error:
        raise PackingError(f"it is not compressed by gzip: {error}") from error


def hash_packed(path: Path) -> str:
    """Return the SHA-256 of what was packed into a file; raises OSError and PackingError."""
    found = hashlib.sha256()
    try:
        with gzip.open(path) as packed:
            while piece := packed.read(_PIECE):
                found.update(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise PackingError(f"it is not compressed by gzip: {error}") from error
    return found.hexdigest()
