"""What waits in the queues that a statement names: looked at from outside, after each step.

Each departure of a node is found again among what has come, which says when it came and in which
queue it stood; when it began to be sent, the line tells that sends it all over again. So the loops
of queues and schedulers know nothing of this. What is being sent does not wait, and what begins in
the very ps in which another comes has made room for it, as in the queues themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import Batch, empty, joined
from qospec.engine.kernel import kernel
from qospec.engine.line.transmission import (
    DENOMINATOR,
    FREE,
    LEAP,
    PART,
    PROPAGATION,
    SLOT,
    SLOT_PART,
    SLOTTED,
    after,
    line_of,
    next_slot,
    service_time,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.element import Loss, Process, Step
    from qospec.engine.experiment import MeasurementSpec, Node
    from qospec.engine.line.clock import Clock

NOWHERE = -1
"""The input of a departure that was not found."""
_LOW = 2**20 - 1


class Occupancy(NamedTuple):
    """How much waited: the most at one time, and the sum of all waiting times; in the window."""

    most: int = 0
    waited_ps: int = 0


class Occupancies:
    """Records what waits.

    Attributes:
        seen: By the path of a queue.
    """

    def __init__(self, measurement: MeasurementSpec) -> None:
        self._measurement = measurement
        self.seen = dict.fromkeys(measurement.queues, Occupancy())

    def watching(self, process: Process, node: Node) -> Process:
        """Return a node's `process`, watched if one of its queues is asked for."""
        if not self.asked(node):
            return process
        if node.clock is None:
            return self._told(process, node.path)
        paths = _paths(node)
        service = _Service(paths, node.clock)

        def watched(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
            came = tuple(batch.moved(batch.at_ps.copy()) for batch in arrivals)
            step = process(arrivals, until_ps)
            for number, (at_ps, began_ps) in service.served(came, step).items():
                path = paths[number]
                if path in self.seen:
                    queue = service.queues[number]
                    self.seen[path] = queue.waited(
                        at_ps, began_ps, self._measurement, self.seen[path]
                    )
            return step

        return watched

    def asked(self, node: Node) -> bool:
        """Return whether a statement asks what waits at a node."""
        return any(path in self.seen for path in _paths(node))

    def _told(self, process: Process, path: str) -> Process:
        """Return the `process` of an element that has no line, and tells of itself what waits."""
        queue = _Queue()

        def telling(arrivals: tuple[Batch, ...], until_ps: int) -> Step:
            step = process(arrivals, until_ps)
            if step.waits is not None and len(step.waits[0]):
                self.seen[path] = queue.waited(*step.waits, self._measurement, self.seen[path])
            return step

        return telling


def _paths(node: Node) -> tuple[str, ...]:
    """Return the paths of the queues that a node serves, or is."""
    return tuple(queue.element for queue in node.queues) or (node.path,)


class _Queue:
    """One queue: when what has left it began, as long as something came before that."""

    def __init__(self) -> None:
        self._began_ps: Times = np.empty(0, np.int64)
        self._at_the_start = 0

    def waited(
        self, at_ps: Times, began_ps: Times, measurement: MeasurementSpec, seen: Occupancy
    ) -> Occupancy:
        """Return `seen` with items that came and began then, in order."""
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

    def served(self, came: tuple[Batch, ...], step: Step) -> dict[int, tuple[Times, Times]]:
        """Return, by queue, when what has left it had come and when it began."""
        waiting = [
            _without(joined(held, new), self._lost(path, step))
            for held, new, path in zip(self._pending, came, self._paths, strict=True)
        ]
        left = step.departures[0]
        flat = _flat(waiting)
        stops = np.cumsum([batch.count for batch in waiting])
        heads = stops - [batch.count for batch in waiting]
        firsts = heads.copy()
        which, at_ps = np.full(left.count, NOWHERE, np.int64), np.zeros(left.count, np.int64)
        self._room(left)
        _found(left, flat, heads, stops, self._guess, which, at_ps)
        gone = heads - firsts
        self._pending = [
            batch.part(int(count), batch.count) for batch, count in zip(waiting, gone, strict=True)
        ]
        began_ps = np.empty(left.count, np.int64)
        _send_again(left, at_ps, self._line, began_ps)
        return {
            number: (at_ps[mine], began_ps[mine])
            for number in range(len(self._paths))
            if (mine := which == number).any()
        }

    def _lost(self, path: str, step: Step) -> list[Loss]:
        return [loss for loss in step.losses if (loss.element or self._paths[0]) == path]

    def _room(self, left: Batch) -> None:
        most = int(left.connection.max(initial=-1)) + 1
        if most > len(self._guess):
            more = np.zeros(most - len(self._guess), np.int32)
            self._guess = np.concatenate([self._guess, more])


def _flat(batches: list[Batch]) -> Batch:
    """Return the columns of all batches one behind the other, in no order of time."""
    return Batch(*(np.concatenate(columns) for columns in zip(*batches, strict=True)))


def _without(batch: Batch, losses: list[Loss]) -> Batch:
    """Return a batch without what was lost of it."""
    if not losses or not batch.count:
        return batch
    gone = np.concatenate([_keys(loss.connection, loss.sent_ps) for loss in losses])
    return batch.select(~np.isin(_keys(batch.connection, batch.sent_ps), gone))


def _keys(connection: Indices, sent_ps: Times) -> Whole:
    """Return what tells items apart, as one column."""
    keys = np.empty(len(connection), [("sent", np.int64), ("connection", np.int64)])
    keys["sent"], keys["connection"] = sent_ps, connection
    found: Whole = keys
    return found


@kernel
def _found(  # noqa: PLR0913, PLR0917  a kernel has no objects
    left: Batch,
    flat: Batch,
    heads: Whole,
    stops: Whole,
    guess: Indices,
    which: Whole,
    at_ps: Times,
) -> None:
    """Find departures among what waits: in its own queue, each is ahead of those that leave later.

    Args:
        left: n departures, in order.
        flat: What waits in each queue, in order, one queue behind the other.
        heads: (queues,) Where what waits in each begins; carried on.
        stops: (queues,) Where it ends.
        guess: (connections,) The queue in which one of it was found last; carried on.
        which: (n,) Written: its queue, if it is found.
        at_ps: (n,) Written: when it came.
    """
    gone_ps, sent_ps, connection, _, _ = left
    came_ps, known_ps, whose, _, _ = flat
    queues = len(heads)
    for i in range(len(gone_ps)):
        first = guess[connection[i]]
        for turn in range(queues):
            q = (first + turn) % queues
            j = heads[q]
            while j < stops[q] and came_ps[j] <= gone_ps[i]:
                if known_ps[j] == sent_ps[i] and whose[j] == connection[i]:
                    break
                j += 1
            if j < stops[q] and came_ps[j] <= gone_ps[i]:
                heads[q] = j + 1
                which[i] = q
                at_ps[i] = came_ps[j]
                guess[connection[i]] = q
                break


@kernel
def _send_again(left: Batch, came_ps: Times, line: Whole, began_ps: Times) -> None:
    """Find out when departures began.

    Args:
        left: n departures, in order.
        came_ps: (n,) When they came; 0 if that was not found.
        line: That sends them; carried on.
        began_ps: (n,) Written: rounded up, for who comes earlier finds them waiting.
    """
    gone_ps, _, _, size_bytes, _ = left
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    pace = (line[SLOT], line[SLOT_PART], denominator, line[LEAP])
    slotted = line[SLOTTED] != 0
    for i in range(len(gone_ps)):
        if came_ps[i] > free:
            free, part = next_slot(pace, free, part, came_ps[i]) if slotted else (came_ps[i], 0)
        began_ps[i] = free + (part > 0 and not slotted)
        time = (pace[0], pace[1]) if slotted else service_time(line, size_bytes[i])
        free, part = after(free, part, time, denominator)
        if free + line[PROPAGATION] != gone_ps[i]:  # one that was not found began on an idle line
            free, part = gone_ps[i] - line[PROPAGATION], 0
            began_ps[i] = free - time[0]
    line[FREE], line[PART] = free, part
