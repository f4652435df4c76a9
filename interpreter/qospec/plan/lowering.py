"""Lowers a flat network to engine nodes, for the flows of one case.

What no item can reach is left out, and so is what does nothing to the items that reach it: a
classifier with one class in use, a policer that none of these contracts concern, a scheduler with
one queue to choose from (which then is that queue). A router becomes a node per input, and one per
output where its inputs meet if it has a multiplexer. None of this changes when an item arrives, or
whether it does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.experiment import DISCARD, END, Node, Wire
from qospec.engine.line.relabel import Relabel, Turn
from qospec.plan.assembly import Draft, Edge, redirect
from qospec.plan.tables import list_members_using

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.model.suite import Network
    from qospec.plan.assembly import Drafts
    from qospec.plan.forms import Survey
    from qospec.plan.tables import Member, Reach, Table
    from qospec.protocol.streams import Streams


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
        arrives_at: Per wire, the host that it leads to; -1: none.
    """

    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    entry: dict[int, int]
    reach: tuple[frozenset[int], ...]
    lines: dict[str, str]
    arrives_at: tuple[int, ...] = ()


def lower(
    network: Network,
    survey: Survey,
    streams: Streams,
    places: frozenset[str] = frozenset(),
) -> Lowered:
    """Return the nodes and wires that the members' items can reach; consumes the survey.

    The elements of which `places` has the paths are not left out.
    """
    members, forms, drafts, made, found = survey
    reach = found.any
    for index, through in reach.items():
        drafts[index].size_bytes = forms.find_only_size_bytes(index, through)
    for index in reach:
        if index in made:
            used = made[index].used
            drafts[index].edges = [edge for edge in drafts[index].edges if edge.output in used]
    for index in [index for index in reach if drafts[index].duty == "router"]:
        _split_inputs(drafts, made, found, index)
    _remove_idle(drafts, made, reach, members, places)
    _insert_relabels(drafts, found, _list_turns(members, network))
    for index in [index for index, draft in drafts.items() if draft.duty == "machine"]:
        reach.setdefault(index, set())  # it works by itself
    kept = sorted(reach)
    position = {index: place for place, index in enumerate(kept)}
    hosts = enumerate(network.hosts)
    wires = _list_wires(drafts, position)
    return Lowered(
        tuple(_build_node(drafts[i], made.get(i), members, streams) for i in kept),
        tuple(wire for wire, _ in wires),
        {number: position[host.line] for number, host in hosts if host.line in position},
        tuple(frozenset(reach[i]) for i in kept),
        {drafts[i].line or drafts[i].instance.path: drafts[i].instance.path for i in kept},
        tuple(host for _, host in wires),
    )


def _split_inputs(drafts: Drafts, made: dict[int, Table], found: Reach, index: int) -> None:
    """Make each input of a router a node: they share nothing, and outputs that meet are merged.

    As one node, a switch that two flows cross in opposite directions would close a loop that no
    item goes round.
    """
    reach = found.any
    through = {entry: some for (to, entry), some in found.inputs.items() if to == index}
    whole, edges = made[index], drafts[index].edges
    places: dict[int, int] = {}
    for entry in sorted(through):
        place = places[entry] = index if entry == min(through) else max(drafts) + 1
        made[place] = whole.keep_arriving(through[entry])
        reach[place] = {number for number, _ in through[entry]}
        mine = [
            replace(edge, rank=(*edge.rank, entry))
            for edge in edges
            if edge.output in made[place].used
        ]
        drafts[place] = Draft(drafts[index].instance, mine, size_bytes=drafts[index].size_bytes)
        _move_input(drafts, (index, entry), place)
    if drafts[index].element.multiplexer is not None:
        for edge in edges:
            _insert_multiplexer(drafts, made, reach, edge, places)


def _insert_multiplexer(
    drafts: Drafts,
    made: dict[int, Table],
    reach: MembersByElement,
    edge: Edge,
    places: Mapping[int, int],
) -> None:
    """Insert a router's multiplexer at the output of `edge`, if several of its inputs meet there.

    Args:
        drafts: Updated.
        made: The tables.
        reach: Updated.
        edge: The wire from that output.
        places: The nodes of the router by input.
    """
    meeting = {n: place for n, place in places.items() if edge.output in made[place].used}
    if len(meeting) < 2:  # noqa: PLR2004
        return
    draft = drafts[min(meeting.values())]
    path = f"{draft.instance.path}.{draft.element.outputs[edge.output]}"
    place = max(drafts) + 1
    behind = replace(draft.instance, path=path, element=draft.element.multiplexer)
    onward = [replace(edge, output=0)]
    drafts[place], reach[place] = Draft(behind, onward, size_bytes=draft.size_bytes), set()
    for entry, node in meeting.items():
        reach[place] |= list_members_using(edge.output, reach[node], made[node])
        drafts[node].edges = [
            Edge(old.output, "element", place, entry) if old.output == edge.output else old
            for old in drafts[node].edges
        ]


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
    places: frozenset[str],
) -> None:
    for index in list(reach):
        draft = drafts[index]
        if draft.duty == "scheduler":
            _as_queue(drafts, index, reach)
        elif draft.instance.path in places or draft.duty == "machine":
            continue
        elif len(draft.edges) == 1 and (
            (draft.duty == "classifier" and len(made[index].used) == 1)
            or not any(draft.element.concerns(members[n].contract) for n in reach[index])
        ):
            redirect(drafts, index, draft.edges[0])
            del reach[index]


