"""The windows of a machine: how often an instance counted within the last so long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel
from qospec.engine.machine.state import (
    AT_LISTS,
    AT_NOTES,
    AT_SPANS,
    AT_WINDOWS,
    NEWEST,
    NEXT_NOTE,
    NOTE,
    NOTE_COLUMNS,
    NOTED,
    NOTED_AT,
    NOTES,
    OLDEST,
    SPARE_NOTE,
    SPARE_NOTES,
    WINDOW,
    WINDOWS,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def count_within(state: Whole, row: int, window: int, now_ps: int) -> int:
    """Return how often an instance counted in a window; free the notes that are too old."""
    since_ps = now_ps - state[state[AT_SPANS] + window]
    at = state[AT_WINDOWS] + (row * state[WINDOWS] + window) * WINDOW
    while state[at + NOTED] > 0:
        if state[state[AT_NOTES] + state[at + OLDEST] * NOTE_COLUMNS + NOTED_AT] > since_ps:
            break
        forget(state, at)
    return state[at + NOTED]  # type: ignore[no-any-return]


@kernel
def find_empty_ps(state: Whole, row: int) -> int:
    """Return when all notes in the windows of an instance are too old; 0 if there are none."""
    empty_ps = 0
    for window in range(state[WINDOWS]):
        at = state[AT_WINDOWS] + (row * state[WINDOWS] + window) * WINDOW
        if state[at + NOTED] > 0:
            noted_ps = state[state[AT_NOTES] + state[at + NEWEST] * NOTE_COLUMNS + NOTED_AT]
            empty_ps = max(empty_ps, noted_ps + state[state[AT_SPANS] + window])
    return empty_ps


@kernel
def forget(state: Whole, at: int) -> None:
    """Free the oldest note of a window, which has one."""
    oldest = state[at + OLDEST]
    note = state[AT_NOTES] + oldest * NOTE_COLUMNS
    state[at + OLDEST], state[note + NEXT_NOTE] = state[note + NEXT_NOTE], state[SPARE_NOTE]
    state[SPARE_NOTE] = oldest
    state[SPARE_NOTES] += 1
    state[at + NOTED] -= 1


@kernel
def note_transition(state: Whole, row: int, way: int, now_ps: int) -> None:
    """Count a transition in its windows; there is room."""
    first = state[AT_LISTS] + state[way + NOTE]
    for k in range(state[way + NOTES]):
        at = state[AT_WINDOWS] + (row * state[WINDOWS] + state[first + k]) * WINDOW
        spare = state[SPARE_NOTE]
        note = state[AT_NOTES] + spare * NOTE_COLUMNS
        state[SPARE_NOTE] = state[note + NEXT_NOTE]
        state[SPARE_NOTES] -= 1
        state[note + NOTED_AT] = now_ps
        if state[at + NOTED] == 0:
            state[at + OLDEST] = spare
        else:
            state[state[AT_NOTES] + state[at + NEWEST] * NOTE_COLUMNS + NEXT_NOTE] = spare
        state[at + NEWEST] = spare
        state[at + NOTED] += 1
