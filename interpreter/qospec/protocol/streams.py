"""Streams: what is counted by itself, and the indices by which its items are known.

A flow is a stream for each of its members, each a pair of hosts; so are the answers to its
requests, and its exchanges as wholes. Machines' messages are streams of no flow. All these stand in
a row, with an index for each connection. What elements insert into them, such as OAM cells, is a
stream of its own beside each: it has an index for each connection too, above all others. So an
element that treats kinds of items differently needs one table look-up, and no test of each item.

Indices are computed here and nowhere else.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

KindName = Literal[
    "user",
    "answers",
    "messages",
    "exchanges",
    "frames",
    "oam",
    "rm",
    "misinserted",
    "cells",
    "fragments",
    "copies",
    "notices",
]


class Kind(NamedTuple):
    """What a stream is.

    Attributes:
        name: As an author writes it behind the name of a flow; "user" is the flow itself.
        carries: What flows carry that may have it.
        counted: When an item counts as sent: when the line of its source sends it, or when an
            element makes it.
        follows: "" if its items go a way of their own, "user" if they go that of the items into
            which elements insert them, "nothing" if they go nowhere.
        one: What one of it is called, if not a cell or a packet.
        are: What it consists of, if not of what its flow carries.
        is_named: Whether an author can name it.
        among: Among which of a flow's streams an author finds what elements insert.
    """

    name: KindName
    carries: tuple[str, ...]
    counted: Literal["sent", "made"] = "made"
    follows: Literal["", "user", "nothing"] = "user"
    one: str = ""
    are: str = ""
    is_named: bool = True
    among: KindName = "user"


CELL, PACKET, BOTH = ("cell",), ("packet",), ("cell", "packet")
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("user", BOTH, "sent", ""),
        Kind("answers", BOTH, "sent", "", one="answer"),
        # Between machines: each of its cells or packets is counted.
        Kind("messages", BOTH, "made", "", is_named=False),
        # From when a request is first made to the first answer to it.
        Kind("exchanges", PACKET, "made", "nothing", one="exchange"),
        # Of cells that follow each other, from the first bit of the first to the last of the last.
        Kind("frames", CELL, "made", "nothing", one="frame", are="frame"),
        # Source: ITU-T I.610, 6.
        Kind("oam", CELL),
        # Resource management. Source: ITU-T I.371, 5.2.
        Kind("rm", CELL, is_named=False),
        # Of other users, come to be among those of a connection. Source: ITU-T I.356, 5.
        Kind("misinserted", CELL),
        # Of packets, but the last of each, which stays the packet. Source: ITU-T I.363.5, 6.
        Kind("cells", PACKET, are="cell"),
        # Of packets, but the first of each, which stays the packet.
        Kind("fragments", PACKET),
        # That a fault made.
        Kind("copies", PACKET),
        # To the source of packets that were too large for a path. Source: RFC 792 (code 4).
        Kind("notices", PACKET, among="answers"),
    )
}
"""All kinds, in the order of their indices."""
INSERTED: tuple[KindName, ...] = tuple(k.name for k in KINDS.values() if k.follows == "user")
"""What elements insert into the streams of others."""
NO_FLOW = -1


def list_parts(carries: str, own: Collection[KindName] = ()) -> tuple[KindName, ...]:
    """Return the streams of a flow of cells or packets that an author can name, but the flow.

    With those of its own, beside it: of answers and exchanges, or of frames.
    """
    kinds = [kind for kind in KINDS.values() if kind.is_named and carries in kind.carries]
    among = {"user", *own}
    return (
        *(kind.name for kind in kinds if kind.follows == "user" and kind.among in among),
        *(kind.name for kind in kinds if kind.name in own),
    )


OWN: tuple[KindName, ...] = tuple(kind.name for kind in KINDS.values() if kind.one)
"""What only flows of some kinds have."""
PARTS = tuple(dict.fromkeys((*list_parts("cell", OWN), *list_parts("packet", OWN))))
"""What authors can name behind the name of a flow."""


def describe_items(population: str, carries: str) -> tuple[str, str]:
    """Return what a population consists of, in the singular, and of what it is a part.

    Of `ask.exchanges` that is `exchange` and `ask`; of `user.oam`, `cell` and `user.oam` itself.
    """
    flow, _, part = population.rpartition(".")
    one = KINDS[part].one if flow and part in KINDS else ""
    return (one, flow) if one else (carries, population)


def name_population(flow: str, member: int | None, kind: KindName) -> str:
    """Return how an author names a flow, a member of it, or a stream of it, as its OAM cells."""
    index = "" if member is None else f"[{member}]"
    return f"{flow}{index}{'' if kind == 'user' else f'.{kind}'}"


class Stream(NamedTuple):
    """What is counted by itself: items of one kind, of some connections in a row.

    Attributes:
        flow: The number of its flow; NO_FLOW for messages.
        kind: What it is.
        connections: How many it has.
        first: The index of the first.
    """

    flow: int
    kind: KindName
    connections: int
    first: int = 0

    @property
    def stop(self) -> int:
        """Return the index behind that of its last connection."""
        return self.first + self.connections

    @property
    def is_routed(self) -> bool:
        """Return whether its items go through the network."""
        return KINDS[self.kind].follows != "nothing"

    @property
    def is_sent(self) -> bool:
        """Return whether a flow sends its items, or answers them."""
        return KINDS[self.kind].counted == "sent"

    @property
    def place(self) -> tuple[bool, bool]:
        """Return what it is sorted by: what flows send goes first, and what goes nowhere last."""
        return not self.is_routed, not self.is_sent


class Population(NamedTuple):
    """Connections in a row that are measured as one, such as the flow `ab` or `ab[1].oam`.

    Attributes:
        flow: The flow's name.
        member: The number of the member, if it is not all of them.
        kind: What is measured.
        first: The index of its first connection.
        stop: That behind its last.
        share_connections: How many a share of what it carries is of: one, or those of a member.
    """

    flow: str
    member: int | None
    kind: KindName
    first: int
    stop: int
    share_connections: int = 1

    @property
    def name(self) -> str:
        """Return how an author names it."""
        return name_population(self.flow, self.member, self.kind)


@dataclass(frozen=True)
class Streams:
    """All streams of a trial.

    Attributes:
        flows: The names of the flows.
        own: The streams into which something may be inserted, and those that go nowhere, numbered.
        inserted: The kinds in use that elements insert, in the order of `KINDS`.
    """

    flows: tuple[str, ...]
    own: tuple[Stream, ...]
    inserted: tuple[KindName, ...] = ()

    @cached_property
    def count(self) -> int:
        """Return the number of connections: of indices of one kind."""
        return sum(stream.connections for stream in self.own)

    @property
    def indices(self) -> int:
        """Return the number of all indices."""
        return self.count * len(self.kinds)

    @property
    def kinds(self) -> tuple[KindName, ...]:
        """Return the kinds that elements tell apart: "user", and what they insert."""
        return ("user", *self.inserted)

    def start(self, kind: KindName) -> int:
        """Return the first index of a kind; one that no item has, if it is not in use."""
        return self.kinds.index(kind) * self.count if kind in self.kinds else self.indices

    def list_indices(self, kind: KindName) -> range:
        """Return the indices of a kind, in order of connections; none if it is not in use."""
        return range(self.start(kind), min(self.start(kind) + self.count, self.indices))

    def compute_index(self, connection: int, kind: KindName) -> int:
        """Return the index of items of a kind that is in use, of the connection that they follow.

        Args:
            connection: An index of `own`.
            kind: One of `kinds`.
        """
        return self.kinds.index(kind) * self.count + connection

    def find_connection(self, index: Any) -> Any:
        """Return the index of the connection that items of an index follow; or of an array of them.

        It is one of `own`.
        """
        return index % self.count

    def find_kind(self, index: int) -> KindName:
        """Return which of `kinds` an index is of."""
        return self.kinds[index // self.count]

    def find_stream(self, index: int) -> tuple[Stream, int]:
        """Return the stream of an index, and the number of its connection there."""
        stream = next(stream for stream in self if index < stream.stop)
        return stream, index - stream.first

    def __iter__(self) -> Iterator[Stream]:
        """Yield all streams, in order of their indices."""
        for kind in self.kinds:
            for stream in self.own:
                yield self.follow(stream, kind)

    def follow(self, stream: Stream, kind: KindName) -> Stream:
        """Return the stream of what elements insert into one of `own`; of "user", that itself."""
        if kind not in INSERTED:
            return stream
        return stream._replace(kind=kind, first=self.compute_index(stream.first, kind))

    def select_population(self, flow: str, member: int | None, kind: KindName) -> Population | None:
        """Return the connections of a flow, or a member of it, as an author names them.

        None if the trial has none.
        """
        is_inserted = kind in INSERTED
        mine = self._by_flow.get((flow, KINDS[kind].among if is_inserted else kind), [])
        if not mine or (is_inserted and kind not in self.inserted):
            return None
        some = mine if member is None else [mine[member]]
        first, last = (self.follow(stream, kind) for stream in (some[0], some[-1]))
        connections = first.connections if len(some) > 1 else 1
        return Population(flow, member, kind, first.first, last.stop, connections)

    @cached_property
    def _by_flow(self) -> dict[tuple[str, KindName], list[Stream]]:
        found: dict[tuple[str, KindName], list[Stream]] = {}
        for stream in self.own:
            if stream.flow != NO_FLOW:
                found.setdefault((self.flows[stream.flow], stream.kind), []).append(stream)
        return found

    def list_kinds(self, flow: str) -> tuple[KindName, ...]:
        """Return the kinds of which a flow has streams: itself first, then what is inserted.

        What is found among answers is left out if the flow has none.
        """
        own = self._own_kinds.get(flow, ())
        return (*(kind for kind in self.kinds if KINDS[kind].among in ("user", *own)), *own)

    @cached_property
    def _own_kinds(self) -> dict[str, list[KindName]]:
        """Return the kinds of the streams of each flow, but for what a user sends."""
        found: dict[str, list[KindName]] = {}
        for flow, kind in self._by_flow:
            if kind != "user":
                found.setdefault(flow, []).append(kind)
        return found


def number_streams(streams: Iterable[Stream]) -> Iterator[Stream]:
    """Yield streams with their indices, one behind the other; they are sorted by `place`."""
    first = 0
    for stream in streams:
        yield stream._replace(first=first)
        first += stream.connections


def number_flow(
    connections: int, inserted: tuple[KindName, ...] = (), *, is_answered: bool = False
) -> Streams:
    """Return the streams of one flow with one member."""
    kinds: tuple[KindName, ...] = ("user", "answers", "exchanges") if is_answered else ("user",)
    own = number_streams(Stream(0, kind, connections) for kind in kinds)
    return Streams(("f",), tuple(own), inserted)
