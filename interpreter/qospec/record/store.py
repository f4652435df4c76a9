"""The files of a record: a folder of JSON files, each complete from the moment it has its name.

run.json       what is about to run: specification, seed, versions, plan
cases/*.json   one file per case, written as it ends; of a record of more than 100 cases, one file
               for those of a second
timing.json    start, end and durations; the only one of these that differs between equal runs
outcome.json   the whole outcome, written last, when the run ends or is interrupted; a large one is
               packed as outcome.json.gz and, once all cases have ended, in place of cases/
report.*       reports
signature.json a signature, if it is signed
SHA256SUMS     the seal: a checksum of each of these
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from qospec.dataclass import NamedTuple, dataclass
from qospec.document import Document, iterate_json, write_json
from qospec.record import packing, seal, signature
from qospec.record.consistency import list_contradictions
from qospec.record.outcome import SCHEMA, complete_outcome, is_finished
from qospec.record.schema import (
    CASE,
    JOINED,
    OUTCOME,
    PLAN,
    SIGNATURE,
    TIMING,
    Shape,
    list_violations,
)
from qospec.record.sharing import SharedValues
from qospec.writing import WriteError, explain_failure, replace_file, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from io import BufferedReader

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MOST_ALONE = 100
"""The cases of a record of which each has a file; of more, the outcome takes about 1 MB."""
MAX_SLUG_LENGTH = 40
MAX_REPORTED = 3
"""Problems of a file."""
MAX_BYTES = 192 << 20
"""Of the files of a record that are read together; 10,000 cases of one flow take 90 MB."""
MAX_VALUES = 5_000_000
"""In them, with the members of objects and the items of lists: each takes up to 150 bytes."""
PLAN_FILE, TIMING_FILE = "run.json", "timing.json"
OUTCOME_FILE, PACKED_OUTCOME = seal.OUTCOMES
NO_RECORD = "is it a record of `qos run`?"
REMEDY = "copy the record again from where it was made, or make a new one with `qos run`"


class RecordError(Exception):
    """A record cannot be written or read; the message is for the user."""


class BegunRun(NamedTuple):
    """What a record says of a run that has begun.

    Attributes:
        frame: What was known of the outcome before the run.
        planned: All cases, as not run.
        done: Those that have ended.
        timing: What `timing.json` holds; empty of a run that was killed.
    """

    frame: Document
    planned: list[Document]
    done: list[Document]
    timing: Document


@dataclass(frozen=True)
class Record:
    """A record's folder."""

    folder: Path

    def begin(self, frame: Document, planned: list[Document]) -> None:
        """Write what is about to run: the frame of the outcome, and each case as not run.

        If that fails, the whole folder is removed.
        """
        try:
            self._add(PLAN_FILE, {"planned": planned, **frame})
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def add(self, number: int, case: Document) -> None:
        """Write the result of a case; `number` is its place in the plan, from 1."""
        self._add(_name_case(number), case)

    def add_joined(self, number: int, cases: Sequence[Document]) -> None:
        """Write the results of several cases; `number` is the place of the first of them."""
        text = json.dumps({"cases": cases}, ensure_ascii=False, separators=(",", ":"))
        self._write_new(_name_case(number), text)

    def end(self, outcome: Document, timing: Document) -> None:
        """Write the timing and the outcome, which ends the record."""
        parts = iterate_json(outcome)
        first = _take_plain(parts)
        rest = next(parts, None)
        if rest is None and not is_joined(len(outcome.get("cases", ()))):
            self._put({TIMING_FILE: write_json(timing), OUTCOME_FILE: "".join(first)})
            return
        self._put({TIMING_FILE: write_json(timing)})
        self._put_packed(PACKED_OUTCOME, chain(first, [rest or ""], parts))
        if outcome["state"] == "complete":
            self.remove_cases()

    def has_report(self, name: str) -> bool:
        """Return whether there is a report as it was written."""
        try:
            data = (self.folder / name).read_bytes()
        except OSError:
            return False
        return seal.compute_checksum(data) == self._read_seal().get(name)

    def add_report(self, name: str, text: str) -> Path:
        """Write a report into the record, or in place of one there, and return its path."""
        if not (name.startswith(seal.REPORT) and seal.is_sealable(name)):
            raise RecordError(f"`{name}` is no name of a report: it is `report.` and an extension")
        self._put({name: text})
        return self.folder / name

    def plan(self) -> Document:
        """Return what was about to run: the frame of the outcome, and all cases as `planned`."""
        if not self.has_begun():
            raise RecordError(f"`{self.folder}` holds no {PLAN_FILE}: {NO_RECORD}")
        return self._read_checked(PLAN_FILE, PLAN, self._begin_reading())

    def read_outcome(self) -> Document:
        """Return the outcome; of a run that was killed, that of the cases that had ended."""
        if name := self._find_outcome():
            whole = self._read_checked(name, OUTCOME, self._begin_reading())
            if contradiction := next(list_contradictions(whole), ""):
                raise self._describe_damage(name, contradiction)
            return whole
        return self.collect_outcome()

    def collect_outcome(self, *, stopped: bool = False) -> Document:
        """Return the outcome of the cases that have a file, in a run that was `stopped` or not.

        Where these were removed, since the packed outcome has all of them, it is of those there.
        """
        frame = self.plan()
        planned = frame.pop("planned")
        names = self._list_case_files()
        if not names and self._find_outcome() == PACKED_OUTCOME:
            ended = self.read_outcome()["cases"]
        else:
            reading, ended = self._begin_reading(), []
            for name in names:
                ended += self._read_cases(name, reading)
                if len(ended) > len(planned):
                    many = f"{len(ended)} cases, and {len(planned)} were planned"
                    raise RecordError(f"`{self.folder}` is damaged: it holds {many}; {REMEDY}")
        whole = complete_outcome(frame, planned, ended, stopped=stopped)
        if contradiction := next(list_contradictions(whole), ""):
            raise RecordError(f"`{self.folder}` is damaged: {contradiction}; {REMEDY}")
        return whole

    def read_timing(self) -> Document:
        """Return the timing; of a run that was killed, nothing."""
        known = (self.folder / TIMING_FILE).exists()
        return self._read_checked(TIMING_FILE, TIMING, self._begin_reading()) if known else {}

    def find_fingerprint(self) -> str:
        """Return the SHA-256 of the outcome's text; "" of a run that was killed."""
        name = self._find_outcome()
        if name != PACKED_OUTCOME:
            return self._read_seal().get(name, "")
        try:
            return packing.hash_packed(self.folder / name)
        except OSError as error:
            raise RecordError(
                f"cannot read `{self.folder / name}`: {explain_failure(error)}"
            ) from error
        except packing.PackingError as error:
            raise self._describe_damage(name, str(error)) from error

    def find_identity(self) -> str:
        """Return a digest of all files but reports and a signature; "" of a run that was killed."""
        names = (PLAN_FILE, self._find_outcome(), TIMING_FILE)
        checksums = self._read_seal()
        if any(name not in checksums for name in names):
            return ""
        lines = seal.write_lines({name: checksums[name] for name in names})
        return seal.compute_checksum(lines.encode())

    def read_own(self) -> tuple[Document, Document]:
        """Return the outcome and the timing of a record whose receipt is at hand.

        They are compared with their checksums, and not with a schema: this program wrote them.
        """
        reading = self._begin_reading()
        return self._read(self._find_outcome(), reading), self._read(TIMING_FILE, reading)

    def has_begun(self) -> bool:
        """Return whether it says what was about to run."""
        return (self.folder / PLAN_FILE).exists()

    def read_begun(self) -> BegunRun:
        """Return what a run has come to, be it at its end or not."""
        frame = self.plan()
        planned = frame.pop("planned")
        done = [case for case in self.read_outcome()["cases"] if is_finished(case)]
        return BegunRun(frame, planned, done, self.read_timing())

    def copy(self, folder: Path) -> None:
        """Copy all files but reports into a folder, in place of what that holds."""
        checksums = {
            name: checksum
            for name, checksum in self._read_seal().items()
            if not name.startswith(seal.REPORT) and (self.folder / name).exists()
        }
        with _explain_writing():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
                new, old = Path(beside) / "new", Path(beside) / "old"
                (new / "cases").mkdir(parents=True)
                for name in checksums:
                    shutil.copyfile(self.folder / name, new / name)
                seal.write_seal(new, checksums)
                if folder.exists():
                    folder.replace(old)
                new.replace(folder)

    def reopen(self, begun: BegunRun) -> None:
        """Remove what a run wrote at its end, and cases that were interrupted, so that it goes on.

        The outcome goes first: without it, whatever else is missing, the run has not ended.

        Raises:
            RecordError: It has come to something else meanwhile, or cannot be read or written.
        """
        if self.read_begun() != begun:
            raise RecordError(f"another `qos run` has written into `{self.folder}` meanwhile")
        numbers = {case["name"]: number for number, case in enumerate(begun.planned, 1)}
        done, reading = {case["name"] for case in begun.done}, self._begin_reading()
        kept: list[list[Document]] = []
        with _explain_writing():
            for name in (*seal.OUTCOMES, TIMING_FILE, signature.NAME):
                (self.folder / name).unlink(missing_ok=True)
            for name in self._list_case_files():
                cases = self._read_cases(name, reading)
                finished = [case for case in cases if case["name"] in done]
                if len(finished) < len(cases):
                    (self.folder / name).unlink()
                    kept += [finished] if finished else []
        self._put({})
        for cases in kept:  # by their first, since the file of one that was cut may come again
            self.add_joined(numbers[cases[0]["name"]], cases)

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """A context in which no other run may write into the record.

        Raises:
            RecordError: Another run does.
        """
        import fcntl

        with (self.folder / PLAN_FILE).open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RecordError(f"another `qos run` writes into `{self.folder}`") from None
            yield

    def verify(self) -> None:
        """Compare all files with their checksums.

        A report may be missing, since it can be made again. So may files of a run that was killed,
        and cases that a packed outcome has.

        Raises:
            RecordError: A file was changed, is missing, or is not of this record.
        """
        checksums = self._read_seal()
        for name in seal.list_unsealed(self.folder, checksums):
            raise self._describe_damage(name, f"{seal.NAME} does not name it")
        outcome = self._find_outcome()
        spare = (seal.REPORT, *(["cases/"] if outcome == PACKED_OUTCOME else []))
        for name, checksum in checksums.items():
            if (self.folder / name).exists():
                with self._open(name) as file:
                    actual = hashlib.file_digest(file, "sha256").hexdigest()
                self._compare(name, actual, checksum)
            elif outcome and not name.startswith(spare):
                raise RecordError(f"`{self.folder / name}` is missing: {REMEDY}")
        self.find_signer()

    def sign(self, key: Ed25519PrivateKey) -> None:
        """Sign all files but reports with a key, in place of a signature that there is."""
        self._put({signature.NAME: write_json(signature.sign(self._read_seal(), key))})

    def find_signer(self) -> str:
        """Return the public key of who signed the record, in hexadecimal; "" if nobody did.

        Raises:
            RecordError: The signature is not of what the record holds.
        """
        if not (self.folder / signature.NAME).exists():
            return ""
        reading = self._begin_reading()
        document = self._read_checked(signature.NAME, SIGNATURE, reading)
        try:
            signature.verify(document, reading.checksums)
        except signature.SignatureError as error:
            raise self._describe_damage(signature.NAME, str(error)) from error
        return str(document["public_key"])

    def _add(self, name: str, document: Document) -> None:
        self._write_new(name, write_json(document))

    def _write_new(self, name: str, text: str) -> None:
        """Write a file that is new."""
        with _explain_writing():
            seal.append_checksum(self.folder, name, seal.compute_checksum(text.encode()))
            write_whole(self.folder / name, text)

    def _put(self, texts: Mapping[str, str]) -> None:
        """Write files, in order, of which there may be earlier ones.

        These go first: of a run that is killed meanwhile, a file is missing, and none is damaged.
        """
        checksums = self._read_seal()
        there = {
            name: sealed for name, sealed in checksums.items() if (self.folder / name).exists()
        }
        new = {name: seal.compute_checksum(text.encode()) for name, text in texts.items()}
        with _explain_writing():
            for name in texts:
                (self.folder / name).unlink(missing_ok=True)
            seal.write_seal(self.folder, there | new)
            for name, text in texts.items():
                write_whole(self.folder / name, text)

    def _put_packed(self, name: str, parts: Iterable[str]) -> None:
        """Write a packed file, as `_put` does."""
        self._put({})
        with _explain_writing(), replace_file(self.folder / name) as file:
            checksum = packing.pack(parts, file)
            seal.write_seal(self.folder, {**self._read_seal(), name: checksum})

    def remove_cases(self) -> None:
        """Remove the files of cases, which a packed outcome has."""
        with _explain_writing():
            for path in (self.folder / "cases").glob("*.json"):
                path.unlink()
        self._put({})

    def _find_outcome(self) -> str:
        """Return the name of the file with the outcome; "" of a run that was killed."""
        return next((name for name in seal.OUTCOMES if (self.folder / name).exists()), "")

    def _list_case_files(self) -> list[str]:
        return sorted(f"cases/{path.name}" for path in (self.folder / "cases").glob("*.json"))

    def _read_cases(self, name: str, reading: _Reading) -> list[Document]:
        """Return the cases of a file, which are one or many."""
        document = self._read(name, reading)
        self._check(name, document, JOINED if "cases" in document else CASE)
        found: list[Document] = document.get("cases", [document])
        return found

    def _begin_reading(self) -> _Reading:
        return _Reading(self._read_seal())

    def _read_seal(self) -> dict[str, str]:
        if not (self.folder / seal.NAME).exists():
            if not (self.has_begun() or self._find_outcome()):
                raise RecordError(f"`{self.folder}` holds no {PLAN_FILE}: {NO_RECORD}")
            raise RecordError(
                f"`{self.folder}` holds no {seal.NAME}, the checksums of its files: an earlier"
                f" version of qospec made it, or not all of it was copied; {REMEDY}"
            )
        with self._open(seal.NAME) as file:
            data = file.read(seal.LONGEST + 1)
        try:
            return seal.parse_seal(data)
        except seal.SealError as error:
            raise self._describe_damage(seal.NAME, str(error)) from error

    def _read_checked(self, name: str, shape: Shape, reading: _Reading) -> Document:
        """Return the content of a file, after checking its seal and its schema."""
        document = self._read(name, reading)
        self._check(name, document, shape)
        return document

    def _check(self, name: str, document: Document, shape: Shape) -> None:
        version = document.get("schema", SCHEMA)
        if version != SCHEMA:
            raise RecordError(
                f"`{self.folder / name}` has schema {json.dumps(version)[:MAX_SLUG_LENGTH]}, and"
                f" this version of qospec reads {SCHEMA}: use the one that made the record"
            )
        found = list(islice(list_violations(document, shape), MAX_REPORTED + 1))
        if found:
            more = ["…"] if len(found) > MAX_REPORTED else []
            raise self._describe_damage(name, ", ".join(found[:MAX_REPORTED] + more))
        for source in document.get("provenance", {}).get("sources", ()):
            text = source.get("text")
            if text is None:
                continue  # a capture
            data = text.encode("utf-8", "surrogatepass")
            if seal.compute_checksum(data) != source["sha256"]:
                raise self._describe_damage(name, f"the text of `{source['name']}` was changed")

    def _read(self, name: str, reading: _Reading) -> Document:
        with self._open(name) as file:
            data = file.read(reading.bytes + 1)
        if large := len(data) > reading.bytes:
            data = b""
        else:
            self._compare(name, seal.compute_checksum(data), reading.checksums.get(name))
        if name == PACKED_OUTCOME and not large:
            try:
                data = packing.unpack(data, reading.bytes + 1)
            except packing.PackingError as error:
                raise self._describe_damage(name, str(error)) from error
        if large or not reading.takes(data):
            raise RecordError(
                f"`{self.folder / name}` is too large: the files of a record may have"
                f" {MAX_BYTES >> 20} MB and {MAX_VALUES:_} values together; run fewer cases at a"
                " time"
            )
        try:
            text = data.decode()
            del data  # with values and text it would be most of what a large record takes
            document = json.loads(
                text, object_pairs_hook=reading.build_object, parse_constant=_refuse_constant
            )
        except ValueError as error:
            raise self._describe_damage(name, f"it is not JSON: {error}") from error
        except RecursionError:
            raise self._describe_damage(name, "it is nested too deeply") from None
        if not isinstance(document, dict):
            raise self._describe_damage(name, "it is not a JSON object")
        return document

    def _compare(self, name: str, actual: str, sealed: str | None) -> None:
        """Raise RecordError unless a file has the checksum that the seal says."""
        if sealed is None:
            raise self._describe_damage(name, f"{seal.NAME} does not name it")
        if actual == sealed:
            return
        why = f"it was changed since it was written, so {seal.NAME} has another checksum"
        if name.startswith(seal.REPORT):
            raise RecordError(
                f"`{self.folder / name}` is damaged: {why}; remove it: `qos report` makes it again"
            )
        raise self._describe_damage(name, why)

    @contextmanager
    def _open(self, name: str) -> Iterator[BufferedReader]:
        """Open a file for reading; a pipe would be waited for."""
        path = self.folder / name
        if path.exists() and not path.is_file() and not path.is_dir():
            raise RecordError(f"cannot read `{path}`: it is not a file")
        try:
            with path.open("rb") as file:
                yield file
        except OSError as error:
            raise RecordError(f"cannot read `{path}`: {explain_failure(error)}") from error

    def _describe_damage(self, name: str, why: str) -> RecordError:
        return RecordError(f"`{self.folder / name}` is damaged: {why}; {REMEDY}")


