"""Requests and responses on a connection of TCP: each end sends data and receives some.

An end is a sender and a receiver, whose states stand behind its own. What one of them has to say
goes with the other's packets: NUMBER of a packet is that of its data, EXPECTS what it acknowledges,
WINDOW how much data it allows, FLAGS has REDUCED of its sender and ECHO of its receiver, and if it
has time stamps, STAMPED_AT is of its sender and ECHOED of its receiver. Each of both finds what it
looks for in NUMBER and STAMP.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.endpoint import tcp_receiver as receiving
from qospec.engine.endpoint.congestion import Hooks
from qospec.engine.endpoint.deadlines import (
    DEADLINE,
    DUE,
    clear_deadlines,
    find_earliest,
    meet_deadline,
    set_deadline,
)
from qospec.engine.endpoint.tcp_connection import (
    ALARM_AT,
    CLOSED,
    COLUMNS,
    CONGESTION_WINDOW,
    CONNECTIONS,
    ECHO,
    ECHOED,
    EFFECTIVE_MSS,
    END,
    ENDED,
    EXPECTS,
    FIRST_ACKNOWLEDGEMENT,
    FIRST_BYTE,
    FIRST_EXCHANGE,
    FIRST_SEGMENT,
    GIVEN_UP,
    HAS_BEGUN,
    INITIAL_RTO_PS,
    LEAST_RTO,
    MADE_AT_ONCE,
    NO_DATA,
    OPEN,
    PHASE,
    PLACES,
    RTO,
    SENDER,
    STAMPED,
    STAMPED_AT,
    SYN,
    TELLS,
    TIMED_OUT,
    USER_TIMEOUT_PS,
    WHOLE,
    find_last_column,
)
from qospec.engine.endpoint.tcp_output import begin_data
from qospec.engine.endpoint.tcp_receiver import (
    EXPECTED,
    RECEIVER,
    Receiver,
    announce,
    note_segments,
    take_segment,
    wake_receiver,
)
from qospec.engine.endpoint.tcp_segment_size import compute_initial_window, note_mss
from qospec.engine.endpoint.tcp_sender import (
    Sender,
    go_on,
    link_hooks,
    take_acknowledgement,
    wake_sender,
)
from qospec.engine.endpoint.traffic import RECEIVED, Endpoint
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    FLAGS,
    MORE,
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
from qospec.engine.items.totals import LEFT
from qospec.engine.kernel import get_function, kernel, link_kernel, view_part, view_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.endpoint.tcp_connection import Event

IS_CLIENT, SAYS, HEARS, THINK, STOP, SENDERS, RECEIVERS, DIALOGUE = range(8)
"""The first numbers of the state: which end it is, how many bytes it says and hears in turn, how
long the client thinks before it asks again, the end of the trial, and where the states of its
sender and its receiver begin. A deadline for each connection follows, with the heap of these: until
when the client thinks, or waits for a response."""


@dataclass(frozen=True)
class Speaker(Endpoint):
    """An end of dialogues, in which the client asks and the server responds.

    Attributes:
        sender: Of its data.
        receiver: Of the other end's.
        says_bytes: The size of a request or, of a server, of a response.
        hears_bytes: The size of what it gets for that, or for which it says it.
        is_client: Whether it is the end that asks.
        think_ps: How long the client waits behind a response.
    """

    sender: Sender
    receiver: Receiver
    says_bytes: int
    hears_bytes: int
    is_client: bool
    think_ps: int

    @property
    def causes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return that a client may give up."""
        return self.sender.causes if self.is_client else ()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return those of a sender; a server ends nothing."""
        return self.sender.outputs if self.is_client else self.sender.outputs[:ENDED]

    def build_transition(self, setting: Setting) -> Transition:
        """Return the end before the first SYN."""
        sends = self.sender.build_transition(setting)
        receives = self.receiver.build_transition(setting)
        deadlines = 1 + self.sender.exchange.connections
        senders = DIALOGUE + deadlines * DEADLINE
        receivers = senders + len(sends.state)
        if not self.is_client:
            sends.state[HAS_BEGUN], sends.state[TELLS] = 1, 0
        own = np.zeros(senders, np.int64)
        own[:DIALOGUE] = (
            self.is_client,
            self.says_bytes,
            self.hears_bytes,
            self.think_ps,
            setting.stop_ps,
            senders,
            receivers,
        )
        clear_deadlines(get_function(view_rows)(own, DIALOGUE, deadlines, DEADLINE))
        receive, wake = _link_kernels(self.sender.control.hooks)
        return Transition(
            np.concatenate((own, sends.state, receives.state)),
            receive,
            wake,
            sends.losses if self.is_client else (),
            quantities=sends.quantities if self.is_client else (),
            first_alarm_ps=0 if self.is_client else None,
            within=self._count_columns(),
        )

    def _count_columns(self) -> int:
        if self.sender.is_stamped:
            return 1 + ECHOED - MORE
        return count_columns(find_last_column(sack=self.sender.sack, is_stamped=True, flags=False))


@functools.cache
def _link_kernels(hooks: Hooks) -> tuple[Callable[..., int], Callable[..., int]]:
    """Return the kernels for packets and for the alarm that call those of a control."""
    if hooks == Hooks():
        return _receive, _wake
    take, wake = link_hooks(hooks, take_acknowledgement, wake_sender)
    return (
        link_kernel(_receive, hooks.label, {"take_acknowledgement": take}),
        link_kernel(_wake, hooks.label, {"wake_sender": wake}),
    )


@kernel
def _receive(
    state: Whole,
    items: Whole,
    item: int,
    port: int,  # noqa: ARG001
    now_ps: int,
    out: Whole,
) -> int:
    """Take a packet: its data, what it acknowledges, and what is then to be said."""
    sender = view_part(state, state[SENDERS], state[RECEIVERS] - state[SENDERS])
    receiver = view_part(state, state[RECEIVERS], len(state) - state[RECEIVERS])
    if items[0, SPARE] <= 2 * MADE_AT_ONCE * (1 + sender[PLACES]):
        return NO_ITEMS
    event = items, now_ps, out
    row, number = 1 + items[item, CONNECTION] - sender[FIRST_ACKNOWLEDGEMENT], items[item, NUMBER]
    send(out, RECEIVED, item, now_ps)
    expects = items[item, EXPECTS]
    if number == SYN:
        _open_passively(sender, row, items[item, WINDOW])
    elif expects == SYN:
        note_segments(receiver, row, items[item, WINDOW])
    if sender[STAMPED]:
        items[item, STAMP] = items[item, STAMPED_AT]
    take_segment(receiver, item, event)
    _acknowledge_alone(sender, event, 1)
    first = out[0, 0] + 1
    items[item, NUMBER] = expects
    if sender[STAMPED]:
        items[item, STAMP] = items[item, ECHOED]
    take_acknowledgement(sender, item, number > 0, event)
    items[item, NUMBER] = number
    _take_turn(state, sender, receiver, row, event)
    go_on(sender, row, event)
    _acknowledge_by(sender, receiver, first, event)
    _set_alarm(state, sender, receiver, event)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Act on what is due: of the sender, the receiver, and the client itself."""
    sender = view_part(state, state[SENDERS], state[RECEIVERS] - state[SENDERS])
    receiver = view_part(state, state[RECEIVERS], len(state) - state[RECEIVERS])
    if items[0, SPARE] <= 2 * MADE_AT_ONCE * (1 + sender[PLACES]):
        return NO_ITEMS
    event = items, now_ps, out
    if receiver[receiving.ALARM_AT] <= now_ps:
        wake_receiver(receiver, items, now_ps, out)
        _acknowledge_alone(sender, event, 1)
    first = out[0, 0] + 1
    if sender[HAS_BEGUN] == 0 or sender[ALARM_AT] <= now_ps:
        wake_sender(sender, items, now_ps, out)
    own = view_rows(state, DIALOGUE, 1 + sender[CONNECTIONS], DEADLINE)
    while items[0, SPARE] > MADE_AT_ONCE * (1 + sender[PLACES]):  # else it goes on at this moment
        row = find_earliest(own)
        if own[row, DUE] > now_ps:
            break
        _ask(state, sender, row, event)
        go_on(sender, row, event)
    _acknowledge_by(sender, receiver, first, event)
    _set_alarm(state, sender, receiver, event)
    return DONE


