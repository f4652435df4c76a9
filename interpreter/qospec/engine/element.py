"""The contract of elements: the facts that a class states, and how it runs.

An element is a frozen dataclass of its parameters. `build_transition` returns how it answers events
one at a time, with its state for one trial. Batches are a loop over that; or `process` takes those
up to a watermark and returns departures, with a state from `start`. An element promises the
following, and a property test holds every element of the catalogue to it:

- *causality*: no item leaves before it arrives;
- *order*: times of departure do not fall, at each output;
- *conservation*: each item that came or was made leaves, is lost or is consumed once;
- *chunks*: the same items in more, smaller batches give the same result;
- *purity*: equal arguments give equal results, and no input is changed, except for arrival
  times that the element owns by its setting;
- *account*: an element that holds items reports those that waited, if required;
- *facts*: causes, outputs, times, marks and sizes are those that it states;
- *agreement*: batches, compiled events and events as Python give the same, at any cut.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from qospec.calculus.guarantee import Guarantee, Guarantees
from qospec.catalogue.kinds import CARRIED
from qospec.dataclass import NamedTuple
from qospec.protocol.marks import CLP
from qospec.protocol.streams import KindName

if TYPE_CHECKING:
    from fractions import Fraction

    from qospec.calculus.curve import Curve
    from qospec.calculus.guarantee import Arrival
    from qospec.catalogue.form import Form
    from qospec.catalogue.kinds import Buffer, Carried
    from qospec.engine.arrays import Marks, Times
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock
    from qospec.engine.line.tandem import Hop
    from qospec.engine.machine.placement import Placement
    from qospec.engine.meter.token_bucket import Bucket
    from qospec.engine.queue.drop_policy import DropPolicy, Waiting
    from qospec.engine.random import Draws
    from qospec.engine.security.rekeying import Rekeying
    from qospec.protocol.encapsulation import Framing
    from qospec.protocol.streams import Streams

    Frames = Literal["", "coming", "leaving"]
    """Of the packets that come, those around them on the last line, or on the next one."""
    Process = Callable[[tuple[Batch, ...], int], "Step"]
    """The function that processes arrivals below a time."""


class BrokenPromiseError(RuntimeError):
    """An element broke a promise: a defect of the engine, never of a specification."""

    def __init__(self, path: str, breach: str) -> None:
        super().__init__(f"`{path}` {breach}")


class Loss(NamedTuple):
    """Items that were lost here, for one cause.

    The time of each is when it came, or when it was lost: one that is below `until_ps`.

    `element` is empty for the element itself, or the path of the queue that it serves.
    """

    cause: str
    batch: Batch
    element: str = ""


class Step(NamedTuple):
    """The result of `process`.

    Attributes:
        departures: A batch per output, with all times below its watermark.
        until_ps: A watermark per output: no earlier departure will follow.
        losses: The items that were lost here.
        waits: If the setting requires it, by path of the queue, "" its own: when each item that
            waited arrived, and when its service began or it was abandoned; in order.
        made: The items that the element made, whatever became of them.
        consumed: The items that ended here, neither lost nor delivered.
        resized: The items whose size was changed here: as they were before, and after.
        services: If the setting requires it: when the service of each item that was served began
            and ended; in order.
    """

    departures: tuple[Batch, ...]
    until_ps: tuple[int, ...]
    losses: tuple[Loss, ...] = ()
    waits: Mapping[str, tuple[Times, Times]] | None = None
    made: tuple[Batch, ...] = ()
    consumed: tuple[Batch, ...] = ()
    resized: tuple[tuple[Batch, Batch], ...] = ()
    services: tuple[Times, Times] | None = None


class Told(NamedTuple):
    """Who hears what a queue tells.

    Attributes:
        connection: The index by which it is told.
        bit_rate: That of the line by which it is told, on which times are counted.
    """

    connection: int
    bit_rate: Fraction


class Setting(NamedTuple):
    """The setting of an element when a trial starts; the planner fills in what its duty needs.

    Attributes:
        contracts: That of each connection.
        streams: All streams, by which its items are counted.
        draws: The streams of this element.
        clock: For a line, a queue and a scheduler: the line that they are served by.
        queues: For a scheduler: the queue before each input, in order of inputs.
        outputs: For a router and a classifier: (indices, marks) the output's number by connection
            and by `columns`, 255 where no such item arrives.
        columns: The marks of its columns.
        size_bytes: The size of all items that arrive; 0 if sizes differ or are unknown.
        owns_times: Whether the element owns `at_ps` of arrivals: nothing else reads it again, so
            departures may be written over it.
        watched: Whether an element that holds items reports those that waited, in `Step.waits`, and
            one that serves them when it was busy, in `Step.services`. What waits for a line, its
            transition reports, an endpoint what it tells of connections, and a machine its changes.
        stop_ps: The end of the trial, when sources stop: an endpoint begins nothing then or later.
        restarts_ps: When it is told to restart, in order; only of an element that can.
        path: Its path, for messages.
        number: Its number among the elements of the trial.
        clocks: For a queue with several outputs: the line that each feeds; None: no port is linked.
        told: Who hears what it tells, of a queue that does; None: nobody.
    """

    contracts: tuple[Contract, ...]
    streams: Streams
    draws: Draws
    clock: Clock | None = None
    queues: tuple[Waiting, ...] = ()
    outputs: Marks | None = None
    columns: tuple[int, ...] = (0, CLP)
    size_bytes: int = 0
    owns_times: bool = False
    watched: bool = False
    stop_ps: int = 0
    restarts_ps: tuple[int, ...] = ()
    path: str = "element"
    number: int = 0
    clocks: tuple[Clock | None, ...] = ()
    told: Told | None = None


class Element(ABC):  # noqa: B024 -- either of `process` and `build_transition` is needed
    """One step of the path of cells or packets: a frozen dataclass of its parameters.

    All that the checker, the planner and the engine know of an element are the facts below. Each
    has a default, that of an element with one input and one output that takes no time, loses
    nothing and changes nothing; a class overrides those in which it differs. No field may have the
    name of a fact: the default of the fact would become that of the field.
    """

    _former_names: ClassVar[dict[str, str]] = {
        "transition": "build_transition",
        "clock": "build_clock",
        "marks_after": "predict_marks",
        "form_after": "predict_form",
        "output_of": "predict_output",
        "outputs_of": "predict_outputs",
        "lookahead_ps": "find_lookahead_ps",
        "guarantees": "guarantee_service",
        "admits": "bound_passing",
        "inserted": "bound_inserted",
        "placed": "with_placement",
        "hop": "as_hop",
    }
    """Names that functions of an element had before 30 November 2026, each with today's."""

    def __init_subclass__(cls) -> None:
        """Refuse a function with a former name, which nobody would call; a field may have it.

        Raises:
            TypeError: The class has one.
        """
        super().__init_subclass__()
        for name in vars(cls).keys() & cls._former_names.keys():
            value = vars(cls)[name]
            if callable(value) or isinstance(value, property):
                raise TypeError(
                    f"`{cls.__qualname__}.{name}` is called `{cls._former_names[name]}` today:"
                    " rename it, since nothing calls it"
                )

    # ---- what holds for all elements of a class

    causes: ClassVar[tuple[str, ...]] = ()
    """All causes of loss at such an element; the checker offers their counts."""
    holds: ClassVar[bool] = False
    """Whether items wait in it, other than for a line; the checker offers its occupancy."""
    serves: ClassVar[bool] = False
    """Whether it works on one item after the other; the checker offers its utilisation."""
    inserts: ClassVar[tuple[KindName, ...]] = ()
    """The kinds of which it inserts cells; the planner gives them indices, and the engine counts
    them."""
    cuts: ClassVar[bool] = False
    """Whether what it inserts are parts or copies of items that come: these have their marks."""
    ends: ClassVar[tuple[KindName, ...]] = ()
    """The kinds of which all items end in it; proofs use it."""
    makes: ClassVar[bool] = False
    """Whether it is an endpoint: it makes items, which count as planned, and runs by events."""
    signals: ClassVar[bool] = False
    """Whether what it makes has contents, which nothing but the event driver carries: all that do,
    and what is between them, run as one."""
    keeps_spacing: ClassVar[bool] = False
    """Whether cells leave as far apart as they arrive; the planner uses it to check tolerances."""
    answers_at_once: ClassVar[bool] = False
    """Whether its `arrive` says of each item what becomes of it, and it makes none: without a
    `process`, batches are then a loop over it, and no events."""
    lends: ClassVar[bool] = False
    """Whether its bucket, once full, lets pass what is longer than itself, and is owed the rest."""
    needs_line: ClassVar[bool] = False
    """Whether it is a queue that goes by its line, so that no scheduler may stand between: for the
    checker. Any other is its limit and its drop policy, which the scheduler carries out."""
    only_splits: ClassVar[bool] = False
    """Whether it only splits arrivals by its table; the engine may fuse it with others."""

    # ---- its ports, and the paths through it

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
        """Return which items may enter, for the checker: those that its buffer can count."""
        if self.buffer is None or self.buffer.unit == "byte":
            return CARRIED
        return (self.buffer.unit,)

    def predict_output(self, number: int, *, kind: KindName) -> int:
        """Return the output for items of an input, which the planner follows; both are numbers.

        Unused for routers and classifiers, for which the planner makes a table.
        """
        return 0

    def predict_outputs(self, number: int, *, kind: KindName) -> tuple[int, ...]:
        """Return all outputs that items of an input may take, if that is not known ahead."""
        return (self.predict_output(number, kind=kind),)

    @property
    def most_made(self) -> int:
        """Return how many items it makes at most in a trial, if it is no endpoint of a flow."""
        return 0

    def build_clock(self, *, stamps: bool) -> Clock | None:
        """Return how it serves the queue before it, if it is a line; the planner joins the two.

        Args:
            stamps: Whether it is at a source, and writes when each item was sent.
        """
        return None

    def count_parts(self, _size_bytes: int) -> int:
        """Return how many items it makes of one of a size: a window of the engine holds them."""
        return 1

    # ---- what it does to items

    def concerns(self, contract: Contract) -> bool:
        """Return whether it does anything to items of a contract; else the planner omits it."""
        return True

    def polices(self, contract: Contract) -> bool:
        """Return whether it enforces such a contract; the planner warns of what cannot conform."""
        return False

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        """Return the marks that an item may leave with, which the planner follows; the usual first.

        There are none if no such item passes.
        """
        return (marks,)

    def predict_form(self, form: Form) -> Form:
        """Return what items are behind it, which the planner follows: their kind and sizes.

        Raises:
            ValueError: It cannot take such items. The message is for the author of a specification
                and says why.
        """
        return form

    @property
    def most_announced_bytes(self) -> int | None:
        """Return to what it lowers the MSS that TCP announces, for the planner; None: not."""
        return None

    def list_told_bytes(self, _largest_bytes: int) -> tuple[int, ...]:
        """Return the MTUs that sources of packets up to a size learn from it, for the planner."""
        return ()

    @property
    def multiplexer(self) -> Element | None:
        """Return what merges its inputs at each output, if it is a router; the planner inserts it.

        None: they are merged in order of time, then of inputs.
        """
        return None

    @property
    def marks_written(self) -> tuple[str, ...]:
        """Return the marks that it may change, by name; the planner looks for frames with them."""
        return ()

    @property
    def marks_read(self) -> tuple[str, ...]:
        """Return the marks by which it decides, likewise."""
        return ()

    @property
    def idle_fields(self) -> frozenset[str]:
        """Return the fields that decide nothing beside the others; reports leave them out."""
        return frozenset()

    @property
    def discards_for(self) -> tuple[str, ...]:
        """Return those of its causes that its parameters allow; reports list them."""
        return self.causes

    @property
    def down_ps(self) -> int:
        """Return how long it is down when a test restarts it; 0: it cannot be restarted."""
        return 0

    @property
    def rekeying(self) -> Rekeying | None:
        """Return when its security association ends; the planner warns if keys come too late."""
        return None

    # ---- what items wait for

    @property
    def buffer(self) -> Buffer | None:
        """Return how much may wait in it, for the checker and the planner; None: no limit."""
        return None

    @property
    def drop_policy(self) -> DropPolicy | None:
        """Return its drop policy, for the planner; None: nothing is dropped before it is full."""
        return None

    @property
    def token_bucket(self) -> Bucket | None:
        """Return the bucket that limits item sizes, of an element that has one for all."""
        return None

    @property
    def token_buckets(self) -> tuple[Bucket, ...]:
        """Return by input the bucket that limits item sizes; the planner warns of small ones."""
        return () if self.token_bucket is None else (self.token_bucket,) * len(self.inputs)

    @property
    def counts_frames(self) -> Frames:
        """Return of which frames around packets it counts bytes; "": of none."""
        return ""

    def with_frames(self, frames: Framing) -> Element:
        """Return it, given what these frames have around packets, for the planner."""
        return self

    @property
    def tells_by(self) -> str:
        """Return the output by which it tells queues to stop, which waits for no line; "": none."""
        return ""

    @property
    def hears_at(self) -> str:
        """Return the input at which it is told to stop; "": it does not stop."""
        return ""

    @property
    def pause_priorities(self) -> frozenset[int]:
        """Return the priorities that it tells or is told to stop; empty: all together."""
        return frozenset()

    # ---- what is proved of it, for `plan.proofs`

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees | None:
        """Return what it guarantees, given a bound of what arrives at each input; None: nothing.

        By default one that keeps the spacing of items takes as long for each. What is not bounded
        has a curve without lines: whatever holds of it holds for everything.

        Args:
            arriving: By input.
            clock: The line that serves it, if any.
            limits: How much may wait in the queue before each input of a scheduler.
        """
        if not self.keeps_spacing:
            return None
        time_ps = self.find_lookahead_ps(clock)
        return Guarantees((Guarantee(time_ps, time_ps),) * len(self.inputs))

    @property
    def keeps_order(self) -> bool:
        """Return whether items that come to one input and leave by one output keep their order."""
        return True

    def bound_passing(self, contract: Contract, kind: KindName) -> Curve | None:
        """Return a bound of the items of one connection that pass, by its contract; None: none."""
        return None

    def bound_inserted(self, passing: Arrival) -> Arrival | None:
        """Return a bound of what it inserts into a flow, of each kind; None if there is none.

        What has a bound is stamped when it is inserted.
        """
        return None

    # ---- where it is, of machines

    def with_placement(self, placement: Placement) -> Element:
        """Return it in its place among other machines, for the planner."""
        return self

    # ---- how it runs

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        """Return the minimum time through it, which the engine and the checker need in loops.

        By default none, or that of the line that serves it.

        Args:
            clock: The clock of that line, if any.
        """
        return 0 if clock is None else clock.least_ps

    def start(self, setting: Setting) -> Any:
        """Return its state for `process` at the beginning of a trial; None if it has none."""
        return None

    def as_hop(self, state: Any) -> Hop | None:
        """Return what else it is, of that state: a line that sends items of one size; None: more.

        Nodes that are one behind the other take a window in one call, until something is lost.
        """
        return None

    process: ClassVar[Callable[..., Step] | None] = None
    """process(state, arrivals, until_ps): process a batch per input, all below `until_ps`; at
    `FOREVER_PS` all waiting items are sent. None: it has a `build_transition` only, and works event
    by event wherever it is."""
    build_transition: ClassVar[Callable[..., Any] | None] = None
    """build_transition(setting): return how it answers events one at a time, from the beginning of
    a trial, an `event.transition.Transition`. None: it cannot be on a cycle."""
