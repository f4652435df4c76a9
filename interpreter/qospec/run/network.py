"""Lowers a flat network to engine nodes, for the flows of one case.

What no cell can reach is left out, and so is what does nothing to the cells that reach it: a
classifier with one class in use, a policer that none of these contracts concern, a scheduler with
one queue to choose from (which then is that queue). A router becomes a node per input. None of this
changes a cell's time or fate.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qospec.engine.experiment import DISCARD, END, Node, Wire
from qospec.run.draft import Draft, Way, drafted, redirect
from qospec.run.routing import Member, NoWayError, Table, tables

if TYPE_CHECKING:
    from qospec.engine.connections import Connections
    from qospec.model import Network
    from qospec.run.draft import Drafts

__all__ = ["Lowered", "Member", "NoWayError", "lower"]

Passing = dict[int, set[int]]


@dataclass(frozen=True)
class Lowered:
    """The engine's view of a network.

    Attributes:
        nodes: In place, with tables and clocks.
        wires: Between them.
        entry: Per host, the node that its cells enter.
        passing: Per node, the members (by number) whose cells may pass it.
    """

    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    entry: dict[int, int]
    passing: tuple[frozenset[int], ...]


def lower(network: Network, members: tuple[Member, ...], connections: Connections) -> Lowered:
    """Return the nodes and wires that the members' cells can reach; raises NoWayError."""
    drafts = drafted(network)
    made = tables(network, drafts, members, connections)
    passing = _passing(network, drafts, made, members)
    for index in [index for index in passing if drafts[index].duty == "router"]:
        _part_inputs(drafts, made, passing, index)
    _leave_out(drafts, made, passing, members, connections)
    return _numbered(network, drafts, made, passing, members, connections)


def _passing(
    network: Network, drafts: Drafts, made: dict[int, Table], members: tuple[Member, ...]
) -> Passing:
    """Return, by element, the members whose cells may pass it, and forget wires that none takes."""
    passing: Passing = {}
    waiting = deque(
        (network.hosts[member.origin].line, number) for number, member in enumerate(members)
    )
    while waiting:
        index, number = waiting.popleft()
        if number in passing.setdefault(index, set()):
            continue
        passing[index].add(number)
        for way in drafts[index].ways:
            if way.end == "element" and (
                index not in made or way.output in made[index].outputs(number)
            ):
                waiting.append((way.to, number))
    for index in passing:
        if index in made:
            drafts[index].ways = [
                way for way in drafts[index].ways if way.output in made[index].used
            ]
    return passing


def _part_inputs(drafts: Drafts, made: dict[int, Table], passing: Passing, index: int) -> None:
    """Let each input of a router be a node: they share nothing, and where outputs meet is merged.

    As one node, a switch that two flows cross in opposite directions would close a loop that no
    cell goes round.
    """
    through: dict[int, set[int]] = {}
    for other in passing:
        for way in drafts[other].ways:
            if way.end == "element" and way.to == index:
                table = made.get(other)
                through.setdefault(way.input, set()).update(
                    n for n in passing[other] if table is None or way.output in table.outputs(n)
                )
    whole, ways = made[index], drafts[index].ways
    for entry in sorted(through):
        place = index if entry == min(through) else max(drafts) + 1
        made[place], passing[place] = whole.of(through[entry]), through[entry]
        mine = [way for way in ways if way.output in made[place].used]
        drafts[place] = Draft(drafts[index].instance, mine)
        _move_input(drafts, (index, entry), place)


def _move_input(drafts: Drafts, old: tuple[int, int], new: int) -> None:
    """Let wires that lead to an element's input lead to the same input of another."""
    for draft in drafts.values():
        draft.ways = [
            replace(w, to=new) if w.end == "element" and (w.to, w.input) == old else w
            for w in draft.ways
        ]


def _leave_out(
    drafts: Drafts,
    made: dict[int, Table],
    passing: Passing,
    members: tuple[Member, ...],
    connections: Connections,
) -> None:
    for index in list(passing):
        draft = drafts[index]
        if draft.duty == "scheduler":
            _as_queue(drafts, index, passing)
        elif len(draft.ways) == 1 and (
            (draft.duty == "classifier" and len(made[index].used) == 1)
            or not _concerned(draft.instance.element, passing[index], members, connections)
        ):
            redirect(drafts, index, draft.ways[0])
            del passing[index]


def _as_queue(drafts: Drafts, index: int, passing: Passing) -> None:
    """Let a scheduler that can only ever serve one queue be that queue."""
    fed = {
        way.input
        for other in passing
        for way in drafts[other].ways
        if way.end == "element" and way.to == index
    }
    draft = drafts[index]
    if len(fed) == 1 and (queue := draft.queues[fed.pop()]) is not None:
        draft.instance, draft.queues = queue, []
        redirect(drafts, index, Way(0, "element", index, 0))


def _concerned(
    element: object, passing: set[int], members: tuple[Member, ...], connections: Connections
) -> bool:
    """Return whether the element does anything to cells of any of these members."""
    concerns = getattr(element, "concerns", None)
    return concerns is None or any(
        concerns(connections.contracts[members[n].first]) for n in passing
    )


def _numbered(
    network: Network,
    drafts: Drafts,
    made: dict[int, Table],
    passing: Passing,
    members: tuple[Member, ...],
    connections: Connections,
) -> Lowered:
    kept = sorted(passing)
    position = {index: place for place, index in enumerate(kept)}
    nodes, wires = [], []
    for index in kept:
        draft = drafts[index]
        outputs = made[index].by_connection(members, connections) if index in made else None
        nodes.append(
            Node(draft.instance.path, draft.instance.element, draft.clock, draft.waiting, outputs)
        )
        for way in draft.ways:
            if way.end != "element":
                wires.append(
                    Wire(position[index], way.output, DISCARD if way.end == "discard" else END)
                )
            elif way.to in position:
                wires.append(Wire(position[index], way.output, position[way.to], way.input))
    entry = {
        i: position[host.line] for i, host in enumerate(network.hosts) if host.line in position
    }
    return Lowered(
        tuple(nodes), tuple(wires), entry, tuple(frozenset(passing[index]) for index in kept)
    )
