"""The fabric of a switch: each cell goes to the output that its connection is routed to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue import Domain, Time, element
from qospec.engine.batch import FOREVER_PS
from qospec.engine.element import Step
from qospec.engine.merge import merged
from qospec.engine.parting import WAYS, routed, routes

if TYPE_CHECKING:
    from qospec.engine.batch import Batch
    from qospec.engine.clock import Clock
    from qospec.engine.element import Setting
    from qospec.engine.parting import Routes

Ways = Annotated[int, Domain("integer", 1, WAYS)]
"""A number of ports that an output table can tell apart."""


@element(source="ITU-T I.311 (VC and VP switching)", duty="router")
@dataclass(frozen=True)
class VcSwitch:
    """Bring each cell to the output of its connection, a constant time later, in order of time.

    Cells that come in the same ps leave in the order of their inputs. Where they have to wait, a
    queue stands behind the output.

    Not modelled: contention within the fabric; routing of its own, the planner fills the table.
    """

    ways: Ways
    """How many inputs, and as many outputs."""
    latency: Time = 0
    """From the last bit in to the cell's being ready for the output."""
    level: Annotated[Literal["vc", "vp"], Domain("choice", choices=("vc", "vp"))] = "vc"
    """Whether the table tells connections apart by VPI and VCI, or by VPI alone."""

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"entry[{number}]" for number in range(self.ways))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(f"exit[{number}]" for number in range(self.ways))

    def least_delay_ps(self, clock: Clock | None) -> int:
        return self.latency

    def start(self, setting: Setting) -> Routes:
        return routes(setting)

    def process(self, state: Routes, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        exits = zip(*(routed(batch, state, self.ways) for batch in arrivals), strict=True)
        departures = tuple(map(merged, exits))
        if self.latency:
            departures = tuple(cells.moved(cells.at_ps + self.latency) for cells in departures)
        return Step(departures, (min(until_ps + self.latency, FOREVER_PS),) * self.ways)
