"""Standard streams that cannot fail: closed, full, or without a character; `-` is stdin."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer

    from qospec.source import Source

_failures: list[OSError] = []
"""The first failure to write to stdout."""


class _SafeStream(io.RawIOBase):
    """A stream on which writing never fails: what cannot be written is dropped and noted."""

    def __init__(self, stream: TextIO, failures: list[OSError]) -> None:
        self._descriptor = stream.fileno()
        self._failures = failures

    def write(self, data: ReadableBuffer) -> int:
        size = memoryview(data).nbytes
        while not self._failures:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:  # the pipe is non-blocking, and full
                select.select([], [self._descriptor], [])
            except OSError as error:
                self._failures.append(error)
        return size

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)


def make_safe() -> None:
    """Keep output from failing if stdout or stderr is closed, full, or lacks a character.

    For the whole process. A character that its encoding lacks is written as its number.
    """
    sys.stdout = _make_safe(sys.stdout, _failures)
    sys.stderr = _make_safe(sys.stderr, [])


def _make_safe(stream: TextIO, failures: list[OSError]) -> TextIO:
    if stream is None:  # closed before the start; its number must not become that of another file
        return Path(os.devnull).open("w", encoding="utf-8")  # type: ignore[unreachable]
    return io.TextIOWrapper(
        io.BufferedWriter(_SafeStream(stream, failures)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.isatty() or stream is sys.stderr,
    )


def find_stdout_failure() -> OSError | None:
    """Return why stdout could not be written, once; None also if its reader has closed it."""
    if not sys.stdout.closed:  # as a server of a protocol does at its end, which writes all
        sys.stdout.flush()
    first = _failures.pop() if _failures else None
    return None if first is None or first.errno == errno.EPIPE else first


STDIN = "-"


def read(suffix: str = "") -> Source:
    """Read stdin as a file with that suffix; raises CheckError."""
    from qospec.check.modules.files import MAX_BYTES, decode

    return decode(f"stdin{suffix}", sys.stdin.buffer.read(MAX_BYTES + 1), None)
