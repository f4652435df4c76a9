"""A queue first come, first served: what becomes of an item is known as it arrives.

What waits is a ring: when each item begins, and its size. `decide` says whether an arrival is
admitted: here by the limit alone; another kernel may take its place in the loops that call it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qospec.engine.arrays import np
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FRAME,
    MARKS,
    SENT,
    SIZE,
    lose,
    report_wait,
    send,
)
from qospec.engine.items.batch import FRAME_PLACE, read_note
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_rows
from qospec.engine.line import transmission
from qospec.engine.line.transmission import LEAD, STAMPS, find_start, transmit
from qospec.engine.queue.admission import ADMITTED, MARKED, OVERFLOW, is_admitted
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.tail_drop import Outcome
    from qospec.engine.queue.admission import Cell, Item

LIMIT, IN_BYTES, HEAD, TAIL, HELD, DRAWN, TABLE, DRAWS, RING = range(transmission.FIELDS, 26)
"""The fields behind those of the line: how much may wait, and whether that counts bytes; the
numbers of the first item that waits and of that after the last, and their bytes; how many random
numbers are used up; where what a policy knows, the random numbers and the ring begin."""
START = RING + 1
BEGINS, BYTES = 0, 1
"""The columns of the ring: when an item stops waiting, and its size."""
WIDTH = 2
PLACES = 256
"""The initial size of the ring; a power of two, double_ring as needed."""
NO_PLACES, NO_DRAWS = 1, 2
"""What may be lacking."""


def build_fields(line: Whole, limit: Buffer, table: Any = None, draws: Any = None) -> Whole:
    """Return the fields at the beginning of a trial, with what a policy knows, and draws."""
    table, draws = (np.zeros(0, np.int64) if some is None else some for some in (table, draws))
    places = [START, START + len(table), START + len(table) + len(draws)]
    own = [limit.amount, limit.unit == "byte", 0, 0, 0, 0, *places]
    return np.concatenate([line, own, table, draws, np.zeros(WIDTH * PLACES, np.int64)])


def with_more_places(fields: Whole) -> Whole:
    """Return the fields with a ring of twice the places."""
    before, ring = fields[: fields[RING]], fields[fields[RING] :]
    return np.concatenate([before, double_ring(ring, WIDTH, fields[HEAD], fields[TAIL])])


@kernel
def arrive(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Send an item, now or when the line is free, or lose it; see `engine.event.transition`."""
    cell = items[item, CONNECTION], read_note(items, item, FRAME)
    arrival = items[item, MARKS], items[item, SIZE], now_ps, cell
    decision, begins_ps, leaves_ps = _enqueue(state, arrival)
    if decision < ADMITTED:
        return -decision
    if not is_admitted(decision):
        lose(out, decision - OVERFLOW, item)
        return DONE
    if decision == MARKED:
        items[item, MARKS] |= CONGESTION
    if begins_ps > now_ps:
        report_wait(out, 0, now_ps, begins_ps)
    if state[STAMPS]:
        items[item, SENT] = begins_ps + state[LEAD]
    send(out, 0, item, leaves_ps)
    return DONE


@kernel
def admit_batch(batch: Batch, first: int, state: Whole, outcome: Outcome) -> tuple[int, int, int]:
    """Queue items from number `first` on, until all are done or something is lacking.

    Args:
        batch: n items.
        first: Number of the first.
        state: Updated.
        outcome: (n,) Written; `lost` is ADMITTED, MARKED or the cause of the loss.

    Returns:
        The number of the next item, the number of items lost, and DONE or what is lacking.
    """
    at_ps, sent_ps, sizes, marks = batch.at_ps, batch.sent_ps, batch.size_bytes, batch.marks
    lost, left_ps, began_ps = outcome
    stamps, dropped = len(began_ps) > 0, 0
    for i in range(first, len(at_ps)):
        cell = batch.connection[i], read_note(batch.more, i, FRAME_PLACE)
        decision, begins_ps, leaves_ps = _enqueue(state, (marks[i], sizes[i], at_ps[i], cell))
        if decision < ADMITTED:
            return i, dropped, -decision
        lost[i], left_ps[i] = decision, leaves_ps
        dropped += not is_admitted(decision)
        if stamps:
            began_ps[i] = begins_ps + state[LEAD] if is_admitted(decision) else sent_ps[i]
    return len(at_ps), dropped, DONE


@kernel
def _enqueue(state: Whole, arrival: tuple[int, int, int, Cell]) -> tuple[int, int, int]:
    """Admit an item that arrives now, or lose it, given its marks, its size, now, and its frame.

    Returns:
        ADMITTED, MARKED, the cause of its loss, or a number below for what is lacking; when the
        line begins with it; when its last bit is at the far end.
    """
    marks, size_bytes, now_ps, cell = arrival
    places = (len(state) - state[RING]) // WIDTH
    ring = view_rows(state, state[RING], places, WIDTH)
    if state[TAIL] - state[HEAD] == places:
        return -NO_PLACES, now_ps, now_ps
    release_begun(state, now_ps)
    start = find_start(state, now_ps)
    waits, amount = start[0] > now_ps, size_bytes if state[IN_BYTES] else 1
    decision = decide(state, (marks, amount, now_ps, cell), waits)
    if not is_admitted(decision):
        return decision, now_ps, now_ps
    if waits:
        place = state[TAIL] & places - 1
        ring[place, BEGINS], ring[place, BYTES] = start[0], size_bytes
        state[TAIL] += 1
        state[HELD] += size_bytes
    return decision, start[0], transmit(state, start, size_bytes)


@kernel
def release_begun(state: Whole, now_ps: int) -> None:
    """Let what the line has begun with by now wait no more."""
    places = (len(state) - state[RING]) // WIDTH
    ring = view_rows(state, state[RING], places, WIDTH)
    while state[HEAD] < state[TAIL] and ring[state[HEAD] & places - 1, BEGINS] <= now_ps:
        state[HELD] -= ring[state[HEAD] & places - 1, BYTES]
        state[HEAD] += 1


@kernel
def measure_held(state: Whole) -> int:
    """Return how much waits, as the limit counts."""
    return state[HELD] if state[IN_BYTES] else state[TAIL] - state[HEAD]  # type: ignore[no-any-return]


@kernel
def decide(state: Whole, arrival: Item, waits: bool) -> int:  # noqa: FBT001
    """Return ADMITTED or OVERFLOW: without a policy, an item that waits needs room."""
    amount = arrival[1]
    return OVERFLOW * (waits and measure_held(state) + amount > state[LIMIT])
