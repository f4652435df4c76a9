"""One way becomes several, by what a cell is."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue import element
from qospec.dataclass import dataclass
from qospec.engine.element import Step
from qospec.engine.parting import WAYS, routed, routes

if TYPE_CHECKING:
    from qospec.engine.batch import Batch
    from qospec.engine.clock import Clock
    from qospec.engine.element import Setting
    from qospec.engine.parting import Routes


@element(source="RFC 3290, 4 (classifiers)", duty="classifier", open_fields=True)
@dataclass(frozen=True)
class Classify:
    """Send each cell to the first class whose condition it meets; the author names the classes.

    What a condition may ask, the connection and its CLP, is known beforehand: the planner works the
    conditions out into a table.
    """

    parts: ClassVar[bool] = True

    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.classes:
            raise ValueError("at least one class is needed, as in `rest = otherwise`")
        if len(self.classes) > WAYS:
            raise ValueError(f"at most {WAYS} classes can be told apart")

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("in",)

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.classes

    def least_delay_ps(self, clock: Clock | None) -> int:
        return 0

    def start(self, setting: Setting) -> Routes:
        return routes(setting)

    def process(self, state: Routes, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        departures = routed(batch, state, len(self.classes))
        return Step(departures, (until_ps,) * len(self.classes))
