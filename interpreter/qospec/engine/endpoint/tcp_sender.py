"""The sender of TCP: what it sends, as acknowledgements come and its timers expire.

Sequence numbers count the bytes of a connection in 64 bits, so they never wrap: that of the SYN is
0, the first byte of data has 1. In bulk all segments are full, so each begins a multiple of the MSS
after the first byte. The column NUMBER of a packet to the receiver holds the number of its first
byte, NO_DATA if it only acknowledges; that of an acknowledgement, the number of the byte that the
receiver expects, 0 in answer to a SYN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    compute_begin_ps,
    earliest,
    meet_deadline,
    no_deadlines,
    set_deadline,
)
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    NO_ITEMS,
    NUMBER,
    SPARE,
    Transition,
    lose,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel, rows, uncompiled
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.traffic import Exchange

    Event = tuple[Whole, int, Whole]
    """Of a kernel of transitions: `items`, `now_ps` and `out`."""

INITIAL_RTO_PS = PS_PER_S
"""Before the first round trip is known. Source: RFC 6298, 2.1."""
RTO_AFTER_LOST_SYN_PS = 3 * PS_PER_S
"""Source: RFC 6298, 5.7."""
LONGEST_RTO_PS = 60 * PS_PER_S
"""Source: RFC 6298, 2.5: at least 60 s."""
DUPLICATES = 3
"""So many duplicate acknowledgements tell of a loss. Source: RFC 5681, 3.2."""
MADE_AT_ONCE = 2
"""Of items, for a segment: itself, and its exchange."""
NO_DATA = -1
UNLIMITED = 2**40
"""The slow start threshold before the first loss, beyond any window."""
SYN, FIRST_BYTE = 0, 1

(
    FIRST_SEGMENT,
    FIRST_ACKNOWLEDGEMENT,
    FIRST_EXCHANGE,
    HEADER_BYTES,
    MARKS,
    MSS,
    LIMIT,
    SEGMENTS,
    INITIAL_WINDOW,
    LEAST_RTO,
    RETRIES,
    PARTIAL,
    STOP,
    SPREAD,
    CONNECTIONS,
    HAS_BEGUN,
    ALARM_AT,
    SENDER,
) = range(18)
"""The first numbers of the state: what the sender is; whether the connections have their times to
begin; when the alarm goes off. A row for each connection follows, as one for the heap of deadlines,
then for each the exchanges under way, in a ring of SEGMENTS items."""
(
    PHASE,
    ACKNOWLEDGED,
    NEXT_BYTE,
    HIGHEST,
    WINDOW,
    THRESHOLD,
    DUPLICATE,
    RECOVERING,
    RECOVER,
    RTO,
    SMOOTHED,
    DEVIATION,
    TIMED,
    TIMED_AT,
    RETRIED,
    COLUMNS,
) = range(DEADLINE, DEADLINE + 16)
"""The columns of a row, named in RFC 9293, 5681 and 6298: SND.UNA, SND.NXT, the highest number sent
so far, cwnd, ssthresh, duplicate acknowledgements, whether and until where it recovers, RTO, SRTT,
RTTVAR, the byte whose acknowledgement is timed (0: none) and since when, retries in a row."""
AFTER_FIRST = 2
"""`RECOVERING` is 1 more than the number of partial acknowledgements."""
CLOSED, OPENING, OPEN, GIVEN_UP = range(4)
"""Phases of a connection."""
ENDED = 2
"""The output for segments that are acknowledged."""
TIMED_OUT = 0
"""The cause of loss."""


@dataclass(frozen=True)
class Sender(Endpoint):
    """Send in bulk, as much as the windows allow.

    Attributes:
        mss: Of all segments, in bytes.
        limit_bytes: The most that is under way: the smaller of the buffers.
        initial_window: In segments.
        least_rto_ps: The lower limit of the retransmission timeout.
        retries: How often in a row it expires before the connection is given up.
        stays: Whether a partial acknowledgement leaves it in recovery.
        spread_ps: Over how long the connections begin.
        header_bytes: Of a packet without data.
    """

    causes = ("timed_out",)

    exchange: Exchange
    mss: int
    limit_bytes: int
    initial_window: int
    least_rto_ps: int
    retries: int
    stays: bool
    spread_ps: int
    header_bytes: int

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the output to the line, and those of acknowledgements and of segments."""
        return ("out", "received", "ended")

    def transition(self, setting: Setting) -> Transition:
        """Return the sender before its first SYN."""
        exchange, segments = self.exchange, self.limit_bytes // self.mss
        count = exchange.connections
        state = np.zeros(SENDER + (1 + count) * COLUMNS + count * segments, np.int64)
        state[:SENDER] = (
            exchange.requests,
            exchange.answers,
            exchange.exchanges,
            self.header_bytes,
            exchange.sent.marks,
            self.mss,
            self.limit_bytes,
            segments,
            self.initial_window * self.mss,
            self.least_rto_ps,
            self.retries,
            self.stays,
            setting.stop_ps,
            self.spread_ps,
            count,
            0,
            FOREVER_PS,
        )
        no_deadlines(uncompiled(rows)(state, SENDER, 1 + count, COLUMNS))
        causes = (("", *self.causes),)
        return Transition(state, _receive_acknowledgement, _wake, causes, first_alarm_ps=0)


