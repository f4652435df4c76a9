"""Which output a cell takes: by a table made of shortest ways, or by a classifier's predicates.

Connections of one member (an origin and a target of a flow) are alike, so tables are made by
member.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.conditions import Attribute, evaluate
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
            made[index] = _classes(draft.instance, members)
        elif draft.duty == "router":
            made[index] = Table([(NEVER, NEVER)] * len(members), [(NEVER, NEVER)] * len(members))
    passing = Passing()
    for number, member in enumerate(members):
        walk = Walk(drafts, made, number, member)
        start = State(network.hosts[member.origin].line, Sort(oam=False, clp=member.clp))
        if start.element < 0:
            raise NoWayError(member, start.sort)  # no link is at the host
        walk.choose(start)
        walk.follow(start, passing)
    return {
        index: table.seen(passing.sorts.get(index, set())) for index, table in made.items()
    }, passing


def _classes(instance: Instance, members: tuple[Member, ...]) -> Table:
    seen: dict[tuple[str, int, bool], tuple[int, int]] = {}

    def row(member: Member, *, oam: bool) -> tuple[int, int]:
        category, path = member.contract.category, member.virtual_path
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
    def read(leaf: Leaf) -> Value:
        return cell[leaf.name] if isinstance(leaf, Attribute) else None

    for output, predicate in enumerate(instance.predicates):
        if evaluate(predicate, read) is True:
            return output
    return NEVER
