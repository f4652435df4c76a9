"""Two queues that are coupled: one for scalable senders, and one for all others.

Both are queues of one ring, as in controlled delay. Delays are those of the packets at their heads,
which nothing but an event changes. So updates of the base probability are made up for at the next
event, before it changes a queue.

Nothing is drawn: who is marked or dropped follows from sums of probabilities, as in the document.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, Boolean, Domain, Limit, element
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
    send,
)
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_part, view_rows
from qospec.engine.line import transmission
from qospec.engine.line.transmission import FREE, LEAD, PART, STAMPS, find_start, transmit
from qospec.engine.queue.controlled_delay import (
    CAME,
    EARLY,
    FIELDS,
    FIRST,
    HEAD,
    HELD,
    IN_BYTES,
    LIMIT,
    NO_PLACES,
    OVERFLOWS,
    PLACES,
    QUEUE_FIELDS,
    RING,
    TAIL,
    WAITS,
    WIDTH,
    append,
    finish,
    remove,
)
from qospec.engine.queue.proportional import (
    LONGEST_DELAY,
    ONE,
    PER_SECOND,
    Period,
    Target,
    count_gain,
    multiply_gain,
)
from qospec.protocol.marks import CODEPOINTS, CONGESTION, mark_congestion
from qospec.protocol.marks import MARKS as LAYOUT
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.contract import Contract

Gain = Annotated[Fraction, Domain("ratio", Fraction(1, 1_000), 10)]
Coupling = Annotated[int, Domain("integer", 1, 16)]
Threshold = Annotated[int, Domain("time", 0, LONGEST_PS)]
Ramp = Annotated[int, Domain("time", 0, PS_PER_S)]
Length = Annotated[int, Domain("integer", 0, 2**20)]

(AIM, UPDATE, ALPHA, BETA, COUPLING, MOST_CLASSIC, RAMP, RANGE, FEW, SHIFT, NEXT) = range(
    FIELDS, FIELDS + 11
)
"""Behind the fields of controlled delay: the target, the time between updates, what a ps adds to
the base probability that is above the target, and above the delay before; the factor of coupling;
from which probability on classic packets are dropped in place of marks; where the ramp of the other
queue begins and how long it is; how many packets of that are not marked by it; by how much it is
ahead of the classic queue; when the next update is."""
BASE, BEFORE, SUM_OF_CLASSIC, SUM_OF_SCALABLE, QUEUES = range(FIELDS + 11, FIELDS + 16)
"""The base probability, the delay at the last update, the sums of probabilities of both queues that
no mark or loss has used up yet, and the rows of the queues."""
CLASSIC, SCALABLE = QUEUES, QUEUES + QUEUE_FIELDS
"""The queues, by where their rows begin."""
OWN = QUEUES + 2 * QUEUE_FIELDS
IS_SCALABLE = LAYOUT["ecn"].put(0, CODEPOINTS.index("ect1"))
"""The bit of marks that ECT(1) and CE have."""
HALF_PLACES = PER_SECOND // 4
"""A probability is shortened by so many places, squared, and shortened by twice as many."""


@element(
    source="RFC 9332, 2.1 (coupling), A.1 (DualPI2), A.2 (overload); RFC 9331, 5.1 (ECT(1))",
    duty="queue",
    carries=("packet",),
)
@dataclass(frozen=True)
class Dualpi2(Element):
    """Queue packets of scalable and of classic senders apart for the line, with coupled signals.

    Packets with ECT(1) or CE have the queue of low latency, all others the classic one. With each
    `update` a base probability p rises by `alpha` for each second that the longest first packet has
    waited beyond the `target`, and by `beta` for each second that it has waited longer than at the
    last update. A classic packet is lost as `early` with the probability p^2, or marked if it is
    capable of ECN and p^2 is below 1 / `coupling`^2. One of low latency is marked with the greater
    of `coupling` p and that of a ramp, from 0 at a wait of `ramp_begins` to 1 after `ramp` more;
    once `coupling` p is 1, what is lost is added to the same sum as what is marked, as in the
    document, so that more than p^2 of them are lost. The queue goes first whose first packet has
    waited longer, that of low latency as if for `shift` more. What finds no room in both together
    is lost as `overflow`. Probabilities are summed up, and each time the sum is above 1 a packet is
    hit.

    The document does not say whether the packet that is sent counts as queued. Here it does: the
    ramp marks it if there are more than `unmarked` with it, by how long it has waited itself.

    Not modelled: a scheduler by weights (WRR), which the document names, too; random hits; senders
    of TCP with ECT(1), which `packets` alone can send.
    """

    limit: Limit
    """How much may wait in both queues together: packets or bytes."""
    target: Target = 15 * PS_PER_S // 1_000
    """How long classic packets are to wait."""
    update: Period = 16 * PS_PER_S // 1_000
    """How often the base probability is updated."""
    alpha: Gain = Fraction(16, 100)
    """How much a second beyond the target adds to it in each update."""
    beta: Gain = Fraction(32, 10)
    """How much a second more than at the last update adds to it."""
    coupling: Coupling = 2
    """The factor k: how many times the base probability marks in the queue of low latency."""
    ramp_begins: Threshold = 800 * PS_PER_S // 10**6
    """After which wait that queue begins to mark by itself."""
    ramp: Ramp = 400 * PS_PER_S // 10**6
    """How much longer until it marks all; 0: at once."""
    unmarked: Length = 1
    """How many packets may be in that queue without being marked by the ramp."""
    shift: Threshold = 30 * PS_PER_S // 1_000
    """By how much longer a classic packet must have waited to go first."""
    classic_ecn: Boolean = True
    """Whether classic packets that are capable of ECN are marked in place of early losses."""

    causes = ("overflow", "early")
    marks_written = ("ecn",)
    needs_line = True

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def keeps_order(self) -> bool:
        return False

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return mark_congestion(marks)

    def build_transition(self, setting: Setting) -> Transition:
        line, state = transmission.build_line(setting.clock), np.zeros(OWN, np.int64)
        state[: len(line)] = line
        state[LIMIT], state[IN_BYTES] = self.limit.amount, self.limit.unit == "byte"
        state[RING] = OWN
        state[AIM:BASE] = (
            self.target,
            self.update,
            count_gain(self.alpha),
            count_gain(self.beta),
            self.coupling,
            ONE // self.coupling**2 if self.classic_ecn else 0,
            self.ramp_begins,
            self.ramp,
            self.unmarked,
            self.shift,
            self.update,
        )
        return Transition(
            np.concatenate([state, np.zeros(WIDTH * PLACES, np.int64)]),
            _arrive,
            _wake,
            losses=tuple(("", cause) for cause in self.causes),
            queues=("",) if setting.watched else (),
            replenish=_replenish,
        )


def _replenish(state: Whole, lacking: int) -> Whole:
    ring = double_ring(state[OWN:], WIDTH, state[HEAD], state[TAIL])
    return np.concatenate([state[:OWN], ring])


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Let a packet wait, send or lose it. Source: RFC 9332, A.1, the enqueue."""
    if (state[TAIL] - state[HEAD]) * WIDTH == len(state) - OWN:
        return NO_PLACES
    _catch_up(state, now_ps)
    state[FREE], state[PART] = find_start(state, now_ps)
    _serve(state, items, now_ps, out)  # what begins in this ps has made room
    amount = items[item, SIZE] if state[IN_BYTES] else 1
    if state[FREE] > now_ps and state[HELD] + amount > state[LIMIT]:
        lose(out, OVERFLOWS, item)
    else:
        which = SCALABLE if items[item, MARKS] & IS_SCALABLE else CLASSIC
        append(state, items, view_part(state, which, QUEUE_FIELDS), item, now_ps)
        _serve(state, items, now_ps, out)
    finish(state, now_ps, out)
    return DONE


