"""A queue that drops at its head: controlled delay.

A packet's fate is decided when its turn comes, by how long it has waited. So there is no loop over
batches: an item that arrives does not say when it leaves.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, OF_PACKETS, Boolean, Domain, Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import (
    DONE,
    MARKS,
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
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.line.transmission import FREE, LEAD, PART, STAMPS, find_start, transmit
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.protocol.marks import CONGESTION, mark_congestion
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival, Guarantees
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract
    from qospec.engine.line.clock import Clock

Target = Annotated[int, Domain("time", 1, LONGEST_PS)]
Mtu = Annotated[int, Domain("data", 1, LARGEST_PACKET_BYTES, layers=OF_PACKETS)]

LIMIT, IN_BYTES, TARGET, INTERVAL, MTU, MARKING, HEAD, TAIL, HELD, BYTES = range(
    transmission.FIELDS, transmission.FIELDS + 10
)
"""Behind the fields of the line: how much may wait, and whether that counts bytes; the parameters;
which bits of marks tell that a packet is marked;
the numbers of the first packet that waits and of that behind the last; how much of the limit they
take, and how many bytes they have."""
IS_DROPPING, ABOVE, NEXT, COUNT, LAST_COUNT, RING, LAW = range(
    transmission.FIELDS + 10, transmission.FIELDS + 17
)
"""Whether it is dropping; when packets have waited too long for an interval, 0 if the last has not;
when the next is dropped, how many have been, and how many counted when it began to. Where the ring
begins, and the control law: INTERVAL / sqrt(n) at LAW + n, rounded down to a ps."""
ITEM, CAME, AMOUNT = range(3)
"""The columns of the ring: a packet, when it arrived, and what it takes of the limit."""
WIDTH = 3
PLACES = 64
"""The initial size of the ring and of the control law; a power of two, doubled as needed."""
NO_PLACES, NO_LAW = 1, 2
"""What may be lacking."""
OVERFLOWS, EARLY = 0, 1
"""By number, the causes of loss."""


@element(
    source="RFC 8289, 5 (CoDel); RFC 8290, 4.2 (marks); RFC 3168, 5 (ECN)",
    duty="queue",
    carries=("packet",),
)
@dataclass(frozen=True)
class Codel(Element):
    """Queue packets for the line, first come, first served; drop the first if all wait too long.

    Once all packets of an `interval` have waited for at least the `target`, the next is lost as
    `early` when its turn comes, then one after interval / sqrt(2), interval / sqrt(3) and so on,
    until one has waited less, or no more than an `mtu` waits behind it. If it has to drop again
    within 16 intervals, it does so as often as it did at last. A packet that finds no room is lost
    as `overflow` on arrival. With `ecn` a packet that is capable of it is sent with CE instead of
    being dropped, and counts as one that was.
    """

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

    def marks_after(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return mark_congestion(marks) if self.ecn else (marks,)

    def guarantees(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0], self.limit)

    def transition(self, setting: Setting) -> Transition:
        limit, marking = self.limit, CONGESTION if self.ecn else 0
        own = [limit.amount, limit.unit == "byte", self.target, self.interval, self.mtu, marking]
        state = np.zeros(LAW + PLACES + WIDTH * PLACES, np.int64)
        state[: transmission.FIELDS] = transmission.build_line(setting.clock)
        state[LIMIT:HEAD] = own
        state[RING] = LAW + PLACES
        state[LAW : state[RING]] = self._list_intervals(PLACES)
        return Transition(
            state,
            _arrive,
            _wake,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=self._replenish,
        )

    def _list_intervals(self, count: int) -> list[int]:
        """Return INTERVAL / sqrt(n) for all n below `count`; it means nothing for 0."""
        return [isqrt(self.interval**2 // max(1, n)) for n in range(count)]

    def _replenish(self, state: Whole, lacking: int) -> Whole:
        law, ring = state[LAW : state[RING]], state[state[RING] :]
        if lacking == NO_PLACES:
            ring = double_ring(ring, WIDTH, state[HEAD], state[TAIL])
        else:
            law = np.array(self._list_intervals(2 * len(law)), np.int64)
        state[RING] = LAW + len(law)
        return np.concatenate([state[:LAW], law, ring])


@kernel
def _count_places(state: Whole) -> int:
    """Return how many packets may wait for now: a power of two."""
    return (len(state) - state[RING]) // WIDTH  # type: ignore[no-any-return]


@kernel
def _find_lacking(state: Whole) -> int:
    """Return DONE, or what is lacking: each packet that waits may be dropped in the next event."""
    waiting = state[TAIL] - state[HEAD]
    if waiting == _count_places(state):
        return NO_PLACES
    return NO_LAW if LAW + state[COUNT] + waiting >= state[RING] else DONE


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet at once, let it wait or lose it; see `engine.event.transition`."""
    if _find_lacking(state) != DONE:
        return _find_lacking(state)
    state[FREE], state[PART] = find_start(state, now_ps)
    if state[FREE] == now_ps and state[HEAD] < state[TAIL]:
        _serve(state, items, now_ps, out)  # what begins in this ps has made room
    amount = items[item, SIZE] if state[IN_BYTES] else 1
    if state[FREE] == now_ps:
        state[ABOVE], state[IS_DROPPING] = 0, 0
        _begin(state, items, item, now_ps, out)
    elif state[HELD] + amount > state[LIMIT]:
        lose(out, OVERFLOWS, item)
    else:
        ring = view_rows(state, state[RING], _count_places(state), WIDTH)
        place = state[TAIL] & _count_places(state) - 1
        ring[place, ITEM], ring[place, CAME], ring[place, AMOUNT] = item, now_ps, amount
        state[TAIL] += 1
        state[HELD] += amount
        state[BYTES] += items[item, SIZE]
    if state[HEAD] < state[TAIL]:
        wake_at(out, state[FREE])
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Go on with what waits if the line is free; see `engine.event.transition`."""
    if _find_lacking(state) != DONE:
        return _find_lacking(state)
    if state[FREE] == now_ps and state[HEAD] < state[TAIL]:
        _serve(state, items, now_ps, out)
        if state[HEAD] < state[TAIL]:
            wake_at(out, state[FREE])
    return DONE


@kernel
def _serve(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Send the first packet that is not dropped; it may be marked. Source: RFC 8289, 5.5.

    What is too late has more behind it than an MTU, so there is always another.
    """
    item, is_late = _take(state, items, now_ps, out)
    if state[IS_DROPPING]:
        state[IS_DROPPING] = is_late
        while state[IS_DROPPING] and now_ps >= state[NEXT]:
            state[COUNT] += 1
            if _mark(state, items, item):
                state[NEXT] += state[LAW + state[COUNT]]
                break
            lose(out, EARLY, item)
            item, state[IS_DROPPING] = _take(state, items, now_ps, out)
            if state[IS_DROPPING]:
                state[NEXT] += state[LAW + state[COUNT]]
    elif is_late:
        if not _mark(state, items, item):
            lose(out, EARLY, item)
            item, _ = _take(state, items, now_ps, out)
        state[IS_DROPPING] = 1
        counted = state[COUNT] - state[LAST_COUNT]
        is_soon = (now_ps - state[NEXT]) // 16 < state[INTERVAL]
        state[COUNT] = counted if counted > 1 and is_soon else 1
        state[NEXT] = now_ps + state[LAW + state[COUNT]]
        state[LAST_COUNT] = state[COUNT]
    _begin(state, items, item, now_ps, out)


