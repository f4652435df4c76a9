"""A line behind a buffer with tail drop, for items of one size: no ring, no search.

What waits begins one after the other without a gap, the last one service time before the line is
free. So an arrival finds a buffer of n places full exactly when the n-th start, counted back from
there, still lies ahead of it. And what has not begun by some time follows, and can be taken back,
from the line alone.

Most batches lose nothing. So `send_uncongested` goes first, as far as all items certainly find
room; only from there on is admission decided item by item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import join_batches
from qospec.engine.items.partition import split
from qospec.engine.kernel import kernel
from qospec.engine.line.tandem import NO_LIMIT_PS, Hop, Tandem, send_uncongested
from qospec.engine.line.transmission import (
    DENOMINATOR,
    FREE,
    LEAD,
    LEAP,
    PART,
    PROPAGATION,
    SLOT,
    SLOT_PART,
    SLOTTED,
    SMALLEST,
    STAMPS,
    check_load,
    compute_service_time,
    find_next_slot,
)

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Marks, Times, Whole
    from qospec.engine.items.batch import Batch


class Outcome(NamedTuple):
    """The outcome of each item of a batch.

    Attributes:
        lost: (n,) 1 if it was dropped.
        left_ps: (n,) The time of its last bit at the far end; when it came, if it was dropped.
        began_ps: (n,) The time when its first bit is sent; or (0,): not needed.
    """

    lost: Marks
    left_ps: Times
    began_ps: Times


def allocate_outcome(line: Whole, count: int) -> Outcome:
    """Return uninitialised columns for `count` items."""
    began = count if line[STAMPS] else 0
    return Outcome(np.empty(count, np.uint8), np.empty(count, np.int64), np.empty(began, np.int64))


def split_by_loss(batch: Batch, outcome: Outcome, lost: int) -> tuple[Batch, Batch]:
    """Return the items sent, and the `lost` items dropped, with the times when they came."""
    sent_ps = outcome.began_ps if len(outcome.began_ps) else batch.sent_ps
    return split(batch.with_times(outcome.left_ps, sent_ps), outcome.lost, lost)


def send_through(
    line: Whole,
    batch: Batch,
    limit: Buffer | None,
    *,
    size_bytes: int = 0,
    owns_times: bool = False,
) -> tuple[Batch, Batch] | None:
    """Return the items that leave a line behind a buffer, and the items dropped.

    Args:
        line: Updated.
        batch: At least one item.
        limit: Of the buffer.
        size_bytes: The size of all items if known, else 0.
        owns_times: Whether the batch's `at_ps` may be written over.

    Returns:
        None, with the line untouched, if the batch's sizes differ.
    """
    if not size_bytes:
        size_bytes = int(batch.size_bytes.min())
        if size_bytes != batch.size_bytes.max():
            return None
    check_load(line, batch, size_bytes, size_bytes)
    pace = _compute_time(line, size_bytes) + _compute_room(line, size_bytes, limit)
    if line[SLOTTED]:
        outcome = allocate_outcome(line, batch.count)
        return split_by_loss(batch, outcome, _send(batch, line, pace, outcome))
    alone = Tandem(Hop(line, *pace[:3]))
    free, count = send_uncongested(alone, batch, owns_times=owns_times)
    if count == batch.count:
        return free, batch.select_range(count, count)
    rest = batch.select_range(count, batch.count)
    outcome = allocate_outcome(line, rest.count)
    left, lost = split_by_loss(rest, outcome, _send(rest, line, pace, outcome))
    return join_batches(free.select_range(0, count), left), lost


def can_be_hop(line: Whole, size_bytes: int) -> bool:
    """Return whether a line has no slots, and may send items of that size; 0: sizes differ."""
    return not line[SLOTTED] and 0 < size_bytes >= line[SMALLEST]


def build_hop(line: Whole, size_bytes: int, limit: Buffer | None = None) -> Hop:
    """Return a line behind a buffer for items of a size, of which `can_be_hop` is true."""
    return Hop(line, *_compute_time(line, size_bytes), _compute_room(line, size_bytes, limit)[0])


def take_back_unsent(line: Whole, size_bytes: int, from_ps: int) -> int:
    """Take back the items that begin at `from_ps` or later; return their number.

    All are of that size and arrived earlier.
    """
    count, free, time = _count_pending(line, size_bytes, from_ps)
    line[FREE], line[PART] = divmod(free - count * time, int(line[DENOMINATOR]))
    return count


def find_pending_starts_ps(line: Whole, size_bytes: int, from_ps: int) -> list[int]:
    """Return when each item begins that begins at `from_ps` or later, rounded down."""
    count, free, time = _count_pending(line, size_bytes, from_ps)
    return [(free - back * time) // int(line[DENOMINATOR]) for back in range(count, 0, -1)]


def _count_pending(line: Whole, size_bytes: int, from_ps: int) -> tuple[int, int, int]:
    """Return the number of items that begin then or later; as numerators, FREE and one's time."""
    denominator = int(line[DENOMINATOR])
    time_ps, time_part = _compute_time(line, size_bytes)
    time = time_ps * denominator + time_part
    free = int(line[FREE]) * denominator + int(line[PART])
    return max(0, (free - from_ps * denominator) // time), free, time


def _compute_time(line: Whole, size_bytes: int) -> tuple[int, int]:
    """Return the time of one item as Python integers, since it is multiplied by large ones."""
    if line[SLOTTED]:
        return int(line[SLOT]), int(line[SLOT_PART])
    time_ps, time_part = compute_service_time(line, size_bytes)
    return int(time_ps), int(time_part)


def _compute_room(line: Whole, size_bytes: int, limit: Buffer | None) -> tuple[int, int]:
    """Return how long a full buffer keeps the line busy."""
    if limit is None:
        return NO_LIMIT_PS, 0
    places = limit.amount if limit.unit != "byte" else limit.amount // size_bytes
    time_ps, time_part = _compute_time(line, size_bytes)
    carried_ps, room_part = divmod(places * time_part, int(line[DENOMINATOR]))
    return min(places * time_ps + carried_ps, NO_LIMIT_PS), room_part


@kernel
def _send(batch: Batch, line: Whole, pace: tuple[int, int, int, int], outcome: Outcome) -> int:
    """Send, in slots or without; return the number of items dropped.

    Args:
        batch: n items of one size.
        line: Updated.
        pace: The time of one item, and of all that may wait: ps and numerator each.
        outcome: (n,) Written.
    """
    at_ps, sent_ps = batch.at_ps, batch.sent_ps
    lost, left_ps, began_ps = outcome
    time_ps, time_part, room_ps, room_part = pace
    free, part, denominator = line[FREE], line[PART], line[DENOMINATOR]
    slots, slotted = (time_ps, time_part, denominator, line[LEAP]), line[SLOTTED] != 0
    propagation, lead, stamps = line[PROPAGATION], line[LEAD], len(began_ps) > 0
    dropped = 0
    for i in range(len(at_ps)):
        t = at_ps[i]
        if t > free:
            free, part = find_next_slot(slots, free, part, t) if slotted else (t, 0)
        # The n-th start back is rounded down, as every time is.
        full = t < free - room_ps - (part < room_part)
        lost[i] = full
        dropped += full
        if stamps:
            began_ps[i] = sent_ps[i] if full else free + lead
        if not full:
            free += time_ps
            part += time_part
            if part >= denominator:
                part -= denominator
                free += 1
        left_ps[i] = t if full else free + propagation
    line[FREE], line[PART] = free, part
    return dropped
