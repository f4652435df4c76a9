"""Extraction of OAM cells from the path of user cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.items.partition import split

if TYPE_CHECKING:
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Connections
    from qospec.protocol.atm import Plane


@element(source="ITU-T I.610 (F5 flow: OAM cells of a VC within the VC)", carries=("cell",))
@dataclass(frozen=True)
class OamExtract(Element):
    """Separate the OAM cells of all connections from their user cells."""

    keeps_spacing = True

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("user", "oam")

    def output_of(self, number: int, *, plane: Plane) -> int:
        return int(plane == "oam")

    def start(self, setting: Setting) -> Connections:
        return setting.connections

    def process(self, state: Connections, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        is_oam = state.are_of(["oam"], batch.connection)
        departures = split(batch, is_oam.view(np.uint8), int(np.count_nonzero(is_oam)))
        return Step(departures, (until_ps, until_ps))
