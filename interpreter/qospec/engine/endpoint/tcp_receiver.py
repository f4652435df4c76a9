"""The receiver of TCP: what it acknowledges, what it keeps, and the window that it announces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    clear_deadlines,
    find_earliest,
    meet_deadline,
    set_deadline,
)
from qospec.engine.endpoint.tcp_connection import (
    BLOCK_BYTES,
    BLOCK_OPTION_BYTES,
    BLOCKS,
    ECHO,
    FIRST_BYTE,
    LENGTH_BITS,
    NO_DATA,
    PROBE,
    REDUCED,
    STAMP_BYTES,
    SYN,
    WINDOW_BITS,
    find_last_column,
)
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FIRST_BLOCK,
    FLAGS,
    NUMBER,
    SIZE,
    SPARE,
    STAMP,
    WINDOW,
    Transition,
    make,
    send,
    wake_at,
)
from qospec.engine.event.transition import MARKS as ITEM_MARKS
from qospec.engine.items.batch import FOREVER_PS, count_columns
from qospec.engine.kernel import get_function, kernel, view_rows
from qospec.protocol.marks import CONGESTION

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.tcp_connection import Event
    from qospec.engine.endpoint.traffic import Exchange

(
    FIRST_SEGMENT,
    MORE_OF_ACKNOWLEDGEMENTS,
    HEADER_BYTES,
    MARKS,
    MSS,
    ACK_EVERY,
    END,
    PATIENCE,
    BUFFER,
    LEAST_WINDOW,
    READ_SIZE,
    READ_EVERY,
    SACKS,
    STAMPED,
    ECN,
    RANGES,
    CONNECTIONS,
    STOP,
    ALARM_AT,
    RECEIVER,
) = range(20)
"""The first numbers of the state: what the receiver is, and when its alarm goes off. A row for each
connection follows, as one for the heap of deadlines, then one for the reader of each, then for each
connection the RANGES that came out of order, ascending and apart, in RANGE numbers each: the first
number, the one behind the last, and which of all segments kept so far was the latest of it."""
CLASSIC, EXACT = 1, 2
"""How ECN tells of congestion: until the window was reduced, or of each segment."""
ORDER, RANGE = 2, 3
EXPECTED, UNACKNOWLEDGED, APART, READ, EDGE, ANSWERED, RECENT = range(DEADLINE, DEADLINE + 7)
KEPT, CONGESTED, ENOUGH, LEAST_MOVE, OPENED, MUCH, COLUMNS = range(DEADLINE + 7, DEADLINE + 14)
"""The columns of a row: RCV.NXT; bytes in order that are not acknowledged; ranges in use; behind
what the reader has read; RCV.NXT + RCV.WND as last announced; Last.ACK.sent and TS.Recent of RFC
7323; how many segments came out of order so far; whether acknowledgements tell of congestion; for
how many bytes in order one is sent at once, and when the window moves, see `WindowRule`."""


class WindowRule(NamedTuple):
    """When the window that is announced moves, and when it is announced at once; in bytes.

    Attributes:
        least_move: Its edge moves by no less,
        least_window: and only if the window then has at least so much.
        opened: It is announced at once if it had less than so much, and can move by so much; 0:
            not for that.
        much: It is announced at once if it can move by so much; 0: not for that.
    """

    least_move: int
    least_window: int
    opened: int
    much: int


@dataclass(frozen=True)
class Receiver(Endpoint):
    """Acknowledge segments, one for several or after a time, and announce a window.

    Attributes:
        buffer_bytes: How much is kept for the reader.
        ranges: How many ranges can be apart.
        mss: The most data of a segment, which the answer to a SYN announces.
        ack_every: Of how many segments in order an acknowledgement is sent at once.
        transfer_bytes: Behind how much a connection ends, with which it is sent, too; 0: never.
        patience_ps: How long one waits for so much.
        rule: Of the window.
        sacks: Whether it reports what came out of order.
        is_stamped: Whether packets have time stamps.
        ecn: Whether it tells of congestion,
        tells_of_each: and of which segments, not until the window was reduced.
        read_bytes: How much is read at a time.
        read_every_ps: How long after what has come, and after one reading; 0: all is read at once.
        header_bytes: The size of an acknowledgement.
    """

    exchange: Exchange
    buffer_bytes: int
    ranges: int
    mss: int
    ack_every: int
    transfer_bytes: int
    patience_ps: int
    rule: WindowRule
    sacks: bool
    is_stamped: bool
    ecn: bool
    tells_of_each: bool
    read_bytes: int
    read_every_ps: int
    header_bytes: int

    def build_transition(self, setting: Setting) -> Transition:
        """Return the receiver before the first SYN."""
        exchange, ranges = self.exchange, self.ranges
        count, answers = exchange.connections, exchange.sent.answers
        assert answers is not None  # noqa: S101 -- an exchange has them
        state = np.zeros(RECEIVER + (1 + 2 * count) * COLUMNS + count * ranges * RANGE, np.int64)
        state[:RECEIVER] = (
            exchange.requests,
            exchange.answers - exchange.requests,
            self.header_bytes,
            answers.marks,
            self.mss,
            self.ack_every,
            FIRST_BYTE + self.transfer_bytes,
            self.patience_ps,
            self.buffer_bytes,
            self.rule.least_window,
            self.read_bytes,
            self.read_every_ps,
            self.sacks,
            self.is_stamped,
            (EXACT if self.tells_of_each else CLASSIC) if self.ecn else 0,
            ranges,
            count,
            setting.stop_ps,
            FOREVER_PS,
        )
        table = get_function(view_rows)(state, RECEIVER, 1 + 2 * count, COLUMNS)
        clear_deadlines(table)
        table[:, EXPECTED] = table[:, READ] = FIRST_BYTE
        table[:, EDGE] = FIRST_BYTE + self.buffer_bytes
        table[:, ENOUGH] = self.ack_every * self.mss if self.ack_every > 1 else 1
        table[:, [LEAST_MOVE, OPENED, MUCH]] = (
            self.rule.least_move,
            self.rule.opened,
            self.rule.much,
        )
        last = find_last_column(sack=self.sacks, is_stamped=self.is_stamped, flags=self.ecn)
        return Transition(state, _receive_segment, wake_receiver, within=count_columns(last))


@kernel
def _receive_segment(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Take what arrives."""
    send(out, RECEIVED, item, now_ps)
    take_segment(state, item, (items, now_ps, out))
    return DONE


