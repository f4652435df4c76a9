"""What a sender of TCP sends: by its windows, once more what is lost, and probes of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.endpoint.deadlines import DUE, meet_deadline, set_deadline
from qospec.engine.endpoint.tcp_connection import (
    ACKNOWLEDGED,
    BEHIND,
    CONGESTION_WINDOW,
    DONT_FRAGMENT,
    DUPLICATE,
    DUPLICATES,
    ECN,
    EDGE,
    EFFECTIVE_MSS,
    END,
    FIRST,
    FIRST_BYTE,
    FIRST_EXCHANGE,
    FIRST_SEGMENT,
    HEADER_BYTES,
    HIGHEST,
    HOLDS_SHORT,
    IS_REDUCED,
    ITEM,
    LARGEST_WINDOW,
    LAST,
    LONGEST_RTO_PS,
    LOST_TO,
    MARKS,
    NEXT,
    NEXT_BYTE,
    OPEN,
    PHASE,
    PLACES,
    PROBE,
    PROBED,
    PROMPTED,
    PROMPTS,
    RAISE_AFTER,
    RECOVERING,
    REDUCED,
    RESEND,
    RETRIED,
    RTO,
    SACK,
    SACKED,
    SACKED_TO,
    SEND_BUFFER,
    STAMPED,
    START,
    STATUS,
    STOP,
    TELLS,
    THRESHOLD,
    TIMED,
    TIMED_AT,
    TOLD_AGAIN,
    TOLD_WINDOW,
    TOLD_WINDOWS,
    TRANSFER,
    UNKNOWN,
    UNLIMITED,
    WRITE,
    WRITTEN,
)
from qospec.engine.endpoint.tcp_scoreboard import compute_pipe, find_hole, find_segment, note_resent
from qospec.engine.event.transition import FLAGS, NUMBER, STAMP, make, send, tell
from qospec.engine.event.transition import MARKS as ITEM_MARKS
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel
from qospec.protocol.marks import CAPABLE

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.endpoint.tcp_connection import Event


@kernel
def send_packet(state: Whole, row: int, number: int, size_bytes: int, event: Event) -> int:
    """Send a packet of a number and a size; return it."""
    items, now_ps, out = event
    connection = state[FIRST_SEGMENT] + row - 1
    packet = make(items, out, connection, size_bytes, state[MARKS], now_ps)
    items[packet, NUMBER] = number
    if state[STAMPED]:
        items[packet, STAMP] = now_ps
    if state[RAISE_AFTER]:
        items[packet, FLAGS] = DONT_FRAGMENT
    send(out, 0, packet, now_ps)
    return packet


@kernel
def tell_quantity(state: Whole, row: int, quantity: int, value: int, event: Event) -> None:
    """Tell a number of a connection, if that is asked for."""
    if state[TELLS]:
        tell(event[2], quantity, state[FIRST_SEGMENT] + row - 1, value)


@kernel
def tell_window(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Tell of the congestion window, if it is another than before."""
    if table[row, CONGESTION_WINDOW] != table[row, TOLD_WINDOW]:
        table[row, TOLD_WINDOW] = table[row, CONGESTION_WINDOW]
        tell_quantity(state, row, TOLD_WINDOWS, table[row, CONGESTION_WINDOW], event)


@kernel
def begin_data(table: Whole, row: int) -> None:
    """Begin with the first byte of data."""
    table[row, PHASE], table[row, RETRIED], table[row, THRESHOLD] = OPEN, 0, UNLIMITED
    table[row, ACKNOWLEDGED] = table[row, NEXT_BYTE] = table[row, HIGHEST] = FIRST_BYTE
    table[row, WRITTEN] = table[row, EDGE] = FIRST_BYTE


