"""What every element is: what it states of itself, and how it runs.

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

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from qospec.catalogue.kinds import CARRIED
from qospec.protocol.marks import CLP

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.catalogue.kinds import Buffer, Carried
    from qospec.engine.arrays import Indices, Marks, Times
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.connections import Connections, Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.meter.token_bucket import Bucket
    from qospec.engine.queue.drop_policy import DropPolicy, Waiting
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


class Element(ABC):
    """One step of a cell's way: a frozen dataclass of its parameters.

    What others need to know of an element, its facts state. Each has a default: that of an element
    with one input and one output that takes no time, loses nothing and changes nothing. A class
    overrides those in which it differs, and no field has the name of a fact: the default of the
    fact would become that of the field.
    """

    # ---- what a class states

    causes: ClassVar[tuple[str, ...]] = ()
    """All causes that it may lose items for: names and help of the checker."""
    holds: ClassVar[bool] = False
    """Whether items wait in it, for anything but a line: it then reports in `Step.waits` which did,
    and the checker offers its occupancy."""
    inserts_oam: ClassVar[bool] = False
    """Whether it makes OAM cells: the planner then gives them indices, the engine counts them."""
    keeps_spacing: ClassVar[bool] = False
    """Whether items leave as far apart in time as they came: a plan's warning on tolerances."""
    only_splits: ClassVar[bool] = False
    """Whether it does no more than split what comes by the planner's table: the engine may leave
    that to the scheduler behind it."""

    # ---- its ports, and the ways through it

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the names of its inputs, in order."""
        return ("in",)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the names of its outputs, in order."""
        return ("out",)

    @property
    def accepts(self) -> tuple[Carried, ...]:
        """Return what may come to it, of cells and packets: those that its buffer can count."""
        if self.buffer is None or self.buffer.unit == "byte":
            return CARRIED
        return (self.buffer.unit,)

    def output_of(self, number: int, *, oam: bool) -> int:
        """Return the output for what comes by an input, for the planner to follow.

        A router or a classifier is not asked: the planner makes a table of its outputs.
        """
        return 0

    def clock(self, *, stamps: bool) -> Clock | None:
        """Return how it serves what queues for it, if it is a line; for the planner to join both.

        Args:
            stamps: Whether it is at a source, and writes when each item was sent.
        """
        return None

    # ---- what it does to items

    def concerns(self, contract: Contract) -> bool:
        """Return whether it does anything to items under a contract: else the planner omits it."""
        return True

    def polices(self, contract: Contract) -> bool:
        """Return whether it holds each connection to such a contract: for a plan's warnings."""
        return False

    def marks_after(self, marks: int, contract: Contract) -> tuple[int, ...]:
        """Return the marks that an item may have behind it, for the planner to follow.

        The usual ones come first; there are none where no such item passes.
        """
        return (marks,)

    @property
    def writes(self) -> tuple[str, ...]:
        """Return the names of the marks that it sets: a plan looks for frames that bear them."""
        return ()

    @property
    def discards_for(self) -> tuple[str, ...]:
        """Return those of its causes that its parameters allow, for a report to list."""
        return self.causes

    # ---- what it keeps items for

    @property
    def buffer(self) -> Buffer | None:
        """Return how much may wait in it, for the checker and the planner; None: no limit."""
        return None

    @property
    def drop_policy(self) -> DropPolicy | None:
        """Return what it loses before its buffer is full, for the planner; None: nothing."""
        return None

    @property
    def token_bucket(self) -> Bucket | None:
        """Return the bucket whose tokens an item needs to conform, for a plan's warnings."""
        return None

    # ---- how it runs

    def lookahead_ps(self, clock: Clock | None) -> int:
        """Return a time that no item can undercut: its lookahead, for the engine and the checker.

        Args:
            clock: Of the line that serves it, if one does.
        """
        return 0

    def start(self, setting: Setting) -> Any:
        """Return its state at the beginning of a trial; None if it keeps nothing."""
        return None

    @abstractmethod
    def process(self, state: Any, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        """Carry `arrivals`, a batch per input, all below `until_ps`.

        At `FOREVER_PS` everything that waits is sent.
        """
