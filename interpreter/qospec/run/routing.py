"""Which output a cell takes: by a table made of shortest ways, or by a classifier's predicates.

Connections of one member (an origin and a target of a flow) are alike, so tables are made by
member.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.conditions import Attribute, evaluate
from qospec.engine.arrays import np

if TYPE_CHECKING:
    from qospec.conditions import Measured, Value
    from qospec.engine.arrays import Marks
    from qospec.engine.connections import Connections
    from qospec.model import Instance, Network
    from qospec.run.draft import Drafts

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


class NoWayError(Exception):
    """No wires lead from a member's origin to its target."""

    def __init__(self, member: Member) -> None:
        self.member = member
        super().__init__(member.name)


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

    @property
    def used(self) -> frozenset[int]:
        """Return the outputs that any cell may take."""
        return frozenset().union(*(self.outputs(member) for member in range(len(self.user))))

    def by_connection(self, members: tuple[Member, ...], connections: Connections) -> Marks:
        """Return (indices, 2) outputs: each row as often as its member has connections."""
        rows = [*self.user, *self.oam] if connections.has_oam else self.user
        lengths = [member.connections for member in members] * (len(rows) // len(members))
        return np.repeat(np.array(rows, np.uint8), lengths, axis=0)


def tables(
    network: Network, drafts: Drafts, members: tuple[Member, ...], connections: Connections
) -> dict[int, Table]:
    """Return the table of every router and classifier; raises NoWayError."""
    made: dict[int, Table] = {}
    for index, draft in drafts.items():
        if draft.duty == "classifier":
            made[index] = _classes(draft.instance, members, connections)
        elif draft.duty == "router":
            made[index] = Table([(NEVER, NEVER)] * len(members), [(NEVER, NEVER)] * len(members))
    for number in range(len(members)):
        _route(network, drafts, made, members, number)
    return made


def _classes(instance: Instance, members: tuple[Member, ...], connections: Connections) -> Table:
    seen: dict[tuple[str, int, bool], tuple[int, int]] = {}

    def row(member: Member, *, oam: bool) -> tuple[int, int]:
        category = connections.contracts[member.first].category
        path = connections.virtual_path[member.first]
        if (category, path, oam) not in seen:
            cell: dict[str, Value] = {
                "category": category,
                "virtual_path": Fraction(path),
                "oam": oam,
            }
            low, high = (
                _first_that_holds(instance, {**cell, "clp": Fraction(clp)}) for clp in (0, 1)
            )
            seen[category, path, oam] = (low, high)
        return seen[category, path, oam]

    return Table(
        [row(member, oam=False) for member in members],
        [row(member, oam=True) for member in members],
    )


def _first_that_holds(instance: Instance, cell: dict[str, Value]) -> int:
    def read(leaf: Measured | Attribute) -> Value:
        return cell[leaf.name] if isinstance(leaf, Attribute) else None

    for output, predicate in enumerate(instance.predicates):
        if evaluate(predicate, read) is True:
            return output
    return NEVER


def _route(
    network: Network,
    drafts: Drafts,
    made: dict[int, Table],
    members: tuple[Member, ...],
    number: int,
) -> None:
    """Write a member's shortest way into the tables of the routers on it."""
    start = network.hosts[members[number].origin].line
    came_from: dict[int, tuple[int, int]] = {start: (-1, 0)}
    waiting = deque([start] if start in drafts else [])
    while waiting:
        index = waiting.popleft()
        for way in drafts[index].ways:
            if drafts[index].duty == "classifier" and way.output not in made[index].user[number]:
                continue
            if way.end == "host" and way.to == members[number].target:
                _write(drafts, made, came_from, (index, way.output), number)
                return
            if way.end == "element" and way.to not in came_from:
                came_from[way.to] = (index, way.output)
                waiting.append(way.to)
    raise NoWayError(members[number])


def _write(
    drafts: Drafts,
    made: dict[int, Table],
    came_from: dict[int, tuple[int, int]],
    last: tuple[int, int],
    number: int,
) -> None:
    index, output = last
    while index >= 0:
        if drafts[index].duty == "router":
            made[index].user[number] = made[index].oam[number] = (output, output)
        index, output = came_from[index]
