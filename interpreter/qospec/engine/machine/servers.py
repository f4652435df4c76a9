"""The servers of a machine: on what it works, and until when.

Each works on a transition of another instance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel
from qospec.engine.machine.state import (
    AT_SERVERS,
    BEGAN,
    SERVER,
    SERVERS,
    UNTIL,
    WORKED_ON,
    WORKED_ROW,
    WORKING,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def occupy(state: Whole, way: int, row: int, until_ps: int) -> None:
    """Let a server work on a transition of an instance; one is free."""
    server = state[AT_SERVERS]
    last = 0
    for k in range(state[SERVERS]):
        at = state[AT_SERVERS] + k * SERVER
        last = max(last, state[at + BEGAN])
        if state[at + WORKED_ON] < 0:
            server = at
    state[server + UNTIL], state[server + WORKED_ON] = until_ps, way
    state[server + WORKED_ROW], state[server + BEGAN] = row, last + 1
    state[WORKING] += 1


@kernel
def find_done(state: Whole) -> int:
    """Return the place of the server that is done next, of several the first that began; or -1."""
    found = -1
    for k in range(state[SERVERS]):
        at = state[AT_SERVERS] + k * SERVER
        if state[at + WORKED_ON] < 0:
            continue
        if found < 0 or (state[at + UNTIL], state[at + BEGAN]) < (
            state[found + UNTIL],
            state[found + BEGAN],
        ):
            found = at
    return found


@kernel
def find_done_ps(state: Whole, row: int) -> int:
    """Return until when an instance is worked on, while others may be; 0 if it is not."""
    if state[WORKING] == 0:
        return 0
    for k in range(state[SERVERS]):
        at = state[AT_SERVERS] + k * SERVER
        if state[at + WORKED_ON] >= 0 and state[at + WORKED_ROW] == row:
            return state[at + UNTIL]  # type: ignore[no-any-return]
    return 0