@kernel
def _receive_acknowledgement(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Take an acknowledgement, and send what it allows."""
    if items[0, SPARE] <= MADE_AT_ONCE * (1 + state[SEGMENTS]):
        return NO_ITEMS
    table = rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    row = 1 + items[item, CONNECTION] - state[FIRST_ACKNOWLEDGEMENT]
    number, phase = items[item, NUMBER], table[row, PHASE]
    event = items, now_ps, out
    send(out, RECEIVED, item, now_ps)
    if phase == OPENING and number == SYN:
        _open(state, table, row, event)
    elif phase == OPEN and number > table[row, ACKNOWLEDGED]:
        _advance(state, table, row, number, event)
    elif phase == OPEN and number == table[row, ACKNOWLEDGED] < table[row, HIGHEST]:
        _count_duplicate(state, table, row, event)
    if table[row, PHASE] == OPEN:
        _send_segments(state, table, row, event)
    if table[row, DUE] < state[ALARM_AT]:
        state[ALARM_AT] = table[row, DUE]
        wake_at(out, state[ALARM_AT])
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Begin the connections that begin now, and act on timeouts.

    The alarm is not set anew for each acknowledgement: it goes off for a deadline that may have
    been put off.
    """
    if items[0, SPARE] <= MADE_AT_ONCE * (1 + state[SEGMENTS]):
        return NO_ITEMS
    table = rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    if not state[HAS_BEGUN]:
        state[HAS_BEGUN] = 1
        for connection in range(state[CONNECTIONS]):
            begin_ps = compute_begin_ps(connection, state[CONNECTIONS], state[SPREAD])
            set_deadline(table, 1 + connection, begin_ps, 0)
    while items[0, SPARE] > MADE_AT_ONCE:  # else it goes on at this moment
        row = earliest(table)
        if table[row, DUE] > now_ps:
            break
        _expire(state, table, row, (items, now_ps, out))
    state[ALARM_AT] = table[earliest(table), DUE]
    if state[ALARM_AT] < FOREVER_PS:
        wake_at(out, max(state[ALARM_AT], now_ps))
    return DONE


# ---- a connection opens


@kernel
def _send_syn(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send a SYN, and wait for the answer."""
    now_ps = event[1]
    _send_packet(state, row, SYN, state[HEADER_BYTES], event)
    set_deadline(table, row, now_ps + table[row, RTO], 0)


@kernel
def _open(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Complete the handshake. Source: RFC 9293, 3.5; RFC 5681, 3.1, if a SYN was lost."""
    now_ps = event[1]
    meet_deadline(table, row)
    if table[row, RETRIED]:
        table[row, RTO] = max(RTO_AFTER_LOST_SYN_PS, state[LEAST_RTO])
        table[row, WINDOW] = state[MSS]
    else:
        _take_sample(state, table, row, now_ps - table[row, TIMED_AT])
        table[row, WINDOW] = state[INITIAL_WINDOW]
    table[row, PHASE], table[row, RETRIED], table[row, THRESHOLD] = OPEN, 0, UNLIMITED
    table[row, ACKNOWLEDGED] = table[row, NEXT_BYTE] = table[row, HIGHEST] = FIRST_BYTE
    _send_packet(state, row, NO_DATA, state[HEADER_BYTES], event)


@kernel
def _take_sample(state: Whole, table: Whole, row: int, sample_ps: int) -> None:
    """Compute the retransmission timeout from a round trip. Source: RFC 6298, 2.2 to 2.5."""
    if table[row, SMOOTHED] == 0:
        table[row, SMOOTHED], table[row, DEVIATION] = sample_ps, sample_ps >> 1
    else:
        difference_ps = abs(table[row, SMOOTHED] - sample_ps)
        table[row, DEVIATION] = (3 * table[row, DEVIATION] + difference_ps) >> 2
        table[row, SMOOTHED] = (7 * table[row, SMOOTHED] + sample_ps) >> 3
    rto_ps = table[row, SMOOTHED] + max(1, 4 * table[row, DEVIATION])
    table[row, RTO] = max(state[LEAST_RTO], min(rto_ps, LONGEST_RTO_PS))


# ---- what is sent


@kernel
def _send_packet(state: Whole, row: int, number: int, size_bytes: int, event: Event) -> None:
    """Send a packet of a number and a size."""
    items, now_ps, out = event
    connection = state[FIRST_SEGMENT] + row - 1
    packet = make(items, out, connection, size_bytes, state[MARKS], now_ps)
    items[packet, NUMBER] = number
    send(out, 0, packet, now_ps)


@kernel
def _send_segments(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send the full segments that the windows allow: at first once more what was sent already.

    At the end of the trial and later there is nothing new to send.
    """
    now_ps = event[1]
    mss, number = state[MSS], table[row, NEXT_BYTE]
    end = table[row, ACKNOWLEDGED] + min(table[row, WINDOW], state[LIMIT])
    while number + mss <= end and (number < table[row, HIGHEST] or now_ps < state[STOP]):
        if number == table[row, HIGHEST]:
            _begin_exchange(state, table, row, event)
        _send_packet(state, row, number, mss + state[HEADER_BYTES], event)
        number += mss
        if table[row, DUE] == FOREVER_PS:
            set_deadline(table, row, now_ps + table[row, RTO], 0)
    table[row, NEXT_BYTE] = number


@kernel
def _begin_exchange(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Note that the next segment is sent for the first time; time it, if none is timed."""
    items, now_ps, out = event
    number, mss = table[row, HIGHEST], state[MSS]
    connection = state[FIRST_EXCHANGE] + row - 1
    size_bytes = mss + state[HEADER_BYTES]
    place = _find_exchange(state, row, number)
    state[place] = make(items, out, connection, size_bytes, 0, now_ps)
    table[row, HIGHEST] += mss
    if table[row, TIMED] == 0:
        table[row, TIMED], table[row, TIMED_AT] = number + mss, now_ps


@kernel
def _find_exchange(state: Whole, row: int, number: int) -> int:
    """Return the place of the exchange of the segment that begins with a number."""
    ring = SENDER + (1 + state[CONNECTIONS]) * COLUMNS + (row - 1) * state[SEGMENTS]
    return ring + (number - FIRST_BYTE) // state[MSS] % state[SEGMENTS]  # type: ignore[no-any-return]


@kernel
def _send_again(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send the first segment that is not acknowledged again; what is sent again is not timed.

    Source: RFC 6298, 3 (Karn's algorithm).
    """
    size_bytes = state[MSS] + state[HEADER_BYTES]
    _send_packet(state, row, table[row, ACKNOWLEDGED], size_bytes, event)
    table[row, TIMED] = 0


# ---- what is acknowledged


@kernel
def _advance(state: Whole, table: Whole, row: int, number: int, event: Event) -> None:
    """Take an acknowledgement of new data, up to a number. Source: RFC 5681; RFC 6298, 5."""
    _, now_ps, out = event
    begun = table[row, ACKNOWLEDGED]
    for first in range(begun, number, state[MSS]):
        send(out, ENDED, state[_find_exchange(state, row, first)], now_ps)
    table[row, ACKNOWLEDGED], table[row, RETRIED] = number, 0
    table[row, NEXT_BYTE] = max(table[row, NEXT_BYTE], number)
    if 0 < table[row, TIMED] <= number:
        _take_sample(state, table, row, now_ps - table[row, TIMED_AT])
        table[row, TIMED] = 0
    is_timer_kept = False
    if table[row, RECOVERING]:
        is_timer_kept = _recover(state, table, row, number - begun, event)
    else:
        table[row, DUPLICATE] = 0
        _grow(state, table, row, number - begun)
    if number == table[row, HIGHEST]:
        meet_deadline(table, row)
    elif not is_timer_kept:
        set_deadline(table, row, now_ps + table[row, RTO], 0)


@kernel
def _grow(state: Whole, table: Whole, row: int, bytes_acknowledged: int) -> None:
    """Open the congestion window, unless a buffer is what limits.

    Source: RFC 5681, 3.1, (2) and (3).
    """
    mss, window = state[MSS], table[row, WINDOW]
    if window >= state[LIMIT]:
        return
    if window < table[row, THRESHOLD]:
        table[row, WINDOW] += min(bytes_acknowledged, mss)
    else:
        table[row, WINDOW] += max(1, mss * mss // window)


@kernel
def _recover(state: Whole, table: Whole, row: int, bytes_acknowledged: int, event: Event) -> bool:
    """Take an acknowledgement of new data in recovery; return whether it leaves the timer alone.

    A partial one tells of another loss. The timer is set anew only for the first of them. Source:
    RFC 6582, 3.2, step 3; RFC 5681, 3.2, step 6, where any ends the recovery.
    """
    mss = state[MSS]
    if table[row, ACKNOWLEDGED] >= table[row, RECOVER] or not state[PARTIAL]:
        under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED]
        whole = table[row, THRESHOLD]
        if state[PARTIAL]:
            whole = min(whole, max(under_way, mss) + mss)
        table[row, WINDOW], table[row, RECOVERING], table[row, DUPLICATE] = whole, 0, 0
        return False
    window = max(0, table[row, WINDOW] - bytes_acknowledged)
    table[row, WINDOW] = window + (mss if bytes_acknowledged >= mss else 0)
    _send_again(state, table, row, event)
    table[row, RECOVERING] += 1
    return table[row, RECOVERING] > AFTER_FIRST  # type: ignore[no-any-return]


@kernel
def _count_duplicate(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Count a duplicate acknowledgement; the third one begins a fast retransmit.

    Not one for data sent before the last recovery or timeout. Source: RFC 5681, 3.2; RFC 6582, 3.2.
    """
    mss = state[MSS]
    table[row, DUPLICATE] += 1
    if table[row, RECOVERING]:
        table[row, WINDOW] += mss
    elif table[row, DUPLICATE] == DUPLICATES and table[row, ACKNOWLEDGED] > table[row, RECOVER]:
        _halve(state, table, row)
        table[row, WINDOW] = table[row, THRESHOLD] + DUPLICATES * mss
        table[row, RECOVERING], table[row, RECOVER] = 1, table[row, HIGHEST]
        _send_again(state, table, row, event)


@kernel
def _halve(state: Whole, table: Whole, row: int) -> None:
    """Set the slow start threshold to half of what is under way. Source: RFC 5681, 3.1, (4)."""
    under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED]
    table[row, THRESHOLD] = max(under_way >> 1, 2 * state[MSS])


# ---- what times out


@kernel
def _expire(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Begin a connection, repeat what is not acknowledged, or give up.

    Source: RFC 6298, 5.4 to 5.6; RFC 5681, 3.1: the threshold is set by the first timeout alone.
    """
    _, now_ps, out = event
    if table[row, PHASE] == CLOSED and now_ps >= state[STOP]:
        meet_deadline(table, row)
        return
    if table[row, PHASE] == CLOSED:
        table[row, PHASE], table[row, TIMED_AT] = OPENING, now_ps
        table[row, RTO] = max(INITIAL_RTO_PS, state[LEAST_RTO])
        _send_syn(state, table, row, event)
        return
    if table[row, RETRIED] == state[RETRIES]:
        _give_up(state, table, row, out)
        return
    table[row, RETRIED] += 1
    table[row, RTO] = min(2 * table[row, RTO], max(LONGEST_RTO_PS, state[LEAST_RTO]))
    if table[row, PHASE] == OPENING:
        _send_syn(state, table, row, event)
        return
    if table[row, RETRIED] == 1:
        _halve(state, table, row)
    table[row, WINDOW], table[row, RECOVER] = state[MSS], table[row, HIGHEST]
    table[row, RECOVERING] = table[row, DUPLICATE] = table[row, TIMED] = 0
    table[row, NEXT_BYTE] = table[row, ACKNOWLEDGED]
    meet_deadline(table, row)
    _send_segments(state, table, row, event)


@kernel
def _give_up(state: Whole, table: Whole, row: int, out: Whole) -> None:
    """End a connection: what is not acknowledged has timed out."""
    meet_deadline(table, row)
    if table[row, PHASE] == OPEN:
        for first in range(table[row, ACKNOWLEDGED], table[row, HIGHEST], state[MSS]):
            lose(out, TIMED_OUT, state[_find_exchange(state, row, first)])
    table[row, PHASE] = GIVEN_UP
