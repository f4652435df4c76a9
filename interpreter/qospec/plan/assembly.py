"""A network in the making: elements in place, and each queue or scheduler joined with its line.

A queue is emptied by the line that it feeds, and a scheduler chooses for it, so the two run as one:
the line gives its clock and its wires, and is gone. Schedulers that follow each other are one too,
that at the line, with the queues of all.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.scheduler.scheduler import Combined

if TYPE_CHECKING:
    from qospec.engine.element import Element
    from qospec.engine.line.clock import Clock
    from qospec.engine.scheduler.scheduler import Scheduler
    from qospec.model.suite import Instance, Network


@dataclass(frozen=True)
class Way:
    """A wire, seen from the element that it leaves. `end`, `to` and `input` as in `model.Wire`.

    `rank` orders the wires that meet at an input: cells that come in the same ps go in that order.
    It is the order of writing, and stays when an element in between is left out.
    """

    output: int
    end: str
    to: int
    input: int
    rank: tuple[int, ...] = ()


@dataclass
class Draft:
    """An element in place.

    Attributes:
        instance: What it is.
        ways: Where its outputs lead.
        clock: The line that serves it.
        queues: For a scheduler, the queue before each input, or None.
        line: For a queue and a scheduler, the path of that line.
    """

    instance: Instance
    ways: list[Way] = field(default_factory=list)
    clock: Clock | None = None
    queues: list[Instance | None] = field(default_factory=list)
    line: str = ""

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
        """Return what the engine is told of the queues before a scheduler."""
        return tuple(
            Waiting(self.instance.path, None)
            if queue is None
            else Waiting(queue.path, queue.element.buffer, queue.element.drop_policy)
            for queue in self.queues
        )


Drafts = dict[int, Draft]


def feeders(drafts: Drafts) -> dict[int, list[int]]:
    """Return by element those that lead to it."""
    found: dict[int, list[int]] = {index: [] for index in drafts}
    for index, draft in drafts.items():
        for to in {way.to for way in draft.ways if way.end == "element"}:
            found[to].append(index)
    return found


def drafted(network: Network) -> Drafts:
    """Return the network's elements by index, queues and schedulers joined with their lines."""
    drafts = {index: Draft(instance) for index, instance in enumerate(network.elements)}
    for number, wire in enumerate(network.wires):
        way = Way(wire.output, wire.end, wire.to, wire.input, (number,))
        drafts[wire.element].ways.append(way)
    stamping = {host.line for host in network.hosts}
    for index, draft in drafts.items():
        if draft.duty == "line":
            draft.clock = draft.element.clock(stamps=index in stamping)
    for index in [i for i, draft in drafts.items() if draft.duty == "scheduler"]:
        if index in drafts and not _is_inner(drafts, index):
            _join_line(drafts, index)
            _join_queues(drafts, index)
    for index in [i for i, draft in drafts.items() if draft.duty == "queue"]:
        _join_line(drafts, index)
    return drafts


def _join_line(drafts: Drafts, index: int) -> None:
    line = drafts.pop(drafts[index].ways[0].to)
    drafts[index].clock, drafts[index].ways = line.clock, line.ways
    drafts[index].line = line.instance.path


def _is_inner(drafts: Drafts, index: int) -> bool:
    """Return whether a scheduler leads to another one."""
    way = drafts[index].ways[0]
    return way.end == "element" and drafts[way.to].duty == "scheduler"


def _join_queues(drafts: Drafts, scheduler: int) -> None:
    """Take in what leads to a scheduler's inputs: queues, and schedulers with theirs.

    Its inputs are then those of all the queues, in order.
    """
    chosen = drafts[scheduler]
    before = {
        draft.ways[0].input: index
        for index, draft in drafts.items()
        if draft.instance.kind.is_served
        and (draft.ways[0].end, draft.ways[0].to) == ("element", scheduler)
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
        draft.ways = [
            replace(way, to=scheduler, input=places[way.to, way.input])
            if way.end == "element" and (way.to, way.input) in places
            else way
            for way in draft.ways
        ]


def redirect(drafts: Drafts, old: int, way: Way) -> None:
    """Let every wire that leads to element `old` lead where `way` does."""
    for draft in drafts.values():
        draft.ways = [
            replace(way, output=w.output, rank=way.rank + w.rank)
            if w.end == "element" and w.to == old
            else w
            for w in draft.ways
        ]
