"""The ends of a connection of ABR: a source that follows a rate, and what turns its RM cells round.

The state of the source is a few numbers, then a row for each connection, as in
`engine.endpoint.deadlines`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    clear_deadlines,
    compute_begin_ps,
    find_earliest,
    meet_deadline,
    set_deadline,
)
from qospec.engine.endpoint.rm_cell import (
    COLUMNS_USED,
    CONGESTED,
    CURRENT_RATE,
    EFCI,
    EXPLICIT_RATE,
    IS_BACKWARD,
    IS_RM,
    NO_INCREASE,
    RATE_UNITS,
)
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FLAGS,
    SPARE,
    Transition,
    make,
    send,
    wake_at,
)
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.kernel import get_function, kernel, view_rows
from qospec.protocol.atm import CELL_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.traffic import Exchange

FEWEST_BETWEEN = 2
"""Mrm: so many cells are sent between forward RM cells even if their time has come."""
PS_UNITS = PS_PER_S * RATE_UNITS
"""Over a rate, the time of a cell in ps."""
NEVER = -1
"""In place of a halving: it does not fall."""

(FIRST, FIRST_BACKWARD, HIGHEST, LOWEST, INITIAL, RISE, FALL, MISSING, CUTOFF) = range(9)
(BETWEEN, LONGEST_BETWEEN, IDLE, STOP, SPREAD, CONNECTIONS, BEGUN, SOURCE) = range(9, 17)
"""What the source is: rates in their units, falls as halvings; how many rows have begun; and the
length of all that."""
ALLOWED, AFTER_FORWARD, FORWARD_AT, SENT_AT, UNANSWERED, COLUMNS = range(DEADLINE, DEADLINE + 6)
"""The columns of a row behind those of a deadline: the allowed cell rate; how many cells were sent
after the last forward RM cell, and when that was; when the last cell was sent; and how many forward
RM cells were since a backward one came."""


@dataclass(frozen=True)
class AbrSource(Endpoint):
    """Send as many cells as the allowed rate lets it, and adapt that to what comes back.

    Source: ATM Forum TM 4.1, 5.10.4; the numbers at the kernels are those of its rules.

    Attributes:
        exchange: Its connections.
        highest: PCR, like all rates in units of `RATE_UNITS`.
        lowest: MCR.
        initial: ICR.
        rise: RIF times PCR.
        fall: By how many halvings of the rate it falls: of RDF.
        missing: CRM.
        cutoff: Of CDF, likewise; NEVER: it does not.
        between: Nrm.
        longest_between_ps: Trm.
        idle_ps: ADTF.
        spread_ps: Over how long the connections begin.
    """

    exchange: Exchange
    highest: int
    lowest: int
    initial: int
    rise: int
    fall: int
    missing: int
    cutoff: int
    between: int
    longest_between_ps: int
    idle_ps: int
    spread_ps: int

    def build_transition(self, setting: Setting) -> Transition:
        """Return the source before its first cell."""
        count = self.exchange.connections
        state = np.zeros(SOURCE + (1 + count) * COLUMNS, np.int64)
        state[:SOURCE] = (
            self.exchange.requests,
            self.exchange.answers,
            self.highest,
            self.lowest,
            self.initial,
            self.rise,
            self.fall,
            self.missing,
            self.cutoff,
            self.between,
            self.longest_between_ps,
            self.idle_ps,
            setting.stop_ps,
            self.spread_ps,
            count,
            0,
        )
        clear_deadlines(get_function(view_rows)(state, SOURCE, 1 + count, COLUMNS))
        return Transition(state, _receive_backward, _wake, first_alarm_ps=0, within=COLUMNS_USED)


@kernel
def _receive_backward(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Adapt the rate to a backward RM cell: 8 and 9."""
    rows = view_rows(state, SOURCE, 1 + state[CONNECTIONS], COLUMNS)
    row = 1 + items[item, CONNECTION] - state[FIRST_BACKWARD]
    flags, allowed = items[item, FLAGS], rows[row, ALLOWED]
    if flags & CONGESTED:
        allowed = _decrease(state, allowed, state[FALL])
    elif not flags & NO_INCREASE:
        allowed = min(allowed + state[RISE], state[HIGHEST])
    allowed = max(min(allowed, items[item, EXPLICIT_RATE]), state[LOWEST])
    rows[row, ALLOWED], rows[row, UNANSWERED] = allowed, 0
    send(out, RECEIVED, item, now_ps)
    if rows[row, DUE] < FOREVER_PS:
        set_deadline(rows, row, max(rows[row, SENT_AT] + _find_interval_ps(allowed), now_ps), 0)
        _set_alarm(state, rows, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Begin what begins now, and send the cells that are due."""
    rows = view_rows(state, SOURCE, 1 + state[CONNECTIONS], COLUMNS)
    while items[0, SPARE]:  # else it goes on at this moment
        row = find_earliest(rows)
        if _find_next_begin_ps(state) <= now_ps:
            state[BEGUN] += 1
            row = state[BEGUN]
            rows[row, ALLOWED], rows[row, AFTER_FORWARD] = state[INITIAL], state[BETWEEN]
            rows[row, FORWARD_AT] = now_ps
        elif rows[row, DUE] > now_ps:
            break
        if now_ps < state[STOP]:
            _send_cell(state, rows, row, items, now_ps, out)
        else:
            meet_deadline(rows, row)
    _set_alarm(state, rows, now_ps, out)
    return DONE


@kernel
def _set_alarm(state: Whole, rows: Whole, now_ps: int, out: Whole) -> None:
    due_ps = min(_find_next_begin_ps(state), rows[find_earliest(rows), DUE])
    if due_ps < FOREVER_PS:
        wake_at(out, max(due_ps, now_ps))


@kernel
def _find_next_begin_ps(state: Whole) -> int:
    """Return when the next connection sends its first cell."""
    if state[BEGUN] == state[CONNECTIONS]:
        return FOREVER_PS
    return compute_begin_ps(state[BEGUN], state[CONNECTIONS], state[SPREAD])


@kernel
def _send_cell(state: Whole, rows: Whole, row: int, items: Whole, now_ps: int, out: Whole) -> None:
    """Send the next cell of a connection, which is an RM cell if one is due: 2, 3 and 7."""
    sent, since_ps = rows[row, AFTER_FORWARD], now_ps - rows[row, FORWARD_AT]
    cell = make(items, out, state[FIRST] + row - 1, CELL_BYTES, 0, now_ps)
    rows[row, AFTER_FORWARD] += 1
    if sent >= state[BETWEEN] - 1 or (
        sent >= FEWEST_BETWEEN and since_ps >= state[LONGEST_BETWEEN]
    ):
        _reduce_unheard(state, rows, row, since_ps)
        items[cell, FLAGS], items[cell, EXPLICIT_RATE] = IS_RM, state[HIGHEST]
        items[cell, CURRENT_RATE] = rows[row, ALLOWED]
        rows[row, AFTER_FORWARD], rows[row, FORWARD_AT] = 0, now_ps
        rows[row, UNANSWERED] += 1
    send(out, 0, cell, now_ps)
    rows[row, SENT_AT] = now_ps
    set_deadline(rows, row, now_ps + _find_interval_ps(rows[row, ALLOWED]), 0)


@kernel
def _reduce_unheard(state: Whole, rows: Whole, row: int, since_ps: int) -> None:
    """Reduce the rate before a forward RM cell, after a rest or without answers: 5 and 6."""
    if since_ps > state[IDLE]:
        rows[row, ALLOWED] = min(rows[row, ALLOWED], state[INITIAL])
    if rows[row, UNANSWERED] >= state[MISSING] and state[CUTOFF] != NEVER:
        rows[row, ALLOWED] = _decrease(state, rows[row, ALLOWED], state[CUTOFF])


@kernel
def _decrease(state: Whole, allowed: int, halvings: int) -> int:
    """Return a rate less at least its half, quarter and so on, but no less than the lowest."""
    return max(allowed + (-allowed >> halvings), state[LOWEST])  # type: ignore[no-any-return]


@kernel
def _find_interval_ps(allowed: int) -> int:
    """Return the time from one cell to the next, rounded up: it is never faster than allowed."""
    return -(-PS_UNITS // allowed)


# ---- the destination: `state` is the difference of indices, then whether EFCI was set last

DIFFERENCE, FIRST_CELL, CONGESTION = range(3)


@dataclass(frozen=True)
class AbrDestination(Endpoint):
    """Turn each forward RM cell round, with what was congested on the way.

    Source: ATM Forum TM 4.1, 5.10.5, rules 1 and 2.
    """

    exchange: Exchange

    def build_transition(self, setting: Setting) -> Transition:  # noqa: ARG002
        """Return the destination, which has seen no congestion."""
        exchange = self.exchange
        begin = (exchange.answers - exchange.requests, exchange.requests)
        state = np.array([*begin, *[0] * exchange.connections], np.int64)
        return Transition(state, _receive_cell, within=COLUMNS_USED)


@kernel
def _receive_cell(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    connection, flags = items[item, CONNECTION], items[item, FLAGS]
    place = CONGESTION + connection - state[FIRST_CELL]
    send(out, RECEIVED, item, now_ps)
    if flags & IS_RM:
        cell = make(items, out, connection + state[DIFFERENCE], CELL_BYTES, 0, now_ps)
        items[cell, FLAGS] = flags | IS_BACKWARD | CONGESTED * state[place]
        items[cell, EXPLICIT_RATE] = items[item, EXPLICIT_RATE]
        items[cell, CURRENT_RATE] = items[item, CURRENT_RATE]
        send(out, 0, cell, now_ps)
        state[place] = 0
    else:
        state[place] = flags & EFCI
    return DONE
