"""The files of a record: a folder of JSON files, each complete from the moment it has its name.

run.json       what is about to run: specification, seed, versions, plan
cases/*.json   one file per case, written as it ends
outcome.json   the whole outcome, written when the run ends or is interrupted
timing.json    start, end and durations; the only file that differs between equal runs
"""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from qospec.dataclass import dataclass
from qospec.document import Document
from qospec.record.outcome import SCHEMA, completed
from qospec.record.schema import CASE, OUTCOME, PLAN, TIMING, Shape, violations
from qospec.writing import WriteError, reason, write_whole

MAX_SLUG_LENGTH = 40
MAX_REPORTED = 3
"""Problems of a file."""
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
        if frame["schema"] != SCHEMA:
            return frame
        planned = frame.pop("planned")
        names = sorted(f"cases/{path.name}" for path in (self.folder / "cases").glob("*.json"))
        return completed(frame, planned, [self._checked(name, CASE) for name in names])

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

    def _checked(self, name: str, shape: Shape) -> Document:
        """Return the content of a file, after checking its schema.

        That of another version is not known here: such a record is refused when it is shown.
        """
        document = self._read(name)
        if document.get("schema", SCHEMA) != SCHEMA:
            return document
        found = list(islice(violations(document, shape), MAX_REPORTED + 1))
        if found:
            more = ["…"] if len(found) > MAX_REPORTED else []
            raise self._damaged(name, ", ".join(found[:MAX_REPORTED] + more))
        return document

    def _read(self, name: str) -> Document:
        path = self.folder / name
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise RecordError(f"cannot read `{path}`: {reason(error)}") from error
        except ValueError as error:
            raise self._damaged(name, f"it is not JSON: {error}") from error
        except RecursionError:
            raise self._damaged(name, "it is nested too deeply") from None
        if not isinstance(document, dict):
            raise self._damaged(name, "it is not a JSON object")
        return document

    def _damaged(self, name: str, why: str) -> RecordError:
        return RecordError(f"`{self.folder / name}` is damaged: {why}; {REMEDY}")


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
            raise RecordError(f"cannot write records to `{root}`: {reason(error)}") from error
        return Record(folder)
    raise RecordError(f"cannot write records to `{root}`: too many in the same second")


def _make_inside(folder: Path) -> None:
    try:
        (folder / "cases").mkdir()
    except OSError:
        folder.rmdir()
        raise
