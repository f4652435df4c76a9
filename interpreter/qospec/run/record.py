"""The record of a run: a folder of JSON files, each complete from the moment it has its name.

run.json       what is about to run: specification, seed, versions, plan
cases/*.json   one file per case, written when the case has ended
outcome.json   the whole outcome, when the run has ended or was interrupted
timing.json    the only file that differs between equal runs: when, and how long
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qospec.run.outcome import completed
from qospec.run.quantity import Document

LONGEST_SLUG = 40


class RecordError(Exception):
    """A record cannot be written or read; the message is for the user."""


@dataclass(frozen=True)
class Record:
    """A record's folder."""

    folder: Path

    def begin(self, frame: Document, planned: list[Document]) -> None:
        """Write what is about to run: the frame of the outcome, and each case as not run.

        If that fails nothing is left of the record.
        """
        try:
            self._write("run.json", {"planned": planned, **frame})
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def add(self, number: int, case: Document) -> None:
        """Write what a case gave; `number` is its place in the plan, from 1."""
        self._write(f"cases/{number:04}.json", case)

    def end(self, outcome: Document, timing: Document) -> None:
        """Write the outcome, and what is different each time."""
        self._write("outcome.json", outcome)
        self._write("timing.json", timing)

    def outcome(self) -> Document:
        """Return the outcome; of a run that was killed, what its cases left."""
        if (self.folder / "outcome.json").exists():
            return self._read("outcome.json")
        if not (self.folder / "run.json").exists():
            raise RecordError(f"`{self.folder}` holds no run.json: is it a record of `qos run`?")
        frame = self._read("run.json")
        planned = frame.pop("planned")
        names = sorted(f"cases/{path.name}" for path in (self.folder / "cases").glob("*.json"))
        return completed(frame, planned, [self._read(name) for name in names])

    def timing(self) -> Document:
        """Return when and how long, if that is known."""
        return self._read("timing.json") if (self.folder / "timing.json").exists() else {}

    def _write(self, name: str, document: Document) -> None:
        write_whole(self.folder / name, json.dumps(document, indent=1, ensure_ascii=False) + "\n")

    def _read(self, name: str) -> Document:
        path = self.folder / name
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RecordError(f"cannot read `{path}`: {_reason(error)}") from error
        if not isinstance(document, dict):
            raise RecordError(f"cannot read `{path}`: it holds no JSON object")
        return document


def create(root: Path, seed: str, now: datetime | None = None) -> Record:
    """Make the folder of a new record below `root`, named for its time and seed."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", seed)[:LONGEST_SLUG]
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
            raise RecordError(f"cannot write records to `{root}`: {_reason(error)}") from error
        return Record(folder)
    raise RecordError(f"cannot write records to `{root}`: too many of the same second")


def _make_inside(folder: Path) -> None:
    try:
        (folder / "cases").mkdir()
    except OSError:
        folder.rmdir()
        raise


def write_whole(path: Path, text: str, mode: int | None = None) -> None:
    """Write a file so that its name never stands for half of it. Raises RecordError.

    `mode` are its permissions; left out, those that new files get.
    """
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask() if mode is None else mode)
        Path(temporary).replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise RecordError(f"cannot write `{path}`: {_reason(error)}") from error
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the new name last; some file systems cannot, which loses nothing that was complete."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)
