"""Items of one size over a line, as far as all find room: what nearly all cells are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.batch import Batch
from qospec.engine.kernel import kernel
from qospec.engine.transmission import (
    DENOMINATOR,
    FREE,
    LEAD,
    PART,
    PROPAGATION,
    STAMPS,
    service_time,
)

if TYPE_CHECKING:
    from qospec.engine.arrays import Times, Whole

NO_LIMIT_PS = 2**62
"""The room before a line that keeps whatever waits."""
MOST_AT_ONCE = 2**62
"""Items times denominator that the kernel takes in one go."""


def sent_freely(
    line: Whole, batch: Batch, size_bytes: int, *, room_ps: int, owns_times: bool
) -> tuple[Batch, int]:
    """Return a batch of which so many items have been sent, all that certainly find room.

    Args:
        line: Carried on; without slots.
        batch: At least one item, all of one size.
        size_bytes: That size.
        room_ps: For how long a full buffer keeps the line busy.
        owns_times: Whether `at_ps` of those may be written over.
    """
    at_ps, count = batch.at_ps, batch.count
    left_ps = at_ps if owns_times else np.empty(count, np.int64)
    began_ps = np.empty(count if line[STAMPS] else 0, np.int64)
    denominator = line.item(DENOMINATOR)
    time_ps, time_part = map(int, service_time(line, size_bytes))
    time_binary, most = _binary(time_part, denominator), MOST_AT_ONCE // denominator
    done = sent = 0
    while done < count and sent == done:
        binary = _binary(line.item(PART), denominator), time_binary
        here = slice(done, min(done + most, count))
        columns = at_ps[here], left_ps[here], began_ps[here]
        sent += _send_freely(columns, line, (time_ps, time_part, room_ps), binary)
        done = here.stop
    sent_ps = began_ps if line[STAMPS] else batch.sent_ps
    return Batch(left_ps, sent_ps, batch.connection, batch.size_bytes, batch.marks), sent


def _binary(part: int, denominator: int) -> np.uint64:
    """Return a numerator in 64 binary places, rounded up."""
    return np.uint64(-(-(part << 64) // denominator))


@kernel
def _send_freely(
    columns: tuple[Times, Times, Times],
    line: Whole,
    pace: tuple[int, int, int],
    binary: tuple[np.uint64, np.uint64],
) -> int:
    """Send without slots as long as there is room; return how many that is. See `tail_drop`.

    Does the same, faster: busy and idle are branches, which are foreseen behind another line and
    near full load; and what numerators come to is followed in 64 binary places, which carry when
    they overflow. Rounded up each time, they are ahead of the numerators by less than the 2^64th
    part of a ps per item, which for so few items is less than 1/denominator: no carry comes early,
    and none late. What is carried on to the next batch is reckoned from the numerators alone.

    Args:
        columns: (n,) Arrival times, which do not fall; written: last bit at the far end, which may
            be the same array; and first bit sent, or (0,): not asked for.
        line: Carried on.
        pace: The time of one item, ps and numerator, and whole ps of all that may wait.
        binary: Numerators of the line and of the time of one item, as `_binary` has them.
    """
    at_ps, left_ps, began_ps = columns
    time_ps, time_part, room_ps = pace
    part_binary, time_binary = binary
    propagation, lead = line[PROPAGATION], line[LEAD]
    stamps, bounded = len(began_ps) > 0, room_ps < NO_LIMIT_PS
    free, part, first, sent = line[FREE], line[PART], 0, len(at_ps)
    for i in range(len(at_ps)):
        t = at_ps[i]
        if t <= free:
            if bounded and t <= free - room_ps:
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
