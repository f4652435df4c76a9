"""Extraction of OAM cells from the path of user cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, Transition, send
from qospec.engine.items.partition import split
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Connections
    from qospec.protocol.atm import Plane

USER, OAM = 0, 1
"""The outputs."""
FIRST, END = 0, 1
"""The state of `_arrive`: the first connection index of OAM cells, and that after the last."""


@element(source="ITU-T I.610 (F5 flow: OAM cells of a VC within the VC)", carries=("cell",))
@dataclass(frozen=True)
class OamExtract(Element):
    """Separate the OAM cells of all connections from their user cells."""

    keeps_spacing = True

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("user", "oam")

    def output_of(self, number: int, *, plane: Plane) -> int:
        return OAM if plane == "oam" else USER

    def start(self, setting: Setting) -> Connections:
        return setting.connections

    def transition(self, setting: Setting) -> Transition:
        connections = setting.connections
        if "oam" not in connections.planes:
            return Transition(np.zeros(2, np.int64), _arrive)
        first = connections.index(0, "oam")
        return Transition(np.array([first, first + connections.count]), _arrive)

    def process(self, state: Connections, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        is_oam = state.are_of(["oam"], batch.connection)
        departures = split(batch, is_oam.view(np.uint8), int(np.count_nonzero(is_oam)))
        return Step(departures, (until_ps, until_ps))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell to the output of its plane at once; see `engine.event.transition`."""
    is_oam = state[FIRST] <= items[item, CONNECTION] < state[END]
    send(out, OAM if is_oam else USER, item, now_ps)
    return DONE
