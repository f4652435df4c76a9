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
    from qospec.engine.element import Setting

FIRST_OAM, END_OAM, POSITIONS = 0, 1, 2
"""The state: the first connection index of OAM cells and that after the last, then a position for
each VC: that of the last of its user cells."""
CELL_BITS = 32
"""Of the number of user cells since a jump. More of them would go on in the next jump's, which the
next OAM cell then leaves behind."""


def positions(setting: Setting) -> Whole:
    """Return the state of either end at the beginning of a trial."""
    connections = setting.connections
    first = connections.index(0, "oam") if "oam" in connections.planes else connections.indices
    state = np.zeros(POSITIONS + connections.count, np.int64)
    state[:POSITIONS] = first, first + connections.count
    return state


@kernel
def after_jump(position: int) -> int:
    """Return the position ahead of the first user cell after a jump."""
    return (position >> CELL_BITS) + 1 << CELL_BITS


def jump_of(position: Whole) -> Whole:
    """Return (n,) how many jumps came before these positions."""
    return position >> CELL_BITS
