"""A constant delay, such as that of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Time, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import DONE, Transition, send
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock


@element(source="ITU-T I.356 (cell transfer delay)")
@dataclass(frozen=True)
class Delay(Element):
    """Delay each cell or packet by a constant time, however many arrive at once."""

    keeps_spacing = True

    time: Time
    """The delay."""

    def lookahead_ps(self, clock: Clock | None) -> int:
        return self.time

    def transition(self, setting: Setting) -> Transition:
        return Transition(np.array([self.time]), _arrive)

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        if self.time:
            batch = batch.moved(batch.at_ps + self.time)
        return Step((batch,), (min(until_ps + self.time, FOREVER_PS),))


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send an item on after the time in `state`; see `engine.event.transition`."""
    send(out, 0, item, now_ps + state[0])
    return DONE