class _Reading:
    """What is read together: the checksums of files, and how large they may still be.

    They may have so many bytes, and so many values that are made of these.
    """

    def __init__(self, checksums: Mapping[str, str]) -> None:
        self.checksums = checksums
        self.bytes, self._values = MAX_BYTES, MAX_VALUES
        self._shared = SharedValues()

    def takes(self, data: bytes) -> bool:
        """Return whether a file fits, and count it."""
        self.bytes -= len(data)
        self._values -= sum(data.count(byte) for byte in b",{[")
        return min(self.bytes, self._values) >= 0

    def build_object(self, pairs: list[tuple[str, Any]]) -> Document:
        """Return an object; raises ValueError if a name is given twice, of which readers differ."""
        if len(dict(pairs)) < len(pairs):
            name = next(name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n]))
            raise ValueError(f"`{name}` is given twice in an object")
        return self._shared.build_object(pairs)


def is_joined(count: int) -> bool:
    """Return whether so many cases share files."""
    return count > MOST_ALONE


def _name_case(number: int) -> str:
    return f"cases/{number:04}.json"


def _take_plain(parts: Iterator[str]) -> list[str]:
    """Return the first parts of a text, until they are together larger than what is not packed."""
    taken: list[str] = []
    left = packing.LARGEST_PLAIN
    while left >= 0 and (part := next(parts, None)) is not None:
        taken.append(part)
        left -= len(part)
    return taken


@contextmanager
def _explain_writing() -> Iterator[None]:
    """Raise what cannot be written as RecordError."""
    try:
        yield
    except WriteError as error:
        raise RecordError(str(error)) from error
    except OSError as error:
        raise RecordError(f"cannot write the record: {explain_failure(error)}") from error


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
    """Return the newest record in a folder; None if there is none. Raises RecordError."""
    return next(reversed(list_records(root)), None)


def list_records(root: Path) -> list[Record]:
    """Return the records in a folder, the oldest first, by the times in their names.

    Of those of the same second, the one whose run began last is last.

    Raises:
        RecordError: The folder cannot be read.
    """
    try:
        found = {
            (path.parent.name.partition("Z-")[0], path.stat().st_mtime_ns): path.parent
            for path in root.glob("[0-9]*T*Z-*/run.json")
        }
    except OSError as error:
        raise RecordError(f"cannot read `{root}`: {explain_failure(error)}") from error
    return [Record(found[key]) for key in sorted(found)]


def _make_inside(folder: Path) -> None:
    try:
        (folder / "cases").mkdir()
    except OSError:
        folder.rmdir()
        raise
