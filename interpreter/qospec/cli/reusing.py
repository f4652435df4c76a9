"""`qos run --changed`: the results of the last run that still hold, so that only the rest is run.

A case is a function of its files, seed, options and versions. What a file of the package was
changed since is run again, and so is what has a key in its files: of keys a record says nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from qospec.resources import SPEC, STDLIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.document import Document
    from qospec.record.store import Record
    from qospec.run.runner import RunRequest

LEFT_OUT = ("sources", "policy")
"""Of the provenance: the sources are compared for each case, and what was set is in them."""
NEVER = "1970-01-01T00:00:00Z"
"""When a run began that was killed, which has no times."""


def find_unchanged(request: RunRequest, last: Record) -> tuple[list[Document], dict[str, float]]:
    """Return the results of the last run that hold for a request, and how long each took in s.

    Raises:
        RecordError: The record cannot be read, or was changed.
    """
    from qospec.record.outcome import is_finished
    from qospec.run import runner

    last.verify()
    begun = last.read_begun()
    now, then = runner.describe_provenance(request), begun.frame["provenance"]
    same = all(now.get(name) == then.get(name) for name in {*now, "backend"}.difference(LEFT_OUT))
    policy = "a failed require"
    if not same or now["policy"][policy] != then["policy"].get(policy) or _is_newer(begun.timing):
        return [], {}
    unchanged = _list_unchanged_files(request, then)
    planned = {case["name"]: case for case in begun.planned}
    own = {case["name"]: case for case in request.select_own(runner.describe_planned(request))}
    done = [
        case | {"again": own[case["name"]]["again"]}
        for case in begun.done
        if is_finished(case)
        and case["verdict"] != "error"
        and case["name"] in own
        and _without_command(planned[case["name"]]) == _without_command(own[case["name"]])
        and _find_file(request, case["name"]) in unchanged
    ]
    names = {case["name"] for case in done}
    times = {name: s for name, s in begun.timing.get("cases", {}).items() if name in names}
    return done, times


def _without_command(case: Mapping[str, Any]) -> Document:
    return {name: value for name, value in case.items() if name != "again"}


def _find_file(request: RunRequest, case: str) -> str:
    """Return the file of a case, as records have it."""
    return next(
        test.span.source.recorded_name
        for test in request.suite.tests
        if any(own.name == case for own in test.cases)
    )


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
    newest = max(
        path.stat().st_mtime
        for folder in (SPEC.parent, SPEC.resolve(), STDLIB.resolve())
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    began = timing.get("started", NEVER)
    return datetime.fromtimestamp(newest, UTC) >= datetime.fromisoformat(began)
