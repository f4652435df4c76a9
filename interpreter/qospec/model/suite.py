"""The checked specification: names resolved, cases expanded, topologies flat, quantities exact.

Only what must be measured remains unknown: the conditions of statements. A `Suite` is plain values;
what can only be made where the files were checked is beside it, see `model.checked`.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from qospec.dataclass import NamedTuple, dataclass
from qospec.units import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qospec.catalogue.kinds import Kind
    from qospec.model.device import DeviceUse
    from qospec.model.expression import Expression
    from qospec.source import Source, Span
    from qospec.units import Dimension

# ---- networks


@dataclass(frozen=True)
class Instance:
    """An element in its place in a flat network.

    Attributes:
        path: Such as `enc_a.upc[2]`; a link's line is called `enc_a.black -> sw.p[0]`.
        kind: What it is.
        element: The object that `kind.build` made of the author's arguments.
        predicates: For a classifier: the condition of each output, in order; the first that holds
            decides.
        span: Where it was written.
        places: Of a machine, where each message is declared, by its name, and where it is first
            sent, by `port.name`.
    """

    path: str
    kind: Kind
    element: Any
    predicates: tuple[Expression, ...] = ()
    span: Span | None = field(default=None, compare=False)
    places: Mapping[str, Span] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Wire:
    """From an element's output to `to`: an element's input, a host, or an end.

    `end` is "element" (then `to` and `input` say which), "host" (`to` is the host's index),
    "terminate" (arrived here: counts as received) or "discard" (counts as lost).
    """

    element: int
    output: int
    end: Literal["element", "host", "terminate", "discard"]
    to: int = 0
    input: int = 0


@dataclass(frozen=True)
class Tester:
    """What a port of the tester is like.

    Attributes:
        slotted: Whether it sends where slots of its line begin.
        skew: How much faster its clock runs than true time, as a ratio (RFC 2330, 10.1).
        resolution_ps: Between two times that it can tell apart; 0: all.
        overhead_ps: What it adds to each delay that it reads.
        lowest_rate: The fewest items/s that it can send of a flow.
        aal5_connections: The most connections of AAL5 that it can send and take; 0: any number.
    """

    slotted: bool = True
    skew: Fraction = Fraction(0)
    resolution_ps: int = 0
    overhead_ps: int = 0
    lowest_rate: Fraction = Fraction(0)
    aal5_connections: int = 0


@dataclass(frozen=True)
class Host:
    """Where flows begin and end. `line` is the line that its cells leave by, -1 if none."""

    path: str
    line: int
    tester: Tester = Tester()


@dataclass(frozen=True)
class Network:
    """A topology, flat: devices dissolved into elements, each link into a line per direction.

    `invariants` are those of each device in its place.
    `entries` holds, by path of a line, the port of the device that it leads into. `sides` holds, by
    name of a side of a port (`router.east.tx`, or `a.rx` of a host), the path of its line.
    `devices` are those that were dissolved, by path.
    """

    name: str
    elements: tuple[Instance, ...]
    wires: tuple[Wire, ...]
    hosts: tuple[Host, ...]
    invariants: tuple[Statement, ...] = ()
    entries: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, str] = field(default_factory=dict)
    devices: Mapping[str, DeviceUse] = field(default_factory=dict, compare=False)

    def find_host(self, path: str) -> int:
        """Return the index of the host of that path; raises KeyError."""
        for index, host in enumerate(self.hosts):
            if host.path == path:
                return index
        raise KeyError(path)


@dataclass(frozen=True)
class Flow:
    """A flow: connections of equal traffic from hosts to hosts.

    Attributes:
        name: As written.
        kind: Of its traffic.
        traffic: The object made from the traffic's fields: it has `build_contract`.
        arrivals: Its arrival process.
        origins: Paths of hosts, one per member.
        targets: Paths of hosts, one per member.
        via: The ports by which its items leave devices on their way, in order.
        connections: VCs per member.
        phases: "even" or "random".
        clp: Of each cell.
        virtual_path: VPI.
        packets: What is sent on the first link; None for cells.
        places: Where fields of its traffic are written, by name, of those in the flow itself.
        changes: What it sends later in a trial, in order of time.
        ways: By which other ports its items leave devices later in a trial, in order of time.
        tested: Whether it depends on a variable of its phase; the others are the background.
    """

    name: str
    kind: Kind
    traffic: Any
    arrivals: Any
    origins: tuple[str, ...]
    targets: tuple[str, ...]
    connections: int
    phases: str
    clp: int
    virtual_path: int
    span: Span = field(compare=False)
    packets: Any = None
    places: Mapping[str, Span] = field(default_factory=dict, compare=False)
    changes: tuple[FlowChange, ...] = ()
    ways: tuple[WayChange, ...] = ()
    tested: bool = False
    via: tuple[str, ...] = ()

    @property
    def item_rate(self) -> Fraction:
        """Return the items/s that all its members are to send together."""
        return len(self.origins) * Fraction(self.arrivals.compute_mean_rate(self.connections))


def list_tested(flows: Sequence[Flow]) -> Sequence[Flow]:
    """Return the flows that are tested or, if none is, all of them."""
    return [flow for flow in flows if flow.tested] or flows


def sum_offered_rate(flows: Sequence[Flow]) -> Fraction:
    """Return the items/s that the tested flows offer."""
    return sum((flow.item_rate for flow in list_tested(flows)), Fraction(0))


class Restart(NamedTuple):
    """At `at_ps`, since the measurement began, elements restart; by their paths."""

    at_ps: int
    elements: tuple[str, ...]


class LinkChange(NamedTuple):
    """At `at_ps`, since the measurement began, links go up or down; the paths of their lines."""

    at_ps: int
    lines: tuple[str, ...]
    is_up: bool


class WayChange(NamedTuple):
    """From `at_ps` on, since the measurement began, items go by ports or round lines: `paths`."""

    at_ps: int
    paths: tuple[str, ...]


class FlowChange(NamedTuple):
    """From `at_ps` on, since the measurement began, a flow sends as another one of its form."""

    at_ps: int
    flow: Flow


# ---- tests


@dataclass(frozen=True)
class Statement:
    """`expect`, `require`, `report`, or an `invariant` of a device.

    Attributes:
        kind: Which of these.
        label: The author's, or the condition as written. A report has one statement per value.
        text: The condition or value as written.
        expression: Its condition or value; true where its `when` is false.
        span: Of the condition or value.
        confidence: With it the repeats are judged together; None to judge each by itself.
        claim: What it claims about a publication, one of `CLAIMS`; "" for nothing.
        covers: The published statements that it claims this of; empty for those of its test.
        idle: Why it does not apply in this case; "" where it does.
        published: Whether it or its `when` depends on a published number.
        every_ps: For a report, the length of the intervals of its time series; None without one.
    """

    kind: Literal["expect", "require", "report", "invariant"]
    label: str
    text: str
    expression: Expression
    span: Span = field(compare=False)
    confidence: Fraction | None = None
    claim: str = ""
    covers: tuple[str, ...] = ()
    idle: str = ""
    published: bool = False
    every_ps: int | None = None

    @property
    def judges(self) -> bool:
        """Return whether it is a `require` or `expect` that applies to this case."""
        return self.kind in JUDGED and not self.idle


JUDGED = ("require", "expect")
"""Statements that have a verdict of their own; an invariant is of a device."""


MAX_INTERVALS = 10_000
"""The most intervals of a time series."""

MAX_REPEATS = 10_000
"""The most repeats of a case."""

MIN_REPEATS = 5
"""The fewest repeats from which a confidence interval is useful."""


@dataclass(frozen=True)
class Run:
    """How a case is run: `measure` begins after `warmup`; `repeat` trials with independent draws.

    `overload` says that flows may offer more than a line carries, `common_draws` that all cases
    of the test have the same random draws, `payload` that bytes are made behind it, `promises` that
    it is held to what all devices promise, `drains` that what waits for a first link in the end
    counts as sent. `changes_ps` says when something changes in a trial, since `measure` began,
    `changes` what, `restarts` what restarts then, `links` which of them fail and come back, and
    `detours` when items go round those that are down.
    """

    warmup_ps: int
    measure_ps: int
    repeat: int
    overload: bool = False
    common_draws: bool = False
    payload: bool = False
    promises: bool = False
    drains: bool = False
    changes_ps: tuple[int, ...] = ()
    restarts: tuple[Restart, ...] = ()
    links: tuple[LinkChange, ...] = ()
    detours: tuple[WayChange, ...] = ()
    changes: tuple[Change, ...] = field(default=(), compare=False)


WIDEST = Fraction(1, 2)
"""The greatest width of a goal that is a share of the load."""


@dataclass(frozen=True)
class Goal:
    """A goal of a search: the search finds the greatest load that meets it.

    Attributes:
        name: As written.
        loss: The greatest share of items that may be lost in a good trial.
        trial_ps: How long a trial lasts; at the highest load, if it `varies` with the load.
        total_ps: How long the trials of one load last together, at most.
        exceed: The greatest share of that in which trials may be bad, of a load that is good.
        width: How close the bounds must get: as a share of the upper one or, if `absolute`, as a
            difference in base units.
        absolute: Which of the two.
        varies: Whether the length of a trial depends on the load. There is one trial per load then.
        trial_items: How many items a trial sends, if that gives its length.
        defaults: Its attributes that were not given.
        width_span: Where `width` is written; None if it was not given.
        trial_span: Where `trial` is written.
        loss_span: Where `loss` is written.
        meets: The condition that a good trial meets, as written, in place of a loss; "" for none.
    """

    name: str
    loss: Fraction
    trial_ps: int
    total_ps: int
    exceed: Fraction
    width: Fraction
    defaults: tuple[str, ...]
    absolute: bool = False
    varies: bool = False
    trial_items: Fraction | None = None
    width_span: Span | None = field(default=None, compare=False)
    trial_span: Span | None = field(default=None, compare=False)
    loss_span: Span | None = field(default=None, compare=False)
    meets: str = ""

    @property
    def label(self) -> str:
        """Return what its condition is called among the statements of a trial."""
        return f"goal {self.name}"

    @property
    def length_ps(self) -> int | None:
        """Return how long each of its trials lasts; None if that depends on the load."""
        return None if self.varies else self.trial_ps


@dataclass(frozen=True)
class Search:
    """A search for the greatest load between two that meets its goals.

    Attributes:
        name: Of the variable that is searched, "the load".
        low: The lowest load, in base units; above 0.
        high: The highest load, above `low`.
        dimension: Of the load.
        method: By which loads are chosen, such as "mlrsearch".
        chooser: The object that `kind.build` of that method made of the author's fields.
        goals: What is looked for.
        step: With it, only `low`, `low + step`, … and `high` are tried.
        layer: Which bits a rate counts; "" for none said.
        span: Where it was written.
        high_span: Where `high` was written.
    """

    name: str
    low: Fraction
    high: Fraction
    dimension: Dimension
    method: str
    chooser: Any
    goals: tuple[Goal, ...]
    span: Span = field(compare=False)
    step: Fraction | None = None
    layer: str = ""
    high_span: Span | None = field(default=None, compare=False)

    @property
    def is_whole(self) -> bool:
        """Return whether only whole numbers are searched, such as those of calls."""
        if self.step is None or self.dimension not in WHOLE:
            return False
        return self.low.denominator == self.step.denominator == 1

    def find_warmup_ps(self, run: Run) -> int:
        """Return the warmup of a trial; that of a burst has none, which would be part of it."""
        return 0 if any(goal.varies for goal in self.goals) else run.warmup_ps


class PointLoad(NamedTuple):
    """The value of the only variable of a point.

    Attributes:
        name: Of the variable.
        value: In base units; at the highest loads that goals may find.
        dimension: Of the value.
        layer: Which bits a rate counts; "" for none said.
        span: Where it is written.
        words: What it follows from, as written; of a mere number, the variable.
    """

    name: str
    value: Fraction
    dimension: Dimension
    layer: str
    span: Span
    words: str


class ItemCount(NamedTuple):
    """A number of cells, packets or frames, as long as which something takes."""

    value: Fraction
    dimension: Dimension


class Change(NamedTuple):
    """What changes during a trial, as a test says it, and where that is written."""

    text: str
    span: Span


@dataclass(frozen=True)
class Point:
    """An operating point: the flows at fixed values of the variables, and how long they run.

    If it `uses_goals`, what a search found decides what is sent: all of its trials share that.
    `load` is the value of its variable, if it has exactly one; `measure_span` is where it is
    written how long it is measured. If that is a number of items, `measure_items`, how long its
    `run` is follows from its flows.
    """

    name: str
    run: Run
    span: Span = field(compare=False)
    uses_goals: bool = False
    load: PointLoad | None = field(default=None, compare=False)
    measure_span: Span | None = field(default=None, compare=False)
    measure_items: ItemCount | None = None


Phase = Search | Point


class GoalResult(NamedTuple):
    """What a search has found for a goal. Loads are in base units.

    Attributes:
        lower: The highest load that is good, with none below it that is bad; None: there is none.
        upper: The lowest load that is bad; None: there is none.
        ended: Whether the search needed no more trials; false if it reached its budget before.
        near: Whether the bounds, if both exist, are as close as the goal's width.
        throughput: The conditional throughput at `lower`: the load less what was lost.
        inversion: A load that is bad and a higher one that is good, if there are any.
        offered: The items per second that all flows together are to send at both bounds; None for
            a bound that does not exist.
    """

    lower: Fraction | None
    upper: Fraction | None
    ended: bool = True
    near: bool = True
    throughput: Fraction | None = None
    inversion: tuple[Fraction, Fraction] | None = None
    offered: tuple[Fraction | None, Fraction | None] = (None, None)

    @property
    def complete(self) -> bool:
        """Return whether no more trials would tell more of the bounds."""
        return self.ended and self.near

    @property
    def regular(self) -> bool:
        """Return whether both bounds exist, are near, and no load above them was good.

        RFC 9971 asks only for the bounds; where loss is not monotone in load, they are one of
        several knees.
        """
        both = self.lower is not None and self.upper is not None
        return self.complete and both and self.inversion is None


def is_report_only(cases: Iterable[Case]) -> bool:
    """Return whether cases only search or report, so that nothing is to be judged."""
    cases = list(cases)
    kinds = {statement.kind for case in cases for statement in case.statements} - {"invariant"}
    searched = any(isinstance(phase, Search) for case in cases for phase in case.phases)
    return kinds == {"report"} or (not kinds and searched)


@dataclass(frozen=True)
class Case:
    """One point of a sweep. `networks` holds the topology as "", and the controls by name.

    `skip` says why the case is left out, if it is. `phases` are carried out in this order; without
    any, the case is one `run`. The flows of a case with phases are each at its highest load.
    `chosen` is of a property, which has no flows: the number of the choice of each `forall`.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    networks: dict[str, Network]
    flows: tuple[Flow, ...]
    run: Run
    statements: tuple[Statement, ...]
    skip: str = ""
    phases: tuple[Phase, ...] = ()
    chosen: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Test:
    """A test, with a case per point of its sweeps.

    `not_reproduced` are pairs: what is not reproduced of a publication, and why. `follows` are the
    procedures of standards that it carries out, `deviations` pairs too: what it does in another
    way, and why. Of these four it has those of the tests that it is built on, too.
    """

    __test__ = False  # not one of pytest's

    name: str
    doc: str
    cases: tuple[Case, ...]
    span: Span = field(compare=False)
    covers: tuple[str, ...] = ()
    not_reproduced: tuple[tuple[str, str], ...] = ()
    follows: tuple[str, ...] = ()
    deviations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Template:
    """A test with parameters, or without a topology: it is run by tests that are built on it."""

    name: str
    doc: str
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Property:
    """What must hold for all values drawn.

    `cases` are all combinations of values, if each `forall` draws from a list; None if there is one
    that does not, so that there is no end to them.
    """

    name: str
    doc: str
    span: Span = field(compare=False)
    cases: tuple[Case, ...] | None = None


@dataclass(frozen=True)
class DrawnTest:
    """A test that must pass for all values that it draws: at least one `forall` has no list."""

    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True)
class Reference:
    """Published numbers, as data: what a report prints of a `reference`.

    `statements` is how many statements the publication has; 0 if that is not said.
    """

    name: str
    title: str
    entries: tuple[tuple[str, str], ...]
    span: Span = field(compare=False)
    statements: int = 0


@dataclass(frozen=True)
class Suite:
    """All that was named on the command line; `imports` are those of each file, by their names."""

    tests: tuple[Test, ...]
    references: tuple[Reference, ...]
    sources: tuple[Source, ...]
    properties: tuple[Property, ...] = ()
    templates: tuple[Template, ...] = ()
    drawn: tuple[DrawnTest, ...] = ()
    imports: Mapping[str, frozenset[str]] = field(default_factory=dict)
