"""What every element, arrival process and metric is to the engine.

An element is a frozen dataclass of its parameters. `start` makes its state for one trial; `process`
takes what has come in, up to a watermark, and gives what goes out. It promises, and a property test
holds every element of the catalogue to it:

- *causality*: no cell leaves before it came;
- *order*: leaving times do not fall, at each output;
- *conservation*: each cell leaves once or is in the ledger once;
- *chunks*: the same cells in more, smaller batches give the same;
- *purity*: equal arguments give equal results, and no input is changed, but for arrival times that
  the setting says the element owns;
- *account*: an element that holds items tells who waited, if it is watched;
- *agreement*: a compiled kernel equals its Python self.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from qospec.engine.marks import CLP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.engine.arrays import Indices, Marks, Times
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Connections, Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.queue.drop_policy import Waiting
    from qospec.engine.random import Draws

    Process = Callable[[tuple[Batch, ...], int], "Step"]
    """What an element does with arrivals below a time."""


class Loss(NamedTuple):
    """Cells that ended here, for one cause.

    `element` is empty for the element itself, or the path of the queue that it serves.
    """

    cause: str
    connection: Indices
    sent_ps: Times
    element: str = ""


class Step(NamedTuple):
    """What `process` gives.

    Attributes:
        departures: A batch per output. All of its times are below its watermark.
        until_ps: A watermark per output: nothing earlier than this will follow.
        losses: What ended here.
        waits: If the setting asks for it: when each that waited came, and when it began to be
            served or was given up; in order.
    """

    departures: tuple[Batch, ...]
    until_ps: tuple[int, ...]
    losses: tuple[Loss, ...] = ()
    waits: tuple[Times, Times] | None = None


class Setting(NamedTuple):
    """What an element finds when a trial starts; the planner fills what its duty needs.

    Attributes:
        connections: All connections.
        draws: The streams of this element.
        clock: For a line, a queue and a scheduler: the line that they are served by.
        queues: For a scheduler: the queue before each input, in order of inputs.
        outputs: For a router and a classifier: (indices, marks) the output's number by connection
            and by `columns`, 255 where no such item comes.
        columns: The marks that its columns are for.
        size_bytes: The one size that all cells have; 0 if they differ, or if that is not known.
        owns_times: Whether `at_ps` of what comes is the element's own: nobody else will look at it
            again, so departures may be written over it.
        watched: Whether an element in which items wait is to tell of that.
    """

    connections: Connections
    draws: Draws
    clock: Clock | None = None
    queues: tuple[Waiting, ...] = ()
    outputs: Marks | None = None
    columns: tuple[int, ...] = (0, CLP)
    size_bytes: int = 0
    owns_times: bool = False
    watched: bool = False


class Element(Protocol):
    """One step of a cell's way. Its ports are known from its parameters.

    A class may say more of itself: `causes`, a tuple of what it may discard cells for, and for an
    element with certain fields `discards_for`, those of them that it can; `inserts`, that it makes
    OAM cells; `concerns(contract)`, false if it leaves such a contract's cells alone;
    `tags(contract)`, that it may set their CLP; `becomes(marks)`, what it may make of such marks,
    the usual first, and none where it lets nothing pass; `writes`, the names of marks that it sets;
    `bucket_bytes`, how long a packet may be to conform; `holds`, that items wait in it, though it
    is no queue, and that it tells of them; `output_of(oam)`, the output that OAM or user cells
    take; `parallel`, that what comes by an input leaves by the output of that number; `parts`, that
    all it does is to part what comes, by the planner's table.
    """

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs, in order."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of its outputs, in order."""

    def lookahead_ps(self, clock: Clock | None) -> int:
        """Return a time that no cell can undercut; it is the element's lookahead in a loop."""

    def start(self, setting: Setting) -> Any:
        """Return its state at the beginning of a trial."""

    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Carry `arrivals`, a batch per input, all below `until_ps`.

        At `FOREVER_PS` everything that waits is sent.
        """


class Arrivals(Protocol):
    """A process by which the like connections of one flow have cells ready.

    `connection` of what it emits counts from 0 within the flow.
    """

    def start(self, connections: int, phases: str, draws: Draws) -> Any:
        """Return its state at the beginning of a trial."""

    def emit(self, state: Any, until_ps: int) -> tuple[Times, Indices]:
        """Return all cells ready before `until_ps` that were not yet given, in order of time."""

    def mean_cell_rate(self, connections: int) -> Any:
        """Return cells/s of all connections together, on average."""

    def most_cells(self, connections: int, length_ps: int) -> int | None:
        """Return how many cells they have ready within a time, at most; None if that is random."""


class Traffic(Protocol):
    """A kind of traffic: what is declared, apart from what is emitted."""

    def contract(self) -> Contract:
        """Return the contract that it declares."""

    def conforming_source(self) -> tuple[str, Mapping[str, object]]:
        """Return the arrival process, by name and arguments, that uses the contract to the full."""
