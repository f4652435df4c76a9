"""Extraction of OAM cells from the path of user cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import CONNECTION, DONE, Transition, send
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.protocol.streams import KindName

USER, OAM = 0, 1
"""The outputs."""
FIRST, END = 0, 1
"""The state of `_arrive`: the first connection index of OAM cells, and that after the last."""


@element(source="ITU-T I.610 (F5 flow: OAM cells of a VC within the VC)", carries=("cell",))
@dataclass(frozen=True)
class OamExtract(Element):
    """Separate the OAM cells of all connections from their user cells."""

    answers_at_once = True
    keeps_spacing = True

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("user", "oam")

    def predict_output(self, number: int, *, kind: KindName) -> int:
        return OAM if kind == "oam" else USER

    def build_transition(self, setting: Setting) -> Transition:
        oam = setting.streams.list_indices("oam")
        return Transition(np.array([oam.start, oam.stop]), _arrive)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a cell to the output of its kind at once; see `engine.event.transition`."""
    is_oam = state[FIRST] <= items[item, CONNECTION] < state[END]
    send(out, OAM if is_oam else USER, item, now_ps)
    return DONE
