"""Which output a cell takes: by a table made of shortest ways, or by a classifier's predicates.

Connections of one member (an origin and a target of a flow) are alike, so tables are made by
member.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.device import predicates
from qospec.check.records import addresses
from qospec.engine.marks import ALL
from qospec.model.expression import Attribute, evaluate
from qospec.run.tables import NEVER, NoWayError, Passing, Sort, State, Table
from qospec.run.walk import Walk

if TYPE_CHECKING:
    from qospec.model.expression import Leaf, Value
    from qospec.model.suite import Instance, Network
    from qospec.run.draft import Drafts
    from qospec.run.tables import Member


def routed(
    network: Network, drafts: Drafts, members: tuple[Member, ...]
) -> tuple[dict[int, Table], Passing]:
    """Return the table of every router and classifier, and where cells pass.

    Raises:
        NoWayError: Some end elsewhere, or nowhere.
        TwoWaysError: A classifier cannot tell by what port some came.
    """
    made: dict[int, Table] = {}
    for index, draft in drafts.items():
        if draft.duty == "classifier":
            made[index] = Classes(draft.instance, members)
        elif draft.duty == "router":
            made[index] = Table()
    passing = Passing()
    asked = any("input" in predicates.attributes(c) for e in network.elements for c in e.predicates)
    entries = network.entries if asked else {}
    for number, member in enumerate(members):
        walk = Walk(drafts, made, entries, number, member)
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
        self._known: dict[tuple[tuple[tuple[str, Value], ...], Sort, str], int] = {}

    def output(self, member: int, sort: Sort, entry: str = "") -> int:
        """Return the output of the first class that takes such items."""
        asked = self._members[member].asked
        key = (asked, sort, entry)
        if key not in self._known:
            item: dict[str, Value] = {**dict(asked), "oam": sort.oam, "input": entry}
            for name, mark in ALL.items():
                value = mark.of(sort.marks)
                item[name] = mark.words[value] if value < len(mark.words) else Fraction(value)
            for name in predicates.ADDRESSES:
                item[name] = Fraction(addresses.rank(str(item.get(name, ""))))
            self._known[key] = _first_that_holds(self._instance, item)
        return self._known[key]


def _first_that_holds(instance: Instance, item: dict[str, Value]) -> int:
    def read(leaf: Leaf) -> Value:
        return item.get(leaf.name) if isinstance(leaf, Attribute) else None

    for output, predicate in enumerate(instance.predicates):
        if evaluate(predicate, read) is True:
            return output
    return NEVER