@kernel
def _wake(state: Whole, items: Whole, now_ps: int, out: Whole) -> int:
    """Go on if the line is free; see `engine.event.transition`."""
    _catch_up(state, now_ps)
    _serve(state, items, now_ps, out)
    finish(state, now_ps, out)
    return DONE


@kernel
def _find_wait(state: Whole, which: int, now_ps: int) -> int:
    """Return for how long the first packet of a queue has waited, or 0."""
    queue, places = view_part(state, which, QUEUE_FIELDS), (len(state) - OWN) // WIDTH
    if queue[WAITS] == 0:
        return 0
    ring = view_rows(state, OWN, places, WIDTH)
    return now_ps - ring[queue[FIRST] & places - 1, CAME]  # type: ignore[no-any-return]


@kernel
def _serve(state: Whole, items: Whole, now_ps: int, out: Whole) -> None:
    """Send the next packet that is not dropped, if the line is free. Source: RFC 9332, A.2."""
    while state[FREE] == now_ps:
        classic, scalable = (
            view_part(state, CLASSIC, QUEUE_FIELDS),
            view_part(state, SCALABLE, QUEUE_FIELDS),
        )
        if classic[WAITS] + scalable[WAITS] == 0:
            return
        lead_ps = _find_wait(state, SCALABLE, now_ps) + state[SHIFT]
        is_first = classic[WAITS] == 0 or lead_ps >= _find_wait(state, CLASSIC, now_ps)
        if scalable[WAITS] and is_first:
            waiting = scalable[WAITS]
            item, came_ps = remove(state, items, scalable, now_ps)
            is_lost = _signal_scalable(state, items, item, waiting, now_ps - came_ps)
        else:
            item, _ = remove(state, items, classic, now_ps)
            is_lost = _signal_classic(state, items, item)
        if is_lost:
            lose(out, EARLY, item)
            continue
        if state[STAMPS]:
            items[item, SENT] = now_ps + state[LEAD]
        send(out, 0, item, transmit(state, (state[FREE], state[PART]), items[item, SIZE]))


