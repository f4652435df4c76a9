"""A queue that drops at its head: controlled delay.

A packet's fate is decided when its turn comes, by how long it has waited. So there is no loop over
batches: an item that arrives does not say when it leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import DONE, SIZE, lose
from qospec.engine.kernel import kernel, view_part
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.line.transmission import FREE, PART, find_start
from qospec.engine.queue.controlled_delay import (
    FIELDS,
    HELD,
    IN_BYTES,
    LIMIT,
    OVERFLOWS,
    QUEUE_FIELDS,
    WAITING,
    ControlledDelay,
    append,
    find_lacking,
    finish,
    send_first,
)

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival, Guarantees
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.event.transition import Transition
    from qospec.engine.line.clock import Clock


@element(
    source="RFC 8289, 5 (CoDel); RFC 8290, 4.2 (marks); RFC 3168, 5 (ECN)",
    duty="queue",
    carries=("packet",),
)
@dataclass(frozen=True)
class Codel(ControlledDelay):
    """Queue packets for the line, first come, first served; drop the first if all wait too long.

    Once all packets of an `interval` have waited for at least the `target`, the next is lost as
    `early` when its turn comes, then one after interval / sqrt(2), interval / sqrt(3) and so on,
    until one has waited less, or no more than an `mtu` waits behind it. If it has to drop again
    within 16 intervals, it does so as often as it did at last. A packet that finds no room is lost
    as `overflow` on arrival. With `ecn` a packet that is capable of it is sent with CE instead of
    being dropped, and counts as one that was.
    """

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0], self.limit)

    def build_transition(self, setting: Setting) -> Transition:
        queue = np.zeros((1, QUEUE_FIELDS), np.int64)
        return self.assemble_transition(setting, (_arrive, _wake), (), queue)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet at once, let it wait or lose it; see `engine.event.transition`."""
    if find_lacking(state) != DONE:
        return find_lacking(state)
    state[FREE], state[PART] = find_start(state, now_ps)
    queue = view_part(state, FIELDS, QUEUE_FIELDS)
    if state[FREE] == now_ps and state[WAITING]:
        send_first(state, items, queue, now_ps, out)  # what begins in this ps has made room
    amount = items[item, SIZE] if state[IN_BYTES] else 1
    if state[FREE] == now_ps:
        append(state, items, queue, item, now_ps)
        send_first(state, items, queue, now_ps, out)
    elif state[HELD] + amount > state[LIMIT]:
        lose(out, OVERFLOWS, item)
    else:
        append(state, items, queue, item, now_ps)
    finish(state, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Go on with what waits if the line is free; see `engine.event.transition`."""
    if find_lacking(state) != DONE:
        return find_lacking(state)
    if state[FREE] == now_ps and state[WAITING]:
        send_first(state, items, view_part(state, FIELDS, QUEUE_FIELDS), now_ps, out)
    finish(state, now_ps, out)
    return DONE