@kernel
def take_segment(state: Whole, item: int, event: Event) -> None:
    """Take a segment, and acknowledge it now or later. Source: RFC 5681, 4.2."""
    items, now_ps, out = event
    table = view_rows(state, RECEIVER, 1 + 2 * state[CONNECTIONS], COLUMNS)
    row = 1 + items[item, CONNECTION] - state[FIRST_SEGMENT]
    number, end = items[item, NUMBER], items[item, NUMBER] + items[item, SIZE] - state[HEADER_BYTES]
    is_told = number >= FIRST_BYTE and _note_congestion(state, table, row, item, event)
    if state[STAMPED] and number <= table[row, ANSWERED]:
        table[row, RECENT] = max(table[row, RECENT], items[item, STAMP])  # RFC 7323, 4.3
    if number in (SYN, PROBE):
        if number == SYN:
            note_segments(state, row, items[item, WINDOW])
        _acknowledge(state, table, row, SYN if number == SYN else table[row, EXPECTED], event)
    elif number != NO_DATA:
        is_next = _take(state, table, row, number, end)
        if state[READ_EVERY] == 0:
            table[row, READ] = table[row, EXPECTED]
        elif table[row, READ] < table[row, EXPECTED]:
            _await_reader(state, table, row, now_ps, out)
        is_enough = table[row, UNACKNOWLEDGED] >= table[row, ENOUGH] or end == state[END]
        is_enough = is_enough or is_told or _is_update_due(state, table, row)
        if is_next and not is_enough:
            _defer_acknowledgement(state, table, row, now_ps, out)
        else:
            _acknowledge(state, table, row, table[row, EXPECTED], event)


@kernel
def note_segments(state: Whole, row: int, window: int) -> None:
    """Take segments to be no larger than those that the other end takes, by its SYN's column.

    The window moves by no less than a segment that its own end sends (RFC 9293, 3.8.6.2.2), and
    what it counts, two of which are acknowledged, are such segments, too, as in Linux; RFC 5681,
    4.2, leaves it at what it has announced.
    """
    table = view_rows(state, RECEIVER, 1 + 2 * state[CONNECTIONS], COLUMNS)
    most = max(1, (window >> WINDOW_BITS) - STAMP_BYTES * state[STAMPED])
    table[row, ENOUGH] = min(table[row, ENOUGH], state[ACK_EVERY] * most)
    table[row, LEAST_MOVE] = min(table[row, LEAST_MOVE], most)
    table[row, OPENED] = min(table[row, OPENED], most)
    table[row, MUCH] = min(table[row, MUCH], 2 * most)


