"""The routes of each member's items through a network, and the output tables made from them.

A classifier splits items and a policer may tag cells, so items of one connection can take different
paths; all of them must end at the target, or be discarded. Connections of one member (an origin and
a target of a flow) behave alike, so tables are made by member.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.check.device import predicates
from qospec.check.records import addresses
from qospec.model.expression import Attribute, evaluate
from qospec.plan.tables import (
    NO_OUTPUT,
    AmbiguousRouteError,
    Hop,
    ItemClass,
    NoPathError,
    Reach,
    State,
    Table,
    list_marks_after,
)
from qospec.protocol.marks import ALL, CLP, LEG, SIZE_RANGE
from qospec.protocol.streams import INSERTED, KINDS

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from qospec.model.expression import Leaf, Value
    from qospec.model.suite import Instance, Network
    from qospec.plan.assembly import Draft, Drafts, Edge
    from qospec.plan.tables import Member, Reach, Table

INSERTED_CLASSES = [ItemClass(kind, marks) for kind in INSERTED for marks in (0, CLP)]
"""The classes of cells that the network inserts: a policer may tag them too."""
MADE_OF_PACKETS = tuple(kind for kind in INSERTED if "packet" in KINDS[kind].carries)
"""The kinds of what elements make of packets, with their marks."""

Step = tuple["Edge", ItemClass, list[State]]
"""An edge that items take, their class on it, and their states behind it: none at a host."""
Known = dict[State, list[Step]]
"""The steps from each state, of members of one contract of which classifiers ask the same."""


class MemberRouting:
    """The routing of one member."""

    def __init__(
        self,
        drafts: Drafts,
        made: dict[int, Table],
        entries: Mapping[str, str],
        number: int,
        member: Member,
        known: Known,
    ) -> None:
        self._drafts = drafts
        self._made = made
        self._entries = entries
        self._number = number
        self._member = member
        self._known = known
        self._legs = member.legs

    def choose(self, start: State) -> None:
        """Write the shortest route of user items to the target into the routers' tables.

        Inserted cells take the route of the user cells of their connection.
        """
        distances, leading = self._compute_distances(start)
        lacking = next((way for way in range(len(self._member.ways)) if way not in leading), None)
        if lacking is not None:
            machine, _ = next(iter(self.list_machines(start)), (-1, 0))
            missed = self._find_missed(start, lacking)
            raise NoPathError(
                self._member, start.item_class, machine=machine, missed=missed, way=lacking
            )
        for state in distances:
            if self._drafts[state.element].duty == "router":
                self._write(state, distances)

    def _write(self, state: State, distances: dict[State, int]) -> None:
        best = min(
            (self._compute_distance(edge, state, distances), position, edge.output)
            for position, edge in enumerate(self._drafts[state.element].edges)
        )
        table = self._made[state.element].by_class
        table[self._number, state.item_class] = best[2]
        for kind in MADE_OF_PACKETS:
            table[self._number, ItemClass(kind, state.item_class.marks)] = best[2]
        marks = state.item_class.marks
        if LEG.put(marks, 0) == self._member.marks:
            for kind, own in INSERTED_CLASSES:
                table[self._number, ItemClass(kind, own | marks & LEG.mask)] = best[2]

    def _compute_distance(self, edge: Edge, state: State, distances: dict[State, int]) -> float:
        if self._reaches_target(edge, state.item_class):
            return 0
        onward = self._list_next_states(edge, state.item_class, state.entry)
        return min((distances.get(next_state, math.inf) for next_state in onward), default=math.inf)

    def _reaches_target(self, edge: Edge, item_class: ItemClass) -> bool:
        """Return whether an edge leads to the target, by all ports that the flow names."""
        if self._find_next(item_class.marks):
            return False
        channel = self._member.channel
        if channel is not None:
            return edge.end == "element" and (edge.to, edge.input) == channel[2:4]
        return edge.end == "host" and edge.to == self._member.target

    def list_leading(self, start: State) -> set[int]:
        """Return the ways on which user items can reach the target, by their numbers."""
        return self._compute_distances(start)[1]

    def _compute_distances(self, start: State) -> tuple[dict[State, int], set[int]]:
        """Return the distance of the target from each state that user items can reach.

        And the ways on which they can reach it.
        """
        before: dict[State, list[State]] = {}
        reached, waiting = {start}, deque([start])
        last: list[State] = []
        leading = set[int]()
        while waiting:
            state = waiting.popleft()
            for edge, item_class, onward in self._list_steps(state):
                if self._reaches_target(edge, item_class):
                    last.append(state)
                    leading.add(self._legs[LEG.read(item_class.marks)][0])
                elif item_class.kind == "user":
                    for next_state in onward:
                        before.setdefault(next_state, []).append(state)
                        if next_state not in reached:
                            reached.add(next_state)
                            waiting.append(next_state)
        distances = dict.fromkeys(last, 1)
        waiting = deque(last)
        while waiting:
            state = waiting.popleft()
            for earlier in before.get(state, ()):
                if earlier not in distances:
                    distances[earlier] = distances[state] + 1
                    waiting.append(earlier)
        return distances, leading

    def follow(self, starts: list[State], reach: Reach) -> None:
        """Note where items of all classes pass; raises NoPathError for those that end elsewhere."""
        reached, waiting, straight = {*starts}, deque(starts), {starts[0]}
        hops = reach.hops.setdefault(self._number, [])
        offered: dict[int, Counter[int]] = {}
        while waiting:
            state = waiting.popleft()
            reach.any.setdefault(state.element, set()).add(self._number)
            reach.item_classes.setdefault(state.element, set()).add(
                (self._number, state.item_class)
            )
            if state in straight and self._member.channel is None:
                way, _ = self._legs[LEG.read(state.item_class.marks)]
                offered.setdefault(state.element, Counter())[way] += 1
            steps = self._list_steps(state)
            if not steps and not self._list_item_classes(state):
                continue  # all such are lost here
            steps = self._list_taken(state, steps)
            if not steps:
                raise NoPathError(self._member, state.item_class)
            count = len(self._member.ways) if self._is_first(state) else 1
            usual = {item_class for _, item_class, _ in steps[:count]}
            for edge, item_class, onward in steps:
                if edge.end == "host" or self._reaches_target(edge, item_class):
                    self._end(edge, state, item_class, reach)
                if edge.end != "element":
                    continue
                arriving = reach.inputs.setdefault((edge.to, edge.input), set())
                arriving.add((self._number, item_class))
                goes_straight = state in straight and item_class in usual
                if not onward and not self._reaches_target(edge, item_class):
                    raise NoPathError(self._member, item_class, machine=edge.to)
                hops += [Hop(state, after, edge.input, goes_straight) for after in onward]
                straight.update(onward if goes_straight else ())
                waiting += [after for after in onward if after not in reached]
                reached.update(onward)
        for element, by_way in offered.items():
            reach.offered.setdefault(element, Counter())[self._number] = max(by_way.values())

    def _end(self, edge: Edge, state: State, item_class: ItemClass, reach: Reach) -> None:
        """Note that items reach a host or a machine; raises NoPathError if it is not the target."""
        if not self._reaches_target(edge, item_class):
            raise NoPathError(self._member, item_class, edge.to)
        reach.ends.setdefault(self._number, set()).add(state)
        if self._member.channel is not None:
            reach.any.setdefault(edge.to, set()).add(self._number)

    def _list_next_states(self, edge: Edge, item_class: ItemClass, entry: str) -> list[State]:
        """Return the states of items at the element that an edge leads to: one, as a rule.

        There are none at a machine that takes them for messages, several where it decides.
        """
        if edge.end != "element":
            return []
        draft = self._drafts[edge.to]
        outputs = draft.element.predict_outputs(edge.input, kind=item_class.kind)
        number = edge.input if draft.queues else 0
        return [State(edge.to, item_class, entry, output, number) for output in outputs]

    def list_machines(self, start: State) -> list[tuple[int, int]]:
        """Return the machines that messages may reach, and by which input: the nearest first."""
        reached, waiting, found = {start}, deque([start]), dict[tuple[int, int], None]()
        while waiting:
            state = waiting.popleft()
            for edge, item_class, onward in self._list_steps(state):
                if edge.end != "element" or item_class.kind != "user":
                    continue
                if not onward:
                    found[edge.to, edge.input] = None
                for next_state in onward:
                    if next_state not in reached:
                        reached.add(next_state)
                        waiting.append(next_state)
        return list(found)

    def _find_entry(self, state: State) -> str:
        """Return the port by which items that leave an element entered the device."""
        draft = self._drafts[state.element]
        return self._entries.get(draft.line or draft.instance.path, state.entry)

    def _list_steps(self, state: State) -> list[Step]:
        """Return the steps that items may take from an element: from a router, to anywhere."""
        if state not in self._known:
            draft, edges = self._drafts[state.element], self._drafts[state.element].edges
            if draft.duty != "router":
                table = self._made.get(state.element)
                taken = state.output
                if table is not None:
                    taken = table.find_output(self._number, state.item_class, state.entry)
                edges = [edge for edge in edges if edge.output == taken]
            entry = self._find_entry(state)
            self._known[state] = [
                (edge, item_class, self._list_next_states(edge, item_class, entry))
                for item_class in self._list_item_classes(state)
                for edge in edges
                if self._may_leave(draft, state.item_class)
            ]
        return self._known[state]

    def _is_first(self, state: State) -> bool:
        """Return whether an element is the line of a host, behind which the way is decided."""
        clock = self._drafts[state.element].clock
        return clock is not None and clock.stamps

    def _find_next(self, marks: int) -> str:
        """Return the line by which items with these marks leave next, of those named; "": none."""
        # Asked of every edge, and most flows name none.
        return self._legs[LEG.read(marks)][1] if len(self._legs) > 1 else ""

    def _may_leave(self, draft: Draft, item_class: ItemClass) -> bool:
        """Return whether items may leave by a line: by one that is named, if it is the next."""
        if len(self._legs) == 1:
            return True
        number, following = self._legs[LEG.read(item_class.marks)]
        line, way = draft.line or draft.instance.path, self._member.ways[number]
        return line == following or line not in {*way.via, *way.avoided}

    def _find_missed(self, start: State, way: int) -> str:
        """Return the first of the lines that a way names and items cannot reach; "" if none."""
        reached, waiting = {start}, deque([start])
        while waiting:
            for _, _, onward in self._list_steps(waiting.popleft()):
                waiting += set(onward) - reached
                reached.update(onward)
        legs = {LEG.read(state.item_class.marks) for state in reached} | {*self._member.first_legs}
        return self._legs[max(leg for leg in legs if self._legs[leg][0] == way)][1]

    def _list_taken(self, state: State, steps: list[Step]) -> list[Step]:
        """Return the steps that items do take from an element: from a router, by its table."""
        table = self._made.get(state.element)
        if table is None:
            return steps
        taken = table.find_output(self._number, state.item_class, state.entry)
        if not table.settle(self._number, state.item_class, taken):
            raise AmbiguousRouteError(self._member, state.element)
        return [step for step in steps if step[0].output == taken]

    def _list_item_classes(self, state: State) -> list[ItemClass]:
        """Return the classes that items may have behind an element, the usual one first."""
        draft, (kind, marks) = self._drafts[state.element], state.item_class
        element, contract = draft.element, self._member.contract
        found = list_marks_after(element, draft.waiting, state.input, marks, contract)
        carried = -1 if draft.clock is None else draft.clock.carried_marks
        classes = [ItemClass(kind, marks & carried) for marks in found]
        if kind == "user":
            for inserted in element.inserts:
                given = found if element.cuts else {marks & LEG.mask for marks in found}
                classes += [ItemClass(inserted, marks) for marks in given]
        if len(self._member.ways) > 1 and self._is_first(state):
            legs = self._member.first_legs
            return [ItemClass(kind, LEG.put(marks, leg)) for kind, marks in classes for leg in legs]
        following = self._find_next(marks)
        if not following or (draft.line or draft.instance.path) != following:
            return classes
        next_leg = 1 << LEG.first
        return [ItemClass(kind, marks + next_leg) for kind, marks in classes]


def find_start(member: Member, network: Network) -> State:
    """Return where the items of a member are first."""
    item_class = ItemClass("user", member.marks)
    if member.channel is not None:
        return State(member.channel.origin, item_class, "", member.channel.output)
    return State(network.hosts[member.origin].line, item_class)


def route_members(
    network: Network, drafts: Drafts, members: tuple[Member, ...]
) -> tuple[dict[int, Table], Reach]:
    """Return the output table of every router and classifier, and where items pass.

    Raises:
        NoPathError: Some end elsewhere, or nowhere.
        AmbiguousRouteError: A classifier would need to know the port by which items came.
    """
    made: dict[int, Table] = {}
    for index, draft in drafts.items():
        if draft.duty == "classifier":
            made[index] = Classes(draft.instance, members)
        elif draft.duty == "router":
            made[index] = Table()
    reach = Reach()
    asked = any(
        "input" in predicates.list_attributes(c) for e in network.elements for c in e.predicates
    )
    entries = network.entries if asked else {}
    steps: dict[Hashable, Known] = {}
    for number, member in enumerate(members):
        if not member.stream.is_routed:
            continue
        start = find_start(member, network)
        if start.element < 0:
            raise NoPathError(member, start.item_class)  # no link is at the host
        starts = [start._replace(item_class=ItemClass("user", m)) for m in member.all_marks]
        if len(member.ways) > 1:
            walk = MemberRouting(drafts, made, entries, number, member, {})
            member = _open_ways(member, walk.list_leading(start))  # noqa: PLW2901  its ways are
        alike = (member.contract, member.asked, member.stream.kind, member.ways)
        walk = MemberRouting(drafts, made, entries, number, member, steps.setdefault(alike, {}))
        for begun in starts:
            walk.choose(begun)
        walk.follow(starts, reach)
    return {
        index: table.keep_arriving(reach.item_classes.get(index, set()))
        for index, table in made.items()
    }, reach


def _open_ways(member: Member, leading: set[int]) -> Member:
    """Return a member that goes on to a line where no way leads round it."""
    ways = enumerate(member.ways)
    opened = (way if n in leading else way._replace(avoided=frozenset()) for n, way in ways)
    return replace(member, ways=tuple(opened))


class Classes(Table):
    """The output table of a classifier, filled in for each class of items when it is looked up."""

    def __init__(self, instance: Instance, members: tuple[Member, ...]) -> None:
        super().__init__()
        self._instance = instance
        self._members = members
        asked: dict[Hashable, int] = {}
        self._alike = [asked.setdefault((m.asked, m.stream.kind), len(asked)) for m in members]
        self._known: dict[tuple[int, ItemClass, str], int] = {}

    def find_output(self, member: int, item_class: ItemClass, entry: str = "") -> int:
        """Return the output of the first class whose condition such items meet."""
        key = (self._alike[member], item_class, entry)
        if key not in self._known:
            item: dict[str, Value] = {
                **dict(self._members[member].asked),
                "oam": item_class.kind == "oam",
                **dict.fromkeys(
                    ("message", "packet_message"), self._members[member].stream.kind == "messages"
                ),
                "input": entry,
            }
            for name, mark in ALL.items():
                value = mark.read(item_class.marks)
                item[name] = mark.words[value] if value < len(mark.words) else Fraction(value)
            bounds = predicates.list_size_bounds(self._instance.predicates)
            if bounds:  # else what another classifier has noted is still there
                item["size"] = Fraction((0, *bounds)[SIZE_RANGE.read(item_class.marks)])
            for name in predicates.ADDRESSES:
                item[name] = Fraction(addresses.number_address(str(item.get(name, ""))))
            self._known[key] = _find_first(self._instance, item)
        return self._known[key]


def _find_first(instance: Instance, item: dict[str, Value]) -> int:
    def read(leaf: Leaf) -> Value:
        return item.get(leaf.name) if isinstance(leaf, Attribute) else None

    for output, predicate in enumerate(instance.predicates):
        if evaluate(predicate, read) is True:
            return output
    return NO_OUTPUT
