"""The cases of a run as they end: each in a file of its own or, of many, those of a second in one.

A file is made durable before it has its name, which takes a disk some 10 ms and would be most of
the time of thousands of short cases. A run that is killed runs the cases of its last second again.
"""

from __future__ import annotations

import time
from contextlib import suppress
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Self

from qospec.record import seal, signature
from qospec.record.store import PACKED_OUTCOME, RecordError, is_joined

if TYPE_CHECKING:
    from qospec.document import Document
    from qospec.record.store import Record

TOGETHER_S = 1.0
"""How long cases are held back that are written together."""
HALF_WRITTEN = ".*.????????"
"""Names of files that are not whole yet: a dot, the name that they will have, and what is drawn."""


class CaseWriter:
    """Writes cases into a record; as a context, all of them at its end, however that comes."""

    def __init__(self, record: Record, count: int) -> None:
        """Take the record, and how many cases it is to have."""
        self._record = record
        self._joins = is_joined(count)
        self._held: list[Document] = []
        self._number = 0
        self._since_s = 0.0
        self._failure: RecordError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.write_held()

    def add(self, number: int, case: Document) -> None:
        """Write a case, now or soon; `number` is its place in the plan, from 1.

        Raises:
            RecordError: It cannot be written, or what was due before could not.
        """
        if not self._joins:
            self._record.add(number, case)
            return
        self._report_failure()
        if not self._held:
            self._number, self._since_s = number, time.monotonic()
        self._held.append(case)
        if self._is_due:
            self.write_held()

    def write_due(self) -> None:
        """Write what has been held back long enough, in the middle of a case.

        That is no place for errors of the record: the next call of another method raises them.
        """
        if self._is_due:
            try:
                self.write_held()
            except RecordError as error:
                self._failure = error

    def write_held(self) -> None:
        """Write what has been held back; raises RecordError as `add` does."""
        self._report_failure()
        held, self._held = self._held, []
        if held:
            self._record.add_joined(self._number, held)

    def _report_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    @property
    def _is_due(self) -> bool:
        return bool(self._held) and time.monotonic() - self._since_s >= TOGETHER_S


def remove_leftovers(record: Record) -> None:
    """Remove what a run that was killed left: files half written, and cases that the outcome has.

    Nobody else may write into the record meanwhile. What somebody has signed stays.

    Raises:
        RecordError: A file cannot be removed.
    """
    folder = record.folder
    for path in (*folder.glob(HALF_WRITTEN), *(folder / "cases").glob(HALF_WRITTEN)):
        name = path.with_name(path.stem[1:]).relative_to(folder).as_posix()
        if any(fnmatch(name, kind) for kind in (*seal.KINDS, seal.NAME)):
            with suppress(OSError):
                path.unlink()
    signed = (folder / signature.NAME).exists()
    if (folder / PACKED_OUTCOME).exists() and not signed and any((folder / "cases").iterdir()):
        record.remove_cases()