@kernel
def work(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send what is written, and let the application write while its writes fit the buffer.

    One that has written ahead has always filled the buffer before; else TCP sends first. At the end
    of the trial and later nothing new is sent, but for the rest of a transfer. If what is written
    cannot be sent, and nothing is under way, the window is probed. Source: RFC 9293, 3.8.6.1.
    """
    now_ps, write = event[1], state[WRITE]
    end = table[row, END]
    if write == 0:
        table[row, WRITTEN] = min(end, table[row, ACKNOWLEDGED] + state[SEND_BUFFER])
    _send(state, table, row, event)
    if now_ps < state[STOP] or state[TRANSFER]:
        room = state[SEND_BUFFER] - (table[row, WRITTEN] - table[row, ACKNOWLEDGED])
        while 0 < write <= room and table[row, WRITTEN] < end:
            table[row, WRITTEN] = min(end, table[row, WRITTEN] + write)
            room -= write
            _send(state, table, row, event)
        if table[row, DUE] == FOREVER_PS and table[row, NEXT_BYTE] < table[row, WRITTEN]:
            _await_window(table, row, now_ps)


@kernel
def _send(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send what may be sent now."""
    if state[SACK] and table[row, RECOVERING]:
        _fill_pipe(state, table, row, event)
    else:
        send_segments(state, table, row, event)


@kernel
def send_segments(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send the segments that the windows allow: at first once more what was sent already.

    Each of the first two duplicates may let another one go. Source: RFC 3042, 2.
    """
    now_ps = event[1]
    end = allowed = table[row, ACKNOWLEDGED] + table[row, CONGESTION_WINDOW]
    if state[PROMPTS] and not table[row, RECOVERING]:
        end += min(table[row, DUPLICATE], DUPLICATES - 1) * table[row, EFFECTIVE_MSS]
    end = min(end, table[row, EDGE])
    while table[row, NEXT] < table[row, LAST]:
        place = find_segment(state, row, table[row, NEXT])
        if state[place + STATUS] == SACKED:
            table[row, NEXT_BYTE] = state[place + BEHIND]
            table[row, NEXT] += 1
            continue
        if state[place + BEHIND] > end:
            return
        send_next(state, table, row, state[place + BEHIND], event)
        tell_quantity(state, row, TOLD_AGAIN, 1, event)
    if now_ps < state[STOP] or state[TRANSFER]:
        size_bytes = _find_size(state, table, row, end)
        while size_bytes > 0:
            _send_new(state, table, row, size_bytes, event)
            if table[row, HIGHEST] > allowed:
                table[row, PROMPTED] += size_bytes
            size_bytes = _find_size(state, table, row, end)


@kernel
def _find_size(state: Whole, table: Whole, row: int, end: int) -> int:
    """Return how much the next new segment holds if all may be sent up to `end`; 0: none is sent.

    Short ones, of all that is written or of half of the largest window, only if nothing is under
    way, or if it does not matter what is. Source: RFC 1122, 4.2.3.4; RFC 9293, 3.7.4, 3.8.6.2.1.
    """
    mss, usable = table[row, EFFECTIVE_MSS], end - table[row, NEXT_BYTE]
    written = table[row, WRITTEN] - table[row, NEXT_BYTE]
    size_bytes = min(mss, usable, written)
    if table[row, LAST] - table[row, FIRST] >= state[PLACES]:
        return 0
    if size_bytes < mss:
        is_held = state[HOLDS_SHORT] and table[row, ACKNOWLEDGED] < table[row, NEXT_BYTE]
        if table[row, WRITTEN] == FIRST_BYTE + state[TRANSFER]:
            is_held = False  # as it ends the connection
        is_whole = written <= usable or 2 * size_bytes >= table[row, LARGEST_WINDOW]
        if is_held or not is_whole:
            return 0
    return size_bytes  # type: ignore[no-any-return]


@kernel
def _send_new(state: Whole, table: Whole, row: int, size_bytes: int, event: Event) -> None:
    """Send a segment for the first time: only these are capable of ECN. Source: RFC 3168, 6.1."""
    items = event[0]
    _begin_segment(state, table, row, size_bytes, event)
    packet = send_next(state, table, row, table[row, HIGHEST], event)
    if state[ECN]:
        items[packet, ITEM_MARKS] |= CAPABLE
        if table[row, IS_REDUCED]:
            items[packet, FLAGS] |= REDUCED
            table[row, IS_REDUCED] = 0


@kernel
def send_next(state: Whole, table: Whole, row: int, behind: int, event: Event) -> int:
    """Send the next segment, up to a number, and wait for its acknowledgement; return it."""
    number, now_ps = table[row, NEXT_BYTE], event[1]
    packet = send_packet(state, row, number, behind - number + state[HEADER_BYTES], event)
    if table[row, DUE] == FOREVER_PS or number == table[row, ACKNOWLEDGED]:
        set_deadline(table, row, now_ps + table[row, RTO], 0)
    table[row, NEXT_BYTE] = behind
    table[row, NEXT] += 1
    return packet


@kernel
def _begin_segment(state: Whole, table: Whole, row: int, size_bytes: int, event: Event) -> None:
    """Note a segment that is sent for the first time; time it, if none is timed."""
    items, now_ps, out = event
    number = table[row, HIGHEST]
    connection = state[FIRST_EXCHANGE] + row - 1
    place = find_segment(state, row, table[row, LAST])
    whole = size_bytes + state[HEADER_BYTES]
    state[place + START], state[place + BEHIND] = number, number + size_bytes
    state[place + STATUS] = UNKNOWN
    if not state[TRANSFER]:
        state[place + ITEM] = make(items, out, connection, whole, 0, now_ps)
    table[row, HIGHEST] = number + size_bytes
    table[row, LAST] += 1
    table[row, PROBED] = 0
    if table[row, TIMED] == 0:
        table[row, TIMED], table[row, TIMED_AT] = number + size_bytes, now_ps


@kernel
def send_again(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send the first segment that is not acknowledged again; what is sent again is not timed.

    Source: RFC 6298, 3 (Karn's algorithm).
    """
    place = find_segment(state, row, table[row, FIRST])
    size_bytes = state[place + BEHIND] - state[place + START] + state[HEADER_BYTES]
    send_packet(state, row, state[place + START], size_bytes, event)
    tell_quantity(state, row, TOLD_AGAIN, 1, event)
    table[row, TIMED] = 0


@kernel
def _fill_pipe(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send what is lost once more, then what is new, while less is under way than the window.

    If there is nothing new, other holes before the last segment that has arrived. Source: RFC 6675,
    5, step C, and 4, NextSeg, rules 1 to 3.
    """
    mss, now_ps = table[row, EFFECTIVE_MSS], event[1]
    while compute_pipe(table, row) + mss <= table[row, CONGESTION_WINDOW]:
        segment = find_hole(state, table, row, table[row, LOST_TO])
        if segment < table[row, LOST_TO]:
            resend(state, table, row, segment, event)
            continue
        size_bytes = 0
        is_going = now_ps < state[STOP] or state[TRANSFER]
        if is_going and table[row, NEXT] == table[row, LAST]:
            size_bytes = _find_size(state, table, row, table[row, EDGE])
        if size_bytes > 0:
            _send_new(state, table, row, size_bytes, event)
            continue
        segment = find_hole(state, table, row, table[row, SACKED_TO])
        if segment >= table[row, SACKED_TO]:
            return
        resend(state, table, row, segment, event)


@kernel
def resend(state: Whole, table: Whole, row: int, segment: int, event: Event) -> None:
    """Send a segment again that has not arrived."""
    place = find_segment(state, row, segment)
    size_bytes = state[place + BEHIND] - state[place + START]
    send_packet(state, row, state[place + START], size_bytes + state[HEADER_BYTES], event)
    tell_quantity(state, row, TOLD_AGAIN, 1, event)
    note_resent(table, row, state, place)
    table[row, RESEND], table[row, TIMED] = segment + 1, 0


# ---- the window that the receiver announces


@kernel
def take_window(table: Whole, row: int, number: int, window: int) -> bool:
    """Take the window behind a number; return whether it reaches further than before."""
    table[row, LARGEST_WINDOW] = max(table[row, LARGEST_WINDOW], window)
    is_update = number + window > table[row, EDGE]
    if is_update:
        table[row, EDGE] = number + window
    return is_update  # type: ignore[no-any-return]


@kernel
def _await_window(table: Whole, row: int, now_ps: int) -> None:
    """Wait for a window, a timeout first, then twice as long each time."""
    patience_ps = min(table[row, RTO] << min(table[row, PROBED], 20), LONGEST_RTO_PS)
    set_deadline(table, row, now_ps + max(patience_ps, table[row, RTO]), 0)


@kernel
def probe(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send what little the window allows, or ask for a window. Source: RFC 9293, 3.8.6.1.

    The question has no data: as in Linux, a number that has been acknowledged is what is answered.
    """
    now_ps = event[1]
    meet_deadline(table, row)
    if now_ps >= state[STOP] and not state[TRANSFER]:
        return
    usable = min(table[row, EDGE], table[row, ACKNOWLEDGED] + table[row, CONGESTION_WINDOW])
    usable = min(usable, table[row, WRITTEN]) - table[row, NEXT_BYTE]
    if usable > 0:
        _send_new(state, table, row, min(usable, table[row, EFFECTIVE_MSS]), event)
        return
    send_packet(state, row, PROBE, state[HEADER_BYTES], event)
    table[row, PROBED] += 1
    table[row, RETRIED] += 1
    _await_window(table, row, now_ps)
