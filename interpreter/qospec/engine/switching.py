"""What switches and routers are made of: fabrics, and multiplexers where their inputs meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain
from qospec.dataclass import dataclass
from qospec.engine.element import Element, Step
from qospec.engine.items.arbitration import Arbitration, arbiter, arbitrated
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.merge import merged
from qospec.engine.items.partition import MAX_OUTPUTS, partition_by_table, routing_table

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.partition import RoutingTable
    from qospec.engine.line.clock import Clock

Ports = Annotated[int, Domain("integer", 1, MAX_OUTPUTS)]
"""A number of ports that an output table supports."""


@dataclass(frozen=True)
class Multiplexer(Element):
    """Merge several inputs in order of time, and simultaneous items as an arbiter decides."""

    keeps_spacing = True

    ports: Annotated[int, Domain("integer", 1, 2**16)]
    """Number of inputs."""
    arbitration: Arbitration = "fixed_order"
    """Which input goes first if several compete: the lowest, each in turn, or one at random."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return `in[0]` and so on."""
        return tuple(f"in[{number}]" for number in range(self.ports))

    def start(self, setting: Setting) -> Whole:
        """Return its arbiter."""
        return arbiter(self.arbitration, setting.draws)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Merge arrivals."""
        return Step((arbitrated(arrivals, state),), (until_ps,))


class Fabric(Element):
    """Forward each item to the output of its connection, a constant time later, in order."""

    keeps_spacing = True

    ports: int
    latency: int
    arbitration: Arbitration

    @property
    def multiplexer(self) -> Multiplexer | None:
        """Return one if simultaneous items are not to go on in the order of their inputs."""
        if self.arbitration == "fixed_order":
            return None
        return Multiplexer(self.ports, self.arbitration)

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

    def process(self, state: RoutingTable, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Partition arrivals by output; those of the same ps leave in the order of their inputs."""
        exits = zip(
            *(partition_by_table(batch, state, self.ports) for batch in arrivals), strict=True
        )
        departures = tuple(map(merged, exits))
        if self.latency:
            departures = tuple(items.moved(items.at_ps + self.latency) for items in departures)
        return Step(departures, (min(until_ps + self.latency, FOREVER_PS),) * self.ports)
