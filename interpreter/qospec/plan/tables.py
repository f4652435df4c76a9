"""Output tables of routers and classifiers, and the classes of items that they distinguish."""

from __future__ import annotations

from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.items.partition import MAX_OUTPUTS

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Carried
    from qospec.engine.arrays import Marks
    from qospec.engine.element import Element
    from qospec.engine.items.contract import Contract
    from qospec.engine.queue.drop_policy import Waiting
    from qospec.engine.source.traffic import SentPackets
    from qospec.model.expression import Value
    from qospec.plan.assembly import Drafts
    from qospec.protocol.streams import KindName, Stream, Streams

NO_OUTPUT = MAX_OUTPUTS
"""Stands for no output."""


class Channel(NamedTuple):
    """From an output of a machine to an input of another: both by their elements and numbers.

    `size_bytes` is that of each cell or packet of a message.
    """

    origin: int
    output: int
    target: int
    input: int
    carries: Carried
    size_bytes: int


class Way(NamedTuple):
    """A way that items of a member take at times.

    Attributes:
        via: The paths of lines by which they leave devices on their way, in order.
        avoided: The paths of lines that they go round, if they can.
        since_ps: When it begins, each time: what comes to its first device from then on takes it.
    """

    via: tuple[str, ...] = ()
    avoided: frozenset[str] = frozenset()
    since_ps: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Member:
    """One origin and target of a flow, with its range of connections.

    Of a flow between endpoints there are three for each: the requests, their answers, whose origin
    is the flow's target, and the exchanges, which are counted but go nowhere. Messages from one
    machine to another are a member of no flow.

    Attributes:
        name: As messages call it.
        origin: The host where its items are sent.
        target: The host where they arrive.
        stream: As what its items are counted.
        contract: That of its connections.
        marks: With which its items are sent.
        asked: What classifiers may ask of its items and no element changes, by name.
        packets: How they are sent; None of cells.
        channel: Of messages, between which machines.
        ways: Those that its items take, the one at the beginning first.
    """

    name: str
    origin: int
    target: int
    stream: Stream
    contract: Contract
    marks: int = 0
    asked: tuple[tuple[str, Value], ...] = ()
    packets: SentPackets | None = None
    channel: Channel | None = None
    ways: tuple[Way, ...] = (Way(),)

    @property
    def legs(self) -> tuple[tuple[int, str], ...]:
        """Return by leg the number of its way, and the line by which items leave next; "": any."""
        return tuple((n, line) for n, way in enumerate(self.ways) for line in (*way.via, ""))

    @property
    def first_legs(self) -> tuple[int, ...]:
        """Return by way the leg with which it begins."""
        return (0, *accumulate(len(way.via) + 1 for way in self.ways[:-1]))

    @property
    def is_tagged(self) -> bool:
        """Return whether its frames have a tag, on a line where this depends on the flow."""
        return self.packets is not None and self.packets.is_tagged

    @property
    def all_marks(self) -> tuple[int, ...]:
        """Return all with which its items are sent, the usual ones first."""
        return (self.marks, *(() if self.packets is None else self.packets.other_marks))


def group_by_flow(members: Sequence[Member]) -> dict[int, list[int]]:
    """Return the numbers of members by that of their flow."""
    found: dict[int, list[int]] = {}
    for number, member in enumerate(members):
        found.setdefault(member.stream.flow, []).append(number)
    return found


def list_members(members: Sequence[Member], flow: int, kind: KindName) -> list[int]:
    """Return the numbers of a flow's members of one kind."""
    return [n for n, member in enumerate(members) if member.stream[:2] == (flow, kind)]


class NoPathError(Exception):
    """Some items of a member have no path to its target, or end elsewhere.

    Attributes:
        member: Whose cells.
        item_class: Which of them.
        host: The host where they end instead; -1 if they end nowhere.
        machine: The machine that takes them for messages; -1 if none does.
        missed: The path of the line, of those by which they leave on their way, where none come.
        way: The number of their way.
    """

    def __init__(
        self,
        member: Member,
        item_class: ItemClass,
        host: int = -1,
        machine: int = -1,
        missed: str = "",
        way: int = 0,
    ) -> None:
        self.member = member
        self.item_class = item_class
        self.host = host
        self.machine = machine
        self.missed = missed
        self.way = way
        super().__init__(member.name)


class ItemClass(NamedTuple):
    """What distinguishes items of one connection."""

    kind: KindName
    marks: int


