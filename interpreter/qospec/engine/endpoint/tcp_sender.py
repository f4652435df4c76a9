"""The sender of TCP: what it sends, as acknowledgements come and its timers expire."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint.congestion import (
    Hooks,
    on_acknowledgement,
    on_feedback,
    on_loss,
    on_mark,
    on_timeout,
)
from qospec.engine.endpoint.deadlines import (
    DUE,
    clear_deadlines,
    compute_begin_ps,
    find_earliest,
    meet_deadline,
    set_deadline,
)
from qospec.engine.endpoint.tcp_connection import (
    ACKNOWLEDGED,
    ALARM_AT,
    BEHIND,
    CLOSED,
    COLUMNS,
    CONGESTION_WINDOW,
    CONNECTIONS,
    DUPLICATE,
    DUPLICATES,
    ECHO,
    ECN,
    EFFECTIVE_MSS,
    END,
    ENDED,
    FIRST,
    FIRST_ACKNOWLEDGEMENT,
    FIRST_BYTE,
    FIRST_EXCHANGE,
    FIRST_NOTICE,
    GIVEN_UP,
    HAS_BEGUN,
    HEADER_BYTES,
    HIGHEST,
    INITIAL_RTO_PS,
    IS_REDUCED,
    ITEM,
    LAST,
    LEAST_RTO,
    LIMIT,
    LONGEST_RTO_PS,
    MADE_AT_ONCE,
    NEXT,
    NEXT_BYTE,
    NO_DATA,
    NO_END,
    OPEN,
    OPENING,
    PARTIAL,
    PHASE,
    PLACES,
    PROMPTED,
    QUANTITIES,
    RAISE_AT,
    RECOVER,
    RECOVERING,
    REDUCED_TO,
    RETRIED,
    RETRIES,
    RTO,
    RTO_AFTER_LOST_SYN_PS,
    SACK,
    SEGMENT,
    SENDER,
    STAMPED,
    STOP,
    SYN,
    THRESHOLD,
    TIMED,
    TIMED_AT,
    TIMED_OUT,
    TOLD_ACKNOWLEDGED,
    TOLD_TIMEOUT,
    TRANSFER,
    VALID_UNTIL,
    WHOLE,
    WINDOW_BITS,
    WINDOW_MASK,
    find_last_column,
)
from qospec.engine.endpoint.tcp_output import (
    begin_data,
    probe,
    resend,
    send_again,
    send_packet,
    send_segments,
    take_window,
    tell_quantity,
    tell_window,
    work,
)
from qospec.engine.endpoint.tcp_path_mtu import raise_sizes, take_notice
from qospec.engine.endpoint.tcp_recovery import recover
from qospec.engine.endpoint.tcp_round_trip import take_sample
from qospec.engine.endpoint.tcp_scoreboard import (
    find_segment,
    forget,
    forget_all,
    is_first_lost,
    note_first_lost,
    take_blocks,
)
from qospec.engine.endpoint.tcp_segment_size import compute_initial_window, find_announced, note_mss
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FLAGS,
    NO_ITEMS,
    NUMBER,
    SPARE,
    STAMP,
    WINDOW,
    Transition,
    lose,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS, count_columns
from qospec.engine.kernel import get_function, kernel, link_kernel, view_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.congestion import CongestionControl
    from qospec.engine.endpoint.tcp_connection import Event
    from qospec.engine.endpoint.traffic import Exchange


@dataclass(frozen=True)
class Sender(Endpoint):
    """Send what the application writes, as much as the windows allow.

    Attributes:
        mss: The most data of a segment, in bytes.
        send_buffer: How much data is written and not acknowledged at most.
        limit_bytes: How much is under way at most: the smaller of the buffers.
        write_bytes: The size of the application's writes; 0: it has always written ahead.
        transfer_bytes: How much each connection sends, as one exchange; 0: there is no end;
            AS_SAID: what it says in turn, see `engine.endpoint.tcp_dialogue`.
        holds_short: Whether a short segment waits until nothing is under way (Nagle).
        places: The most segments under way, a power of two.
        initial_window: In segments; 0: as many as RFC 6928 allows.
        least_rto_ps: The lower limit of the retransmission timeout.
        retries: How often in a row it expires before the connection is given up.
        control: Of the congestion window.
        sack: Whether acknowledgements tell of what came out of order.
        is_stamped: Whether packets have time stamps, by which round trips are timed.
        prompts: Whether each of the first two duplicates lets it send a segment.
        ecn: Whether its data is capable of ECN, and the window follows marks.
        rediscover_ps: How long it believes what notices say of its path; 0: it heeds none.
        spread_ps: Over how long the connections begin.
        is_drawn: Whether they begin at drawn times, and not evenly.
        header_bytes: Of a packet without data.
    """

    causes = ("timed_out",)

    exchange: Exchange
    mss: int
    send_buffer: int
    limit_bytes: int
    write_bytes: int
    transfer_bytes: int
    holds_short: bool
    places: int
    initial_window: int
    least_rto_ps: int
    retries: int
    control: CongestionControl
    sack: bool
    is_stamped: bool
    prompts: bool
    ecn: bool
    rediscover_ps: int
    spread_ps: int
    is_drawn: bool
    header_bytes: int

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return the output to the line, and those of acknowledgements and of segments."""
        return ("out", "received", "ended")

    def build_transition(self, setting: Setting) -> Transition:
        """Return the sender before its first SYN."""
        count = self.exchange.connections
        segments = count * self.places * SEGMENT
        state = np.zeros(SENDER + (1 + count) * COLUMNS + segments, np.int64)
        state[:SENDER] = self._list_first(setting)
        table = get_function(view_rows)(state, SENDER, 1 + count, COLUMNS)
        clear_deadlines(table)
        table[1:, TIMED_AT] = self._begin_ps(setting)
        table[1:, EFFECTIVE_MSS], table[1:, VALID_UNTIL] = self.mss, FOREVER_PS
        table[1:, END] = FIRST_BYTE + max(0, self.transfer_bytes) if self.transfer_bytes else NO_END
        takes = _receive_notices_too if self.rediscover_ps else _receive_acknowledgement
        receive, wake = link_hooks(self.control.hooks, takes, wake_sender)
        flags = self.ecn or self.rediscover_ps > 0
        last = find_last_column(sack=self.sack, is_stamped=self.is_stamped, flags=flags)
        return Transition(
            state,
            receive,
            wake,
            (("", *self.causes),),
            quantities=QUANTITIES if setting.watched else (),
            first_alarm_ps=0,
            within=count_columns(last),
        )

    def _list_first(self, setting: Setting) -> tuple[int, ...]:
        """Return the first numbers of the state."""
        exchange = self.exchange
        return (
            exchange.requests,
            exchange.answers,
            exchange.exchanges,
            self.header_bytes,
            exchange.sent.marks,
            self.mss,
            self.send_buffer,
            self.limit_bytes,
            self.write_bytes,
            self.transfer_bytes,
            self.holds_short,
            self.places,
            self.initial_window,
            self.least_rto_ps,
            self.retries,
            self.control.repairs_all,
            self.sack,
            self.is_stamped,
            self.prompts,
            self.ecn,
            setting.watched,
            setting.stop_ps,
            exchange.connections,
            0,
            FOREVER_PS,
            self.rediscover_ps,
            setting.streams.start("notices") + exchange.answers,
            FOREVER_PS,
        )

    def _begin_ps(self, setting: Setting) -> Whole:
        """Return when the connections begin: as so many of a Poisson process do, or evenly."""
        count = self.exchange.connections
        if self.is_drawn:
            return np.sort(setting.draws.open_stream().integers(0, max(1, self.spread_ps), count))
        begin = get_function(compute_begin_ps)
        found = [begin(connection, count, self.spread_ps) for connection in range(count)]
        return np.array(found, np.int64)


