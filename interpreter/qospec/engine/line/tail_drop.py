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
    return split(batch.moved(outcome.left_ps, sent_ps), outcome.lost, lost)


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
    free, count = send_uncongested(line, batch, size_bytes, room_ps=pace[2], owns_times=owns_times)
    if count == batch.count:
        return free, batch.part(count, count)
    rest = batch.part(count, batch.count)
    outcome = allocate_outcome(line, rest.count)
    left, lost = split_by_loss(rest, outcome, _send(rest, line, pace, outcome))
    return join_batches(free.part(0, count), left), lost


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


NO_LIMIT_PS = 2**62
"""Stands for a buffer without limit."""
MOST_AT_ONCE = 2**62
"""The bound of items times denominator for one call of the kernel."""


def send_uncongested(
    line: Whole, batch: Batch, size_bytes: int, *, room_ps: int, owns_times: bool
) -> tuple[Batch, int]:
    """Return the batch with the items sent that certainly find room, and the number of these.

    Args:
        line: Updated; without slots.
        batch: At least one item, all of one size.
        size_bytes: That size.
        room_ps: How long a full buffer keeps the line busy.
        owns_times: Whether `at_ps` of those may be written over.
    """
    at_ps, count = batch.at_ps, batch.count
    left_ps = at_ps if owns_times else np.empty(count, np.int64)
    began_ps = np.empty(count if line[STAMPS] else 0, np.int64)
    denominator = line.item(DENOMINATOR)
    time_ps, time_part = map(int, compute_service_time(line, size_bytes))
    time_binary, most = _to_binary(time_part, denominator), MOST_AT_ONCE // denominator
    done = sent = 0
    while done < count and sent == done:
        binary = _to_binary(line.item(PART), denominator), time_binary
        here = slice(done, min(done + most, count))
        columns = at_ps[here], left_ps[here], began_ps[here]
        sent += _send_uncongested(columns, line, (time_ps, time_part, room_ps), binary)
        done = here.stop
    sent_ps = began_ps if line[STAMPS] else batch.sent_ps
    return batch.moved(left_ps, sent_ps), sent


def _to_binary(part: int, denominator: int) -> np.uint64:
    """Return a numerator in 64 binary places, rounded up."""
    return np.uint64(-(-(part << 64) // denominator))


@kernel
def _send_uncongested(
    columns: tuple[Times, Times, Times],
    line: Whole,
    pace: tuple[int, int, int],
    binary: tuple[np.uint64, np.uint64],
) -> int:
    """Send without slots as long as there is room; return the number of items sent.

    It does what `_send` does, faster: busy and idle are branches, well predicted behind another
    line and near full load; and the sum of numerators is kept in 64 binary places, whose overflow
    is the carry. Rounded up each time, they are ahead of the numerators by less than 2^-64 ps per
    item, which for the items of one call is less than 1/denominator: no carry is early or late.
    What is carried to the next batch is computed from the numerators alone.

    Args:
        columns: (n,) Arrival times, which do not fall; written: last bit at the far end, which may
            be the same array; and first bit sent, or (0,) if not needed.
        line: Updated.
        pace: The time of one item, ps and numerator, and whole ps of all that may wait.
        binary: Numerators of the line and of the time of one item, as `_to_binary` has them.
    """
    at_ps, left_ps, began_ps = columns
    time_ps, time_part, room_ps = pace
    part_binary, time_binary = binary
    propagation, lead = line[PROPAGATION], line[LEAD]
    stamps, limited = len(began_ps) > 0, room_ps < NO_LIMIT_PS
    free, part, first, sent = line[FREE], line[PART], 0, len(at_ps)
    for i in range(len(at_ps)):
        t = at_ps[i]
        if t <= free:
            if limited and t < free - room_ps:
                sent = i
                break
            if stamps:
                began_ps[i] = free + lead
            part_binary += time_binary
            free += time_ps + (part_binary < time_binary)
        else:
            if stamps:
                began_ps[i] = t + lead
            free = t + time_ps
            part_binary = time_binary
            part, first = 0, i
        left_ps[i] = free + propagation
    line[FREE] = free
    line[PART] = (part + (sent - first) * time_part) % line[DENOMINATOR]
    return sent
