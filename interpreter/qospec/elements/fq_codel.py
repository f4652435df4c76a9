"""Queues by flow that are served in turn, each of which drops at its head.

As in `codel`, a packet's fate is decided when its turn comes. The queues are on two lists: those of
flows that have begun to send go first, for one quantum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import OF_PACKETS, Boolean, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import CONNECTION, DONE, SIZE, lose
from qospec.engine.kernel import kernel, view_part, view_rows
from qospec.engine.line.transmission import FREE, PART, find_start
from qospec.engine.queue.controlled_delay import (
    ABOVE,
    BYTES,
    FIELDS,
    HELD,
    IS_DROPPING,
    LAW,
    LIMIT,
    OVERFLOWS,
    QUEUE_FIELDS,
    WAITS,
    ControlledDelay,
    append,
    find_lacking,
    finish,
    remove,
    send_first,
)
from qospec.protocol.streams import NO_FLOW

if TYPE_CHECKING:
    from numpy.random import Generator

    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.event.transition import Transition

Queues = Annotated[int, Domain("integer", 1, 65_536)]
Quantum = Annotated[int, Domain("data", 1, 2**40, layers=OF_PACKETS)]

QUANTUM, NEW_FIRST, NEW_LAST, OLD_FIRST, OLD_LAST, CONNECTIONS, ROWS = range(FIELDS, FIELDS + 7)
"""Behind the fields of controlled delay: what a queue may send in its turn; the first and the last
queue of both lists, NO_QUEUE if one is empty; how many connections there are; and where the rows of
the queues begin. Behind them is the queue of each connection."""
OWN = FIELDS + 7
IS_LISTED, CREDIT, BEHIND = range(QUEUE_FIELDS, QUEUE_FIELDS + 3)
"""Of a queue: whether it is on a list; how many bytes it may still send; and the queue behind it on
the list."""
ROW = QUEUE_FIELDS + 3
NO_QUEUE = -1
MOST_DROPPED = 64
"""So many packets are dropped at once for room."""


@element(
    source="RFC 8290, 4 (FQ-CoDel); RFC 8289, 5 (CoDel); RFC 3168, 5 (ECN)",
    duty="queue",
    carries=("packet",),
)
@dataclass(frozen=True)
class FqCodel(ControlledDelay):
    """Queue packets by flow, serve the queues in turn, and drop the first of one if all wait long.

    Each connection has one of the queues, drawn from the seed as if by a hash, so that some may
    share one. A queue in which a packet comes that was not being served is new; new queues go
    first. One that has sent its `quantum` of bytes is given another, and goes behind all others,
    as does a new one that is empty. In each queue packets are lost as `early`, or marked with
    `ecn`, as by `codel`. When more than the `limit` waits in all of them, half of the packets of
    the longest queue, 64 at most, are lost as `overflow` at its head.

    A quantum is sent when 0 bytes of it are left: RFC 8290, 4.2, says "a negative number of
    credits" and explains it as "at least a quantum" dequeued, and Linux takes 0 likewise. Bytes
    are of IP; Linux counts the 14 of an Ethernet header, too, and its quantum of 1,514 has them.

    Not modelled: marks by a threshold of their own (`ce_threshold` of Linux).
    """

    ecn: Boolean = True
    """Whether packets that are capable of ECN are marked, with CE, in place of early drops."""
    flows: Queues = 1_024
    """How many queues there are."""
    quantum: Quantum = 1_514
    """How many bytes a queue may send in its turn."""

    @property
    def keeps_order(self) -> bool:
        return False

    def build_transition(self, setting: Setting) -> Transition:
        queue_of = self._draw_queues(setting)
        rows = OWN + len(queue_of)
        own = [self.quantum, *[NO_QUEUE] * 4, len(queue_of), rows, *queue_of]
        queues = np.zeros((self.flows, ROW), np.int64)
        return self.assemble_transition(setting, (_arrive, _wake), own, queues)

    def _draw_queues(self, setting: Setting) -> list[int]:
        """Return the queue of each connection; to add a flow changes that of no other."""
        flows, draws, found = setting.streams.flows, setting.draws.derive("queues"), []
        streams: dict[tuple[str, str], Generator] = {}
        for stream in setting.streams.own:
            name = (flows[stream.flow] if stream.flow != NO_FLOW else "", stream.kind)
            if name not in streams:
                streams[name] = draws.derive(*name).open_stream()
            found += streams[name].integers(0, self.flows, stream.connections).tolist()
        return found


@kernel
def _count_queues(state: Whole) -> int:
    """Return how many queues there are."""
    return (state[LAW] - state[ROWS]) // ROW  # type: ignore[no-any-return]


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Let a packet wait, or send it at once. Source: RFC 8290, 4.1."""
    if find_lacking(state) != DONE:
        return find_lacking(state)
    state[FREE], state[PART] = find_start(state, now_ps)
    _serve(state, items, now_ps, out)  # what begins in this ps has made room
    queues = view_rows(state, state[ROWS], _count_queues(state), ROW)
    k = state[OWN + items[item, CONNECTION] % state[CONNECTIONS]]
    append(state, items, view_part(state, state[ROWS] + k * ROW, ROW), item, now_ps)
    if not queues[k, IS_LISTED]:
        queues[k, IS_LISTED], queues[k, CREDIT] = 1, state[QUANTUM]
        _put_last(state, queues, NEW_FIRST, k)
    _serve(state, items, now_ps, out)
    while state[HELD] > state[LIMIT]:
        _drop_from_longest(state, items, now_ps, out)
    finish(state, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Go on if the line is free; see `engine.event.transition`."""
    if find_lacking(state) != DONE:
        return find_lacking(state)
    _serve(state, items, now_ps, out)
    finish(state, now_ps, out)
    return DONE


@kernel
def _serve(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Send the next packet if the line is free; take queues off the lists that are empty.

    Source: RFC 8290, 4.2. A queue that is not empty always has a packet to send, see `send_first`.
    """
    if state[FREE] != now_ps:
        return
    queues = view_rows(state, state[ROWS], _count_queues(state), ROW)
    while True:
        first = NEW_FIRST if state[NEW_FIRST] != NO_QUEUE else OLD_FIRST
        k = state[first]
        if k == NO_QUEUE:
            return
        queue = view_part(state, state[ROWS] + k * ROW, ROW)
        if queue[CREDIT] > 0 and queue[WAITS]:
            item = send_first(state, items, queue, now_ps, out)
            queue[CREDIT] -= items[item, SIZE]
            return
        state[first] = queue[BEHIND]
        if queue[CREDIT] <= 0:
            queue[CREDIT] += state[QUANTUM]
            _put_last(state, queues, OLD_FIRST, k)
            continue
        queue[ABOVE], queue[IS_DROPPING] = 0, 0
        if first == NEW_FIRST:
            _put_last(state, queues, OLD_FIRST, k)
        else:
            queue[IS_LISTED] = 0


@kernel
def _put_last(state: Whole, queues: Whole, first: int, k: int) -> None:
    """Put a queue at the end of a list, whose last one is noted behind its first."""
    queues[k, BEHIND] = NO_QUEUE
    if state[first] == NO_QUEUE:
        state[first] = k
    else:
        queues[state[first + 1], BEHIND] = k
    state[first + 1] = k


@kernel
def _drop_from_longest(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Drop half of the packets of the queue with the most bytes, at its head.

    Of several with as many it is the one whose turn comes first: RFC 8290, 4.1, does not say which.
    """
    queues, longest = view_rows(state, state[ROWS], _count_queues(state), ROW), NO_QUEUE
    for first in (NEW_FIRST, OLD_FIRST):
        k = state[first]
        while k != NO_QUEUE:
            if longest == NO_QUEUE or queues[k, BYTES] > queues[longest, BYTES]:
                longest = k
            k = queues[k, BEHIND]
    queue = view_part(state, state[ROWS] + longest * ROW, ROW)
    for _ in range(min((queue[WAITS] + 1) // 2, MOST_DROPPED)):
        item, _ = remove(state, items, queue, now_ps)
        lose(out, OVERFLOWS, item)
