"""Service of packets by a processor, one after the other, with interruptions and restarts.

When a packet arrives, all work before it and all interruptions are known, so the end of its service
follows at once. The same holds for restarts, those at stated times and those of the watchdog: a
packet whose service would end after the processor goes down is lost, whatever arrives later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.curve import COLUMNS, find_time_ps
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_part, view_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.catalogue.kinds import Curve
    from qospec.engine.arrays import Marks, Times, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.processor.interruptions import Interruptions

FREE, LEFT, BUSY, DOWN, UP, SIZE, HEAD, TAIL, NEXT, STATED = range(10)
"""The fields that change: when all packets so far would be done; when the last that leaves will
have; since when there is something to do; when the next restart that is known begins and ends; the
size of the packet ahead, 0 if there was none; the numbers of the first packet that waits and of
that after the last; the numbers of the next interruption and of the next restart at a stated time.
Once a packet is not done before a restart, nor is any that follows: FREE is beyond DOWN then."""
BYTE_PS, SEGMENT_BYTES, HEADROOM_BYTES, SEGMENT_PS, CHANGE_PS = range(10, 15)
"""The terms of a packet's time besides the curve: each of its bytes; how many bytes a segment
holds, and how many lie ahead of the packet in the first; each segment but the first; a change of
size."""
LIMIT, IN_BYTES, TIMEOUT_PS, RESTART_PS = range(15, 19)
"""The other parameters: how much may wait in a queue, and whether that counts bytes; how long the
processor may be busy, and how long a restart takes."""
QUEUES, RESTARTS, POINTS, PLACES, KNOWN_PS, LACKING_PS, ARRAYS = range(19, 26)
"""How many queues there are, one for all inputs or one each; how long the list of restarts is; how
many points the curve has; how many places the ring has; until when all interruptions are known;
when the packet arrived for which something is lacking. Then come the `Arrays`."""

BEGINS, AMOUNT, QUEUE = range(3)
RING_COLUMNS = 3
FEWEST_PLACES = 64
"""At first; a power of two, doubled as needed."""

OVERFLOW, RESTART = 1, 2
"""Why a packet is lost; 0 where it is not."""
NO_PLACES, UNKNOWN = -1, -2
"""What is lacking: places for packets that wait, or knowledge of interruptions."""


class Arrays(NamedTuple):
    """The arrays behind the fields, as views.

    Attributes:
        waiting: (queues,) The amount that waits in each.
        restarts: (m + 1,) When it is told to restart, in order; the last stands for never.
        points: (points, 2) See `engine.curve`.
        ring: (places, 3) For each packet that waits: when it is begun, its amount and its queue.
        pauses: (m + 1, 2) See `Interruptions.known`.
    """

    waiting: Whole
    restarts: Whole
    points: Whole
    ring: Whole
    pauses: Whole


class Outcomes(NamedTuple):
    """The outcome of each packet of a batch.

    Attributes:
        port: (n,) The input by which it arrives.
        left_ps: (n,) The end of its service, if need be by a restart.
        cause: (n,) 0, or the cause of its loss.
        began_ps: (n,) The time when its service begins, or when it is lost.
    """

    port: Marks
    left_ps: Times
    cause: Marks
    began_ps: Times


class Lists(NamedTuple):
    """What there are several of: queues, the times of restarts, and the points of its curve."""

    queues: int
    restarts_ps: tuple[int, ...]
    curve: Curve


def build_idle_state(terms: Sequence[int], lists: Lists, interruptions: Interruptions) -> Whole:
    """Return the state at the beginning of a trial, given the fields BYTE_PS to RESTART_PS."""
    restarts, points = [*lists.restarts_ps, FOREVER_PS], lists.curve.points
    before = np.concatenate([restarts, np.array(points, np.int64).ravel()])
    ring = ARRAYS + lists.queues + len(before)
    fields = np.zeros(ring + FEWEST_PLACES * RING_COLUMNS, np.int64)
    fields[BYTE_PS:QUEUES] = terms
    fields[QUEUES:KNOWN_PS] = lists.queues, len(restarts), len(points), FEWEST_PLACES
    fields[ARRAYS + lists.queues : ring] = before
    go_down(fields, restarts[0])
    return _with_pauses(fields, interruptions)


def replenish(interruptions: Interruptions, state: Whole, lacking: int) -> Whole:
    """Return the state with more places, or with the interruptions of a further span."""
    if lacking == NO_PLACES:
        return _with_more_places(state)
    ended = interruptions.extend(int(state[LACKING_PS]))
    state[NEXT] = max(state[NEXT] - ended, 0)
    return _with_pauses(state, interruptions)


def _with_pauses(state: Whole, interruptions: Interruptions) -> Whole:
    state[KNOWN_PS] = interruptions.until_ps
    before = state[: _find_ring(state) + RING_COLUMNS * state[PLACES]]
    return np.concatenate([before, interruptions.known.ravel()])


def _with_more_places(state: Whole) -> Whole:
    """Return the same state with a ring of twice the places."""
    start = int(_find_ring(state))
    stop = start + RING_COLUMNS * int(state[PLACES])
    ring = double_ring(state[start:stop], RING_COLUMNS, state[HEAD], state[TAIL])
    state[PLACES] *= 2
    return np.concatenate([state[:start], ring, state[stop:]])


@kernel
def serve_batch(batch: Batch, first: int, state: Whole, outcomes: Outcomes) -> tuple[int, int]:
    """Serve packets from number `first` on, until all are done or something is lacking.

    Args:
        batch: n packets.
        first: Number of the first.
        state: Updated.
        outcomes: (n,) Read and written.

    Returns:
        The number of the first packet that was not served; what is lacking, or 0.
    """
    at_ps, size_bytes = batch.at_ps, batch.size_bytes
    port, left_ps, cause, began_ps = outcomes
    for i in range(first, len(at_ps)):
        found, began_ps[i], left_ps[i] = serve(state, size_bytes[i], port[i], at_ps[i])
        if found < 0:
            return i, found
        cause[i] = found
    return len(at_ps), 0


@kernel
def serve(state: Whole, size_bytes: int, port: int, now_ps: int) -> tuple[int, int, int]:
    """Serve a packet that arrives now at an input.

    Returns:
        0, the cause of its loss, or what is lacking, nothing done; when its service begins or it is
        lost; the end of its service, if need be by a restart.
    """
    arrays, queue = _view_arrays(state), min(port, state[QUEUES] - 1)
    state[LACKING_PS] = now_ps
    if state[TAIL] - state[HEAD] == state[PLACES]:
        return NO_PLACES, now_ps, now_ps
    while now_ps >= state[UP]:
        _restart(state, arrays)
    if now_ps >= state[DOWN]:
        return RESTART, now_ps, now_ps
    _release(state, arrays, now_ps)
    ready_ps = max(now_ps, state[FREE])
    begins_ps, k = _begin(state, arrays, ready_ps)
    amount = size_bytes if state[IN_BYTES] else 1
    if begins_ps > now_ps and arrays.waiting[queue] + amount > state[LIMIT]:
        return OVERFLOW, now_ps, now_ps
    if state[FREE] > state[DOWN]:
        arrays.waiting[queue] += amount
        return RESTART, state[DOWN], now_ps
    done_ps, k = _end(arrays, k, begins_ps + _compute_time_ps(state, arrays, size_bytes))
    if done_ps > state[KNOWN_PS]:
        return UNKNOWN, now_ps, now_ps
    if begins_ps > now_ps:
        _enqueue(state, arrays, (begins_ps, amount, queue))
    if now_ps >= state[FREE]:
        state[BUSY] = now_ps
    state[FREE], state[SIZE] = done_ps, size_bytes
    cause = _find_outcome(state, k)
    return cause, min(begins_ps, state[DOWN]), min(done_ps, state[DOWN])


@kernel
def _find_points(state: Whole) -> int:
    """Return where its curve begins."""
    return ARRAYS + state[QUEUES] + state[RESTARTS]  # type: ignore[no-any-return]


@kernel
def _find_ring(state: Whole) -> int:
    """Return where its ring begins."""
    return _find_points(state) + COLUMNS * state[POINTS]  # type: ignore[no-any-return]


@kernel
def _view_arrays(state: Whole) -> Arrays:
    ring = _find_ring(state)
    pauses = ring + RING_COLUMNS * state[PLACES]
    return Arrays(
        view_part(state, ARRAYS, state[QUEUES]),
        view_part(state, ARRAYS + state[QUEUES], state[RESTARTS]),
        view_rows(state, _find_points(state), state[POINTS], COLUMNS),
        view_rows(state, ring, state[PLACES], RING_COLUMNS),
        view_rows(state, pauses, (len(state) - pauses) // 2, 2),
    )


@kernel
def _compute_time_ps(state: Whole, arrays: Arrays, size_bytes: int) -> int:
    """Return how long a packet takes behind the one ahead."""
    segments = (size_bytes + state[HEADROOM_BYTES] - 1) // state[SEGMENT_BYTES]
    time_ps = find_time_ps(arrays.points, size_bytes)
    time_ps += size_bytes * state[BYTE_PS] + segments * state[SEGMENT_PS]
    changed = state[SIZE] > 0 and state[SIZE] != size_bytes
    return time_ps + state[CHANGE_PS] if changed else time_ps  # type: ignore[no-any-return]


@kernel
def _begin(state: Whole, arrays: Arrays, ready_ps: int) -> tuple[int, int]:
    """Return when no interruption lasts that has begun by then, and the number of the next.

    While every arrival is lost, it does not matter.
    """
    pauses = arrays.pauses
    if state[FREE] > state[DOWN]:
        return ready_ps, state[NEXT]
    while pauses[state[NEXT], 1] <= ready_ps:
        state[NEXT] += 1
    k = state[NEXT]
    while pauses[k, 0] <= ready_ps:
        ready_ps = max(ready_ps, pauses[k, 1])
        k += 1
    return ready_ps, k


@kernel
def _end(arrays: Arrays, k: int, done_ps: int) -> tuple[int, int]:
    """Return when work is done in spite of interruptions from `k` on, and the next behind it."""
    pauses = arrays.pauses
    while pauses[k, 0] < done_ps:
        done_ps += pauses[k, 1] - pauses[k, 0]
        k += 1
    return done_ps, k


@kernel
def _find_outcome(state: Whole, k: int) -> int:
    """Return 0 if the last packet so far leaves, or the cause of its loss."""
    down_ps = min(state[DOWN], state[BUSY] + state[TIMEOUT_PS])
    if state[FREE] <= down_ps:
        state[LEFT], state[NEXT] = state[FREE], k
        return 0
    go_down(state, down_ps)
    return RESTART


@kernel
def go_down(state: Whole, at_ps: int) -> None:
    """Note that the next restart begins then; one that is stated for meanwhile begins it anew."""
    restarts, k = view_part(state, ARRAYS + state[QUEUES], state[RESTARTS]), state[STATED]
    state[DOWN], state[UP] = at_ps, min(at_ps + state[RESTART_PS], FOREVER_PS)
    while restarts[k] < state[UP]:
        state[UP] = restarts[k] + state[RESTART_PS]
        k += 1


@kernel
def _enqueue(state: Whole, arrays: Arrays, packet: tuple[int, int, int]) -> None:
    """Note a packet that waits, as a row of the ring."""
    begins_ps, amount, queue = packet
    ring, place = arrays.ring, state[TAIL] & (state[PLACES] - 1)
    ring[place, BEGINS], ring[place, AMOUNT], ring[place, QUEUE] = begins_ps, amount, queue
    arrays.waiting[queue] += amount
    state[TAIL] += 1


@kernel
def _release(state: Whole, arrays: Arrays, now_ps: int) -> None:
    """Release the places of packets whose service has begun by now."""
    ring, mask = arrays.ring, state[PLACES] - 1
    while state[HEAD] < state[TAIL] and ring[state[HEAD] & mask, BEGINS] <= now_ps:
        place = state[HEAD] & mask
        arrays.waiting[ring[place, QUEUE]] -= ring[place, AMOUNT]
        state[HEAD] += 1


@kernel
def _restart(state: Whole, arrays: Arrays) -> None:
    """Drop all packets that wait, and serve again, up to the next restart at a stated time."""
    state[FREE], state[HEAD], state[SIZE] = state[UP], state[TAIL], 0
    for queue in range(state[QUEUES]):
        arrays.waiting[queue] = 0
    while arrays.restarts[state[STATED]] < state[UP]:
        state[STATED] += 1
    go_down(state, arrays.restarts[state[STATED]])
