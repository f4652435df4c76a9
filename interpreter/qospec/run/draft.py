"""A network in the making: elements in place, and each queue or scheduler joined with its line.

A queue is emptied by the line that it feeds, and a scheduler chooses for it, so the two run as one:
the line gives its clock and its wires, and is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from qospec.engine.element import Waiting

if TYPE_CHECKING:
    from qospec.engine.clock import Clock
    from qospec.model import Instance, Network


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
    def duty(self) -> str:
        """Return the element's part in the data plane."""
        return self.instance.kind.duty

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Return what the engine is told of the queues before a scheduler."""
        return tuple(
            Waiting(self.instance.path, None)
            if queue is None
            else Waiting(queue.path, queue.element.limit)
            for queue in self.queues
        )


Drafts = dict[int, Draft]


def drafted(network: Network) -> Drafts:
    """Return the network's elements by index, queues and schedulers joined with their lines."""
    drafts = {index: Draft(instance) for index, instance in enumerate(network.elements)}
    for number, wire in enumerate(network.wires):
        way = Way(wire.output, wire.end, wire.to, wire.input, (number,))
        drafts[wire.element].ways.append(way)
    stamping = {host.line for host in network.hosts}
    for index, draft in drafts.items():
        if draft.duty == "line":
            draft.clock = draft.instance.element.clock(stamps=index in stamping)
    for index in [i for i, draft in drafts.items() if draft.duty == "scheduler"]:
        _join_line(drafts, index)
        _join_queues(drafts, index)
    for index in [i for i, draft in drafts.items() if draft.duty == "queue"]:
        _join_line(drafts, index)
    return drafts


def _join_line(drafts: Drafts, index: int) -> None:
    line = drafts.pop(drafts[index].ways[0].to)
    drafts[index].clock, drafts[index].ways = line.clock, line.ways
    drafts[index].line = line.instance.path


def _join_queues(drafts: Drafts, scheduler: int) -> None:
    chosen = drafts[scheduler]
    chosen.queues = [None] * len(chosen.instance.element.inputs)
    for index in [i for i, draft in drafts.items() if draft.duty == "queue"]:
        way = drafts[index].ways[0]
        if way.end == "element" and way.to == scheduler:
            chosen.queues[way.input] = drafts.pop(index).instance
            redirect(drafts, index, Way(0, "element", scheduler, way.input))


def redirect(drafts: Drafts, old: int, way: Way) -> None:
    """Let every wire that leads to element `old` lead where `way` does."""
    for draft in drafts.values():
        draft.ways = [
            replace(way, output=w.output, rank=way.rank + w.rank)
            if w.end == "element" and w.to == old
            else w
            for w in draft.ways
        ]
