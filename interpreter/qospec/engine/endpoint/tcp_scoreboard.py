"""The scoreboard of a sender of TCP: which of the segments under way have arrived, and are lost.

What is not sacked is lost if more than two segments' worth behind it is. Sums are kept as segments
change their status, so that what is under way, the pipe, is known at once. Source: RFC 6675, 4.

Not modelled: three pieces that are sacked apart, and hold less than that; a receiver that drops
what it has reported; the rescue retransmission (NextSeg, rule 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.tcp_connection import (
    ACKNOWLEDGED,
    BEHIND,
    BLOCKS,
    COLUMNS,
    CONNECTIONS,
    DUPLICATES,
    EFFECTIVE_MSS,
    FIRST,
    HIGHEST,
    LAST,
    LENGTH_BITS,
    LOST,
    LOST_BYTES,
    LOST_TO,
    PLACES,
    REPEATED,
    RESEND,
    RESENT,
    RESENT_BYTES,
    SACKED,
    SACKED_BEHIND,
    SACKED_BYTES,
    SACKED_TO,
    SEGMENT,
    SENDER,
    START,
    STATUS,
    UNKNOWN,
)
from qospec.engine.event.transition import FIRST_BLOCK, NUMBER
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def find_segment(state: Whole, row: int, number: int) -> int:
    """Return the place of a segment by its number."""
    ring = SENDER + (1 + state[CONNECTIONS]) * COLUMNS + (row - 1) * state[PLACES] * SEGMENT
    return ring + (number & (state[PLACES] - 1)) * SEGMENT  # type: ignore[no-any-return]


@kernel
def take_blocks(state: Whole, table: Whole, row: int, items: Whole, item: int) -> bool:
    """Note what an acknowledgement reports; return whether any of it is news."""
    number, is_news = items[item, NUMBER], False
    for k in range(BLOCKS):
        block = items[item, FIRST_BLOCK + k]
        if block:
            start = number + (block >> LENGTH_BITS)
            behind = start + (block & ((1 << LENGTH_BITS) - 1))
            is_news |= _note_sacked(state, table, row, start, behind)
    if is_news:
        _note_lost(state, table, row)
    return is_news


@kernel
def _note_sacked(state: Whole, table: Whole, row: int, start: int, behind: int) -> bool:
    """Note that the segments between two numbers have arrived; return whether any is news."""
    low, high, is_news = table[row, FIRST], table[row, LAST], False
    while low < high:
        middle = (low + high) >> 1
        if state[find_segment(state, row, middle) + START] < start:
            low = middle + 1
        else:
            high = middle
    for segment in range(low, table[row, LAST]):
        place = find_segment(state, row, segment)
        if state[place + BEHIND] > behind:
            break
        if state[place + STATUS] == SACKED:
            continue
        is_news = True
        _forget_loss(state, table, row, place)
        size_bytes = state[place + BEHIND] - state[place + START]
        state[place + STATUS] = SACKED
        table[row, SACKED_TO] = max(table[row, SACKED_TO], segment + 1)
        table[row, SACKED_BYTES] += size_bytes
        if segment >= table[row, LOST_TO]:
            table[row, SACKED_BEHIND] += size_bytes
    return is_news


@kernel
def _note_lost(state: Whole, table: Whole, row: int) -> None:
    """Note as lost what more than two segments' worth behind it is sacked of."""
    while table[row, LOST_TO] < table[row, LAST]:
        place = find_segment(state, row, table[row, LOST_TO])
        size_bytes, behind = state[place + BEHIND] - state[place + START], table[row, SACKED_BEHIND]
        if state[place + STATUS] == SACKED:
            behind -= size_bytes
        if behind <= (DUPLICATES - 1) * table[row, EFFECTIVE_MSS]:
            return
        table[row, SACKED_BEHIND] = behind
        if state[place + STATUS] in (UNKNOWN, REPEATED):
            state[place + STATUS] = LOST if state[place + STATUS] == UNKNOWN else RESENT
            table[row, LOST_BYTES] += size_bytes
        table[row, LOST_TO] += 1


@kernel
def is_first_lost(table: Whole, row: int) -> bool:
    """Return whether the first segment under way is lost."""
    return table[row, LOST_TO] > table[row, FIRST]  # type: ignore[no-any-return]


@kernel
def note_first_lost(state: Whole, table: Whole, row: int) -> None:
    """Note the first segment as lost, whatever is sacked behind it; begin to send again with it.

    It may have been sent again in the recovery before.
    """
    place = find_segment(state, row, table[row, FIRST])
    if state[place + STATUS] != SACKED:
        _forget_loss(state, table, row, place)
        state[place + STATUS] = LOST
        table[row, LOST_BYTES] += state[place + BEHIND] - state[place + START]
    table[row, RESEND] = table[row, FIRST]


@kernel
def find_hole(state: Whole, table: Whole, row: int, end: int) -> int:
    """Return the first segment before an end to send again, as it has not arrived; else `end`.

    Or more, if what lies beyond has been sent again.
    """
    segment = max(table[row, RESEND], table[row, FIRST])
    while segment < end:
        if state[find_segment(state, row, segment) + STATUS] in (UNKNOWN, LOST):
            break
        segment += 1
    table[row, RESEND] = segment
    return segment  # type: ignore[no-any-return]


@kernel
def note_resent(table: Whole, row: int, state: Whole, place: int) -> None:
    """Note that a segment is sent again: two of it are under way unless the first is lost."""
    state[place + STATUS] = RESENT if state[place + STATUS] == LOST else REPEATED
    table[row, RESENT_BYTES] += state[place + BEHIND] - state[place + START]


@kernel
def compute_pipe(table: Whole, row: int) -> int:
    """Return how many bytes are under way: neither sacked nor lost, or sent again."""
    under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED]
    known = table[row, SACKED_BYTES] + table[row, LOST_BYTES]
    return under_way - known + table[row, RESENT_BYTES]  # type: ignore[no-any-return]


@kernel
def forget(state: Whole, table: Whole, row: int, place: int) -> None:
    """Forget the first segment under way, which is acknowledged."""
    size_bytes = state[place + BEHIND] - state[place + START]
    if state[place + STATUS] == SACKED:
        table[row, SACKED_BYTES] -= size_bytes
        if table[row, FIRST] >= table[row, LOST_TO]:
            table[row, SACKED_BEHIND] -= size_bytes
    _forget_loss(state, table, row, place)
    table[row, LOST_TO] = max(table[row, LOST_TO], table[row, FIRST] + 1)


@kernel
def _forget_loss(state: Whole, table: Whole, row: int, place: int) -> None:
    size_bytes, status = state[place + BEHIND] - state[place + START], state[place + STATUS]
    if status in (LOST, RESENT):
        table[row, LOST_BYTES] -= size_bytes
    if status in (RESENT, REPEATED):
        table[row, RESENT_BYTES] -= size_bytes


@kernel
def forget_all(state: Whole, table: Whole, row: int) -> None:
    """Forget what was reported, after a timeout. Source: RFC 2018, 8."""
    for segment in range(table[row, FIRST], table[row, LAST]):
        state[find_segment(state, row, segment) + STATUS] = UNKNOWN
    table[row, SACKED_BYTES] = table[row, LOST_BYTES] = table[row, RESENT_BYTES] = 0
    table[row, SACKED_BEHIND] = table[row, SACKED_TO] = 0
    table[row, LOST_TO] = table[row, FIRST]
