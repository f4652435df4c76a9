"""A queue that drops arrivals by how long they would wait: a proportional integral controller.

The delay that it controls is that of a packet that would come then, which follows from when the
line is free: it is what waits, divided by the rate, exactly. So the updates of the probability are
made up for as packets arrive, and nothing happens in between.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import LONGEST_PS, OF_PACKETS, Boolean, Domain, Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import Transition
from qospec.engine.kernel import kernel, link_kernel, view_part
from qospec.engine.line import transmission
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.line.transmission import FREE
from qospec.engine.queue.admission import (
    ADMITTED,
    CAUSES,
    CERTAIN,
    EARLY,
    MARKED,
    OVERFLOW,
)
from qospec.engine.queue.drop_policy import BLOCK, RandomDraws
from qospec.engine.queue.first_come import (
    DRAWN,
    DRAWS,
    HELD,
    LIMIT,
    NO_DRAWS,
    NO_PLACES,
    PLACES,
    RING,
    START,
    TABLE,
    WIDTH,
    arrive,
    measure_held,
    with_more_places,
)
from qospec.engine.queue.proportional import (
    LONGEST_DELAY,
    ONE,
    Period,
    Target,
    count_gain,
    multiply_gain,
)
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
    from qospec.engine.queue.admission import Item

Burst = Annotated[int, Domain("time", 0, LONGEST_PS)]
Gain = Annotated[Fraction, Domain("ratio", Fraction(1, 1_000), 10)]
Typical = Annotated[int, Domain("data", 1, LARGEST_PACKET_BYTES, layers=OF_PACKETS)]

MOST_SHIFT = 11
"""A change is divided by 2 if the probability is below 1/10, by 8 below 1/100, … and 2,048 at most.
"""

(TARGET, UPDATE, ALPHA, BETA, FEW, MOST_BURST, MARKING, NEXT) = range(8)
"""What it knows: the target, the time between updates, what a ps adds to the probability that is
above the target, and above the delay before; so many bytes may always wait; the longest burst;
which bits of marks tell that a packet may be marked; when the next update is."""
PROBABILITY, ACCUMULATED, BEFORE, BURST, FIELDS = range(8, 13)
"""The probability, that of the packets since the last loss together, the delay at the last update,
and how long a burst may still last."""


@element(
    source="RFC 8033, 4 (PIE), 5.1 (ECN), 5.4 (derandomization), 5.5 (cap of the adjustment);"
    " RFC 3168, 5",
    duty="queue",
    carries=("packet",),
)
@dataclass(frozen=True)
class Pie(Element):
    """Queue packets for the line, first come, first served; drop arrivals by a probability.

    With each `update` the probability rises by `alpha` for each second that a packet would wait
    beyond the `target`, and by `beta` for each second that it would wait longer than at the last
    update; by less while it is small. A packet that is dropped by it is lost as `early`, or with
    `ecn`, if it is capable of it and the probability is below 10 %, sent with CE. The first `burst`
    is not dropped, and nothing is while no more than two `typical` packets wait. A packet that
    finds no room is lost as `overflow`.

    Not modelled: an estimate of the rate at which packets leave, which is known; probabilities by
    size; switching it off while the queue is short (5.3).
    """

    limit: Limit
    """How much may wait: packets or bytes."""
    target: Target = 15 * PS_PER_S // 1_000
    """How long packets are to wait."""
    update: Period = 15 * PS_PER_S // 1_000
    """How often the probability is updated."""
    alpha: Gain = Fraction(1, 8)
    """How much a second beyond the target adds to the probability in each update."""
    beta: Gain = Fraction(5, 4)
    """How much a second more than at the last update adds to it."""
    burst: Burst = 150 * PS_PER_S // 1_000
    """How long a queue that was short may be long."""
    typical: Typical = 1_024
    """The mean size of packets."""
    ecn: Boolean = False
    """Whether packets that are capable of ECN are marked, with CE, in place of early drops."""

    causes = ("overflow", "early")
    answers_at_once = True
    needs_line = True

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def marks_written(self) -> tuple[str, ...]:
        return ("ecn",) if self.ecn else ()

    def predict_marks(self, marks: int, contract: Contract) -> tuple[int, ...]:
        return mark_congestion(marks) if self.ecn else (marks,)

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0], self.limit)

    def build_transition(self, setting: Setting) -> Transition:
        draws = RandomDraws(setting.draws.open_stream(), np.empty(0, np.int32))
        marking = CONGESTION if self.ecn else 0
        pie = np.zeros(FIELDS, np.int64)
        pie[:PROBABILITY] = (
            self.target,
            self.update,
            count_gain(self.alpha),
            count_gain(self.beta),
            2 * self.typical,
            self.burst,
            marking,
            self.update,
        )
        pie[BURST] = self.burst
        places = [START, START + FIELDS, START + FIELDS + BLOCK]
        own = [self.limit.amount, self.limit.unit == "byte", 0, 0, 0, 0, *places]
        line, ring = transmission.build_line(setting.clock), np.zeros(WIDTH * PLACES, np.int64)

        def replenish(state: Whole, lacking: int) -> Whole:
            if lacking == NO_PLACES:
                return with_more_places(state)
            state[state[DRAWS] : state[RING]] = draws.take(BLOCK)
            state[DRAWN] = 0
            return state

        return Transition(
            np.concatenate([line, own, pie, draws.take(BLOCK), ring], dtype=np.int64),
            _arrive,
            losses=tuple(("", cause) for cause in CAUSES[OVERFLOW:]),
            queues=("",) if setting.watched else (),
            replenish=replenish,
        )


@kernel
def _decide_by_pie(state: Whole, arrival: Item, waits: bool) -> int:  # noqa: FBT001
    """Decide about an arrival; see `engine.queue.first_come`. Source: RFC 8033, 4.1, appendix A."""
    if state[DRAWN] == state[RING] - state[DRAWS]:
        return -NO_DRAWS
    marks, amount, now_ps, _ = arrival
    pie, draw = view_part(state, state[TABLE], FIELDS), state[state[DRAWS] + state[DRAWN]]
    state[DRAWN] += 1
    _make_up_updates(pie, state[FREE], now_ps)
    if waits and measure_held(state) + amount > state[LIMIT]:
        pie[ACCUMULATED] = 0
        return OVERFLOW
    if pie[BURST] > 0 or not _is_early(pie, state[HELD], draw):
        return ADMITTED
    pie[ACCUMULATED] = 0
    is_marked = marks & pie[MARKING] != 0 and 10 * pie[PROBABILITY] < ONE
    return MARKED if is_marked else EARLY


@kernel
def _is_early(pie: Whole, held_bytes: int, draw: int) -> bool:
    """Return whether a packet is to be dropped. Source: RFC 8033, 4.1 and 5.4."""
    is_calm = 2 * pie[BEFORE] < pie[TARGET] and 5 * pie[PROBABILITY] < ONE
    if is_calm or held_bytes <= pie[FEW]:
        return False
    if pie[PROBABILITY] == 0:
        pie[ACCUMULATED] = 0
    pie[ACCUMULATED] += pie[PROBABILITY]
    if 100 * pie[ACCUMULATED] < 85 * ONE:
        return False
    if 10 * pie[ACCUMULATED] >= 85 * ONE:
        return True
    is_drawn = draw * (ONE // CERTAIN) < pie[PROBABILITY]
    if is_drawn:
        pie[ACCUMULATED] = 0
    return is_drawn  # type: ignore[no-any-return]


@kernel
def _make_up_updates(pie: Whole, free_ps: int, now_ps: int) -> None:
    """Make up for the updates before now, given when the line is free."""
    while pie[NEXT] < now_ps:
        delay_ps = min(max(0, free_ps - pie[NEXT]), LONGEST_DELAY)
        at_rest = delay_ps == 0 and pie[BEFORE] == 0 and pie[PROBABILITY] == 0
        if at_rest and pie[BURST] == pie[MOST_BURST]:  # nothing changes: one of all is enough
            pie[NEXT] += (now_ps - pie[NEXT] - 1) // pie[UPDATE] * pie[UPDATE]
        _update(pie, delay_ps)
        pie[NEXT] += pie[UPDATE]


@kernel
def _update(pie: Whole, delay_ps: int) -> None:
    """Update the probability and what is left of a burst. Source: RFC 8033, 4.2, 4.4 and 5.5."""
    before_ps, probability = pie[BEFORE], pie[PROBABILITY]
    change = multiply_gain(pie[ALPHA], delay_ps - pie[TARGET])
    change += multiply_gain(pie[BETA], delay_ps - before_ps)
    below, shift = 10, -1
    while shift < MOST_SHIFT and below * probability < ONE:
        below, shift = 10 * below, shift + 2
    change >>= max(0, shift)
    if 10 * probability >= ONE:
        change = min(change, ONE // 50)
    probability += change
    if delay_ps == 0 and before_ps == 0:
        probability = probability * 49 // 50
    probability = min(max(0, probability), ONE)
    pie[BURST] = max(0, pie[BURST] - pie[UPDATE])
    if probability == 0 and 2 * max(delay_ps, before_ps) < pie[TARGET]:
        pie[BURST] = pie[MOST_BURST]
    pie[BEFORE], pie[PROBABILITY] = delay_ps, probability


_arrive = link_kernel(arrive, "pie", {"decide": _decide_by_pie})
