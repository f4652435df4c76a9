"""One case over many records, as a test whose cases are its runs, the oldest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from qospec.document import Document

RUN = "run"
"""The parameter that tells the runs apart."""


class Run(NamedTuple):
    """A case in one record.

    Attributes:
        name: Of the record.
        outcome: Its outcome.
        case: The case in it.
    """

    name: str
    outcome: Document
    case: Mapping[str, Any]


def join_runs(runs: Sequence[Run]) -> Document:
    """Return an outcome whose only test has a case for each of the runs, of which there is one.

    Reports and charts show it as they show a sweep. What tests say is of the last run.
    """
    last = runs[-1]
    test = next(test for test in last.outcome["tests"] if test["name"] == last.case["test"])
    cases = [
        {
            **run.case,
            "name": f"{run.case['name']},{RUN}={when}",
            "parameters": {RUN: when},
            "place": test["place"],  # that of an earlier run may be another line
        }
        for run, when in zip(runs, _name_times(runs), strict=True)
    ]
    return {**last.outcome, "tests": [test], "cases": cases}


def _name_times(runs: Sequence[Run]) -> list[str]:
    """Return when each run began, as its record's name has it; the whole name where two agree."""
    times = [run.name.partition("Z-")[0].replace("T", " ") for run in runs]
    if len(set(times)) < len(times):
        return [run.name for run in runs]
    days = {time.partition(" ")[0] for time in times}
    return [time.partition(" ")[2] for time in times] if len(days) == 1 else times
