"""Assembly of a network: elements in place, each queue or scheduler joined with its line.

A queue is emptied by the line that it feeds, and a scheduler chooses for that line, so the two run
as one: the line gives its clock and its wires, and disappears. One that feeds several lines is told
their clocks, and sends each item when its line is free. Schedulers in a row become one, the
one at the line, with the queues of all.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from qospec.check.device.predicates import list_size_bounds
from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.combined import Combined
from qospec.engine.size_range import NoteSizeRange

if TYPE_CHECKING:
    from qospec.engine.element import Element
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Scheduler
    from qospec.model.suite import Instance, Network


@dataclass(frozen=True)
class Edge:
    """A wire, seen from the element that it leaves. `end`, `to` and `input` as in `model.Wire`.

    `rank` orders the wires that meet at an input: simultaneous items are merged in that order. It
    is the order in the specification, and stays when an element in between is left out.
    """

    output: int
    end: str
    to: int
    input: int
    rank: tuple[int, ...] = ()


@dataclass
class Draft:
    """An element in its place in the network.

    Attributes:
        instance: The element.
        edges: Where its outputs lead.
        clock: The line that serves it.
        queues: For a scheduler, the queue before each input, or None.
        clocks: For a queue with several outputs: the line that each feeds, which stays.
        line: For a queue and a scheduler, the path of that line.
        size_bytes: The size of all items that arrive; 0 if sizes differ or are unknown.
        tagged: The connections whose items have the size with a tag here, see `plan.tags`.
    """

    instance: Instance
    edges: list[Edge] = field(default_factory=list)
    clock: Clock | None = None
    clocks: tuple[Clock | None, ...] = ()
    queues: list[Instance | None] = field(default_factory=list)
    line: str = ""
    size_bytes: int = 0
    tagged: tuple[tuple[int, int], ...] = ()

    @property
    def element(self) -> Element:
        """Return its parameters, and the facts that they state."""
        element: Element = self.instance.element
        return element

    @property
    def is_served(self) -> bool:
        """Return whether items wait in it for the line that it feeds."""
        return self.instance.kind.is_served

    @property
    def duty(self) -> str:
        """Return the element's part in the data plane."""
        return self.instance.kind.duty

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Return the queues before a scheduler, as the engine knows them."""
        return tuple(
            Waiting(self.instance.path, None)
            if queue is None
            else Waiting(queue.path, queue.element.buffer, queue.element.drop_policy)
            for queue in self.queues
        )


Drafts = dict[int, Draft]


def list_feeders(drafts: Drafts) -> dict[int, list[int]]:
    """Return the elements that lead to each element."""
    found: dict[int, list[int]] = {index: [] for index in drafts}
    for index, draft in drafts.items():
        for to in {edge.to for edge in draft.edges if edge.end == "element"}:
            found[to].append(index)
    return found


def assemble(network: Network) -> Drafts:
    """Return the network's elements by index, queues and schedulers joined with their lines."""
    drafts = {index: Draft(instance) for index, instance in enumerate(network.elements)}
    for number, wire in enumerate(network.wires):
        edge = Edge(wire.output, wire.end, wire.to, wire.input, (number,))
        drafts[wire.element].edges.append(edge)
    stamping = {host.line for host in network.hosts}
    for index, draft in drafts.items():
        if draft.duty == "line":
            draft.clock = draft.element.build_clock(stamps=index in stamping)
    for index in [i for i, draft in drafts.items() if draft.duty == "scheduler"]:
        if index in drafts and not _is_inner(drafts, index):
            _join_line(drafts, index)
            _join_queues(drafts, index)
    for index in [i for i, draft in drafts.items() if draft.duty == "queue"]:
        if len(drafts[index].element.outputs) == 1:
            _join_line(drafts, index)
        else:
            drafts[index].clocks = _list_clocks(drafts, index)
    for index in [i for i, draft in drafts.items() if draft.duty == "classifier"]:
        _note_sizes(drafts, index)
    return drafts


def _note_sizes(drafts: Drafts, index: int) -> None:
    """Let the range of sizes be noted as a mark ahead of a classifier that asks for sizes."""
    classifier = drafts[index].instance
    bounds = list_size_bounds(classifier.predicates)
    if not bounds:
        return
    place = max(drafts) + 1
    for draft in drafts.values():
        draft.edges = [
            replace(edge, to=place) if (edge.end, edge.to) == ("element", index) else edge
            for edge in draft.edges
        ]
    noting = NoteSizeRange(bounds)
    kind = replace(classifier.kind, duty="element", build=NoteSizeRange, parameters={})
    path = f"{classifier.path} (sizes)"
    ahead = replace(classifier, path=path, kind=kind, element=noting, predicates=())
    drafts[place] = Draft(ahead, [Edge(0, "element", index, 0)])


def _list_clocks(drafts: Drafts, index: int) -> tuple[Clock | None, ...]:
    """Return the line that each output of a queue feeds."""
    fed = {edge.output: edge.to for edge in drafts[index].edges if edge.end == "element"}
    outputs = range(len(drafts[index].element.outputs))
    return tuple(drafts[fed[number]].clock if number in fed else None for number in outputs)


def _join_line(drafts: Drafts, index: int) -> None:
    line = drafts.pop(drafts[index].edges[0].to)
    drafts[index].clock, drafts[index].edges = line.clock, line.edges
    drafts[index].line = line.instance.path


def _is_inner(drafts: Drafts, index: int) -> bool:
    """Return whether a scheduler leads to another one."""
    edge = drafts[index].edges[0]
    return edge.end == "element" and drafts[edge.to].duty == "scheduler"


def _join_queues(drafts: Drafts, scheduler: int) -> None:
    """Merge the queues and schedulers that lead to a scheduler into it.

    Its inputs are then all those queues, in order.
    """
    chosen = drafts[scheduler]
    before = {
        draft.edges[0].input: index
        for index, draft in drafts.items()
        if draft.instance.kind.is_served
        and (draft.edges[0].end, draft.edges[0].to) == ("element", scheduler)
    }
    inner: list[Scheduler | None] = []
    places: dict[tuple[int, int], int] = {}
    for number in range(len(chosen.instance.element.inputs)):
        index = before.get(number)
        if index is not None and drafts[index].duty == "scheduler":
            _join_queues(drafts, index)
            below = drafts.pop(index)
            inner.append(below.instance.element)
            for entry, queue in enumerate(below.queues):
                places[index, entry] = len(chosen.queues)
                chosen.queues.append(queue)
        else:
            inner.append(None)
            places[(scheduler, number) if index is None else (index, 0)] = len(chosen.queues)
            chosen.queues.append(None if index is None else drafts.pop(index).instance)
    if any(inner):
        element = Combined(chosen.instance.element, tuple(inner))
        chosen.instance = replace(chosen.instance, element=element)
    for draft in drafts.values():
        draft.edges = [
            replace(edge, to=scheduler, input=places[edge.to, edge.input])
            if edge.end == "element" and (edge.to, edge.input) in places
            else edge
            for edge in draft.edges
        ]


def redirect(drafts: Drafts, old: int, edge: Edge) -> None:
    """Redirect every wire to element `old` to where `edge` leads."""
    for draft in drafts.values():
        draft.edges = [
            replace(edge, output=w.output, rank=edge.rank + w.rank)
            if w.end == "element" and w.to == old
            else w
            for w in draft.edges
        ]