@functools.cache
def link_hooks(hooks: Hooks, *functions: Callable[..., Any]) -> list[Callable[..., Any]]:
    """Return kernels of this module that call those of a control."""
    if hooks == Hooks():
        return list(functions)
    kernels = hooks._replace(on_mark=hooks.on_mark or hooks.on_loss)._asdict()
    label = kernels.pop("label")
    return [link_kernel(function, label, kernels) for function in functions]


@kernel
def _receive_acknowledgement(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Take what arrives, an acknowledgement."""
    if items[0, SPARE] <= MADE_AT_ONCE * (1 + state[PLACES]):
        return NO_ITEMS
    event = items, now_ps, out
    send(out, RECEIVED, item, now_ps)
    take_acknowledgement(state, item, 0, event)
    go_on(state, 1 + items[item, CONNECTION] - state[FIRST_ACKNOWLEDGEMENT], event)
    return DONE


@kernel
def _receive_notices_too(
    state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole
) -> int:
    """Take what arrives, an acknowledgement or a notice."""
    if items[item, CONNECTION] < state[FIRST_NOTICE]:
        return _receive_acknowledgement(state, items, item, port, now_ps, out)
    if items[0, SPARE] <= MADE_AT_ONCE * (1 + state[PLACES]):
        return NO_ITEMS
    send(out, RECEIVED, item, now_ps)
    take_notice(state, item, (items, now_ps, out))
    _set_alarm(state, 1 + items[item, CONNECTION] - state[FIRST_NOTICE], out)
    return DONE


@kernel
def take_acknowledgement(state: Whole, item: int, has_data: int, event: Event) -> None:
    """Take an acknowledgement, which is no duplicate if it has data."""
    items, now_ps, _ = event
    table = view_rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    row = 1 + items[item, CONNECTION] - state[FIRST_ACKNOWLEDGEMENT]
    number, phase = items[item, NUMBER], table[row, PHASE]
    if phase == OPENING and number == SYN:
        note_mss(state, table, row, items[item, WINDOW])
        _open(state, table, row, event)
    if table[row, PHASE] == OPEN:
        window = items[item, WINDOW] & WINDOW_MASK
        is_duplicate = not take_window(table, row, max(number, FIRST_BYTE), window)
        if state[SACK]:
            is_duplicate = take_blocks(state, table, row, items, item)
        is_told = _take_echo(state, table, row, items, item, now_ps)
        if number > table[row, ACKNOWLEDGED]:
            if state[STAMPED]:
                take_sample(state, table, row, now_ps - items[item, STAMP], event)
            _advance(state, table, row, number, is_told, event)
        elif table[row, ACKNOWLEDGED] == table[row, HIGHEST]:
            table[row, RETRIED] = 0
        elif number == table[row, ACKNOWLEDGED] and is_duplicate and has_data == 0:
            _count_duplicate(state, table, row, event)


@kernel
def go_on(state: Whole, row: int, event: Event) -> None:
    """Send what is allowed, and set the alarm."""
    table = view_rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    if table[row, PHASE] == OPEN:
        work(state, table, row, event)
    tell_window(state, table, row, event)
    if table[row, DUE] < state[ALARM_AT]:
        state[ALARM_AT] = table[row, DUE]
        wake_at(event[2], state[ALARM_AT])


@kernel
def _set_alarm(state: Whole, row: int, out: Whole) -> None:
    """Set the alarm after a notice: for its segment, or until when it is believed."""
    table = view_rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    at_ps = min(table[row, DUE], state[RAISE_AT])
    if at_ps < state[ALARM_AT]:
        state[ALARM_AT] = at_ps
        wake_at(out, at_ps)


@kernel
def wake_sender(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Begin the connections that begin now, and act on timeouts.

    The alarm is not set anew for each acknowledgement: it goes off for a deadline that may have
    been put off.
    """
    if items[0, SPARE] <= MADE_AT_ONCE * (1 + state[PLACES]):
        return NO_ITEMS
    table = view_rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    if not state[HAS_BEGUN]:
        state[HAS_BEGUN] = 1
        for connection in range(state[CONNECTIONS]):
            set_deadline(table, 1 + connection, table[1 + connection, TIMED_AT], 0)
    if state[RAISE_AT] <= now_ps:
        raise_sizes(state, table, now_ps)
    while items[0, SPARE] > MADE_AT_ONCE:  # else it goes on at this moment
        row = find_earliest(table)
        if table[row, DUE] > now_ps:
            break
        _expire(state, table, row, (items, now_ps, out))
        tell_window(state, table, row, (items, now_ps, out))
    state[ALARM_AT] = min(table[find_earliest(table), DUE], state[RAISE_AT])
    if state[ALARM_AT] < FOREVER_PS:
        wake_at(out, max(state[ALARM_AT], now_ps))
    return DONE


# ---- a connection opens


@kernel
def _send_syn(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Send a SYN, and wait for the answer."""
    now_ps = event[1]
    packet = send_packet(state, row, SYN, state[HEADER_BYTES], event)
    event[0][packet, WINDOW] = find_announced(state) << WINDOW_BITS
    set_deadline(table, row, now_ps + table[row, RTO], 0)


@kernel
def _open(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Complete the handshake. Source: RFC 9293, 3.5; RFC 5681, 3.1, if a SYN was lost."""
    now_ps = event[1]
    meet_deadline(table, row)
    if table[row, RETRIED]:
        table[row, RTO] = max(RTO_AFTER_LOST_SYN_PS, state[LEAST_RTO])
        table[row, CONGESTION_WINDOW] = table[row, EFFECTIVE_MSS]
    else:
        take_sample(state, table, row, now_ps - table[row, TIMED_AT], event)
        mss = table[row, EFFECTIVE_MSS]
        table[row, CONGESTION_WINDOW] = compute_initial_window(state, mss)
    begin_data(table, row)
    send_packet(state, row, NO_DATA, state[HEADER_BYTES], event)


# ---- what is acknowledged


@kernel
def _take_echo(state: Whole, table: Whole, row: int, items: Whole, item: int, now_ps: int) -> bool:
    """Return whether an acknowledgement tells of congestion on the way.

    Then the window is reduced, once in a window of data. Source: RFC 3168, 6.1.2.
    """
    if state[ECN] == 0:
        return False
    is_told, number = items[item, FLAGS] & ECHO != 0, items[item, NUMBER]
    acknowledged_bytes = number - table[row, ACKNOWLEDGED]
    if acknowledged_bytes > 0:
        marked_bytes = acknowledged_bytes if is_told else 0
        on_feedback(table, row, table[row, EFFECTIVE_MSS], acknowledged_bytes, marked_bytes)
    if not is_told:
        return False
    reduced_to = max(table[row, REDUCED_TO], table[row, RECOVER])
    if table[row, RECOVERING] or number <= reduced_to:
        return True
    under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED]
    on_mark(table, row, table[row, EFFECTIVE_MSS], under_way, now_ps)
    table[row, CONGESTION_WINDOW] = min(table[row, CONGESTION_WINDOW], table[row, THRESHOLD])
    table[row, REDUCED_TO], table[row, IS_REDUCED] = table[row, HIGHEST], 1
    return True


@kernel
def _advance(
    state: Whole,
    table: Whole,
    row: int,
    number: int,
    is_told: bool,  # noqa: FBT001 -- by place, as kernels do
    event: Event,
) -> None:
    """Take an acknowledgement of new data, up to a number. Source: RFC 5681; RFC 6298, 5.

    The window does not open if it tells of congestion (RFC 3168, 6.1.2), nor if a buffer limits.
    """
    begun, now_ps = table[row, ACKNOWLEDGED], event[1]
    _end_exchanges(state, table, row, number, event)
    tell_quantity(state, row, TOLD_ACKNOWLEDGED, number - begun, event)
    table[row, ACKNOWLEDGED], table[row, RETRIED] = number, 0
    if table[row, NEXT_BYTE] < number:
        table[row, NEXT_BYTE], table[row, NEXT] = number, table[row, FIRST]
    if 0 < table[row, TIMED] <= number and not state[STAMPED]:
        take_sample(state, table, row, now_ps - table[row, TIMED_AT], event)
        table[row, TIMED] = 0
    is_timer_kept = False
    if table[row, RECOVERING]:
        is_timer_kept = recover(state, table, row, number - begun, event)
    else:
        table[row, DUPLICATE] = 0
        if table[row, CONGESTION_WINDOW] < state[LIMIT] and not is_told:
            on_acknowledgement(table, row, table[row, EFFECTIVE_MSS], number - begun, now_ps)
    if number == table[row, HIGHEST]:
        meet_deadline(table, row)
    elif not is_timer_kept:
        set_deadline(table, row, now_ps + table[row, RTO], 0)


@kernel
def _end_exchanges(state: Whole, table: Whole, row: int, number: int, event: Event) -> None:
    """End the segments up to a number; they are exchanges, or the transfer that ends with them.

    The last of a transfer has a FIN, and what acknowledges it the server's, as its application then
    has read the end: that is acknowledged. Source: RFC 9293, 3.6.
    """
    _, now_ps, out = event
    while table[row, FIRST] < table[row, LAST]:
        place = find_segment(state, row, table[row, FIRST])
        if state[place + BEHIND] > number:
            break
        if not state[TRANSFER]:
            send(out, ENDED, state[place + ITEM], now_ps)
        if state[SACK]:
            forget(state, table, row, place)
        table[row, FIRST] += 1
    if number == FIRST_BYTE + state[TRANSFER]:
        send(out, ENDED, table[row, WHOLE], now_ps)
        send_packet(state, row, NO_DATA, state[HEADER_BYTES], event)


@kernel
def _count_duplicate(state: Whole, table: Whole, row: int, event: Event) -> None:
    """Count a duplicate acknowledgement; the third one begins a fast retransmit.

    Not one for data sent before the last recovery or timeout, if that was to repair all. Under way
    is not what limited transmit has added. Source: RFC 5681, 3.2; RFC 6582, 3.2; RFC 6675, 5, steps
    1 to 4.
    """
    mss = table[row, EFFECTIVE_MSS]
    table[row, DUPLICATE] += 1
    if table[row, DUPLICATE] == 1:
        table[row, PROMPTED] = 0
    if table[row, RECOVERING]:
        if not state[SACK]:
            table[row, CONGESTION_WINDOW] += mss
        return
    is_lost = table[row, DUPLICATE] == DUPLICATES or (state[SACK] and is_first_lost(table, row))
    is_new = table[row, ACKNOWLEDGED] > table[row, RECOVER]
    if is_lost and (is_new or not (state[PARTIAL] or state[SACK])):
        under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED] - table[row, PROMPTED]
        if table[row, ACKNOWLEDGED] >= table[row, REDUCED_TO]:  # else it was, for this window
            on_loss(table, row, mss, under_way, event[1])
        table[row, RECOVERING], table[row, RECOVER] = 1, table[row, HIGHEST]
        table[row, IS_REDUCED] = 1
        if state[SACK]:
            table[row, CONGESTION_WINDOW] = table[row, THRESHOLD]
            note_first_lost(state, table, row)
            resend(state, table, row, table[row, FIRST], event)
        else:
            table[row, CONGESTION_WINDOW] = table[row, THRESHOLD] + DUPLICATES * mss
            send_again(state, table, row, event)


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
        if state[TRANSFER] > 0:
            connection = state[FIRST_EXCHANGE] + row - 1
            table[row, WHOLE] = make(event[0], out, connection, state[TRANSFER], 0, now_ps)
        _send_syn(state, table, row, event)
        return
    if table[row, RETRIED] == state[RETRIES]:
        _give_up(state, table, row, out)
        return
    if table[row, PHASE] == OPEN and table[row, ACKNOWLEDGED] == table[row, HIGHEST]:
        probe(state, table, row, event)
        return
    tell_quantity(state, row, TOLD_TIMEOUT, 1, event)
    table[row, RETRIED] += 1
    table[row, RTO] = min(2 * table[row, RTO], max(LONGEST_RTO_PS, state[LEAST_RTO]))
    if table[row, PHASE] == OPENING:
        _send_syn(state, table, row, event)
        return
    if table[row, RETRIED] == 1:
        under_way = table[row, HIGHEST] - table[row, ACKNOWLEDGED]
        on_timeout(table, row, table[row, EFFECTIVE_MSS], under_way, now_ps)
    table[row, CONGESTION_WINDOW], table[row, RECOVER] = (
        table[row, EFFECTIVE_MSS],
        table[row, HIGHEST],
    )
    table[row, RECOVERING] = table[row, DUPLICATE] = table[row, TIMED] = 0
    table[row, IS_REDUCED] = 1
    table[row, NEXT_BYTE], table[row, NEXT] = table[row, ACKNOWLEDGED], table[row, FIRST]
    if state[SACK]:
        forget_all(state, table, row)
    meet_deadline(table, row)
    send_segments(state, table, row, event)


@kernel
def _give_up(state: Whole, table: Whole, row: int, out: Whole) -> None:
    """End a connection: what is not acknowledged has timed out."""
    meet_deadline(table, row)
    if table[row, PHASE] == OPEN:
        for number in range(table[row, FIRST], 0 if state[TRANSFER] else table[row, LAST]):
            lose(out, TIMED_OUT, state[find_segment(state, row, number) + ITEM])
    if table[row, WHOLE]:
        lose(out, TIMED_OUT, table[row, WHOLE])
        table[row, WHOLE] = 0
    table[row, PHASE] = GIVEN_UP
