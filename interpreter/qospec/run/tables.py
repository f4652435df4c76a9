"""Tables of outputs, and the cells that they tell apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks
    from qospec.engine.connections import Connections, Contract

NEVER = 255


@dataclass(frozen=True)
class Member:
    """One origin and target of a flow, with its stretch of connections."""

    flow: int
    name: str
    origin: int
    target: int
    first: int
    connections: int
    contract: Contract
    clp: int = 0
    virtual_path: int = 0


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
    """What an element may tell cells of one connection apart by."""

    oam: bool
    clp: int


class State(NamedTuple):
    """Cells of a sort, before an element."""

    element: int
    sort: Sort


@dataclass
class Passing:
    """Where cells pass.

    Attributes:
        any: Per element, the members any of whose cells may pass it.
        offered: Per element, the members whose user cells pass it as they were sent.
        sorts: Per element, the sorts of cells that come there, by member.
    """

    any: dict[int, set[int]] = field(default_factory=dict)
    offered: dict[int, set[int]] = field(default_factory=dict)
    sorts: dict[int, set[tuple[int, Sort]]] = field(default_factory=dict)


@dataclass
class Table:
    """Outputs of one element by member, as (CLP 0, CLP 1), for user cells and for OAM cells."""

    user: list[tuple[int, int]]
    oam: list[tuple[int, int]]

    def outputs(self, member: int) -> frozenset[int]:
        """Return the outputs that cells of a member may take."""
        return frozenset((*self.user[member], *self.oam[member])) - {NEVER}

    def of(self, members: set[int]) -> Table:
        """Return the table for these members alone."""

        def rows(all_rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
            return [row if n in members else (NEVER, NEVER) for n, row in enumerate(all_rows)]

        return Table(rows(self.user), rows(self.oam))

    def seen(self, sorts: set[tuple[int, Sort]]) -> Table:
        """Return the table for the sorts of cells that come; others have no output."""

        def rows(outputs: list[tuple[int, int]], *, oam: bool) -> list[tuple[int, int]]:
            return [
                (
                    row[0] if (member, Sort(oam, 0)) in sorts else NEVER,
                    row[1] if (member, Sort(oam, 1)) in sorts else NEVER,
                )
                for member, row in enumerate(outputs)
            ]

        return Table(rows(self.user, oam=False), rows(self.oam, oam=True))

    def output(self, member: int, sort: Sort) -> int:
        """Return the output that cells of a member and sort take; NEVER where none is known."""
        return (self.oam if sort.oam else self.user)[member][sort.clp]

    @property
    def used(self) -> frozenset[int]:
        """Return the outputs that any cell may take."""
        return frozenset().union(*(self.outputs(member) for member in range(len(self.user))))

    def by_connection(self, members: tuple[Member, ...], connections: Connections) -> Marks:
        """Return (indices, 2) outputs: each row as often as its member has connections."""
        rows = [*self.user, *self.oam] if connections.has_oam else self.user
        lengths = [member.connections for member in members] * (len(rows) // len(members))
        return np.repeat(np.array(rows, np.uint8), lengths, axis=0)
