"""Queue occupancy: what waits in the queues that statements use, as the elements report it.

What is served rather than waits, at an element that works on one item after the other, is reported
likewise; the time of it is how long that element is busy. An item that is being sent does not wait,
and one whose transmission begins in the very ps in which another arrives has made room for it, as
in the queues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.event.transition import IN_SERVICE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Times
    from qospec.engine.element import Process, Step
    from qospec.engine.experiment import MeasurementSpec, Node
    from qospec.engine.items.batch import Batch

_LOW = 2**20 - 1


class Occupancy(NamedTuple):
    """What waited in the window: the most at one time, and for how long.

    Attributes:
        most: How many items, at most.
        waited_ps: The sum of all waiting times.
        longest_ps: The longest one, before and behind the window included.
        delayed: How many items waited.
        whole_ps: The sum of their waiting times, before and behind the window included.
    """

    most: int = 0
    waited_ps: int = 0
    longest_ps: int = 0
    delayed: int = 0
    whole_ps: int = 0


class Occupancies:
    """Records the occupancy of queues, and how long servers are busy.

    Attributes:
        seen: The occupancy by path of the queue.
        busy_ps: By path of the server, how much of the window it was busy.
    """

    def __init__(self, measurement: MeasurementSpec) -> None:
        self._measurement = measurement
        self.seen = dict.fromkeys(measurement.queues, Occupancy())
        self.busy_ps = dict.fromkeys(measurement.servers, 0)
        self._queues: dict[str, _Queue] = {}

    def wrap_process(self, process: Process, node: Node) -> Process:
        """Return the `process` of a node, wrapped to record its queues if statements use any."""
        if not self.is_recorded(node):
            return process

        def run_recorded(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
            step = process(arrivals, until_ps)
            for queue, (at_ps, began_ps) in (step.waits or {}).items():
                if len(at_ps):
                    self.record_waits(queue or node.path, at_ps, began_ps)
            if step.services is not None:
                self.record_services(node.path, *step.services)
            return step

        return run_recorded

    def is_recorded(self, node: Node) -> bool:
        """Return whether a statement uses the occupancy of a queue of the node, or its work."""
        return node.path in self.busy_ps or any(
            path in self.seen for path in list_queue_paths(node)
        )

    def record_report(self, path: str, queue: str, from_ps: Times, to_ps: Times) -> None:
        """Record what a node reports of a queue, or of what it serves; see `record_waits`."""
        if queue == IN_SERVICE:
            self.record_services(path, from_ps, to_ps)
        else:
            self.record_waits(queue or path, from_ps, to_ps)

    def record_waits(self, path: str, at_ps: Times, began_ps: Times) -> None:
        """Record items that waited in a queue: when they arrived, in order, and stopped waiting."""
        if path in self.seen:
            queue = self._queues.setdefault(path, _Queue())
            self.seen[path] = queue.add_waits(at_ps, began_ps, self._measurement, self.seen[path])

    def record_services(self, path: str, began_ps: Times, ended_ps: Times) -> None:
        """Record services at a server, one after the other: when each began, and when it ended."""
        if path in self.busy_ps:
            start_ps, stop_ps = self._measurement.start_ps, self._measurement.stop_ps
            within = np.minimum(ended_ps, stop_ps) - np.maximum(began_ps, start_ps)
            self.busy_ps[path] += int(within[within > 0].sum())


def find_silent(measurement: MeasurementSpec, nodes: Sequence[Node]) -> str | None:
    """Return a queue that statements use and no element reports, by path; None: there is none."""
    return next((path for path in list_silent(nodes) if path in measurement.queues), None)


def list_silent(nodes: Sequence[Node]) -> list[str]:
    """Return the paths of the queues that no element reports, so that they cannot be watched.

    What waits for a line is reported by transitions, and these elements have none.
    """
    silent = (
        node for node in nodes if node.element.build_transition is None and not node.element.holds
    )
    return [path for node in silent for path in list_queue_paths(node)]


def list_queue_paths(node: Node) -> tuple[str, ...]:
    """Return the paths of the queues that a node serves, or is."""
    return tuple(queue.element for queue in node.queues) or (node.path,)


class _Queue:
    """One queue, with the beginnings of transmission that later arrivals may still precede."""

    def __init__(self) -> None:
        self._began_ps: Times = np.empty(0, np.int64)
        self._at_the_start = 0

    def add_waits(
        self, at_ps: Times, began_ps: Times, measurement: MeasurementSpec, seen: Occupancy
    ) -> Occupancy:
        """Return `seen` with the items of these times of arrival and beginning, in order."""
        start_ps, stop_ps = measurement.start_ps, measurement.stop_ps
        before = len(self._began_ps)
        began = np.sort(np.concatenate([self._began_ps, began_ps]), kind="stable")
        place = np.arange(before + 1, before + 1 + len(at_ps))
        waiting = place - began.searchsorted(at_ps, "right")
        inside = (at_ps >= start_ps) & (at_ps < stop_ps)
        self._at_the_start += int(((at_ps < start_ps) & (began_ps > start_ps)).sum())
        most = max(seen.most, self._at_the_start, int(waiting[inside].max(initial=0)))
        within = np.minimum(began_ps, stop_ps) - np.maximum(at_ps, start_ps)
        overlaps = within > 0
        whole = (began_ps - at_ps)[overlaps]
        self._began_ps = began[began > at_ps[-1]]
        return Occupancy(
            most,
            seen.waited_ps + _sum(within[overlaps]),
            max(seen.longest_ps, int(whole.max(initial=0))),
            seen.delayed + len(whole),
            seen.whole_ps + _sum(whole),
        )


def _sum(times_ps: Times) -> int:
    """Return the sum of times that may be more than 64 bits hold."""
    return (int((times_ps >> 20).sum()) << 20) + int((times_ps & _LOW).sum())
