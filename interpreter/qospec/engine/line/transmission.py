"""Transmission: when a line may begin with the next item, in exact rational time.

A line is one flat int64 array, which is all that the kernels of lines, queues and schedulers need:
its rate and framing, and in FREE and PART when it is free next, as whole ps and a numerator over
DENOMINATOR. A continuous line is free from that whole ps on; a slotted one begins only with the
slot that starts there. Times grow by carrying the numerator: no rounded value is ever summed. SLOT
is the time of the smallest item. A packet takes the time of max(size + HEADER, LEAST) + EXTRA
bytes, or of the cells that these fill with PER_CELL of them each, if that is not 0; the gap behind
its frame keeps the line busy but does not delay its arrival.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS, TooLateError
from qospec.engine.items.frame_length import frame_bytes
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.encapsulation import Framing
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock

LOWEST_BIT_RATE = 1_000
"""Below this, the backlog of one batch could exceed int64."""
HIGHEST_BIT_RATE = 10**14
"""A cell takes four picoseconds; much above, whole picoseconds would not separate cells."""
LARGEST_DENOMINATOR = 2**62 // (LARGEST_PACKET_BYTES + 1)
"""With it, the bytes of a packet and 16 KiB of framing times a numerator plus a carry fit int64."""

FREE, PART, DENOMINATOR = 0, 1, 2
BYTE, BYTE_PART, SLOT, SLOT_PART = 3, 4, 5, 6
PROPAGATION, SLOTTED, STAMPS, LEAP = 7, 8, 9, 10
HEADER, LEAST, EXTRA, PER_CELL, SMALLEST, LEAD = 11, 12, 13, 14, 15, 16
FIELDS = 17

Pace = tuple[int, int, int, int]
"""The fields SLOT, SLOT_PART, DENOMINATOR and LEAP of a line, as a kernel's helper takes them."""
OfBytes = tuple[bool, bool, int, Framing]
"""Whether a line sends in slots; whether a byte takes whole ps, and how many; its frames."""


def check(clock: Clock) -> None:
    """Raise ValueError, worded for an author, if a line cannot be computed exactly."""
    if not LOWEST_BIT_RATE <= clock.bit_rate <= HIGHEST_BIT_RATE:
        raise ValueError("rate: expected between 1 kbit/s and 100 Tbit/s")
    if clock.byte_time_ps.denominator > LARGEST_DENOMINATOR:
        raise ValueError("rate: this fraction is too fine to be kept exactly; give fewer digits")
    if clock.slotted and clock.phase_ps > clock.slot_ps:
        raise ValueError("phase: expected less than the time of a slot")


def build_line(clock: Clock | None) -> Whole:
    """Return the line at the beginning of a trial."""
    if clock is None:
        raise ValueError("no line serves this element")
    check(clock)
    line = np.zeros(FIELDS, np.int64)
    byte, denominator = clock.byte_time_ps, clock.byte_time_ps.denominator
    line[DENOMINATOR] = denominator
    line[BYTE], line[BYTE_PART] = divmod(byte.numerator, denominator)
    slot = int(clock.slot_ps * denominator)
    line[SLOT], line[SLOT_PART] = divmod(slot, denominator)
    line[PROPAGATION] = clock.arrival_ps
    line[SLOTTED] = clock.slotted
    line[STAMPS] = clock.stamps
    line[LEAP] = 2**62 // denominator - 1
    line[FREE] = clock.phase_ps if clock.slotted else 0
    framing = Framing() if clock.encapsulation is None else clock.encapsulation.framing
    line[HEADER], line[LEAST], line[EXTRA], line[PER_CELL] = framing
    line[SMALLEST] = clock.smallest_bytes
    line[LEAD] = clock.lead_ps
    return line


@kernel
def compute_watermark_ps(line: Whole, until_ps: int) -> int:
    """Return the watermark of departures: later than all so far, no later than any that follows.

    The next item starts neither before `until_ps` nor before the line is free.
    """
    if until_ps >= FOREVER_PS:
        return FOREVER_PS
    slot_ps, carried_ps = line[SLOT], (line[PART] + line[SLOT_PART]) // line[DENOMINATOR]
    busy_until_ps = line[FREE] + slot_ps + carried_ps
    return max(busy_until_ps, until_ps + slot_ps) + line[PROPAGATION]  # type: ignore[no-any-return]