@kernel
def _signal_scalable(state: Whole, items: Whole, item: int, waiting: int, wait_ps: int) -> bool:
    """Mark a packet of low latency, or return that it is lost. Source: RFC 9332, A.2."""
    coupled = state[COUPLING] * state[BASE]
    if coupled >= ONE:  # overload
        if _recur(state, SUM_OF_SCALABLE, _square_probability(state[BASE])):
            return True
        is_marked = _recur(state, SUM_OF_SCALABLE, coupled)
    else:
        own = _follow_ramp(state, wait_ps) if waiting > state[FEW] else 0
        is_marked = _recur(state, SUM_OF_SCALABLE, max(own, coupled))
    if is_marked:
        items[item, MARKS] |= CONGESTION
    return False


@kernel
def _signal_classic(state: Whole, items: Whole, item: int) -> bool:
    """Mark a classic packet, or return that it is lost. Source: RFC 9332, A.1."""
    squared = _square_probability(state[BASE])
    if not _recur(state, SUM_OF_CLASSIC, squared):
        return False
    if items[item, MARKS] & CONGESTION == 0 or squared >= state[MOST_CLASSIC]:
        return True
    items[item, MARKS] |= CONGESTION
    return False


@kernel
def _recur(state: Whole, place: int, probability: int) -> bool:
    """Add a probability to a sum, and return whether it is above 1: then it is 1 less."""
    state[place] += probability
    if state[place] <= ONE:
        return False
    state[place] -= ONE
    return True


@kernel
def _square_probability(probability: int) -> int:
    """Return a probability times itself."""
    short = probability >> HALF_PLACES
    return short * short >> 2 * HALF_PLACES


@kernel
def _follow_ramp(state: Whole, wait_ps: int) -> int:
    """Return the probability of the ramp for a wait. Source: RFC 9332, A.1, the native AQM."""
    beyond_ps = wait_ps - state[RAMP]
    if wait_ps >= state[RAMP] + state[RANGE]:
        return ONE
    if beyond_ps <= 0:
        return 0
    # In two steps, since the product of a time and a probability overflows.
    half = PER_SECOND // 2
    high, rest = divmod(beyond_ps << half, state[RANGE])
    return (high << half) + (rest << half) // state[RANGE]  # type: ignore[no-any-return]


@kernel
def _catch_up(state: Whole, now_ps: int) -> None:
    """Make up for the updates before now; no queue has changed since the last event."""
    while state[NEXT] < now_ps:
        longest_ps = _find_wait(state, CLASSIC, state[NEXT])
        longest_ps = max(longest_ps, _find_wait(state, SCALABLE, state[NEXT]))
        longest_ps = min(longest_ps, LONGEST_DELAY)
        if longest_ps == 0 and state[BEFORE] == 0 and state[BASE] == 0:  # nothing changes
            state[NEXT] += (now_ps - state[NEXT] - 1) // state[UPDATE] * state[UPDATE]
        change = multiply_gain(state[ALPHA], longest_ps - state[AIM])
        change += multiply_gain(state[BETA], longest_ps - state[BEFORE])
        state[BASE] = min(max(0, state[BASE] + change), ONE)
        state[BEFORE] = longest_ps
        state[NEXT] += state[UPDATE]