@kernel
def _note_congestion(state: Whole, table: Whole, row: int, item: int, event: Event) -> bool:
    """Tell of congestion from a mark on, until the window was reduced. Source: RFC 3168, 6.1.3.

    Or as long as segments are marked; then return whether that has changed, which is told at once,
    behind what came before and waits for its acknowledgement. Source: RFC 8257, 3.2.
    """
    if state[ECN] == 0:
        return False
    items = event[0]
    is_marked = items[item, ITEM_MARKS] & CONGESTION == CONGESTION
    if state[ECN] == EXACT:
        is_changed = is_marked != table[row, CONGESTED]
        if is_changed and table[row, UNACKNOWLEDGED] > 0:
            _acknowledge(state, table, row, table[row, EXPECTED], event)
        table[row, CONGESTED] = is_marked
        return is_changed  # type: ignore[no-any-return]
    if items[item, FLAGS] & REDUCED:
        table[row, CONGESTED] = 0
    if is_marked:
        table[row, CONGESTED] = 1
    return False


@kernel
def _take(state: Whole, table: Whole, row: int, number: int, end: int) -> bool:
    """Take a segment; return whether it is the next one, and nothing waits behind it."""
    begun, is_whole = table[row, EXPECTED], table[row, APART] == 0
    is_in_order = number <= begun < end
    if is_in_order and is_whole:
        table[row, EXPECTED] = end
    elif is_in_order:
        _fill_hole(state, table, row, end)
    elif number > begun:
        _keep(state, table, row, number, end)
    table[row, UNACKNOWLEDGED] += table[row, EXPECTED] - begun
    return is_in_order and is_whole  # type: ignore[no-any-return]


@kernel
def _defer_acknowledgement(state: Whole, table: Whole, row: int, now_ps: int, out: Whole) -> None:
    """Let an acknowledgement wait for another segment, if none waits already."""
    if table[row, DUE] == FOREVER_PS:
        set_deadline(table, row, now_ps + state[PATIENCE], 0)
        _set_alarm(state, table[row, DUE], out)


@kernel
def _await_reader(state: Whole, table: Whole, row: int, now_ps: int, out: Whole) -> None:
    """Let the reader come back, if it does not already; at the end of the trial it has gone."""
    reader = state[CONNECTIONS] + row
    if table[reader, DUE] == FOREVER_PS and now_ps < state[STOP]:
        set_deadline(table, reader, now_ps + state[READ_EVERY], 0)
        _set_alarm(state, table[reader, DUE], out)


@kernel
def _set_alarm(state: Whole, due_ps: int, out: Whole) -> None:
    """Set the alarm to a time, unless it goes off before."""
    if due_ps < state[ALARM_AT]:
        state[ALARM_AT] = due_ps
        wake_at(out, due_ps)


