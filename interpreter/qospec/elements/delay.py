"""A constant delay, such as that of a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Time, element
from qospec.dataclass import dataclass
from qospec.engine.element import Step
from qospec.engine.items.batch import FOREVER_PS

if TYPE_CHECKING:
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock


@element(source="ITU-T I.356 (cell transfer delay)")
@dataclass(frozen=True)
class Delay:
    """Let each cell or packet leave a constant time after it came, however many come at once."""

    time: Time
    """How much later."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("in",)

    @property
    def outputs(self) -> tuple[str, ...]:
        return ("out",)

    def lookahead_ps(self, clock: Clock | None) -> int:
        return self.time

    def start(self, setting: Setting) -> None:
        return None

    def process(self, state: None, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        if self.time:
            batch = batch.moved(batch.at_ps + self.time)
        return Step((batch,), (min(until_ps + self.time, FOREVER_PS),))
