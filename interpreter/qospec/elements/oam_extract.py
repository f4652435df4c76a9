"""OAM cells leave the path of user cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Step
from qospec.engine.items.partition import split

if TYPE_CHECKING:
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock


@element(source="ITU-T I.610 (F5 flow: OAM cells of a VC within the VC)", carries=("cell",))
@dataclass(frozen=True)
class OamExtract:
    """Part the OAM cells of all connections from their user cells."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("in",)

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("user", "oam")

    def output_of(self, *, oam: bool) -> int:
        """Return the output that OAM cells, or user cells, take."""
        return int(oam)

    def lookahead_ps(self, clock: Clock | None) -> int:
        return 0

    def start(self, setting: Setting) -> int:
        return setting.connections.count

    def process(self, state: int, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        is_oam = batch.connection >= state
        departures = split(batch, is_oam.view(np.uint8), int(np.count_nonzero(is_oam)))
        return Step(departures, (until_ps, until_ps))
