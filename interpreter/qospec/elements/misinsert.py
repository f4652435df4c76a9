"""Cells of others that come to be among those of a connection, as after an error in a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, make, send
from qospec.engine.fault import Fault, is_hit
from qospec.engine.items.insertion import insert_cells
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import LEG

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

USERS, FIRST_MISINSERTED = -2, -1
LEG_BITS = LEG.mask
"""The end of the state, behind that of a fault: the number of VCs, and the connection index of
cells misinserted into the first."""


@element(source="ITU-T I.356, 5 (misinserted cell), as a fault of a test", carries=("cell",))
@dataclass(frozen=True)
class Misinsert(Fault):
    """Insert a cell of nobody ahead of some user cells of each VC, by their numbers or at random.

    User cells are numbered as they come, from 1. The new cell has the VC in its header and goes
    ahead of the user cell in the same ps. It is counted by itself, as `flow.misinserted`.

    Not modelled: the connection that it came from, which loses a cell.
    """

    hits = ("user",)
    inserts = ("misinserted",)

    def start(self, setting: Setting) -> Whole:
        own = [setting.streams.count, setting.streams.start("misinserted")]
        return np.concatenate([super().start(setting), np.array(own, np.int64)])

    def build_transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        before = np.empty(batch.count, np.int64)
        count = _find_hits(batch.connection, state, before)
        if not count:
            return Step((batch,), (until_ps,))
        both, new = insert_cells(batch, before[:count], int(state[FIRST_MISINSERTED]))
        return Step((both,), (until_ps,), made=(new,))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell on at once, behind another if it is hit; see `engine.event.transition`."""
    connection = items[item, CONNECTION]
    if connection < state[len(state) + USERS] and is_hit(state, connection):
        carried = items[item, MARKS] & LEG_BITS
        index = state[len(state) + FIRST_MISINSERTED] + connection
        new = make(items, out, index, CELL_BYTES, carried, now_ps)
        send(out, 0, new, now_ps)
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _find_hits(connection: Indices, state: Whole, before: Whole) -> int:
    """Write the numbers of the user cells that are hit; return how many are."""
    count = 0
    for i in range(len(connection)):
        if connection[i] < state[len(state) + USERS] and is_hit(state, connection[i]):
            before[count] = i
            count += 1
    return count
