"""Controlled delay: queues that drop at their head by how long packets have waited there.

Packets wait in one ring, in order of arrival, and each names the next of its queue. What has left,
or was dropped, keeps its row until all that came before it is gone, too: so waits are reported in
order of arrival, whichever queue is served first.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, OF_PACKETS, Boolean, Domain, Limit
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import (
    DONE,
    MARKS,
    MOST_MADE,
    SENT,
    SIZE,
    Transition,
    lose,
    report_wait,
    send,
    wake_at,
)
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_rows
from qospec.engine.line import transmission
from qospec.engine.line.transmission import FREE, LEAD, PART, STAMPS, transmit
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.protocol.marks import CONGESTION, mark_congestion
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract

Target = Annotated[int, Domain("time", 1, LONGEST_PS)]
Mtu = Annotated[int, Domain("data", 1, LARGEST_PACKET_BYTES, layers=OF_PACKETS)]

LIMIT, IN_BYTES, TARGET, INTERVAL, MTU, MARKING, LAW, RING, HIGHEST, HEAD, TAIL, HELD, WAITING = (
    range(transmission.FIELDS, transmission.FIELDS + 13)
)
"""Behind the fields of the line: how much may wait, and whether that counts bytes; the parameters;
which bits of marks tell that a packet is marked; where the control law begins, INTERVAL / sqrt(n)
at LAW + n, rounded down to a ps, and where the ring does; the highest count of any queue so far;
the numbers of the first row of the ring and of that behind the last; how much of the limit packets
take, and how many wait."""
FIELDS = transmission.FIELDS + 13
"""How many these are; behind them are the fields of the element, and the queues."""
FIRST, LAST, WAITS, BYTES, IS_DROPPING, ABOVE, NEXT, COUNT, LAST_COUNT = range(9)
"""Of a queue: the numbers of the first packet that waits and of the last; how many there are, and
how many bytes they have; whether it is dropping; when packets have waited too long for an interval,
0 if the last has not; when the next is dropped, how many have been, and how many counted when it
began to."""
QUEUE_FIELDS = 9
ITEM, CAME, UNTIL, AFTER = range(4)
"""The columns of the ring: a packet; when it arrived; until when it waited, NOT_YET if it still
does; and the number of the next packet of its queue."""
WIDTH = 4
NOT_YET = -1
PLACES = 64
"""The initial size of the ring and of the control law; a power of two, doubled as needed."""
NO_PLACES, NO_LAW = 1, 2
"""What may be lacking."""
OVERFLOWS, EARLY = 0, 1
"""By number, the causes of loss."""


@dataclass(frozen=True)
class ControlledDelay(Element):
    """A queue, or several, whose packets are dropped at the head if all wait too long."""

    limit: Limit
    """How much may wait: packets or bytes."""
    target: Target = PS_PER_S // 200
    """How long packets may wait without end."""
    interval: Target = PS_PER_S // 10
    """How long they may wait longer: about the longest round trip."""
    mtu: Mtu = 1_500
    """The size of the largest packet: so much may wait, however long."""
    ecn: Boolean = False
    """Whether packets that are capable of ECN are marked, with CE, in place of early drops."""

    causes = ("overflow", "early")
    needs_line = True

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def marks_written(self) -> tuple[str, ...]:
        return ("ecn",) if self.ecn else ()

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return mark_congestion(marks) if self.ecn else (marks,)

    def assemble_transition(
        self,
        setting: Setting,
        kernels: tuple[Callable[..., int], Callable[..., int]],
        own: Sequence[int],
        queues: Any,
    ) -> Transition:
        """Return how it answers events.

        Args:
            setting: Where.
            kernels: For arrivals, and for its alarm.
            own: The fields of the element.
            queues: (n, k) The rows of its queues, QUEUE_FIELDS of 0 and what else it keeps of them.
        """
        limit, marking = self.limit, CONGESTION if self.ecn else 0
        given = [limit.amount, limit.unit == "byte", self.target, self.interval, self.mtu, marking]
        line = transmission.build_line(setting.clock)
        law = FIELDS + len(own) + queues.size
        fields = [*given, law, law + PLACES, *[0] * (FIELDS - HIGHEST), *own]
        rest = [*self._list_intervals(PLACES), *[0] * (WIDTH * PLACES)]
        return Transition(
            np.concatenate([line, np.array(fields, np.int64), queues.ravel(), rest]),
            *kernels,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=self._replenish,
        )

    def _list_intervals(self, count: int) -> list[int]:
        """Return INTERVAL / sqrt(n) for all n below `count`; it means nothing for 0."""
        return [isqrt(self.interval**2 // max(1, n)) for n in range(count)]

    def _replenish(self, state: Whole, lacking: int) -> Whole:
        law, ring = state[state[LAW] : state[RING]], state[state[RING] :]
        if lacking == NO_PLACES:
            ring = double_ring(ring, WIDTH, state[HEAD], state[TAIL])
        else:
            law = np.array(self._list_intervals(2 * len(law)), np.int64)
        state[RING] = state[LAW] + len(law)
        return np.concatenate([state[: state[LAW]], law, ring])


@kernel
def find_lacking(state: Whole) -> int:
    """Return DONE, or what is lacking: each packet that waits may be dropped in the next event."""
    if state[TAIL] - state[HEAD] == count_places(state):
        return NO_PLACES
    counts = state[HIGHEST] + state[WAITING] + 1
    return NO_LAW if state[LAW] + counts >= state[RING] else DONE


@kernel
def append(state: Whole, items: Whole, queue: Whole, item: int, now_ps: int) -> None:
    """Let a packet wait at the end of a queue; there is a place for it."""
    places, number = count_places(state), state[TAIL]
    ring = view_rows(state, state[RING], places, WIDTH)
    place = number & places - 1
    ring[place, ITEM], ring[place, CAME], ring[place, UNTIL] = item, now_ps, NOT_YET
    if queue[WAITS] == 0:
        queue[FIRST] = number
    else:
        ring[queue[LAST] & places - 1, AFTER] = number
    queue[LAST] = number
    queue[WAITS] += 1
    queue[BYTES] += items[item, SIZE]
    state[TAIL] += 1
    state[WAITING] += 1
    state[HELD] += items[item, SIZE] if state[IN_BYTES] else 1


@kernel
def remove(state: Whole, items: Whole, queue: Whole, now_ps: int) -> tuple[int, int]:
    """Take the first packet out of a queue; return it, and when it came."""
    places = count_places(state)
    ring = view_rows(state, state[RING], places, WIDTH)
    place = queue[FIRST] & places - 1
    item = ring[place, ITEM]
    ring[place, UNTIL] = now_ps
    queue[FIRST] = ring[place, AFTER]
    queue[WAITS] -= 1
    queue[BYTES] -= items[item, SIZE]
    state[WAITING] -= 1
    state[HELD] -= items[item, SIZE] if state[IN_BYTES] else 1
    return item, ring[place, CAME]


@kernel
def send_first(state: Whole, items: Whole, queue: Whole, now_ps: int, out: Whole) -> int:
    """Send the first packet of a queue that is not dropped; return it, who may be marked.

    What is too late has more behind it than an MTU, so there is always another. Source: RFC 8289,
    5.5.
    """
    law = state[LAW]
    item, is_late = _take(state, items, queue, now_ps)
    if queue[IS_DROPPING]:
        queue[IS_DROPPING] = is_late
        while queue[IS_DROPPING] and now_ps >= queue[NEXT]:
            queue[COUNT] += 1
            if _mark_packet(state, items, item):
                queue[NEXT] += state[law + queue[COUNT]]
                break
            lose(out, EARLY, item)
            item, queue[IS_DROPPING] = _take(state, items, queue, now_ps)
            if queue[IS_DROPPING]:
                queue[NEXT] += state[law + queue[COUNT]]
    elif is_late:
        if not _mark_packet(state, items, item):
            lose(out, EARLY, item)
            item, _ = _take(state, items, queue, now_ps)
        queue[IS_DROPPING] = 1
        counted = queue[COUNT] - queue[LAST_COUNT]
        is_soon = (now_ps - queue[NEXT]) // 16 < state[INTERVAL]
        queue[COUNT] = counted if counted > 1 and is_soon else 1
        queue[NEXT] = now_ps + state[law + queue[COUNT]]
        queue[LAST_COUNT] = queue[COUNT]
    state[HIGHEST] = max(state[HIGHEST], queue[COUNT])
    if state[STAMPS]:
        items[item, SENT] = now_ps + state[LEAD]
    send(out, 0, item, transmit(state, (state[FREE], state[PART]), items[item, SIZE]))
    return item


@kernel
def finish(state: Whole, now_ps: int, out: Whole) -> None:
    """End an event: wake when the line is free, and report who waited."""
    if report_gone(state, out):
        wake_at(out, now_ps)
    elif state[FREE] > now_ps:
        wake_at(out, state[FREE])


@kernel
def report_gone(state: Whole, out: Whole) -> bool:
    """Report who waited and is gone; return whether there is more, which is due at once, too.

    What came behind one that waits is reported after it, so there may be much to report at once.
    """
    places = count_places(state)
    ring = view_rows(state, state[RING], places, WIDTH)
    for _ in range(MOST_MADE):
        place = state[HEAD] & places - 1
        if state[HEAD] == state[TAIL] or ring[place, UNTIL] == NOT_YET:
            return False
        if ring[place, CAME] < ring[place, UNTIL]:
            report_wait(out, 0, ring[place, CAME], ring[place, UNTIL])
        state[HEAD] += 1
    return True


@kernel
def count_places(state: Whole) -> int:
    """Return how many rows the ring has: a power of two."""
    return (len(state) - state[RING]) // WIDTH  # type: ignore[no-any-return]


@kernel
def _take(state: Whole, items: Whole, queue: Whole, now_ps: int) -> tuple[int, bool]:
    """Take the first packet that waits; return it, and whether it may be dropped.

    Source: RFC 8289, 5.6.
    """
    item, came_ps = remove(state, items, queue, now_ps)
    is_late = False
    if now_ps - came_ps < state[TARGET] or queue[BYTES] <= state[MTU]:
        queue[ABOVE] = 0
    elif queue[ABOVE] == 0:
        queue[ABOVE] = now_ps + state[INTERVAL]
    else:
        is_late = now_ps >= queue[ABOVE]
    return item, is_late


@kernel
def _mark_packet(state: Whole, items: Whole, item: int) -> bool:
    """Mark a packet that is to be dropped; return False if it is not capable of that."""
    if items[item, MARKS] & state[MARKING] == 0:
        return False
    items[item, MARKS] |= CONGESTION
    return True
