"""Service of packets by a processor, one after the other, with interruptions and a watchdog.

When a packet arrives, all work before it and all interruptions are known, so the end of its service
follows at once. The same holds for the watchdog: a packet whose service would end after the
processor had been busy for too long is lost, whatever arrives later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Times, Whole
    from qospec.engine.items.batch import Batch

FREE, LEFT, BUSY, DOWN, UP, SIZE, HEAD, TAIL, NEXT = range(9)
STARTS, AMOUNT, QUEUE = range(3)
RING_COLUMNS = 3
PLACES = 64
"""At first; a power of two, doubled as needed."""

OVERFLOW, RESTART = 1, 2
"""Why a packet is lost; 0 where it is not."""
NO_PLACES, UNKNOWN = -1, -2
"""What it lacks: places for packets that wait, or knowledge of interruptions."""


class Cost(NamedTuple):
    """How long a packet takes, in ps.

    Attributes:
        packet_ps: Each.
        byte_ps: Each of its bytes.
        segment_bytes: How many bytes lie in one segment.
        prefix_bytes: How many lie ahead of the packet in the first.
        segment_ps: Each segment but the first.
        change_ps: Where its size is not that of the one ahead of it.
    """

    packet_ps: int
    byte_ps: int
    segment_bytes: int
    prefix_bytes: int
    segment_ps: int
    change_ps: int

    def most_ps(self, size_bytes: int) -> int:
        """Return how long a packet takes at most that is no longer."""
        further = (size_bytes + self.prefix_bytes - 1) // self.segment_bytes
        each_ps = self.packet_ps + self.change_ps
        return each_ps + size_bytes * self.byte_ps + further * self.segment_ps


class Work(NamedTuple):
    """The state that is kept from batch to batch.

    Attributes:
        clock: FREE, when all packets so far will be done; LEFT, when the last that leaves will
            have; BUSY, since when there is something to do; DOWN and UP, when a restart begins and
            ends; SIZE of the packet ahead, 0 if there was none; HEAD and TAIL, the numbers of the
            first that waits and of that after the last; NEXT, the next interruption.
        waiting: (queues,) The amount that waits in each.
        ring: (places, 3) For each that waits: when it is begun, its amount and its queue.
    """

    clock: Whole
    waiting: Whole
    ring: Whole


class Outcomes(NamedTuple):
    """The outcome of each packet of a batch.

    Attributes:
        queue: (n,) The queue at which it arrives.
        left_ps: (n,) The end of its service.
        cause: (n,) 0, or the cause of its loss.
        began_ps: (n,) The time when its service begins, or when it is lost.
    """

    queue: Marks
    left_ps: Times
    cause: Marks
    began_ps: Times


def initial_work(queues: int) -> Work:
    """Return the state at the beginning of a trial."""
    clock = np.zeros(9, np.int64)
    clock[DOWN] = clock[UP] = FOREVER_PS
    return Work(clock, np.zeros(queues, np.int64), np.zeros((PLACES, 3), np.int64))


def with_larger_ring(work: Work) -> Work:
    """Return the same work with a ring of twice the places."""
    places = len(work.ring)
    ring = np.zeros((2 * places, 3), np.int64)
    numbers = np.arange(work.clock[HEAD], work.clock[TAIL])
    ring[numbers % len(ring)] = work.ring[numbers % places]
    return work._replace(ring=ring)


@kernel
def serve(
    batch: Batch,
    first: int,
    work: Work,
    known: tuple[Whole, int],
    terms: tuple[Cost, tuple[int, bool], tuple[int, int]],
    outcomes: Outcomes,
) -> int:
    """Serve packets from number `first` on; return the number of the first not served.

    It stops where the known interruptions end, or where the ring is full.

    Args:
        batch: n packets.
        first: Number of the first.
        work: Updated.
        known: Interruptions, and until when all are known.
        terms: What packets cost; how much may wait, and whether that is counted in bytes; how long
            it may be busy, and how long it takes to restart.
        outcomes: (n,) Read and written.
    """
    at_ps, size_bytes = batch.at_ps, batch.size_bytes
    queue, left_ps, cause, began_ps = outcomes
    i = first
    while i < len(at_ps):
        packet = (at_ps[i], int(size_bytes[i]), int(queue[i]))
        found, began_ps[i], left_ps[i] = serve_one(work, known, terms, packet)
        if found < 0:
            break
        cause[i] = found
        i += 1
    return i


@kernel
def serve_one(  # noqa: PLR0911 -- each return is one fate
    work: Work,
    known: tuple[Whole, int],
    terms: tuple[Cost, tuple[int, bool], tuple[int, int]],
    packet: tuple[int, int, int],
) -> tuple[int, int, int]:
    """Serve one packet, given when it arrives, its size and its queue; see `serve`.

    Returns:
        0 or the cause of its loss, or NO_PLACES or UNKNOWN, nothing done; when its service begins
        or it is lost; the end of its service.
    """
    clock, waiting, ring = work
    pauses, until_ps = known
    cost, limit, watchdog = terms
    now, size_bytes, queue = packet
    if clock[TAIL] - clock[HEAD] == len(ring):
        return NO_PLACES, now, now
    if now >= clock[UP]:
        _restart(clock, waiting)
    if now >= clock[DOWN]:
        return RESTART, now, now
    _release(work, now)
    if max(now, clock[FREE]) >= until_ps:
        return UNKNOWN, now, now
    begun, k = _begin(clock, pauses, max(now, clock[FREE]))
    amount = size_bytes if limit[1] else 1
    if begun > now and waiting[queue] + amount > limit[0]:
        return OVERFLOW, now, now
    if clock[DOWN] != FOREVER_PS:
        waiting[queue] += amount
        return RESTART, clock[DOWN], now
    done, k = _end(pauses, k, begun + _time(cost, size_bytes, clock[SIZE]))
    if done > until_ps:
        return UNKNOWN, now, now
    if begun > now:
        _wait(work, begun, amount, queue)
    clock[BUSY] = now if now >= clock[FREE] else clock[BUSY]
    clock[FREE], clock[SIZE] = done, size_bytes
    cause = _watchdog_outcome(clock, watchdog, k)
    return cause, min(begun, clock[DOWN]), done


@kernel
def _time(cost: Cost, size_bytes: int, ahead_bytes: int) -> int:
    """Return how long a packet takes behind one of `ahead_bytes`; 0: behind none."""
    packet_ps, byte_ps, segment_bytes, prefix_bytes, segment_ps, change_ps = cost
    further = (size_bytes + prefix_bytes - 1) // segment_bytes
    time_ps = packet_ps + size_bytes * byte_ps + further * segment_ps
    changed = ahead_bytes > 0 and ahead_bytes != size_bytes
    return time_ps + change_ps if changed else time_ps


@kernel
def _begin(clock: Whole, pauses: Whole, ready_ps: int) -> tuple[int, int]:
    """Return when no interruption lasts that has begun by then, and the number of the next.

    While every arrival is lost, it does not matter.
    """
    if clock[DOWN] != FOREVER_PS:
        return ready_ps, clock[NEXT]
    while pauses[clock[NEXT], 1] <= ready_ps:
        clock[NEXT] += 1
    k = clock[NEXT]
    while pauses[k, 0] <= ready_ps:
        ready_ps = max(ready_ps, pauses[k, 1])
        k += 1
    return ready_ps, k


@kernel
def _end(pauses: Whole, k: int, done_ps: int) -> tuple[int, int]:
    """Return when work is done in spite of interruptions from `k` on, and the next behind it."""
    while pauses[k, 0] < done_ps:
        done_ps += pauses[k, 1] - pauses[k, 0]
        k += 1
    return done_ps, k


@kernel
def _watchdog_outcome(clock: Whole, watchdog: tuple[int, int], k: int) -> int:
    """Return 0 if the last packet so far leaves, or the cause of its loss."""
    if clock[FREE] - clock[BUSY] <= watchdog[0]:
        clock[LEFT], clock[NEXT] = clock[FREE], k
        return 0
    clock[DOWN] = clock[BUSY] + watchdog[0]
    clock[UP] = clock[DOWN] + watchdog[1]
    return RESTART


@kernel
def _wait(work: Work, begun_ps: int, amount: int, queue: int) -> None:
    """Note a packet that waits."""
    clock, waiting, ring = work
    place = clock[TAIL] & (len(ring) - 1)
    ring[place, STARTS], ring[place, AMOUNT], ring[place, QUEUE] = begun_ps, amount, queue
    waiting[queue] += amount
    clock[TAIL] += 1


@kernel
def _release(work: Work, now_ps: int) -> None:
    """Release the places of packets whose service has begun by now."""
    clock, waiting, ring = work
    mask = len(ring) - 1
    while clock[HEAD] < clock[TAIL] and ring[clock[HEAD] & mask, STARTS] <= now_ps:
        place = clock[HEAD] & mask
        waiting[ring[place, QUEUE]] -= ring[place, AMOUNT]
        clock[HEAD] += 1


@kernel
def _restart(clock: Whole, waiting: Whole) -> None:
    """Drop all packets that wait."""
    clock[FREE], clock[HEAD], clock[SIZE] = clock[UP], clock[TAIL], 0
    clock[DOWN] = clock[UP] = FOREVER_PS
    for k in range(len(waiting)):
        waiting[k] = 0
