"""`qos run --changed`: the results of earlier runs that still hold, so that only the rest is run.

A case is a function of its files, seed, options and program. What a file of the package was changed
since is run again, and so is what has a key in its files: of keys a record says nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.resources import hash_program, list_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qospec.document import Document
    from qospec.record.store import Record
    from qospec.run.runner import RunRequest

LEFT_OUT = ("sources", "policy")
"""Of the provenance: the sources are compared for each case, and what was set is in them."""
NEVER = "1970-01-01T00:00:00Z"
"""When a run began that was killed, which has no times."""
MOST_RECORDS = 20
"""How many records are looked through, the newest first: each is read whole, and its seal tried."""


class Unchanged(NamedTuple):
    """Results that hold for a request.

    Attributes:
        done: The documents of the cases, whose commands are those of the request.
        times: How long each took in s, by name.
        counts: How many are from each record, in which the record was found.
    """

    done: list[Document]
    times: dict[str, float]
    counts: dict[Record, int]


def find_unchanged(
    request: RunRequest, records: Iterable[Record], on_damage: Callable[[str], None]
) -> Unchanged:
    """Return what records have of the cases of a request, of each case the first that holds.

    Args:
        request: What is to be run.
        records: The newest first.
        on_damage: Called with the message of a record that cannot be read, or was changed.
    """
    from qospec.record.store import RecordError
    from qospec.run import runner

    now = runner.describe_provenance(request)
    missing = {case["name"]: case for case in request.select_own(runner.describe_planned(request))}
    files = {case.name: test.span.source for test in request.suite.tests for case in test.cases}
    unchanged = Unchanged([], {}, {})
    for _, record in zip(range(MOST_RECORDS), records, strict=False):
        if not missing:
            break
        try:
            held = _list_held(record, now)
        except RecordError as error:
            on_damage(str(error))
            continue
        same = _list_unchanged_files(request, held.provenance)
        for case, planned, seconds in held.cases:
            own = missing.get(case["name"])
            if (
                own is not None
                and _without_command(planned) == _without_command(own)
                and files[case["name"]].recorded_name in same
            ):
                del missing[case["name"]]
                unchanged.done.append(case | {"again": own["again"]})
                unchanged.times.update(seconds)
                unchanged.counts[record] = unchanged.counts.get(record, 0) + 1
    return unchanged


class _Held(NamedTuple):
    """What a record has: cases that ended without an error, each as planned, with its time in s."""

    provenance: Document
    cases: list[tuple[Document, Document, dict[str, float]]]


def _list_held(record: Record, now: Document) -> _Held:
    """Return what a record has; nothing if it was made otherwise than a run would be `now`.

    Raises:
        RecordError: The record cannot be read, or was changed.
    """
    from qospec.record.outcome import is_finished

    then, timing = record.plan()["provenance"], record.timing()
    policy = "a failed require"
    if (
        timing.get("program") != hash_program()
        or any(now.get(name) != then.get(name) for name in {*now, "backend"}.difference(LEFT_OUT))
        or now["policy"][policy] != then["policy"].get(policy)
        or _is_newer(timing)
    ):
        return _Held({"sources": []}, [])
    record.verify()
    begun = record.read_begun()
    planned = {case["name"]: case for case in begun.planned}
    times = timing.get("cases", {})
    ended = [case for case in begun.done if is_finished(case) and case["verdict"] != "error"]
    names = [case["name"] for case in ended]
    seconds = ({name: times[name]} if name in times else {} for name in names)
    return _Held(then, [*zip(ended, map(planned.__getitem__, names), seconds, strict=True)])


def _without_command(case: Mapping[str, Any]) -> Document:
    return {name: value for name, value in case.items() if name != "again"}


def _list_unchanged_files(request: RunRequest, provenance: Document) -> set[str]:
    """Return the files that are as they were, as is all that they import or send."""
    then = {source["name"]: source["sha256"] for source in provenance["sources"]}
    same = {
        source.recorded_name
        for source in request.suite.sources
        if source.shown == source.text and source.sha256 == then.get(source.recorded_name)
    }
    return {name for name, needed in request.suite.imports.items() if needed | {name} <= same}


def _is_newer(timing: Document) -> bool:
    """Return whether a file of the package was changed since a run began."""
    newest = max(Path(path).stat().st_mtime for path in list_program())
    began = timing.get("started", NEVER)
    return datetime.fromtimestamp(newest, UTC) >= datetime.fromisoformat(began)
