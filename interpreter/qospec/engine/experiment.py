"""An experiment: what one trial runs, as plain values, ready to be sent to another process.

If several wires lead to one input, the engine merges them by time, then in the order of wires;
items from sources precede these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.protocol.marks import CLP

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks
    from qospec.engine.element import Element, Told
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.queue.drop_policy import Waiting
    from qospec.engine.source.arrivals import Arrivals
    from qospec.engine.source.framing import Framing
    from qospec.engine.source.sizes import Sizes
    from qospec.protocol.encapsulation import Encapsulation
    from qospec.protocol.streams import Streams
    from qospec.voice.calls import Call

END = -1
"""The destination of a cell: it counts as received."""
DISCARD = -2
"""Where a cell is discarded on purpose: it counts as lost, with cause `discarded`."""


class Monitor(NamedTuple):
    """How a host reads delays of what arrives there.

    Attributes:
        host: Its path.
        resolution_ps: Between two ticks of its clock; 0 if it shows each ps.
        overhead_ps: What it adds to a time of arrival.
    """

    host: str = ""
    resolution_ps: int = 0
    overhead_ps: int = 0


class Source(NamedTuple):
    """The emitting side of one flow, at one host.

    Attributes:
        name: The flow's name; it names the random stream.
        arrivals: When its cells are ready.
        first: Index of its first connection.
        connections: How many it has.
        phases: "even" or "random": the offsets between the starts of its connections.
        sizes: The sizes of its items.
        marks: The marks of its items; see `protocol.marks`.
        node: Index of the node that it feeds.
        input: The input of that node.
        encapsulation: For packets, the framing of the first link, by which bytes of frames are
            counted.
        transport_bytes: Headers in each packet, behind IP's.
        call: How speech is coded and played, if each connection is a call.
        monitor: How the host at which they arrive reads delays.
        framing: How its cells form frames; None if they do not.
        mark_order: Of each item the marks, as uint32, in the order in which a connection repeats
            them; empty if all have `marks`.
        is_tagged: Whether frames have a tag, on a link where this depends on the flow.
        origin: The path of the host at which they begin.
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
    call: Call | None = None
    monitor: Monitor = Monitor()
    framing: Framing | None = None
    mark_order: bytes = b""
    is_tagged: bool = False
    origin: str = ""

    @property
    def indices(self) -> slice:
        """Return the indices of its connections."""
        return slice(self.first, self.first + self.connections)


class Node(NamedTuple):
    """One element of the network.

    Attributes:
        path: Its name, such as `enc_a.upc[2]`.
        element: Its parameters.
        clock: For a line, a queue or a scheduler: the line that serves it.
        queues: The queues before a scheduler's inputs.
        outputs: For a router or classifier: (indices, marks) output number by connection and by
            `columns`; 255: never arrives.
        columns: The marks of its columns.
        size_bytes: The size of all items that arrive; 0 if sizes differ or are unknown.
        restarts_ps: When it is told to restart, in order of time: before what arrives then.
        clocks: For a queue with several outputs: the line that each feeds, a node of its own; None
            where no port is linked.
        tagged: The connections of which packets have the size with a tag where they leave, from
            the first index to that behind the last.
        told: Who hears what it tells, of a queue that does; None: nobody.
    """

    path: str
    element: Element
    clock: Clock | None = None
    queues: tuple[Waiting, ...] = ()
    outputs: Marks | None = None
    columns: tuple[int, ...] = (0, CLP)
    size_bytes: int = 0
    restarts_ps: tuple[int, ...] = ()
    clocks: tuple[Clock | None, ...] = ()
    tagged: tuple[tuple[int, int], ...] = ()
    told: Told | None = None


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


class Tap(NamedTuple):
    """An output of a node, by its index: what leaves by it passes a place, which is named."""

    place: str
    node: int
    output: int


class MeasurementSpec(NamedTuple):
    """What a trial records.

    Attributes:
        start_ps: Start of the window. A cell counts by when the line of its source sent its first
            bit; for `planned`, by when it was ready.
        stop_ps: End of the window, exclusive. Sources stop here.
        drains: Whether what the line of its source still holds then counts as sent, however late.
        histogram_row: Per connection index, its row of the delay histogram, or -1.
        followed: What else to record, as metrics name it in `needs`, each with a range of
            connection indices, the end exclusive.
        queues: The paths of the queues whose occupancy to record.
        servers: The paths of the elements whose utilisation to record.
        machines: The paths of the machines whose changes of state to record.
        series: What to count by interval.
        taps: Where to count what passes; a place may have several.
        changed_ps: When something last changes in the trial; None if nothing does.
    """

    start_ps: int
    stop_ps: int
    histogram_row: tuple[int, ...]
    followed: tuple[tuple[str, int, int], ...] = ()
    queues: tuple[str, ...] = ()
    series: tuple[Intervals, ...] = ()
    taps: tuple[Tap, ...] = ()
    changed_ps: int | None = None
    servers: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    drains: bool = False

    def list_ranges(self, need: str) -> tuple[tuple[int, int], ...]:
        """Return the ranges of connection indices for which a need is recorded."""
        return tuple((first, stop) for followed, first, stop in self.followed if followed == need)

    def without_need(self, need: str) -> MeasurementSpec:
        """Return the same but for one need."""
        return self._replace(followed=tuple(entry for entry in self.followed if entry[0] != need))

    def list_recorded(self, first: int, stop: int) -> frozenset[str]:
        """Return what is recorded of all of these, besides the histogram of every connection."""
        return frozenset(
            need for need, begin, end in self.followed if begin <= first and stop <= end
        )


class Experiment(NamedTuple):
    """One trial, complete: the same experiment gives the same observation, bit for bit.

    Attributes:
        contracts: That of each connection, in order of their indices.
        streams: What is counted by itself.
        sources: What sends.
        nodes: What items pass.
        wires: Between them.
        measurement: What is recorded.
        seed: The names that all draws depend on.
    """

    contracts: tuple[Contract, ...]
    streams: Streams
    sources: tuple[Source, ...]
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    measurement: MeasurementSpec
    seed: tuple[str, ...]
