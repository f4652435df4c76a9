"""The receiver of TCP: what it acknowledges, and what it keeps that came out of order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    earliest,
    meet_deadline,
    no_deadlines,
    set_deadline,
)
from qospec.engine.endpoint.tcp_sender import FIRST_BYTE, NO_DATA, SYN
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    NUMBER,
    SIZE,
    SPARE,
    Transition,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import kernel, rows, uncompiled

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.traffic import Exchange

(
    FIRST_SEGMENT,
    MORE_OF_ACKNOWLEDGEMENTS,
    HEADER_BYTES,
    MARKS,
    EVERY,
    PATIENCE,
    RANGES,
    CONNECTIONS,
    ALARM_AT,
    RECEIVER,
) = range(10)
"""The first numbers of the state: what the receiver is, and when its alarm goes off. A row for each
connection follows, as one for the heap of deadlines, then for each the RANGES that came out of
order: the first number of each, and the one behind its last, ascending and apart."""
EXPECTED, UNACKNOWLEDGED, APART, COLUMNS = range(DEADLINE, DEADLINE + 4)
"""The columns of a row: RCV.NXT; segments in order that are not acknowledged; ranges in use."""


@dataclass(frozen=True)
class Receiver(Endpoint):
    """Acknowledge segments, one for several or after a time.

    Attributes:
        segments: How many are under way at most, so that half as many ranges can be apart.
        every: How many segments in order an acknowledgement is of.
        patience_ps: How long one waits that has no second.
        header_bytes: The size of an acknowledgement.
    """

    exchange: Exchange
    segments: int
    every: int
    patience_ps: int
    header_bytes: int

    def transition(self, setting: Setting) -> Transition:  # noqa: ARG002
        """Return the receiver before the first SYN."""
        exchange, ranges = self.exchange, self.segments // 2 + 1
        count, answers = exchange.connections, exchange.sent.answers
        assert answers is not None  # noqa: S101 -- an exchange has them
        state = np.zeros(RECEIVER + (1 + count) * COLUMNS + 2 * count * ranges, np.int64)
        state[:RECEIVER] = (
            exchange.requests,
            exchange.answers - exchange.requests,
            self.header_bytes,
            answers.marks,
            self.every,
            self.patience_ps,
            ranges,
            count,
            FOREVER_PS,
        )
        table = uncompiled(rows)(state, RECEIVER, 1 + count, COLUMNS)
        no_deadlines(table)
        table[:, EXPECTED] = FIRST_BYTE
        return Transition(state, _receive_segment, _wake)


@kernel
def _receive_segment(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Take what arrives, and acknowledge it now or later. Source: RFC 5681, 4.2."""
    table = rows(state, RECEIVER, 1 + state[CONNECTIONS], COLUMNS)
    row = 1 + items[item, CONNECTION] - state[FIRST_SEGMENT]
    number, end = items[item, NUMBER], items[item, NUMBER] + items[item, SIZE] - state[HEADER_BYTES]
    send(out, RECEIVED, item, now_ps)
    if number == SYN:
        _acknowledge(state, row, SYN, items, now_ps, out)
    elif number != NO_DATA:
        is_in_order = number <= table[row, EXPECTED] < end
        if is_in_order and table[row, APART] == 0:
            table[row, EXPECTED] = end
            table[row, UNACKNOWLEDGED] += 1
        elif is_in_order:
            _fill_hole(state, table, row, end)
        elif number > table[row, EXPECTED]:
            _keep(state, table, row, number, end)
        if 0 < table[row, UNACKNOWLEDGED] < state[EVERY] and is_in_order:
            _wait(state, table, row, now_ps, out)
        else:
            meet_deadline(table, row)
            table[row, UNACKNOWLEDGED] = 0
            _acknowledge(state, row, table[row, EXPECTED], items, now_ps, out)
    return DONE


@kernel
def _wait(state: Whole, table: Whole, row: int, now_ps: int, out: Whole) -> None:
    """Let an acknowledgement wait for another segment, if none waits already."""
    if table[row, DUE] == FOREVER_PS:
        set_deadline(table, row, now_ps + state[PATIENCE], 0)
        if table[row, DUE] < state[ALARM_AT]:
            state[ALARM_AT] = table[row, DUE]
            wake_at(out, state[ALARM_AT])


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Send the acknowledgements that have waited long enough."""
    table = rows(state, RECEIVER, 1 + state[CONNECTIONS], COLUMNS)
    while items[0, SPARE] > 1:  # else it goes on at this moment
        row = earliest(table)
        if table[row, DUE] > now_ps:
            break
        meet_deadline(table, row)
        table[row, UNACKNOWLEDGED] = 0
        _acknowledge(state, row, table[row, EXPECTED], items, now_ps, out)
    state[ALARM_AT] = table[earliest(table), DUE]
    if state[ALARM_AT] < FOREVER_PS:
        wake_at(out, max(state[ALARM_AT], now_ps))
    return DONE


@kernel
def _acknowledge(
    state: Whole, row: int, number: int, items: Whole, now_ps: int, out: Whole
) -> None:
    """Send an acknowledgement of a number."""
    connection = state[FIRST_SEGMENT] + row - 1 + state[MORE_OF_ACKNOWLEDGEMENTS]
    packet = make(items, out, connection, state[HEADER_BYTES], state[MARKS], now_ps)
    items[packet, NUMBER] = number
    send(out, 0, packet, now_ps)


@kernel
def _fill_hole(state: Whole, table: Whole, row: int, end: int) -> None:
    """Take a segment in order while others wait behind it, with those that follow it.

    It is acknowledged at once.
    """
    first, gone, apart = _find_ranges(state, row), 0, table[row, APART]
    while gone < apart and state[first + 2 * gone] <= end:
        end = max(end, state[first + 2 * gone + 1])
        gone += 1
    for place in range(first, first + 2 * (apart - gone)):
        state[place] = state[place + 2 * gone]
    table[row, EXPECTED], table[row, APART] = end, apart - gone
    table[row, UNACKNOWLEDGED] = 0


@kernel
def _keep(state: Whole, table: Whole, row: int, number: int, end: int) -> None:
    """Keep a segment that came out of order, joined with the ranges that it meets."""
    first, before, apart = _find_ranges(state, row), 0, table[row, APART]
    while before < apart and state[first + 2 * before + 1] < number:
        before += 1
    behind = before
    while behind < apart and state[first + 2 * behind] <= end:
        number = min(number, state[first + 2 * behind])
        end = max(end, state[first + 2 * behind + 1])
        behind += 1
    moved = before + 1 - behind
    if moved > 0:
        for place in range(first + 2 * apart - 1, first + 2 * behind - 1, -1):
            state[place + 2] = state[place]
    elif moved < 0:
        for place in range(first + 2 * behind, first + 2 * apart):
            state[place + 2 * moved] = state[place]
    state[first + 2 * before], state[first + 2 * before + 1] = number, end
    table[row, APART] = apart + moved


@kernel
def _find_ranges(state: Whole, row: int) -> int:
    """Return the place of the first range of a connection."""
    return RECEIVER + (1 + state[CONNECTIONS]) * COLUMNS + 2 * (row - 1) * state[RANGES]  # type: ignore[no-any-return]
