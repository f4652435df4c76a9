"""Lowers a flat network to engine nodes, for the flows of one case.

What no item can reach is left out, and so is what does nothing to the items that reach it: a
classifier with one class in use, a policer that none of these contracts concern, a scheduler with
one queue to choose from (which then is that queue). A router becomes a node per input. None of this
changes when an item arrives, or whether it does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.experiment import DISCARD, END, Node, Wire
from qospec.plan import marks_carried
from qospec.plan.assembly import Draft, Edge, redirect
from qospec.plan.tables import members_using

if TYPE_CHECKING:
    from qospec.engine.items.connections import Connections
    from qospec.model.suite import Network
    from qospec.plan.assembly import Drafts
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member, Table


MembersByElement = dict[int, set[int]]
"""By element, the members whose items may pass it."""


@dataclass(frozen=True)
class Lowered:
    """The engine's view of a network.

    Attributes:
        nodes: In place, with tables and clocks.
        wires: Between them.
        entry: Per host, the node that its cells enter.
        reach: Per node, the members (by number) whose items may pass it.
        lines: By a line's path, that of the node that sends on it: a queue's, if one feeds it.
    """

    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    entry: dict[int, int]
    reach: tuple[frozenset[int], ...]
    lines: dict[str, str]


def lower(network: Network, survey: Survey, connections: Connections) -> Lowered:
    """Return the nodes and wires that the members' items can reach; consumes the survey."""
    members, forms, drafts, made, found = survey
    reach = found.any
    for index, through in reach.items():
        drafts[index].size_bytes = forms.only_size(index, through)
    for index in reach:
        if index in made:
            used = made[index].used
            drafts[index].edges = [edge for edge in drafts[index].edges if edge.output in used]
    for index in [index for index in reach if drafts[index].duty == "router"]:
        _split_inputs(drafts, made, reach, index)
    _remove_idle(drafts, made, reach, members)
    marks_carried.insert_unmarks(drafts, found)
    kept = sorted(reach)
    position = {index: place for place, index in enumerate(kept)}
    hosts = enumerate(network.hosts)
    return Lowered(
        tuple(_node(drafts[i], made.get(i), members, connections) for i in kept),
        _wires(drafts, position),
        {number: position[host.line] for number, host in hosts if host.line in position},
        tuple(frozenset(reach[i]) for i in kept),
        {drafts[i].line or drafts[i].instance.path: drafts[i].instance.path for i in kept},
    )


def _split_inputs(
    drafts: Drafts, made: dict[int, Table], reach: MembersByElement, index: int
) -> None:
    """Make each input of a router a node: they share nothing, and outputs that meet are merged.

    As one node, a switch that two flows cross in opposite directions would close a loop that no
    item goes round.
    """
    through: dict[int, set[int]] = {}
    for other in reach:
        for edge in drafts[other].edges:
            if edge.end == "element" and edge.to == index:
                members = members_using(edge.output, reach[other], made.get(other))
                through.setdefault(edge.input, set()).update(members)
    whole, edges = made[index], drafts[index].edges
    for entry in sorted(through):
        place = index if entry == min(through) else max(drafts) + 1
        made[place], reach[place] = whole.of(through[entry]), through[entry]
        mine = [
            replace(edge, rank=(*edge.rank, entry))
            for edge in edges
            if edge.output in made[place].used
        ]
        drafts[place] = Draft(drafts[index].instance, mine, size_bytes=drafts[index].size_bytes)
        _move_input(drafts, (index, entry), place)


def _move_input(drafts: Drafts, old: tuple[int, int], new: int) -> None:
    """Redirect the wires to an input of an element to the same input of another."""
    for draft in drafts.values():
        draft.edges = [
            replace(w, to=new) if w.end == "element" and (w.to, w.input) == old else w
            for w in draft.edges
        ]


def _remove_idle(
    drafts: Drafts,
    made: dict[int, Table],
    reach: MembersByElement,
    members: tuple[Member, ...],
) -> None:
    for index in list(reach):
        draft = drafts[index]
        if draft.duty == "scheduler":
            _as_queue(drafts, index, reach)
        elif len(draft.edges) == 1 and (
            (draft.duty == "classifier" and len(made[index].used) == 1)
            or not any(draft.element.concerns(members[n].contract) for n in reach[index])
        ):
            redirect(drafts, index, draft.edges[0])
            del reach[index]


def _as_queue(drafts: Drafts, index: int, reach: MembersByElement) -> None:
    """Replace a scheduler that can only ever serve one queue by that queue."""
    fed = {
        edge.input
        for other in reach
        for edge in drafts[other].edges
        if edge.end == "element" and edge.to == index
    }
    draft = drafts[index]
    if len(fed) == 1 and (queue := draft.queues[fed.pop()]) is not None:
        draft.instance, draft.queues = queue, []
        redirect(drafts, index, Edge(0, "element", index, 0))


def _node(
    draft: Draft, table: Table | None, members: tuple[Member, ...], connections: Connections
) -> Node:
    path, element, clock, waiting = (
        draft.instance.path,
        draft.instance.element,
        draft.clock,
        draft.waiting,
    )
    node = Node(path, element, clock, waiting, size_bytes=draft.size_bytes)
    if table is None:
        return node
    outputs, columns = table.by_connection(members, connections)
    return node._replace(outputs=outputs, columns=columns)


def _wires(drafts: Drafts, position: dict[int, int]) -> tuple[Wire, ...]:
    """Return the wires by rank: the engine merges simultaneous items in that order."""
    ranked = []
    for index, place in position.items():
        for edge in drafts[index].edges:
            if edge.end == "element" and edge.to in position:
                ranked.append((edge.rank, Wire(place, edge.output, position[edge.to], edge.input)))
            elif edge.end != "element":
                end = DISCARD if edge.end == "discard" else END
                ranked.append((edge.rank, Wire(place, edge.output, end)))
    return tuple(wire for _, wire in sorted(ranked, key=lambda pair: pair[0]))
