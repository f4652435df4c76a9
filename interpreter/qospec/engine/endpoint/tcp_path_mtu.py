"""Path MTU discovery of a sender of TCP: by notices that a segment was too large. Source: RFC 1191.

A notice says by NUMBER the MTU of the link that the segment did not fit, or 0, and by WINDOW how
large the packet was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.tcp_connection import (
    ACKNOWLEDGED,
    BEHIND,
    COLUMNS,
    CONGESTION_WINDOW,
    CONNECTIONS,
    DUPLICATE,
    EFFECTIVE_MSS,
    FIRST,
    FIRST_EXCHANGE,
    FIRST_NOTICE,
    HEADER_BYTES,
    HIGHEST,
    ITEM,
    LARGEST_MSS,
    LAST,
    NEXT,
    NEXT_BYTE,
    OPEN,
    PHASE,
    RAISE_AFTER,
    RAISE_AT,
    RECOVER,
    RECOVERING,
    SACK,
    SENDER,
    START,
    STATUS,
    STOP,
    THRESHOLD,
    TIMED,
    TOLD_AGAIN,
    TRANSFER,
    UNKNOWN,
    VALID_UNTIL,
)
from qospec.engine.endpoint.tcp_output import send_next, tell_quantity
from qospec.engine.endpoint.tcp_scoreboard import find_segment, forget_all
from qospec.engine.event.transition import (
    CONNECTION,
    NUMBER,
    SIZE,
    WINDOW,
    consume,
    grow,
    make,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel, view_rows
from qospec.protocol.path_mtu import PLATEAUS

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.endpoint.tcp_connection import Event


@kernel
def take_notice(state: Whole, item: int, event: Event) -> None:
    """Send smaller segments from now on, if a notice says so, and what is under way cut anew.

    Others of the same flight say nothing new, and nothing is sent for them. The congestion window
    stays, and only one segment is sent until an acknowledgement comes. Source: RFC 1191, 6.4.
    """
    items = event[0]
    table = view_rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    row = 1 + items[item, CONNECTION] - state[FIRST_NOTICE]
    mtu = items[item, NUMBER]
    if mtu == 0:
        mtu = find_plateau(items[item, WINDOW])
    mss = mtu - state[HEADER_BYTES]
    if table[row, PHASE] != OPEN or mss >= table[row, EFFECTIVE_MSS]:
        return
    _lower(state, table, row, mss, event[1])
    if table[row, ACKNOWLEDGED] < table[row, HIGHEST]:
        _forget_recovery(state, table, row)
        _cut_anew(state, table, row, event)
        place = find_segment(state, row, table[row, FIRST])
        send_next(state, table, row, state[place + BEHIND], event)
        tell_quantity(state, row, TOLD_AGAIN, 1, event)


@kernel
def find_plateau(size_bytes: int) -> int:
    """Return the likely MTU below the size of a packet that was too large; the least one at last.

    Source: RFC 1191, 5 and 7.
    """
    for plateau in PLATEAUS:
        if plateau < size_bytes:
            return plateau
    return PLATEAUS[len(PLATEAUS) - 1]


@kernel
def _lower(state: Whole, table: Whole, row: int, mss: int, now_ps: int) -> None:
    """Send no more than this in a segment until it is time to try more. Source: RFC 1191, 6.3."""
    if table[row, VALID_UNTIL] == FOREVER_PS:
        table[row, LARGEST_MSS] = table[row, EFFECTIVE_MSS]
    table[row, EFFECTIVE_MSS] = mss
    table[row, VALID_UNTIL] = now_ps + state[RAISE_AFTER]
    if table[row, VALID_UNTIL] < state[STOP]:
        state[RAISE_AT] = min(state[RAISE_AT], table[row, VALID_UNTIL])


@kernel
def raise_sizes(state: Whole, table: Whole, now_ps: int) -> None:
    """Let segments be as large as at first where what was learnt is old. Source: RFC 1191, 6.3."""
    state[RAISE_AT] = FOREVER_PS
    for row in range(1, 1 + state[CONNECTIONS]):
        if table[row, VALID_UNTIL] <= now_ps:
            table[row, EFFECTIVE_MSS] = table[row, LARGEST_MSS]
            table[row, VALID_UNTIL] = FOREVER_PS
        if table[row, VALID_UNTIL] < state[STOP]:
            state[RAISE_AT] = min(state[RAISE_AT], table[row, VALID_UNTIL])


@kernel
def _forget_recovery(state: Whole, table: Whole, row: int) -> None:
    """Begin with the first byte that is not acknowledged, as after a timeout, and time nothing.

    But with the same window. What was sent before tells of no loss from now on.
    """
    if table[row, RECOVERING]:
        table[row, CONGESTION_WINDOW] = min(table[row, CONGESTION_WINDOW], table[row, THRESHOLD])
    table[row, RECOVERING] = table[row, DUPLICATE] = table[row, TIMED] = 0
    table[row, RECOVER] = table[row, HIGHEST]
    table[row, NEXT_BYTE], table[row, NEXT] = table[row, ACKNOWLEDGED], table[row, FIRST]
    if state[SACK]:
        forget_all(state, table, row)


@kernel
def _cut_anew(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Cut what is under way into segments of the size of now, each of them an exchange.

    They are as many as before, begun when those were, of other sizes, and more of them. Where short
    ones are joined, what is left of those has served its purpose.
    """
    items, now_ps, out = event
    first, before = table[row, FIRST], table[row, LAST] - table[row, FIRST]
    number, count = table[row, ACKNOWLEDGED], 0
    while number < table[row, HIGHEST]:
        size_bytes = min(table[row, EFFECTIVE_MSS], table[row, HIGHEST] - number)
        place = find_segment(state, row, first + count)
        if state[TRANSFER] == 0:
            whole_bytes = size_bytes + state[HEADER_BYTES]
            if count < before:
                exchange = state[place + ITEM]
                grow(out, exchange, whole_bytes - items[exchange, SIZE])
            else:
                connection = state[FIRST_EXCHANGE] + row - 1
                state[place + ITEM] = make(items, out, connection, whole_bytes, 0, now_ps)
        state[place + START], state[place + BEHIND] = number, number + size_bytes
        state[place + STATUS] = UNKNOWN
        number += size_bytes
        count += 1
    table[row, LAST] = first + count
    for gone in range(count, 0 if state[TRANSFER] else before):
        consume(out, state[find_segment(state, row, first + gone) + ITEM])
