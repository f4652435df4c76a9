"""What switches and routers are made of: fabrics, and multiplexers where their inputs meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Step
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    MARKS,
    Transition,
    send,
    wake_at,
)
from qospec.engine.items.arbitration import (
    FIELDS,
    Arbitration,
    arbitrate,
    arbitrate_batches,
    build_arbiter,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.merge import merge_batches
from qospec.engine.items.partition import (
    MAX_OUTPUTS,
    build_routing_table,
    encode_table,
    find_output,
    partition_by_table,
)
from qospec.engine.kernel import kernel, view_part

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
        return build_arbiter(self.arbitration, setting.draws)

    def build_transition(self, setting: Setting) -> Transition:
        """Return the same, item by item: all of one moment go on when the last of them is there."""
        if self.arbitration == "fixed_order":
            return Transition(np.zeros(0, np.int64), _pass_on)
        own = [self.ports, 0, *[0] * self.ports, *[0] * 3 * self.ports]
        state = np.concatenate([build_arbiter(self.arbitration, setting.draws), np.array(own)])
        return Transition(state, _keep, _go_on, replenish=_with_more_places)

    def process(self, state: Whole, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Merge arrivals."""
        return Step((arbitrate_batches(arrivals, state),), (until_ps,))


PORTS, KEPT, HEADS = range(FIELDS, FIELDS + 3)
"""Behind the fields of the arbiter: the number of inputs, and of items of this moment; where it
keeps the first item of each input. Then come the items' inputs, their numbers, and the order in
which they go on."""
NO_PLACES = 1
"""What may be lacking."""


@kernel
def _pass_on(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Send an item on at once; see `engine.event.transition`."""
    send(out, 0, item, now_ps)
    return DONE


@kernel
def _keep(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Keep an item until all of its moment are there; see `engine.event.transition`."""
    first, kept = HEADS + state[PORTS], state[KEPT]
    places = (len(state) - first) // 3
    if kept == places:
        return NO_PLACES
    if kept == 0:
        wake_at(out, now_ps)
    state[first + kept], state[first + places + kept] = port, item
    state[KEPT] = kept + 1
    return DONE


@kernel
def _go_on(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Send the items of this moment on as the arbiter decides; see `engine.event.transition`."""
    first, kept = HEADS + state[PORTS], state[KEPT]
    places = (len(state) - first) // 3
    order = view_part(state, first + 2 * places, kept)
    heads, inputs = view_part(state, HEADS, state[PORTS]), view_part(state, first, kept)
    arbitrate(state, inputs, (0, kept), heads, order)
    for place in range(kept):
        send(out, 0, state[first + places + order[place]], now_ps)
    state[KEPT] = 0
    return DONE


def _with_more_places(state: Whole, lacking: int) -> Whole:  # noqa: ARG001  it is always places
    """Return the state with room for twice the items."""
    first = HEADS + int(state[PORTS])
    rows = state[first:].reshape(3, -1)
    return np.concatenate([state[:first], np.tile(rows, 2).ravel()])


class Fabric(Element):
    """Forward each item to the output of its connection, a constant time later, in order."""

    keeps_spacing = True

    ports: int
    entries: int | None = None
    latency: int
    arbitration: Arbitration

    @property
    def multiplexer(self) -> Multiplexer | None:
        """Return one if simultaneous items are not to go on in the order of their inputs."""
        if self.arbitration == "fixed_order":
            return None
        return Multiplexer(len(self.inputs), self.arbitration)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return `entry[0]` and so on."""
        entries = self.ports if self.entries is None else self.entries
        return tuple(f"entry[{number}]" for number in range(entries))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return `exit[0]` and so on."""
        return tuple(f"exit[{number}]" for number in range(self.ports))

    def find_lookahead_ps(self, clock: Clock | None) -> int:  # noqa: ARG002  no line serves it
        """Return its latency."""
        return self.latency

    def start(self, setting: Setting) -> RoutingTable:
        """Return the planner's table."""
        return build_routing_table(setting)

    def build_transition(self, setting: Setting) -> Transition:
        """Return the same, item by item."""
        state = np.concatenate([[self.latency], encode_table(setting)])
        return Transition(state, _arrive)

    def process(self, state: RoutingTable, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Partition arrivals by output; those of the same ps leave in the order of their inputs."""
        exits = zip(
            *(partition_by_table(batch, state, self.ports) for batch in arrivals), strict=True
        )
        departures = tuple(map(merge_batches, exits))
        if self.latency:
            departures = tuple(items.with_times(items.at_ps + self.latency) for items in departures)
        return Step(departures, (min(until_ps + self.latency, FOREVER_PS),) * self.ports)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:  # noqa: ARG001
    """Send an item to its output, after the latency; see `engine.event.transition`."""
    output = find_output(state, 1, items[item, CONNECTION], items[item, MARKS])
    send(out, output, item, now_ps + state[0])
    return DONE