def _list_turns(members: tuple[Member, ...], network: Network) -> dict[str, list[Turn]]:
    """Return what lines do to the legs of items, by path.

    A leg ends with the line that the flow names next. The first line of a member begins the way of
    that time.
    """
    found: dict[str, list[Turn]] = {}
    for member in (member for member in members if member.stream.is_routed):
        some = member.stream.first, member.stream.stop
        for leg, (_, line) in enumerate(member.legs):
            if line:
                found.setdefault(line, []).append(Turn(*some, leg, leg + 1))
        if len(member.ways) > 1:
            first = network.elements[network.hosts[member.origin].line].path
            ways = zip(member.first_legs, member.ways, strict=True)
            begun = sorted((since_ps, leg) for leg, way in ways for since_ps in way.since_ps)
            found.setdefault(first, []).extend(Turn(*some, 0, leg, ps) for ps, leg in begun)
    return found


def _insert_relabels(drafts: Drafts, reach: Reach, turns: Mapping[str, Sequence[Turn]]) -> None:
    """Insert a `Relabel` behind each line that changes marks: of which it does not carry all.

    Or where legs begin, by its path in `turns`.
    """
    for index in list(reach.any):
        draft = drafts[index]
        if draft.clock is None or draft.edges[0].end != "element":
            continue
        kept, line = draft.clock.carried_marks, draft.line or draft.instance.path
        named = tuple(turns.get(line, ()))
        if not named and all(
            item_class.marks & kept == item_class.marks
            for _, item_class in reach.item_classes.get(index, ())
        ):
            continue
        place = max(drafts) + 1
        relabel = Relabel(kept, named)
        behind = replace(draft.instance, path=f"{line} (marks)", element=relabel)
        (edge,) = draft.edges
        drafts[place] = Draft(behind, [replace(edge, output=0)], size_bytes=draft.size_bytes)
        draft.edges = [Edge(edge.output, "element", place, 0, edge.rank)]
        reach.any[place] = reach.any[index]


def _as_queue(drafts: Drafts, index: int, reach: MembersByElement) -> None:
    """Replace a scheduler that can only ever serve one queue by that queue, if it never pauses."""
    draft = drafts[index]
    if draft.instance.element.may_pause:
        return
    fed = {
        edge.input
        for other in reach
        for edge in drafts[other].edges
        if edge.end == "element" and edge.to == index
    }
    if len(fed) == 1 and (queue := draft.queues[fed.pop()]) is not None:
        draft.instance, draft.queues = queue, []
        redirect(drafts, index, Edge(0, "element", index, 0))


def _build_node(
    draft: Draft, table: Table | None, members: tuple[Member, ...], streams: Streams
) -> Node:
    path, element, clock, waiting = (
        draft.instance.path,
        draft.instance.element,
        draft.clock,
        draft.waiting,
    )
    node = Node(
        path,
        element,
        clock,
        waiting,
        size_bytes=draft.size_bytes,
        clocks=draft.clocks,
        tagged=draft.tagged,
    )
    if table is None:
        return node
    outputs, columns = table.tabulate_by_connection(members, streams)
    return node._replace(outputs=outputs, columns=columns)


def _list_wires(drafts: Drafts, position: dict[int, int]) -> list[tuple[Wire, int]]:
    """Return the wires by rank, each with the host that it leads to, or -1.

    The engine merges simultaneous items in that order.
    """
    ranked = []
    for index, place in position.items():
        for edge in drafts[index].edges:
            if edge.end == "element" and edge.to in position:
                wire = Wire(place, edge.output, position[edge.to], edge.input)
                ranked.append((edge.rank, wire, -1))
            elif edge.end != "element":
                end = DISCARD if edge.end == "discard" else END
                host = edge.to if edge.end == "host" else -1
                ranked.append((edge.rank, Wire(place, edge.output, end), host))
    return [(wire, host) for _, wire, host in sorted(ranked, key=lambda entry: entry[0])]
