"""The positions that both ends of ATM cell encryption keep, one for each VC.

A position is the jump number of a VC's state vector, and below it how many user cells have come
since the jump. The sender jumps at each OAM cell, which brings the new position to the receiver. So
positions only rise, and none is used twice with a key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.protocol.streams import Streams

USERS, FIRST_OAM, FIRST_MISINSERTED, FIRST_CELLS, POSITIONS = range(5)
"""The state: the number of VCs; the connection indices of the OAM cells of the first, of cells
misinserted into it and of cells of its packets, or one that no cell has; then a position for each
VC: that of its last user cell."""
NOT_OF_A_VC = -1
CELL_KEY_BYTES = 16
"""Of a VC: AES with 128 bits."""
CELL_BITS = 32
"""Of the number of user cells since a jump. More of them would go on in the next jump's, which the
next OAM cell then leaves behind."""


def build_positions(streams: Streams) -> Whole:
    """Return the state of either end at the beginning of a trial."""
    state = np.zeros(POSITIONS + streams.count, np.int64)
    state[USERS] = streams.count
    state[FIRST_OAM:POSITIONS] = [streams.start(kind) for kind in ("oam", "misinserted", "cells")]
    return state


@kernel
def find_user_vc(state: Whole, connection: int) -> int:
    """Return the VC whose user cell this is by its header, from 0, or NOT_OF_A_VC."""
    if connection < state[USERS]:
        return connection
    vc = _find_vc(state, connection - state[FIRST_CELLS])
    return vc if vc >= 0 else _find_vc(state, connection - state[FIRST_MISINSERTED])


@kernel
def find_oam_vc(state: Whole, connection: int) -> int:
    """Return the VC whose OAM cell this is, from 0, or NOT_OF_A_VC."""
    return _find_vc(state, connection - state[FIRST_OAM])


@kernel
def _find_vc(state: Whole, vc: int) -> int:
    return vc if 0 <= vc < state[USERS] else NOT_OF_A_VC


@kernel
def find_position_after_jump(position: int) -> int:
    """Return the position ahead of the first user cell after a jump."""
    return (position >> CELL_BITS) + 1 << CELL_BITS


def count_jumps(position: Whole) -> Whole:
    """Return (n,) how many jumps came before these positions."""
    return position >> CELL_BITS