@kernel
def _take(state: Whole, items: Whole, now_ps: int, out: Whole) -> tuple[int, bool]:
    """Take the first packet that waits; return it, and whether it may be dropped.

    Source: RFC 8289, 5.6.
    """
    ring = view_rows(state, state[RING], _count_places(state), WIDTH)
    place = state[HEAD] & _count_places(state) - 1
    item, came_ps = ring[place, ITEM], ring[place, CAME]
    state[HEAD] += 1
    state[HELD] -= ring[place, AMOUNT]
    state[BYTES] -= items[item, SIZE]
    if came_ps < now_ps:
        report_wait(out, 0, came_ps, now_ps)
    is_late = False
    if now_ps - came_ps < state[TARGET] or state[BYTES] <= state[MTU]:
        state[ABOVE] = 0
    elif state[ABOVE] == 0:
        state[ABOVE] = now_ps + state[INTERVAL]
    else:
        is_late = now_ps >= state[ABOVE]
    return item, is_late


@kernel
def _mark(state: Whole, items: Whole, item: int) -> bool:
    """Mark a packet that is to be dropped; return False if it is not capable of that."""
    if items[item, MARKS] & state[MARKING] == 0:
        return False
    items[item, MARKS] |= CONGESTION
    return True


@kernel
def _begin(state: Whole, items: Whole, item: int, now_ps: int, out: Whole) -> None:
    """Give a packet to the line, which is free."""
    if state[STAMPS]:
        items[item, SENT] = now_ps + state[LEAD]
    send(out, 0, item, transmit(state, (state[FREE], state[PART]), items[item, SIZE]))
