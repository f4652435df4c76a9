"""The counters of user cells at either end of ATM cell encryption, one for each VC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting

FIRST_OAM, END_OAM, COUNTERS = 0, 1, 2
"""The state: the first connection index of OAM cells and that after the last, then a counter for
each VC: how many of its user cells this end has seen."""


def counters(setting: Setting) -> Whole:
    """Return the state of either end at the beginning of a trial."""
    connections = setting.connections
    first = connections.index(0, "oam") if "oam" in connections.planes else connections.indices
    state = np.zeros(COUNTERS + connections.count, np.int64)
    state[:COUNTERS] = first, first + connections.count
    return state