class State(NamedTuple):
    """Items of a class at an element.

    `entry` is the port by which they entered the device if a classifier asks for it, else "".
    `output` is the one by which they leave the element, unless a table decides. `input` is that of
    a scheduler.
    """

    element: int
    item_class: ItemClass
    entry: str = ""
    output: int = 0
    input: int = 0


def list_marks_after(
    element: Element, queues: tuple[Waiting, ...], number: int, marks: int, contract: Contract
) -> tuple[int, ...]:
    """Return the marks that an item of an input may leave an element with; the usual first.

    `queues` are those before a scheduler.
    """
    policy = queues[number].drop if queues else None
    ahead = (marks,) if policy is None else policy.predict_marks(marks)
    found = (after for mark in ahead for after in element.predict_marks(mark, contract))
    return tuple(dict.fromkeys(found))


class AmbiguousRouteError(Exception):
    """Items of a member reach a classifier through two ports, and it would treat them differently.

    Attributes:
        member: Whose items.
        element: The classifier.
    """

    def __init__(self, member: Member, element: int) -> None:
        self.member = member
        self.element = element
        super().__init__(member.name)


@dataclass
class Reach:
    """Where items pass.

    Attributes:
        any: Per element, the members whose items may pass it.
        inputs: Per element and input, the classes of items that arrive there, by member.
        offered: Per element, the members whose user items pass it as they were sent, and how often.
        item_classes: Per element, the classes of items that arrive there, by member.
        hops: Per member, from where to where its items go.
        ends: Per member, from where they go to its target.
    """

    any: dict[int, set[int]] = field(default_factory=dict)
    inputs: dict[tuple[int, int], set[tuple[int, ItemClass]]] = field(default_factory=dict)
    offered: dict[int, Counter[int]] = field(default_factory=dict)
    item_classes: dict[int, set[tuple[int, ItemClass]]] = field(default_factory=dict)
    hops: dict[int, list[Hop]] = field(default_factory=dict)
    ends: dict[int, set[State]] = field(default_factory=dict)


class Hop(NamedTuple):
    """A step of items from one element to an input of the next.

    `straight` says whether user items take it that are as they were sent, but for what elements
    usually do to them.
    """

    before: State
    after: State
    input: int
    straight: bool


@dataclass
class Table:
    """Outputs of one element by member and class of items."""

    by_class: dict[tuple[int, ItemClass], int] = field(default_factory=dict)

    def list_outputs(self, member: int) -> frozenset[int]:
        """Return the outputs that items of a member may take."""
        found = {output for (number, _), output in self.by_class.items() if number == member}
        return frozenset(found - {NO_OUTPUT})

    def keep_arriving(self, item_classes: set[tuple[int, ItemClass]]) -> Table:
        """Return the table for the classes of items that arrive; others have no output."""
        return Table({key: output for key, output in self.by_class.items() if key in item_classes})

    def find_output(self, member: int, item_class: ItemClass, entry: str = "") -> int:  # noqa: ARG002
        """Return the output of items of a member and class; NO_OUTPUT if none is known."""
        return self.by_class.get((member, item_class), NO_OUTPUT)

    def settle(self, member: int, item_class: ItemClass, output: int) -> bool:
        """Note the output of items; return whether they have no other."""
        return self.by_class.setdefault((member, item_class), output) == output

    @property
    def used(self) -> frozenset[int]:
        """Return the outputs that any item may take."""
        return frozenset(self.by_class.values()) - {NO_OUTPUT}

    def tabulate_by_connection(
        self, members: tuple[Member, ...], streams: Streams
    ) -> tuple[Marks, tuple[int, ...]]:
        """Return (indices, marks) outputs, by connection and column, and the marks of columns."""
        columns = sorted({item_class.marks for _, item_class in self.by_class})
        place = {marks: column for column, marks in enumerate(columns)}
        table = np.full((streams.indices, len(columns)), NO_OUTPUT, np.uint8)
        for (member, item_class), output in self.by_class.items():
            stream = streams.follow(members[member].stream, item_class.kind)
            table[stream.first : stream.stop, place[item_class.marks]] = output
        return table, tuple(columns)


def list_members_using(output: int, members: set[int], table: Table | None) -> set[int]:
    """Return the members whose items may take this output."""
    return {n for n in members if table is None or output in table.list_outputs(n)}


class Routes(NamedTuple):
    """A network with the routes of a case's items, whatever their rates and sizes.

    Attributes:
        drafts: The elements in place.
        tables: The output tables of routers and classifiers.
        reach: Where items pass.
    """

    drafts: Drafts
    tables: dict[int, Table]
    reach: Reach
