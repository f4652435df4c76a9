"""What searches have found, in lines: for each goal its bounds, and what finding them took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.document import Document


def goal_lines(case: Mapping[str, Any]) -> list[str]:
    """Return a line for each goal of a case, and one for the trials of each search."""
    repeated = case["run"]["repeat"] > 1
    return [
        f"repeat {phase['repeat']}: {line}" if repeated else line
        for phase in case.get("phases", ())
        for line in _lines(phase)
    ]


def _lines(phase: Document) -> Iterator[str]:
    if phase["kind"] != "search":
        return
    for goal in phase["goals"]:
        notes = "".join(f"; {note}" for note in goal["notes"])
        yield f"{goal['name']}: {interval(goal)}{notes}"
    count = len(phase["trials"])
    trials = f"{count} trial{'' if count == 1 else 's'}, {phase['emulated']['text']} emulated"
    yield f"{phase['variable']}: {trials}, by {phase['method']}"


def interval(goal: Document) -> str:
    """Return the bounds of a goal: `26.86 Mbit/s to 26.99 Mbit/s`; irregular if one is missing."""
    lower, upper = goal["lower"], goal["upper"]
    if lower and upper:
        return f"{lower['text']} to {upper['text']}"
    if lower:
        return f"{'' if goal['complete'] else 'at least '}{lower['text']}, irregular"
    return f"below {upper['text']}, irregular" if upper else "nothing found, irregular"
