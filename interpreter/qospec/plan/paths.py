"""The ways of one member's cells through a network, by sort, and the tables made of them.

A classifier parts cells and a policer may tag them, so cells of one connection can go different
ways; all of them must end at the target, or be discarded. Connections of one member (an origin and
a target of a flow) are alike, so tables are made by member.
"""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.device import predicates
from qospec.check.records import addresses
from qospec.model.expression import Attribute, evaluate
from qospec.plan.marks_carried import carried
from qospec.plan.tables import NEVER, NoWayError, Passing, Sort, State, Table, TwoWaysError
from qospec.protocol.marks import ALL, CLP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.model.expression import Leaf, Value
    from qospec.model.suite import Instance, Network
    from qospec.plan.assembly import Draft, Drafts, Way
    from qospec.plan.tables import Member, Passing, Table

OAM = (Sort(oam=True, marks=0), Sort(oam=True, marks=CLP))
"""The sorts of OAM cells: a policer may tag them too."""


class Walk:
    """One member on its way."""

    def __init__(
        self,
        drafts: Drafts,
        made: dict[int, Table],
        entries: Mapping[str, str],
        number: int,
        member: Member,
    ) -> None:
        self._drafts = drafts
        self._made = made
        self._entries = entries
        self._number = number
        self._member = member

    def choose(self, start: State) -> None:
        """Write the shortest way of user cells to the target into the routers on it.

        OAM cells stay with the user cells of their connection.
        """
        nearer = self._distances(start)
        if start not in nearer:
            raise NoWayError(self._member, start.sort)
        for state in nearer:
            if self._drafts[state.element].duty == "router":
                self._write(state, nearer)

    def _write(self, state: State, nearer: dict[State, int]) -> None:
        best = min(
            (self._distance(way, state, nearer), position, way.output)
            for position, way in enumerate(self._drafts[state.element].ways)
        )
        table = self._made[state.element].by_sort
        table[self._number, state.sort] = best[2]
        if state.sort.marks == self._member.marks:
            for oam in OAM:
                table[self._number, oam] = best[2]

    def _distance(self, way: Way, state: State, nearer: dict[State, int]) -> float:
        if way.end == "host":
            return 0 if way.to == self._member.target else math.inf
        if way.end != "element":
            return math.inf
        return nearer.get(self._behind(way, state.sort, state.entry), math.inf)

    def _distances(self, start: State) -> dict[State, int]:
        """Return how far the target is from each state that user cells can reach."""
        before: dict[State, list[State]] = {}
        reached, waiting = {start}, deque([start])
        last: list[State] = []
        while waiting:
            state = waiting.popleft()
            entry = self._entry(state)
            for way, sort in self._onward(state, free=True):
                if way.end == "host" and way.to == self._member.target:
                    last.append(state)
                elif way.end == "element" and not sort.oam:
                    onward = self._behind(way, sort, entry)
                    before.setdefault(onward, []).append(state)
                    if onward not in reached:
                        reached.add(onward)
                        waiting.append(onward)
        distances = dict.fromkeys(last, 1)
        waiting = deque(last)
        while waiting:
            state = waiting.popleft()
            for earlier in before.get(state, ()):
                if earlier not in distances:
                    distances[earlier] = distances[state] + 1
                    waiting.append(earlier)
        return distances

    def follow(self, start: State, passing: Passing) -> None:
        """Note where cells of all sorts pass; raises NoWayError for those that end elsewhere."""
        reached, waiting, straight = {start}, deque([start]), {start}
        while waiting:
            state = waiting.popleft()
            passing.any.setdefault(state.element, set()).add(self._number)
            passing.sorts.setdefault(state.element, set()).add((self._number, state.sort))
            if state in straight:
                passing.offered.setdefault(state.element, set()).add(self._number)
            usual = next(self._sorts(self._drafts[state.element], state.sort), None)
            if usual is None:  # all such are lost here
                continue
            entry = self._entry(state)
            onward = list(self._onward(state, free=False))
            if not onward:
                raise NoWayError(self._member, state.sort)
            for way, sort in onward:
                if way.end == "host" and way.to != self._member.target:
                    raise NoWayError(self._member, sort, way.to)
                if way.end != "element":
                    continue
                passing.inputs.setdefault((way.to, way.input), set()).add(self._number)
                after = self._behind(way, sort, entry)
                if state in straight and sort == usual:
                    straight.add(after)
                if after not in reached:
                    reached.add(after)
                    waiting.append(after)

    def _behind(self, way: Way, sort: Sort, entry: str) -> State:
        """Return items of a sort before the element that a way leads to."""
        element = self._drafts[way.to].element
        return State(way.to, sort, entry, element.output_of(way.input, oam=sort.oam))

    def _entry(self, state: State) -> str:
        """Return the port by which what leaves an element is in a device."""
        draft = self._drafts[state.element]
        return self._entries.get(draft.line or draft.instance.path, state.entry)

    def _onward(self, state: State, *, free: bool) -> Iterator[tuple[Way, Sort]]:
        """Yield where cells may go, and as what; in a free walk a router leads anywhere."""
        draft = self._drafts[state.element]
        table = None if free and draft.duty == "router" else self._made.get(state.element)
        if table is not None:
            taken = table.output(self._number, state.sort, state.entry)
            if not free and not table.settle(self._number, state.sort, taken):
                raise TwoWaysError(self._member, state.element)
            ways = [way for way in draft.ways if way.output == taken]
        elif draft.duty == "router":
            ways = draft.ways
        else:
            ways = [way for way in draft.ways if way.output == state.output]
        for sort in self._sorts(draft, state.sort):
            for way in ways:
                yield way, sort

    def _sorts(self, draft: Draft, sort: Sort) -> Iterator[Sort]:
        """Yield what items of a sort may be behind an element."""
        for marks in draft.element.marks_after(sort.marks, self._member.contract):
            yield Sort(sort.oam, marks if draft.clock is None else marks & carried(draft.clock))
        if draft.element.inserts_oam and not sort.oam:
            yield Sort(oam=True, marks=0)


def partition_by_table(
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
