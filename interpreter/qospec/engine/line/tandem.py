"""Lines in tandem, for items of one size of which none is lost: one call for all lines.

The column of a window exceeds a cache. So a tile of it passes all lines before the next one does,
and between two lines nothing is fetched from memory, nor left to the interpreter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import build_state_table, get_state, is_compiled, kernel, view_part
from qospec.engine.line.transmission import (
    DENOMINATOR,
    FREE,
    LARGEST_DENOMINATOR,
    LEAD,
    PART,
    PROPAGATION,
    STAMPS,
    compute_watermark_ps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.engine.arrays import Times, Whole
    from qospec.engine.items.batch import Batch

TILE = 4_096
"""Items that pass all lines together: their times fill 32 KiB, and a line takes 2 us for them."""
MOST_AT_ONCE = 2**62 // LARGEST_DENOMINATOR
"""Items whose times may be summed in binary places; whole tiles. See `_send`."""
NO_LIMIT_PS = 2**62
"""Stands for a buffer without limit."""
PART_BINARY, TIME_BINARY, FREE_BEFORE, PART_BEFORE = range(4)
"""The columns of what the kernel notes of each line."""


class Hop(NamedTuple):
    """A line without slots behind a buffer, as it sends items of one size.

    Attributes:
        line: Its state; see `engine.line.transmission`.
        time_ps: The time of an item: whole ps.
        time_part: And a numerator.
        room_ps: How long a full buffer keeps the line busy.
    """

    line: Whole
    time_ps: int
    time_part: int
    room_ps: int = NO_LIMIT_PS


class Tandem:
    """Lines, at least one, each of which feeds the next.

    Attributes:
        hops: The lines, in their order.
    """

    def __init__(self, *hops: Hop) -> None:
        """Take the lines, whose state is read and updated from then on."""
        self.hops = hops  # which keeps their arrays, of which the table has the addresses
        lines = [hop.line for hop in hops]
        self._states = build_state_table(lines, compiled=is_compiled(_send_tiles))
        self._paces = np.array([hop[1:] for hop in hops], np.int64)
        self._notes = np.zeros((len(hops), 4), np.int64)
        self._unsigned = self._notes.view(np.uint64)

    def send(self, at_ps: Times, left_ps: Times, began_ps: Times | None = None) -> int:
        """Send items through all lines as far as they certainly find room; return their number.

        Of several lines the state is as before if not all items are sent, and so are `at_ps`.

        Args:
            at_ps: (n,) Arrival times, which do not fall; n > 0.
            left_ps: (n,) Written: last bit at the end of the last line, of those that are sent. Of
                a single line it may be `at_ps` itself.
            began_ps: (n,) Written, if given: first bit sent by the first line.
        """
        columns = at_ps, left_ps, at_ps[:0] if began_ps is None else began_ps
        sent: int = _send_tiles(columns, self._states, self._paces, self._notes, self._unsigned)
        return sent

    def compute_watermark_ps(self, until_ps: int) -> int:
        """Return the watermark behind the last line, given that of the first; see there."""
        return _pass_watermark(self._states, len(self.hops), until_ps)


def send_uncongested(
    tandem: Tandem, batch: Batch, *, owns_times: bool = False
) -> tuple[Batch, int]:
    """Return the batch with the items sent that certainly find room, and the number of these.

    Args:
        tandem: Updated.
        batch: At least one item, all of its size.
        owns_times: Whether `at_ps` may be written over; only of a single line.
    """
    at_ps = np.ascontiguousarray(batch.at_ps)
    left_ps = at_ps if owns_times else np.empty(batch.count, np.int64)
    began_ps = np.empty(batch.count, np.int64) if tandem.hops[0].line[STAMPS] else None
    return batch.with_times(left_ps, began_ps), tandem.send(at_ps, left_ps, began_ps)


@kernel
def _pass_watermark(states: Whole, count: int, until_ps: int) -> int:
    for number in range(count):
        until_ps = compute_watermark_ps(get_state(states, number), until_ps)
    return until_ps


@kernel
def _send_tiles(
    columns: tuple[Times, Times, Times],
    states: Whole,
    paces: Whole,
    notes: Whole,
    unsigned: NDArray[np.uint64],
) -> int:
    """Send tile by tile; see `Tandem.send`.

    Args:
        columns: Those of `Tandem.send`; the last is (0,) if not needed.
        states: The lines, as `build_state_table` has them.
        paces: (lines, 3) The other fields of a `Hop`.
        notes: (lines, 4) Written.
        unsigned: The same.
    """
    at_ps, left_ps, began_ps = columns
    if not _begin(states, paces, notes, len(at_ps), at_ps[len(at_ps) - 1]):
        return 0
    for first in range(0, len(at_ps), TILE):
        count = min(TILE, len(at_ps) - first)
        came_ps, tile_ps = view_part(at_ps, first, count), view_part(left_ps, first, count)
        stamps = len(began_ps) > 0
        for number in range(len(paces)):
            line = get_state(states, number)
            time_ps, time_part, room_ps = paces[number, 0], paces[number, 1], paces[number, 2]
            if first % MOST_AT_ONCE == 0:
                notes[number, PART_BINARY] = _find_binary(line[PART], line[DENOMINATOR])
            longest_ps = max(0, line[FREE] - came_ps[0]) + count * (time_ps + 1)
            if stamps or longest_ps > room_ps:
                began = view_part(began_ps, first * stamps, count * stamps)
                pace = time_ps, time_part, room_ps
                sent = _send((came_ps, tile_ps, began), line, pace, unsigned[number])
            else:  # a loop by itself, since it is inlined: both constants decide branches
                began = view_part(began_ps, 0, 0)
                pace = time_ps, time_part, NO_LIMIT_PS
                sent = _send((came_ps, tile_ps, began), line, pace, unsigned[number])
            if sent < count:
                if len(paces) > 1:
                    _restore(states, notes)
                return first + sent
            came_ps, stamps = tile_ps, False
    return len(at_ps)


@kernel
def _begin(states: Whole, paces: Whole, notes: Whole, count: int, latest_ps: int) -> bool:
    """Return whether times stay in the exact range, and note the state of lines and their times."""
    for number in range(len(paces)):
        line, time_ps = get_state(states, number), paces[number, 0]
        notes[number, TIME_BINARY] = _find_binary(paces[number, 1], line[DENOMINATOR])
        notes[number, FREE_BEFORE], notes[number, PART_BEFORE] = line[FREE], line[PART]
        latest_ps = max(latest_ps, line[FREE])
        if (FOREVER_PS - latest_ps - 1) // (time_ps + 1) < count:
            return False
        latest_ps += count * (time_ps + 1) + line[PROPAGATION]
    return True


@kernel
def _restore(states: Whole, notes: Whole) -> None:
    """Restore the state of lines."""
    for number in range(len(notes)):
        line = get_state(states, number)
        line[FREE], line[PART] = notes[number, FREE_BEFORE], notes[number, PART_BEFORE]


@kernel
def _find_binary(part: int, denominator: int) -> int:
    """Return a numerator in 64 binary places, rounded up, as if it was signed."""
    binary, rest = 0, part
    for _ in range(64):
        rest += rest
        place = rest >= denominator
        rest -= place * denominator
        binary += binary + place
    return binary + (rest > 0)


@kernel
def _send(
    columns: tuple[Times, Times, Times],
    line: Whole,
    pace: tuple[int, int, int],
    binary: NDArray[np.uint64],
) -> int:
    """Send by one line as long as there is room; return the number of items sent.

    It does what `tail_drop._send` does, faster: busy and idle are branches, well predicted behind
    another line and near full load; and the sum of numerators is kept in 64 binary places, whose
    overflow is the carry. Rounded up each time, they are ahead of the numerators by less than 2^-64
    ps per item, which for `MOST_AT_ONCE` items is less than 1/denominator: no carry is early or
    late. What stays behind them is computed from the numerators alone.
    """
    at_ps, left_ps, began_ps = columns
    time_ps, time_part, room_ps = pace
    part_binary, time_binary = binary[PART_BINARY], binary[TIME_BINARY]
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
    line[FREE], binary[PART_BINARY] = free, part_binary
    line[PART] = (part + (sent - first) * time_part) % line[DENOMINATOR]
    return sent
