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


@element(source="ITU-T I.610 (F5 flow: OAM cells of a VC within the VC)", carries=("cell",))
@dataclass(frozen=True)
class OamExtract(Element):
    """Separate the OAM cells of all connections from their user cells."""

    keeps_spacing = True

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("user", "oam")

    def output_of(self, number: int, *, oam: bool) -> int:
        return int(oam)

    def start(self, setting: Setting) -> int:
        return setting.connections.count

    def process(self, state: int, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        is_oam = batch.connection >= state
        departures = split(batch, is_oam.view(np.uint8), int(np.count_nonzero(is_oam)))
        return Step(departures, (until_ps, until_ps))
