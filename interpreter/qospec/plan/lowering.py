"""Lowers a flat network to engine nodes, for the flows of one case.

What no cell can reach is left out, and so is what does nothing to the cells that reach it: a
classifier with one class in use, a policer that none of these contracts concern, a scheduler with
one queue to choose from (which then is that queue). A router becomes a node per input. None of this
changes a cell's time or fate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.experiment import DISCARD, END, Node, Wire
from qospec.plan import marks_carried
from qospec.plan.assembly import Draft, Way, redirect
from qospec.plan.tables import taking

if TYPE_CHECKING:
    from qospec.engine.items.connections import Connections
    from qospec.model.suite import Network
    from qospec.plan.assembly import Drafts
    from qospec.plan.survey import Survey
    from qospec.plan.tables import Member, Table


PassedBy = dict[int, set[int]]
"""By element, the members whose cells may pass it."""


@dataclass(frozen=True)
class Lowered:
    """The engine's view of a network.

    Attributes:
        nodes: In place, with tables and clocks.
        wires: Between them.
        entry: Per host, the node that its cells enter.
        passing: Per node, the members (by number) any of whose cells may pass it.
        lines: By a line's path, that of the node that sends on it: a queue's, if one feeds it.
    """

    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    entry: dict[int, int]
    passing: tuple[frozenset[int], ...]
    lines: dict[str, str]


def lower(network: Network, survey: Survey, connections: Connections) -> Lowered:
    """Return the nodes and wires that the members' cells can reach; the survey is used up."""
    members, drafts, made, found = survey
    passing = found.any
    for index in passing:
        if index in made:
            used = made[index].used
            drafts[index].ways = [way for way in drafts[index].ways if way.output in used]
    for index in [index for index in passing if drafts[index].duty == "router"]:
        _part_inputs(drafts, made, passing, index)
    _leave_out(drafts, made, passing, members)
    marks_carried.put_in(drafts, found)
    kept = sorted(passing)
    position = {index: place for place, index in enumerate(kept)}
    hosts = enumerate(network.hosts)
    return Lowered(
        tuple(_node(drafts[i], made.get(i), members, connections) for i in kept),
        _wires(drafts, position),
        {number: position[host.line] for number, host in hosts if host.line in position},
        tuple(frozenset(passing[i]) for i in kept),
        {drafts[i].line or drafts[i].instance.path: drafts[i].instance.path for i in kept},
    )


def _part_inputs(drafts: Drafts, made: dict[int, Table], passing: PassedBy, index: int) -> None:
    """Let each input of a router be a node: they share nothing, and where outputs meet is merged.

    As one node, a switch that two flows cross in opposite directions would close a loop that no
    cell goes round.
    """
    through: dict[int, set[int]] = {}
    for other in passing:
        for way in drafts[other].ways:
            if way.end == "element" and way.to == index:
                members = taking(way.output, passing[other], made.get(other))
                through.setdefault(way.input, set()).update(members)
    whole, ways = made[index], drafts[index].ways
    for entry in sorted(through):
        place = index if entry == min(through) else max(drafts) + 1
        made[place], passing[place] = whole.of(through[entry]), through[entry]
        mine = [
            replace(way, rank=(*way.rank, entry)) for way in ways if way.output in made[place].used
        ]
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
    passing: PassedBy,
    members: tuple[Member, ...],
) -> None:
    for index in list(passing):
        draft = drafts[index]
        if draft.duty == "scheduler":
            _as_queue(drafts, index, passing)
        elif len(draft.ways) == 1 and (
            (draft.duty == "classifier" and len(made[index].used) == 1)
            or not any(draft.element.concerns(members[n].contract) for n in passing[index])
        ):
            redirect(drafts, index, draft.ways[0])
            del passing[index]


def _as_queue(drafts: Drafts, index: int, passing: PassedBy) -> None:
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


def _node(
    draft: Draft, table: Table | None, members: tuple[Member, ...], connections: Connections
) -> Node:
    path, element, clock, waiting = (
        draft.instance.path,
        draft.instance.element,
        draft.clock,
        draft.waiting,
    )
    if table is None:
        return Node(path, element, clock, waiting)
    return Node(path, element, clock, waiting, *table.by_connection(members, connections))


def _wires(drafts: Drafts, position: dict[int, int]) -> tuple[Wire, ...]:
    """Return the wires by rank, for that is how the engine merges cells of one time."""
    ranked = []
    for index, place in position.items():
        for way in drafts[index].ways:
            if way.end == "element" and way.to in position:
                ranked.append((way.rank, Wire(place, way.output, position[way.to], way.input)))
            elif way.end != "element":
                end = DISCARD if way.end == "discard" else END
                ranked.append((way.rank, Wire(place, way.output, end)))
    return tuple(wire for _, wire in sorted(ranked, key=lambda pair: pair[0]))
