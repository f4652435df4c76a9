"""Which output a cell takes: by a table made of shortest ways, or by a classifier's predicates.

Connections of one member (an origin and a target of a flow) are alike, so tables are made by
member.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.conditions import Attribute, evaluate
from qospec.engine.marks import MARKS
from qospec.run.tables import NEVER, NoWayError, Passing, Sort, State, Table
from qospec.run.walk import Walk

if TYPE_CHECKING:
    from qospec.conditions import Leaf, Value
    from qospec.model import Instance, Network
    from qospec.run.draft import Drafts
    from qospec.run.tables import Member


def routed(
    network: Network, drafts: Drafts, members: tuple[Member, ...]
) -> tuple[dict[int, Table], Passing]:
    """Return the table of every router and classifier, and where cells pass; raises NoWayError."""
    made: dict[int, Table] = {}
    for index, draft in drafts.items():
        if draft.duty == "classifier":
            made[index] = Classes(draft.instance, members)
        elif draft.duty == "router":
            made[index] = Table()
    passing = Passing()
    for number, member in enumerate(members):
        walk = Walk(drafts, made, number, member)
        start = State(network.hosts[member.origin].line, Sort(oam=False, marks=member.marks))
        if start.element < 0:
            raise NoWayError(member, start.sort)  # no link is at the host
        walk.choose(start)
        walk.follow(start, passing)
    return {
        index: table.seen(passing.sorts.get(index, set())) for index, table in made.items()
    }, passing


class Classes(Table):
    """The table of a classifier, worked out for each sort of items that asks for its output."""

    def __init__(self, instance: Instance, members: tuple[Member, ...]) -> None:
        super().__init__()
        self._instance = instance
        self._members = members
        self._known: dict[tuple[tuple[tuple[str, Value], ...], Sort], int] = {}

    def output(self, member: int, sort: Sort) -> int:
        """Return the output of the first class that takes such items, and remember it."""
        asked = self._members[member].asked
        if (asked, sort) not in self._known:
            item: dict[str, Value] = {**dict(asked), "oam": sort.oam}
            for name, mark in MARKS.items():
                item[name] = Fraction(mark.of(sort.marks))
            self._known[asked, sort] = _first_that_holds(self._instance, item)
        self.by_sort[member, sort] = self._known[asked, sort]
        return self.by_sort[member, sort]


def _first_that_holds(instance: Instance, item: dict[str, Value]) -> int:
    def read(leaf: Leaf) -> Value:
        return item[leaf.name] if isinstance(leaf, Attribute) else None

    for output, predicate in enumerate(instance.predicates):
        if evaluate(predicate, read) is True:
            return output
    return NEVER