@kernel
def _open_passively(state: Whole, row: int, window: int) -> None:
    """Let a connection be open for what is sent to the end that has begun it."""
    table = view_rows(state, SENDER, 1 + state[CONNECTIONS], COLUMNS)
    if table[row, PHASE] == CLOSED:
        note_mss(state, table, row, window)
        table[row, RTO] = max(INITIAL_RTO_PS, state[LEAST_RTO])
        mss = table[row, EFFECTIVE_MSS]
        table[row, CONGESTION_WINDOW] = compute_initial_window(state, mss)
        begin_data(table, row)


@kernel
def _set_alarm(state: Whole, sender: Whole, receiver: Whole, event: Event) -> None:
    """Set the one alarm to the earliest of three."""
    own = view_rows(state, DIALOGUE, 1 + sender[CONNECTIONS], DEADLINE)
    at_ps = min(sender[ALARM_AT], receiver[receiving.ALARM_AT])
    at_ps = min(at_ps, own[find_earliest(own), DUE])
    if at_ps < FOREVER_PS:
        wake_at(event[2], max(at_ps, event[1]))


# ---- what the ends say


@kernel
def _take_turn(state: Whole, sender: Whole, receiver: Whole, row: int, event: Event) -> None:
    """Respond to what has been asked, or end the exchange of a response, and ask again."""
    table = view_rows(sender, SENDER, 1 + sender[CONNECTIONS], COLUMNS)
    heard = view_rows(receiver, RECEIVER, 1 + 2 * sender[CONNECTIONS], receiving.COLUMNS)
    if table[row, PHASE] != OPEN:
        return
    turns = (heard[row, EXPECTED] - FIRST_BYTE) // state[HEARS]
    end = FIRST_BYTE + turns * state[SAYS]
    if state[IS_CLIENT] == 0:
        table[row, END] = max(table[row, END], end)
        return
    own = view_rows(state, DIALOGUE, 1 + sender[CONNECTIONS], DEADLINE)
    if table[row, WHOLE] and table[row, END] == end:
        send(event[2], ENDED, table[row, WHOLE], event[1])
        table[row, WHOLE] = 0
        set_deadline(own, row, event[1] + state[THINK], 0)
    if own[row, DUE] == event[1] or table[row, END] == FIRST_BYTE:
        _ask(state, sender, row, event)


