"""Tables of outputs, and the cells that they tell apart."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.items.partition import MAX_OUTPUTS

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks
    from qospec.engine.items.connections import Connections, Contract
    from qospec.model.expression import Value

NEVER = MAX_OUTPUTS
"""In place of an output."""


@dataclass(frozen=True)
class Member:
    """One origin and target of a flow, with its stretch of connections.

    `asked` is what a classifier may ask of its items that no element changes, by name.
    """

    flow: int
    name: str
    origin: int
    target: int
    first: int
    connections: int
    contract: Contract
    marks: int = 0
    asked: tuple[tuple[str, Value], ...] = ()


class NoWayError(Exception):
    """Some cells of a member find no way to its target, or end elsewhere.

    Attributes:
        member: Whose cells.
        sort: Which of them.
        host: The host where they end instead; -1 if they end nowhere.
    """

    def __init__(self, member: Member, sort: Sort, host: int = -1) -> None:
        self.member = member
        self.sort = sort
        self.host = host
        super().__init__(member.name)


class Sort(NamedTuple):
    """What an element may tell items of one connection apart by."""

    oam: bool
    marks: int


class State(NamedTuple):
    """Items of a sort, before an element.

    `entry` is the port by which they came into the device, where a class asks for it; else "".
    `output` is that by which they will leave the element, unless a table says.
    """

    element: int
    sort: Sort
    entry: str = ""
    output: int = 0


class TwoWaysError(Exception):
    """Items of a member come to a classifier by two ports, and it would treat them differently.

    Attributes:
        member: Whose items.
        element: The classifier.
    """

    def __init__(self, member: Member, element: int) -> None:
        self.member = member
        self.element = element
        super().__init__(member.name)


@dataclass
class Passing:
    """Where cells pass.

    Attributes:
        any: Per element, the members any of whose cells may pass it.
        inputs: Per element and input, the members any of whose cells may come there.
        offered: Per element, the members whose user cells pass it as they were sent.
        sorts: Per element, the sorts of cells that come there, by member.
    """

    any: dict[int, set[int]] = field(default_factory=dict)
    inputs: dict[tuple[int, int], set[int]] = field(default_factory=dict)
    offered: dict[int, set[int]] = field(default_factory=dict)
    sorts: dict[int, set[tuple[int, Sort]]] = field(default_factory=dict)


@dataclass
class Table:
    """Outputs of one element by member and sort."""

    by_sort: dict[tuple[int, Sort], int] = field(default_factory=dict)

    def outputs(self, member: int) -> frozenset[int]:
        """Return the outputs that items of a member may take."""
        return frozenset(way for (each, _), way in self.by_sort.items() if each == member) - {NEVER}

    def of(self, members: set[int]) -> Table:
        """Return the table for these members alone."""
        return Table({key: way for key, way in self.by_sort.items() if key[0] in members})

    def seen(self, sorts: set[tuple[int, Sort]]) -> Table:
        """Return the table for the sorts of items that come; others have no output."""
        return Table({key: way for key, way in self.by_sort.items() if key in sorts})

    def output(self, member: int, sort: Sort, entry: str = "") -> int:  # noqa: ARG002
        """Return the output that items of a member and sort take; NEVER where none is known."""
        return self.by_sort.get((member, sort), NEVER)

    def settle(self, member: int, sort: Sort, output: int) -> bool:
        """Note the output that items take; return whether they take no other."""
        return self.by_sort.setdefault((member, sort), output) == output

    @property
    def used(self) -> frozenset[int]:
        """Return the outputs that any item may take."""
        return frozenset(self.by_sort.values()) - {NEVER}

    def by_connection(
        self, members: tuple[Member, ...], connections: Connections
    ) -> tuple[Marks, tuple[int, ...]]:
        """Return (indices, marks) outputs, by connection and marks, and the marks of its columns.

        Each row stands as often as its member has connections.
        """
        columns = sorted({sort.marks for _, sort in self.by_sort})
        place = {marks: column for column, marks in enumerate(columns)}
        halves = 2 if connections.has_oam else 1
        rows = np.full((halves * len(members), len(columns)), NEVER, np.uint8)
        for (member, sort), way in self.by_sort.items():
            rows[member + sort.oam * len(members), place[sort.marks]] = way
        lengths = [member.connections for member in members] * halves
        return np.repeat(rows, lengths, axis=0), tuple(columns)


def taking(output: int, members: set[int], table: Table | None) -> set[int]:
    """Return those of the members that pass an element whose items may leave it by an output."""
    return {n for n in members if table is None or output in table.outputs(n)}
