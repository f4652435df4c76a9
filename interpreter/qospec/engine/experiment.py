"""An experiment: what one trial runs, as plain values, ready to be sent to another process.

Where several wires lead to one input, the engine merges them by time, then in the order of wires;
what comes from sources goes ahead of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.protocol.marks import CLP

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks
    from qospec.engine.element import Element
    from qospec.engine.items.connections import Connections
    from qospec.engine.line.clock import Clock
    from qospec.engine.queue.drop_policy import Waiting
    from qospec.engine.source.arrivals import Arrivals
    from qospec.engine.source.sizes import Sizes
    from qospec.protocol.encapsulation import Encapsulation

END = -1
"""Where a cell has arrived: it counts as received."""
DISCARD = -2
"""Where a cell is thrown away on purpose: it counts as lost, cause `discarded`."""


class Source(NamedTuple):
    """The emitting side of one flow, at one host.

    Attributes:
        name: The flow's name; it names the random stream.
        arrivals: When its cells are ready.
        first: Index of its first connection.
        connections: How many it has.
        phases: "even" or "random": how the connections' beginnings lie to each other.
        sizes: Lengths of its items.
        marks: Of each item, as `protocol.marks` reads them.
        node: Index of the node that it feeds.
        input: That node's input.
        encapsulation: That of the first link of a source of packets: bytes of its frames are
            counted as they are there.
        transport_bytes: Headers in each packet, behind IP's.
    """

    name: str
    arrivals: Arrivals
    first: int
    connections: int
    phases: str
    sizes: Sizes
    marks: int
    node: int
    input: int = 0
    encapsulation: Encapsulation | None = None
    transport_bytes: int = 0


class Node(NamedTuple):
    """One element in place.

    Attributes:
        path: Its name for people, such as `enc_a.upc[2]`.
        element: Its parameters.
        clock: The line it is served by, for a line, a queue or a scheduler.
        queues: The queues before a scheduler's inputs.
        outputs: For a router or classifier: (indices, marks) output number by connection and by
            `columns`; 255: never comes.
        columns: The marks that its columns are for.
    """

    path: str
    element: Element
    clock: Clock | None = None
    queues: tuple[Waiting, ...] = ()
    outputs: Marks | None = None
    columns: tuple[int, ...] = (0, CLP)


class Wire(NamedTuple):
    """From a node's output to a node's input, or to END or DISCARD."""

    node: int
    output: int
    to: int
    input: int = 0


class Intervals(NamedTuple):
    """Some connections, from the first up to `stop`, and the length of their intervals."""

    first: int
    stop: int
    every_ps: int


class MeasurementSpec(NamedTuple):
    """What a trial records.

    Attributes:
        start_ps: A cell counts when the source's line sent its first bit (for `planned`: when it
            was ready) at or after this
        stop_ps: and before this. Sources fall silent here.
        histogram_row: Per connection index, the row of the delay histogram it adds to, or -1.
        followed: What else to record, as metrics name it in `needs`, and of what connection
            indices, from the first up to the second.
        queues: By path, the queues of which to record how much waits in them.
        series: What to count by intervals.
    """

    start_ps: int
    stop_ps: int
    histogram_row: tuple[int, ...]
    followed: tuple[tuple[str, int, int], ...] = ()
    queues: tuple[str, ...] = ()
    series: tuple[Intervals, ...] = ()

    def ranges(self, need: str) -> tuple[tuple[int, int], ...]:
        """Return of what connection indices that is recorded."""
        return tuple((first, stop) for each, first, stop in self.followed if each == need)

    def recorded(self, first: int, stop: int) -> frozenset[str]:
        """Return what is recorded of all these; every connection has a histogram besides."""
        return frozenset(
            need for need, begin, end in self.followed if begin <= first and stop <= end
        )


class Experiment(NamedTuple):
    """One trial, complete: the same experiment gives the same observation, bit for bit."""

    connections: Connections
    sources: tuple[Source, ...]
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    measurement: MeasurementSpec
    seed: tuple[str, ...]