@kernel
def wake_receiver(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Send the acknowledgements that have waited long enough, and let readers read."""
    table = view_rows(state, RECEIVER, 1 + 2 * state[CONNECTIONS], COLUMNS)
    event = items, now_ps, out
    while items[0, SPARE] > 1:  # else it goes on at this moment
        row = find_earliest(table)
        if table[row, DUE] > now_ps:
            break
        meet_deadline(table, row)
        if row <= state[CONNECTIONS]:
            _acknowledge(state, table, row, table[row, EXPECTED], event)
        else:
            _read(state, table, row - state[CONNECTIONS], event)
    state[ALARM_AT] = table[find_earliest(table), DUE]
    if state[ALARM_AT] < FOREVER_PS:
        wake_at(out, max(state[ALARM_AT], now_ps))
    return DONE


@kernel
def _read(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Let the reader read, which may open the window."""
    _, now_ps, out = event
    table[row, READ] = min(table[row, READ] + state[READ_SIZE], table[row, EXPECTED])
    if _is_update_due(state, table, row):
        _acknowledge(state, table, row, table[row, EXPECTED], event)
    if table[row, READ] < table[row, EXPECTED]:
        _await_reader(state, table, row, now_ps, out)


@kernel
def _is_update_due(state: Whole, table: Whole, row: int) -> bool:
    """Return whether the window is announced now: it was closed and opens, or moves by much."""
    move = table[row, READ] + state[BUFFER] - table[row, EDGE]
    is_opened = move >= table[row, OPENED] > table[row, EDGE] - table[row, EXPECTED]
    return is_opened or move >= table[row, MUCH] > 0  # type: ignore[no-any-return]


@kernel
def announce(state: Whole, table: Whole, row: int) -> int:
    """Return the window as an acknowledgement announces it, for which nothing waits any more."""
    edge = table[row, READ] + state[BUFFER]
    is_wide = edge - table[row, EXPECTED] >= state[LEAST_WINDOW]
    if is_wide and edge - table[row, EDGE] >= table[row, LEAST_MOVE]:
        table[row, EDGE] = edge
    meet_deadline(table, row)
    table[row, UNACKNOWLEDGED], table[row, ANSWERED] = 0, table[row, EXPECTED]
    return table[row, EDGE] - table[row, EXPECTED]  # type: ignore[no-any-return]


@kernel
def _acknowledge(state: Whole, table: Whole, row: int, number: int, event: Event) -> None:
    """Acknowledge what has come in order, and announce the window, whose edge moves by no little.

    Source: RFC 1122, 4.2.3.3; RFC 9293, 3.8.6.2.2.
    """
    items, now_ps, out = event
    window = announce(state, table, row)
    connection = state[FIRST_SEGMENT] + row - 1 + state[MORE_OF_ACKNOWLEDGEMENTS]
    size_bytes = state[HEADER_BYTES]
    is_reported = state[SACKS] and table[row, APART] and number != SYN
    if is_reported:
        size_bytes += BLOCK_OPTION_BYTES + min(BLOCKS, table[row, APART]) * BLOCK_BYTES
    packet = make(items, out, connection, size_bytes, state[MARKS], now_ps)
    items[packet, NUMBER] = number
    items[packet, WINDOW] = window
    if number == SYN:
        items[packet, WINDOW] |= (state[MSS] + STAMP_BYTES * state[STAMPED]) << WINDOW_BITS
    if state[STAMPED]:
        items[packet, STAMP] = table[row, RECENT]
    if state[ECN] and table[row, CONGESTED]:
        items[packet, FLAGS] = ECHO
    if is_reported:
        _write_blocks(state, table, row, items, packet)
    send(out, 0, packet, now_ps)


@kernel
def _write_blocks(state: Whole, table: Whole, row: int, items: Whole, packet: int) -> None:
    """Write as many ranges as a packet holds, the latest first. Source: RFC 2018, 4."""
    first, before = _find_ranges(state, row), table[row, KEPT] + 1
    for k in range(min(BLOCKS, table[row, APART])):
        latest, order = first, 0
        for place in range(first, first + table[row, APART] * RANGE, RANGE):
            if order < state[place + ORDER] < before:
                latest, order = place, state[place + ORDER]
        start, length = state[latest], state[latest + 1] - state[latest]
        items[packet, FIRST_BLOCK + k] = ((start - table[row, EXPECTED]) << LENGTH_BITS) + length
        before = order


@kernel
def _fill_hole(state: Whole, table: Whole, row: int, end: int) -> None:
    """Take a segment in order while others wait behind it, with those that follow it.

    It is acknowledged at once.
    """
    first, gone, apart = _find_ranges(state, row), 0, table[row, APART]
    while gone < apart and state[first + gone * RANGE] <= end:
        end = max(end, state[first + gone * RANGE + 1])
        gone += 1
    for place in range(first, first + (apart - gone) * RANGE):
        state[place] = state[place + gone * RANGE]
    table[row, EXPECTED], table[row, APART] = end, apart - gone


@kernel
def _keep(state: Whole, table: Whole, row: int, number: int, end: int) -> None:
    """Keep a segment that came out of order, joined with the ranges that it meets."""
    first, before, apart = _find_ranges(state, row), 0, table[row, APART]
    while before < apart and state[first + before * RANGE + 1] < number:
        before += 1
    behind = before
    while behind < apart and state[first + behind * RANGE] <= end:
        number = min(number, state[first + behind * RANGE])
        end = max(end, state[first + behind * RANGE + 1])
        behind += 1
    moved = before + 1 - behind
    if moved > 0:
        for place in range(first + apart * RANGE - 1, first + behind * RANGE - 1, -1):
            state[place + RANGE] = state[place]
    elif moved < 0:
        for place in range(first + behind * RANGE, first + apart * RANGE):
            state[place + moved * RANGE] = state[place]
    table[row, KEPT] += 1
    place = first + before * RANGE
    state[place], state[place + 1], state[place + ORDER] = number, end, table[row, KEPT]
    table[row, APART] = apart + moved


@kernel
def _find_ranges(state: Whole, row: int) -> int:
    """Return the place of the first range of a connection."""
    return RECEIVER + (1 + 2 * state[CONNECTIONS]) * COLUMNS + (row - 1) * state[RANGES] * RANGE  # type: ignore[no-any-return]