def check_load(
    line: Whole, batch: Batch, smallest_bytes: int, largest_bytes: int, held: int = 0
) -> None:
    """Reject what exceeds the exact range of a line, by a bound far beyond any trial.

    `held` items wait already.

    Raises:
        ValueError: If an item is shorter than a cell, or does not fit a slot.
        TooLateError: If the wait of the last item might exceed int64.
    """
    if smallest_bytes < line[SMALLEST]:
        least = line.item(SMALLEST)
        raise ValueError(f"what a line sends has at least {least} bytes, not {smallest_bytes}")
    if line[SLOTTED] and largest_bytes > CELL_BYTES:
        raise ValueError(f"a slot holds {CELL_BYTES} bytes, not {largest_bytes}")
    latest_ps = max(line.item(FREE), batch.at_ps.item(-1))
    longest_ps = int(compute_service_time(line, largest_bytes)[0]) + 1
    if latest_ps + (held + len(batch.at_ps)) * longest_ps >= FOREVER_PS:
        raise TooLateError


@kernel
def find_next_slot(pace: Pace, free_ps: int, part: int, ready_ps: int) -> tuple[int, int]:
    """Return the first slot at or after `ready_ps`, which is later than the slot given.

    A long gap is crossed in leaps: counted with slots of slot + 1 ps, a leap never passes the slot
    looked for, and leaves a small fraction of the gap. A short gap is crossed slot by slot, since a
    leap takes two divisions, as long as a dozen steps.
    """
    slot_ps, slot_part, denominator, leap = pace
    while ready_ps - free_ps > 10 * slot_ps:
        slots = min((ready_ps - free_ps) // (slot_ps + 1), leap)
        part += slots * slot_part
        carried = part // denominator
        free_ps += slots * slot_ps + carried
        part -= carried * denominator
    while free_ps < ready_ps:
        free_ps += slot_ps
        part += slot_part
        if part >= denominator:
            part -= denominator
            free_ps += 1
    return free_ps, part


@kernel
def add_time(free_ps: int, part: int, time: tuple[int, int], denominator: int) -> tuple[int, int]:
    """Return the moment that is `time` later; all are whole ps and a numerator."""
    free_ps += time[0]
    part += time[1]
    if part >= denominator:
        part -= denominator
        free_ps += 1
    return free_ps, part


@kernel
def find_start(line: Whole, ready_ps: int) -> tuple[int, int]:
    """Return when an item that is ready then may begin: whole ps and a numerator."""
    free_ps, part = line[FREE], line[PART]
    if ready_ps > free_ps:
        if line[SLOTTED]:
            pace = (line[SLOT], line[SLOT_PART], line[DENOMINATOR], line[LEAP])
            return find_next_slot(pace, free_ps, part, ready_ps)
        return ready_ps, 0
    return free_ps, part


@kernel
def transmit(line: Whole, start: tuple[int, int], size_bytes: int) -> int:
    """Keep a line busy with an item from then on; return when its last bit is at the far end."""
    time = (
        (line[SLOT], line[SLOT_PART]) if line[SLOTTED] else compute_service_time(line, size_bytes)
    )
    line[FREE], line[PART] = add_time(start[0], start[1], time, line[DENOMINATOR])
    return line[FREE] + line[PROPAGATION]  # type: ignore[no-any-return]


@kernel
def read_framing(line: Whole) -> Framing:
    """Return the framing of items."""
    return Framing(line[HEADER], line[LEAST], line[EXTRA], line[PER_CELL])


@kernel
def count_sent_bytes(framing: Framing, size_bytes: int) -> int:
    """Return the bytes that an item of that size takes, framed."""
    header, least, extra, per_cell = framing
    return frame_bytes(size_bytes, header, least, per_cell) + extra


@kernel
def compute_service_time(line: Whole, size_bytes: int) -> tuple[int, int]:
    """Return the time that an item of that size takes, framed: whole ps and a numerator."""
    denominator = line[DENOMINATOR]
    framed_bytes = count_sent_bytes(read_framing(line), size_bytes)
    part, carried = framed_bytes * line[BYTE_PART], 0
    if part >= denominator:  # else a division of 0, where a byte takes whole picoseconds
        carried = part // denominator
        part -= carried * denominator
    return framed_bytes * line[BYTE] + carried, part


@kernel
def compute_time(
    line: Whole, of_bytes: OfBytes, ahead: tuple[int, tuple[int, int]], size_bytes: int
) -> tuple[int, tuple[int, int]]:
    """Return an item's size and its time, whole ps and a numerator; `ahead` is the item before."""
    slotted, whole, byte_ps, framing = of_bytes
    if slotted:
        return ahead
    if whole:  # to look whether sizes differ takes longer than to multiply
        return size_bytes, (count_sent_bytes(framing, size_bytes) * byte_ps, 0)
    if size_bytes == ahead[0]:
        return ahead
    return size_bytes, compute_service_time(line, size_bytes)