@kernel
def _ask(state: Whole, sender: Whole, row: int, event: Event) -> None:
    """Let a client ask, unless the trial is over; or give up, if it has waited for a response."""
    items, now_ps, out = event
    table = view_rows(sender, SENDER, 1 + sender[CONNECTIONS], COLUMNS)
    own = view_rows(state, DIALOGUE, 1 + sender[CONNECTIONS], DEADLINE)
    meet_deadline(own, row)
    if table[row, WHOLE]:
        lose(out, TIMED_OUT, table[row, WHOLE])
        meet_deadline(table, row)
        table[row, WHOLE], table[row, PHASE] = 0, GIVEN_UP
    elif table[row, PHASE] == OPEN and now_ps < state[STOP]:
        connection = sender[FIRST_EXCHANGE] + row - 1
        table[row, WHOLE] = make(items, out, connection, state[HEARS], 0, now_ps)
        table[row, END] += state[SAYS]
        set_deadline(own, row, now_ps + USER_TIMEOUT_PS, 0)


# ---- what packets acknowledge


@kernel
def _acknowledge_alone(sender: Whole, event: Event, first: int) -> None:
    """Let the packets of a receiver have no data, from the row of an answer on."""
    items, now_ps, out = event
    for n in range(first, min(out[0, 0] + 1, len(out))):
        if out[n, 0] == LEFT and out[n, 1] == 0:
            packet = out[n, 2]
            if sender[STAMPED]:
                items[packet, ECHOED] = items[packet, STAMP]
                items[packet, STAMPED_AT] = now_ps
            items[packet, EXPECTS], items[packet, NUMBER] = items[packet, NUMBER], NO_DATA


@kernel
def _acknowledge_by(sender: Whole, receiver: Whole, first: int, event: Event) -> None:
    """Let the packets of a sender acknowledge what has come, from the row of an answer on."""
    items, out = event[0], event[2]
    heard = view_rows(receiver, RECEIVER, 1 + 2 * sender[CONNECTIONS], receiving.COLUMNS)
    for n in range(first, min(out[0, 0] + 1, len(out))):
        if out[n, 0] == LEFT and out[n, 1] == 0:
            packet = out[n, 2]
            row = 1 + items[packet, CONNECTION] - sender[FIRST_SEGMENT]
            if sender[STAMPED]:
                items[packet, STAMPED_AT] = items[packet, STAMP]
                items[packet, ECHOED] = heard[row, receiving.RECENT]
            items[packet, EXPECTS] = heard[row, EXPECTED]
            items[packet, WINDOW] |= announce(receiver, heard, row)
            if heard[row, receiving.CONGESTED]:
                items[packet, FLAGS] |= ECHO
