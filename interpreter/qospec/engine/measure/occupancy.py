"""Queue occupancy: what waits in the queues that statements use, observed after each step.

What is served rather than waits, at an element that works on one item after the other, is observed
likewise; the time of it is how long that element is busy.

Each departure of a node is matched with an earlier arrival, which yields its time of arrival and
its queue; its transmission began then, or when the one before had left. So the loops of queues and
schedulers need no code for this. An item that is being sent does not wait, and one whose
transmission begins in the very ps in which another arrives has made room for it, as in the queues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.event.transition import IN_SERVICE
from qospec.engine.items.batch import empty, joined
from qospec.engine.kernel import kernel
from qospec.engine.line.transmission import FREE, PART, PROPAGATION, line_of, start_of

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.element import Loss, Process, Step
    from qospec.engine.experiment import MeasurementSpec, Node
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock

NOT_FOUND = -1
"""The input of a departure without a matching arrival."""
_LOW = 2**20 - 1


class Occupancy(NamedTuple):
    """The most that waited at one time, and the sum of all waiting times, in the window."""

    most: int = 0
    waited_ps: int = 0


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

    def recording(self, process: Process, node: Node) -> Process:
        """Return the `process` of a node, wrapped to record its queues if statements use any."""
        if not self.is_recorded(node):
            return process
        if node.clock is None:
            return self._recording_waits(process, node.path)
        paths = _paths(node)
        service = _Service(paths, node.clock)

        def watched(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
            arrivals_before = tuple(batch.moved(batch.at_ps.copy()) for batch in arrivals)
            step = process(arrivals, until_ps)
            for number, (at_ps, began_ps) in service.served(arrivals_before, step).items():
                path = paths[number]
                if path in self.seen:
                    queue = service.queues[number]
                    self.seen[path] = queue.waited(
                        at_ps, began_ps, self._measurement, self.seen[path]
                    )
            return step

        return watched

    def is_recorded(self, node: Node) -> bool:
        """Return whether a statement uses the occupancy of a queue of the node, or its work."""
        return node.path in self.busy_ps or any(path in self.seen for path in _paths(node))

    def reported(self, path: str, queue: str, from_ps: Times, to_ps: Times) -> None:
        """Record what a node reports of one of its queues, or of what it serves; see `waited`."""
        if queue == IN_SERVICE:
            self.served(path, from_ps, to_ps)
        else:
            self.waited(queue or path, from_ps, to_ps)

    def waited(self, path: str, at_ps: Times, began_ps: Times) -> None:
        """Record items that waited in a queue: when they arrived, in order, and stopped waiting."""
        if path in self.seen:
            queue = self._queues.setdefault(path, _Queue())
            self.seen[path] = queue.waited(at_ps, began_ps, self._measurement, self.seen[path])

    def served(self, path: str, began_ps: Times, ended_ps: Times) -> None:
        """Record services at a server, one after the other: when each began, and when it ended."""
        if path in self.busy_ps:
            start_ps, stop_ps = self._measurement.start_ps, self._measurement.stop_ps
            within = np.minimum(ended_ps, stop_ps) - np.maximum(began_ps, start_ps)
            self.busy_ps[path] += int(within[within > 0].sum())

    def _recording_waits(self, process: Process, path: str) -> Process:
        """Return the `process` of an element that has no line and reports waits itself."""

        def recorded(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
            step = process(arrivals, until_ps)
            if step.waits is not None and len(step.waits[0]):
                self.waited(path, *step.waits)
            if step.services is not None:
                self.served(path, *step.services)
            return step

        return recorded


def _paths(node: Node) -> tuple[str, ...]:
    """Return the paths of the queues that a node serves, or is."""
    return tuple(queue.element for queue in node.queues) or (node.path,)


class _Queue:
    """One queue, with the beginnings of transmission that later arrivals may still precede."""

    def __init__(self) -> None:
        self._began_ps: Times = np.empty(0, np.int64)
        self._at_the_start = 0

    def waited(
        self, at_ps: Times, began_ps: Times, measurement: MeasurementSpec, seen: Occupancy
    ) -> Occupancy:
        """Return `seen` with the items of these times of arrival and beginning, in order."""
        start_ps, stop_ps = measurement.start_ps, measurement.stop_ps
        before = len(self._began_ps)
        began = np.maximum.accumulate(np.concatenate([self._began_ps, began_ps]))
        place = np.arange(before + 1, before + 1 + len(at_ps))
        waiting = place - began.searchsorted(at_ps, "right")
        inside = (at_ps >= start_ps) & (at_ps < stop_ps)
        self._at_the_start += int(((at_ps < start_ps) & (began_ps > start_ps)).sum())
        most = max(seen.most, self._at_the_start, int(waiting[inside].max(initial=0)))
        within = np.minimum(began_ps, stop_ps) - np.maximum(at_ps, start_ps)
        within = within[within > 0]
        waited_ps = (int((within >> 20).sum()) << 20) + int((within & _LOW).sum())
        self._began_ps = began[began > at_ps[-1]]
        return Occupancy(most, seen.waited_ps + waited_ps)


class _Service:
    """A line and the queues that it serves."""

    def __init__(self, paths: tuple[str, ...], clock: Clock) -> None:
        self.queues = tuple(_Queue() for _ in paths)
        self._paths = paths
        self._line = line_of(clock)
        self._pending = [empty() for _ in paths]
        self._guess: Indices = np.zeros(0, np.int32)

    def served(
        self, arrivals_before: tuple[Batch, ...], step: Step
    ) -> dict[int, tuple[Times, Times]]:
        """Return, by queue, when departed items arrived and when their transmission began."""
        waiting = [
            _without(joined(held, new), self._lost(path, step))
            for held, new, path in zip(self._pending, arrivals_before, self._paths, strict=True)
        ]
        left = step.departures[0]
        flat = joined(*waiting)
        stops = np.cumsum([batch.count for batch in waiting])
        heads = stops - [batch.count for batch in waiting]
        firsts = heads.copy()
        which, at_ps = np.full(left.count, NOT_FOUND, np.int64), np.zeros(left.count, np.int64)
        self._extend_guess(left)
        _match_departures(left, flat, heads, stops, self._guess, which, at_ps)
        gone = heads - firsts
        self._pending = [
            batch.part(int(count), batch.count) for batch, count in zip(waiting, gone, strict=True)
        ]
        began_ps = np.empty(left.count, np.int64)
        _replay_line(left.at_ps, at_ps, self._line, began_ps)
        return {
            number: (at_ps[mine], began_ps[mine])
            for number in range(len(self._paths))
            if (mine := which == number).any()
        }

    def _lost(self, path: str, step: Step) -> list[Loss]:
        return [loss for loss in step.losses if (loss.element or self._paths[0]) == path]

    def _extend_guess(self, left: Batch) -> None:
        most = int(left.connection.max(initial=-1)) + 1
        if most > len(self._guess):
            more = np.zeros(most - len(self._guess), np.int32)
            self._guess = np.concatenate([self._guess, more])


def _without(batch: Batch, losses: list[Loss]) -> Batch:
    """Return a batch without its lost items."""
    if not losses or not batch.count:
        return batch
    lost = np.concatenate(
        [_item_keys(loss.batch.connection, loss.batch.sent_ps) for loss in losses]
    )
    keys = _item_keys(batch.connection, batch.sent_ps)
    gone = np.isin(keys, lost)
    if gone.sum() > len(lost):
        # Copies of one packet have one key. They are kept, for the order in which the others leave
        # shows which of them are gone.
        _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
        gone &= times[which] == 1
    return batch.select(~gone)


def _item_keys(connection: Indices, sent_ps: Times) -> Whole:
    """Return keys that identify items, as one column."""
    keys = np.empty(len(connection), [("sent", np.int64), ("connection", np.int64)])
    keys["sent"], keys["connection"] = sent_ps, connection
    found: Whole = keys
    return found


@kernel
def _match_departures(  # noqa: PLR0913, PLR0917  a kernel has no objects
    left: Batch,
    flat: Batch,
    heads: Whole,
    stops: Whole,
    guess: Indices,
    which: Whole,
    at_ps: Times,
) -> None:
    """Match departures with waiting items: queues are first in, first out.

    Args:
        left: n departures, in order.
        flat: The waiting items of each queue, in order, one queue after the other.
        heads: (queues,) The first item of each queue; updated.
        stops: (queues,) The end of each queue.
        guess: (connections,) The queue that last matched the connection; updated.
        which: (n,) Written: the queue, if a match is found.
        at_ps: (n,) Written: the time of arrival.
    """
    left_ps, sent_ps, connection = left.at_ps, left.sent_ps, left.connection
    arrived_ps, known_ps, senders = flat.at_ps, flat.sent_ps, flat.connection
    queues = len(heads)
    for i in range(len(left_ps)):
        first = guess[connection[i]]
        for turn in range(queues):
            q = (first + turn) % queues
            j = heads[q]
            while j < stops[q] and arrived_ps[j] <= left_ps[i]:
                if known_ps[j] == sent_ps[i] and senders[j] == connection[i]:
                    break
                j += 1
            if j < stops[q] and arrived_ps[j] <= left_ps[i]:
                heads[q] = j + 1
                which[i] = q
                at_ps[i] = arrived_ps[j]
                guess[connection[i]] = q
                break


@kernel
def _replay_line(left_ps: Times, arrived_ps: Times, line: Whole, began_ps: Times) -> None:
    """Compute when the transmission of departures began.

    Args:
        left_ps: (n,) When they left, in order.
        arrived_ps: (n,) When they arrived; 0 if no match was found.
        line: The line that sends them; updated.
        began_ps: (n,) Written, rounded down.
    """
    for i in range(len(left_ps)):
        line[FREE], line[PART] = start_of(line, arrived_ps[i])
        began_ps[i] = line[FREE]
        # Whatever came before, the line is free when the last bit has left; in slots, the next is.
        line[FREE], line[PART] = start_of(line, left_ps[i] - line[PROPAGATION])
