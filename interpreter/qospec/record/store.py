"""The files of a record: a folder of JSON files, each complete from the moment it has its name.

run.json       what is about to run: specification, seed, versions, plan
cases/*.json   one file per case, written as it ends
outcome.json   the whole outcome, written when the run ends or is interrupted
timing.json    start, end and durations; the only file that differs between equal runs
"""

from __future__ import annotations

import errno
import json
import re
import shutil
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from qospec.dataclass import dataclass
from qospec.document import Document
from qospec.record.outcome import SCHEMA, complete_outcome
from qospec.record.schema import CASE, OUTCOME, PLAN, TIMING, Shape, violations
from qospec.writing import WriteError, explain_failure, write_whole

MAX_SLUG_LENGTH = 40
MAX_REPORTED = 3
"""Problems of a file."""
MAX_BYTES = 192 << 20
"""Of the files of a record that are read together; a suite of 2,000 cases takes 100 MB."""
MAX_VALUES = 5_000_000
"""In them, with the members of objects and the items of lists: each takes some 150 bytes."""
REMEDY = "copy the record again from where it was made, or make a new one with `qos run`"


class RecordError(Exception):
    """A record cannot be written or read; the message is for the user."""


@dataclass(frozen=True)
class Record:
    """A record's folder."""

    folder: Path

    def begin(self, frame: Document, planned: list[Document]) -> None:
        """Write what is about to run: the frame of the outcome, and each case as not run.

        If that fails, the whole folder is removed.
        """
        try:
            self._write("run.json", {"planned": planned, **frame})
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def add(self, number: int, case: Document) -> None:
        """Write the result of a case; `number` is its place in the plan, from 1."""
        self._write(f"cases/{number:04}.json", case)

    def end(self, outcome: Document, timing: Document) -> None:
        """Write the outcome and the timing."""
        self._write("outcome.json", outcome)
        self._write("timing.json", timing)

    def plan(self) -> Document:
        """Return what was about to run: the frame of the outcome, and all cases as `planned`."""
        if not (self.folder / "run.json").exists():
            raise RecordError(f"`{self.folder}` holds no run.json: is it a record of `qos run`?")
        return self._checked("run.json", PLAN)

    def outcome(self) -> Document:
        """Return the outcome; of a run that was killed, that of the cases that had ended."""
        if (self.folder / "outcome.json").exists():
            return self._checked("outcome.json", OUTCOME)
        frame = self.plan()
        planned = frame.pop("planned")
        names = sorted(f"cases/{path.name}" for path in (self.folder / "cases").glob("*.json"))
        if len(names) > len(planned):
            many = f"{len(names)} cases, and {len(planned)} were planned"
            raise RecordError(f"`{self.folder}` is damaged: it holds {many}; {REMEDY}")
        room = _Room()
        return complete_outcome(frame, planned, [self._checked(name, CASE, room) for name in names])

    def timing(self) -> Document:
        """Return the timing; of a run that was killed, nothing."""
        known = (self.folder / "timing.json").exists()
        return self._checked("timing.json", TIMING) if known else {}

    def _write(self, name: str, document: Document) -> None:
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        try:
            write_whole(self.folder / name, text)
        except WriteError as error:
            raise RecordError(str(error)) from error

    def _checked(self, name: str, shape: Shape, room: _Room | None = None) -> Document:
        """Return the content of a file that is within `room`, after checking its schema."""
        document = self._read(name, room or _Room())
        version = document.get("schema", SCHEMA)
        if version != SCHEMA:
            raise RecordError(
                f"`{self.folder / name}` has schema {json.dumps(version)[:MAX_SLUG_LENGTH]}, and"
                f" this version of qospec reads {SCHEMA}: use the one that made the record"
            )
        found = list(islice(violations(document, shape), MAX_REPORTED + 1))
        if found:
            more = ["…"] if len(found) > MAX_REPORTED else []
            raise self._damaged(name, ", ".join(found[:MAX_REPORTED] + more))
        return document

    def _read(self, name: str, room: _Room) -> Document:
        path = self.folder / name
        try:
            data = _content(path, room.bytes)
        except OSError as error:
            raise RecordError(f"cannot read `{path}`: {explain_failure(error)}") from error
        if not room.takes(data):
            raise RecordError(
                f"`{path}` is too large: the files of a record may have {MAX_BYTES >> 20} MB and"
                f" {MAX_VALUES:_} values together; run fewer cases at a time"
            )
        try:
            text = data.decode()
            del data  # with values and text it would be most of what a large record takes
            document = json.loads(
                text, object_pairs_hook=_without_doubles, parse_constant=_refuse_constant
            )
        except ValueError as error:
            raise self._damaged(name, f"it is not JSON: {error}") from error
        except RecursionError:
            raise self._damaged(name, "it is nested too deeply") from None
        if not isinstance(document, dict):
            raise self._damaged(name, "it is not a JSON object")
        return document

    def _damaged(self, name: str, why: str) -> RecordError:
        return RecordError(f"`{self.folder / name}` is damaged: {why}; {REMEDY}")


class _Room:
    """What the files of a record may still take: bytes, and values that are made of them."""

    def __init__(self) -> None:
        self.bytes, self._values = MAX_BYTES, MAX_VALUES

    def takes(self, data: bytes) -> bool:
        """Return whether a file fits, and count it."""
        self.bytes -= len(data)
        self._values -= sum(data.count(each) for each in b",{[")
        return min(self.bytes, self._values) >= 0


def _content(path: Path, most: int) -> bytes:
    """Return the content of a file, up to one byte more than `most`; raises OSError."""
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe would be waited for
        raise OSError(errno.EINVAL, "It is not a file")
    with path.open("rb") as file:
        return file.read(most + 1)


def _without_doubles(pairs: list[tuple[str, Any]]) -> Document:
    """Return an object; raises ValueError if a name is given twice, of which readers differ."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n]))
        raise ValueError(f"`{name}` is given twice in an object")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"`{name}` is no number of JSON")


def create(root: Path, seed: str, now: datetime | None = None) -> Record:
    """Create the folder of a new record in `root`, named after its time and seed."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", seed)[:MAX_SLUG_LENGTH]
    stamp = (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H-%M-%SZ")
    for attempt in range(1000):
        suffix = f"-{attempt + 1}" if attempt else ""
        folder = root / f"{stamp}-{slug}{suffix}"
        try:
            folder.mkdir(parents=True)
            _make_inside(folder)
        except FileExistsError:
            if not folder.is_dir():
                raise RecordError(
                    f"cannot write records to `{root}`: it is not a directory"
                ) from None
            continue
        except OSError as error:
            raise RecordError(
                f"cannot write records to `{root}`: {explain_failure(error)}"
            ) from error
        return Record(folder)
    raise RecordError(f"cannot write records to `{root}`: too many in the same second")


def find_last(root: Path) -> Record | None:
    """Return the newest record in a folder, by the time in its name; None if there is none.

    Of those of the same second, it is the one whose run began last. Raises RecordError.
    """
    try:
        found = {
            (path.parent.name.partition("Z-")[0], path.stat().st_mtime_ns): path.parent
            for path in root.glob("[0-9]*T*Z-*/run.json")
        }
    except OSError as error:
        raise RecordError(f"cannot read `{root}`: {explain_failure(error)}") from error
    return Record(found[max(found)]) if found else None


def _make_inside(folder: Path) -> None:
    try:
        (folder / "cases").mkdir()
    except OSError:
        folder.rmdir()
        raise
