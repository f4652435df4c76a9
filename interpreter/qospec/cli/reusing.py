"""What `qos run` need not run again: cases whose results a record of this user's runs holds.

A case is a function of its files, seed, options and program. What a file of the package was changed
since is run again, and so is what has a key in its files: of keys a record says nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.judge.verdict import PROBLEMS
from qospec.resources import hash_program, is_changed_since, list_program
from qospec.run.receipt import Receipt, make_receipt, read_receipt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from qospec.document import Document
    from qospec.model.suite import Suite
    from qospec.record.parts import Part
    from qospec.record.store import Record

MOST_RECORDS = 20
"""How many records are looked through, the newest first."""
MOST_NAMED = 3
"""How many runs are named of which results are kept."""


class Wanted(NamedTuple):
    """What is to be run.

    Attributes:
        suite: The selected cases.
        provenance: What a record of them will say of its making.
        part: Which part of the cases; None for all.
        only_calm: Whether what did not pass is to be run again.
    """

    suite: Suite
    provenance: Document
    part: Part | None = None
    only_calm: bool = False

    def list_names(self) -> list[str]:
        """Return the names of the cases, in the order of the plan."""
        names = [case.name for test in self.suite.tests for case in test.cases]
        return names if self.part is None else self.part.choose(names)


class Unchanged(NamedTuple):
    """Results that hold.

    Attributes:
        done: The documents of the cases, in no order.
        timing: Of these cases the fields `cases` and `kept` of `timing.json`.
        whole: The newest record with its outcome, if a run would make that once more.
    """

    done: list[Document]
    timing: Document
    whole: tuple[Record, Document] | None = None

    def describe(self, root: Path) -> str:
        """Return since when how many cases are unchanged; `root` is the folder of the records."""
        counts = {root / run["record"]: len(run["cases"]) for run in self.timing["kept"]}
        newest = sorted(counts, reverse=True)
        if len(newest) == 1:
            return str(newest[0])
        named = [f"{path} ({counts[path]})" for path in newest[:MOST_NAMED]]
        more = sum(counts[path] for path in newest[MOST_NAMED:])
        return ", ".join([*named, *[f"earlier runs ({more})"] * bool(more)])


def find_unchanged(
    wanted: Wanted, records: Iterable[Record], on_damage: Callable[[str], None]
) -> Unchanged:
    """Return what records have of the cases that are wanted, of each case the first that holds.

    Args:
        wanted: What is to be run.
        records: The newest first.
        on_damage: Called with the message of a record that cannot be read, or was changed.
    """
    from qospec.record.store import RecordError

    program = hash_program()
    if not program:
        return _gather({})
    now = make_receipt(wanted.provenance, program)
    names = wanted.list_names()
    found: dict[str, _Held] = {}
    for place, record in zip(range(MOST_RECORDS), records, strict=False):
        try:
            then = read_receipt(record, now.maker)
            same = _list_unchanged(wanted.suite, then) if then else {}
            if not same.keys() - found.keys():
                continue
            outcome, timing = record.read_own()
        except RecordError as error:
            on_damage(str(error))
            continue
        held = _list_held(record.folder.name, outcome, timing)
        held = {name: one for name, one in held.items() if one.file == same.get(name)}
        if wanted.only_calm:
            held = {name: one for name, one in held.items() if one.case["verdict"] not in PROBLEMS}
        # Of an older one a run makes another, so that `last` is what was shown last.
        is_last = place == 0 and then == now
        if is_last and list(held) == names and _is_whole(outcome, wanted):
            return _gather(held, (record, outcome))
        found = {name: held[name] for name in names if name in held} | found
        if len(found) == len(names):
            break
    return _gather(found)


class _Held(NamedTuple):
    """A case of a record, the file that declares it, its time in s, and the run that it is of."""

    case: Document
    file: str
    seconds: Mapping[str, float]
    record: str
    started: str


def _list_held(record: str, outcome: Document, timing: Document) -> dict[str, _Held]:
    """Return the cases that ended without an error, in the order of the plan.

    There is none if the program was changed while they ran. `record` is the folder's name.
    """
    from qospec.record.outcome import is_finished, list_files

    if _is_newer(timing):
        return {}
    seconds, files = timing["cases"], list_files(outcome)
    runs = {name: run for run in timing.get("kept", ()) for name in run["cases"]}
    own = {"record": record, "started": timing["started"]}
    held = {}
    for case in outcome["cases"]:
        name = case["name"]
        if is_finished(case) and case["verdict"] != "error":
            run = runs.get(name, own)
            its = {name: seconds[name]} if name in seconds else {}
            held[name] = _Held(case, files[name], its, run["record"], run["started"])
    return held


def _is_whole(outcome: Document, wanted: Wanted) -> bool:
    """Return whether an outcome with all cases is what a run would make, also in its commands."""
    parts = wanted.part is not None or "part" in outcome  # a part knows of the others' cases
    return not parts and outcome["provenance"]["policy"] == wanted.provenance["policy"]


def _gather(found: Mapping[str, _Held], whole: tuple[Record, Document] | None = None) -> Unchanged:
    """Return what was found of all records."""
    seconds: dict[str, float] = {}
    runs: dict[tuple[str, str], list[str]] = {}
    for name, held in found.items():
        seconds |= held.seconds
        runs.setdefault((held.record, held.started), []).append(name)
    kept = [
        {"record": record, "started": started, "cases": names}
        for (record, started), names in runs.items()
    ]
    timing = {"cases": seconds, "kept": kept}
    return Unchanged([held.case for held in found.values()], timing, whole)


def _list_unchanged(suite: Suite, then: Receipt) -> dict[str, str]:
    """Return the cases of which all files are as they were, also those imported or sent.

    Each has the file that declares it, since another may have had a case of that name.
    """
    same = {
        source.recorded_name
        for source in suite.sources
        if source.shown == source.text and source.sha256 == then.sources.get(source.recorded_name)
    }
    whole = {name for name, needed in suite.imports.items() if needed | {name} <= same}
    return {
        case.name: test.span.source.recorded_name
        for test in suite.tests
        if test.span.source.recorded_name in whole
        for case in test.cases
    }


def _is_newer(timing: Document) -> bool:
    """Return whether a file of the package was changed since a run began."""
    since_ns = int(datetime.fromisoformat(timing["started"]).timestamp() * 10**9)
    return any(is_changed_since(path, since_ns) for path in list_program())
