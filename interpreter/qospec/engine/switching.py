"""The common base of switch and router: items leave by the outputs that a table names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import CONNECTION, DONE, MARKS, Transition, send
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.merge import merged
from qospec.engine.items.partition import (
    MAX_OUTPUTS,
    output_in,
    partition_by_table,
    routing_table,
    table_state,
)
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.partition import RoutingTable
    from qospec.engine.line.clock import Clock

Ports = Annotated[int, Domain("integer", 1, MAX_OUTPUTS)]
"""A number of ports that an output table supports."""


class Fabric(Element):
    """Forward each item to the output of its connection, a constant time later, in order."""

    keeps_spacing = True

    ports: int
    latency: int

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return `entry[0]` and so on."""
        return tuple(f"entry[{number}]" for number in range(self.ports))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return `exit[0]` and so on."""
        return tuple(f"exit[{number}]" for number in range(self.ports))

    def lookahead_ps(self, clock: Clock | None) -> int:  # noqa: ARG002  no line serves it
        """Return its latency."""
        return self.latency

    def start(self, setting: Setting) -> RoutingTable:
        """Return the planner's table."""
        return routing_table(setting)

    def transition(self, setting: Setting) -> Transition:
        """Return the same, item by item."""
        return Transition(np.concatenate([[self.latency], table_state(setting)]), _arrive)

    def process(self, state: RoutingTable, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Partition arrivals by output; those of the same ps leave in the order of their inputs."""
        exits = zip(
            *(partition_by_table(batch, state, self.ports) for batch in arrivals), strict=True
        )
        departures = tuple(map(merged, exits))
        if self.latency:
            departures = tuple(items.moved(items.at_ps + self.latency) for items in departures)
        return Step(departures, (min(until_ps + self.latency, FOREVER_PS),) * self.ports)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Send an item to its output, after the latency; see `engine.event.transition`."""
    output = output_in(state, 1, items[item, CONNECTION], items[item, MARKS])
    send(out, output, item, now_ps + state[0])
    return DONE
