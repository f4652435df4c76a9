"""The sending end of ATM cell encryption: the payload of each user cell, in counter mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, SEAL, Transition, send
from qospec.engine.kernel import kernel
from qospec.engine.security.counters import COUNTERS, END_OAM, FIRST_OAM, counters

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch


@element(
    source="ATM Forum Security Specification 1.1 (af-sec-0100.002), 3.1 (confidentiality), counter"
    " mode with resynchronisation by OAM cells; NIST SP 800-38A, 6.5",
    carries=("cell",),
)
@dataclass(frozen=True)
class CellEncrypt(Element):
    """Encrypt the user cells of each VC, which has a key and a counter of its own.

    Both ends count user cells, so a cell carries nothing more. Each OAM cell that passes brings the
    other end, `cell_decrypt`, the count of this one: an `oam_insert` before it makes such cells.
    All OAM cells are taken for such, and cells of other planes pass in the clear.

    Not modelled: the time that it takes; a change of keys, before which both ends are synchronous.
    """

    keeps_spacing = True

    def start(self, setting: Setting) -> Whole:
        return counters(setting)

    def transition(self, setting: Setting) -> Transition:
        return Transition(self.start(setting), _arrive)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        seal = np.empty(batch.count, np.int64)
        _encrypt(batch.connection, state, seal)
        return Step((batch.with_seals(seal),), (until_ps,))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell on at once, encrypted; see `engine.event.transition`."""
    items[item, SEAL] = _next_seal(state, items[item, CONNECTION])
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _encrypt(connection: Indices, state: Whole, seal: Whole) -> None:
    """Write the seal of each cell."""
    for i in range(len(connection)):
        seal[i] = _next_seal(state, connection[i])


@kernel
def _next_seal(state: Whole, connection: int) -> int:
    """Return the number of a user cell, or what an OAM cell says: that of the next user cell.

    It is 0 for what is not encrypted.
    """
    if connection < len(state) - COUNTERS:
        state[COUNTERS + connection] += 1
        return state[COUNTERS + connection]  # type: ignore[no-any-return]
    if state[FIRST_OAM] <= connection < state[END_OAM]:
        return state[COUNTERS + connection - state[FIRST_OAM]] + 1  # type: ignore[no-any-return]
    return 0
