"""A queue that tells sources of ABR how congested it is.

What it tells is written into the cells that come, which their target sends back. What a cell waits
for is known on arrival, as of a `fifo`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Domain, Limit, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
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
    convert_rate,
)
from qospec.engine.event.transition import CONNECTION, FLAGS, Transition
from qospec.engine.kernel import kernel, view_part
from qospec.engine.line import transmission
from qospec.engine.line.guarantee import guarantee_line
from qospec.engine.queue.admission import CAUSES, OVERFLOW
from qospec.engine.queue.first_come import (
    HEAD,
    NO_PLACES,
    RING,
    TABLE,
    TAIL,
    WIDTH,
    arrive,
    build_fields,
    release_begun,
    with_more_places,
)
from qospec.protocol.atm import CELL_BYTES
from qospec.units import PS_PER_MS, PS_PER_S

if TYPE_CHECKING:
    from qospec.calculus.guarantee import Arrival, Guarantees
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

FEEDBACKS = ("explicit_rate", "relative_rate", "efci")
BY_RATE, BY_RM_CELL, BY_MARK = range(3)
Feedback = Annotated[
    Literal["explicit_rate", "relative_rate", "efci"], Domain("choice", choices=FEEDBACKS)
]
Watermark = Annotated[int | None, Domain("cells", 1, 2**31)]
"""A count of cells."""
Interval = Annotated[int, Domain("time", 10**6, PS_PER_S)]
"""A time in ps, from 1 us to 1 s."""
Share = Annotated[Fraction, Domain("ratio", Fraction(1, 100), 1)]
LOAD_BITS = 16
"""A load of 1 is 2 to the power of this."""
MOST_CAME = 2**62 >> LOAD_BITS
"""Of rates, with which a load fits int64."""
FULL = 1 << LOAD_BITS
"""The load up to which each connection is offered what the most of the last interval was. Above, it
would be what loads the line: the paper tolerates a tenth, with which a queue may grow for ever."""

(FEEDBACK, HIGH, LOW, IS_CONGESTED, TARGET, ONE_CELL, EVERY, ENDS_AT, TURN) = range(9)
"""What it is, and what it knows: whether more than `high` has waited since no more than `low` did;
the rate that it may fill, and that of one cell in an interval; when the interval ends, and its
number from 1 on."""
(CELLS, OTHERS, ACTIVE, LOAD, CAPACITY, FAIR, MOST, MOST_BEFORE, SEEN) = range(9, 18)
"""Of this interval: how many cells of ABR came, and how many others, and of how many connections;
of the last: its load, the rate that others left, and the fair share of it; the highest rate that
was offered in this one, and in the last. From SEEN on, by index: in which interval a cell came
last; 0 if its connection has sent no RM cell."""


@element(
    source="ATM Forum TM 4.1, 5.10.6 (a switch marks by EFCI, CI and NI, or an explicit rate), the"
    " rate by ERICA: Kalyanaraman, Jain, Fahmy, Goyal and Vandalore, IEEE/ACM Transactions on"
    " Networking 8 (2000), 87",
    duty="queue",
    carries=("cell",),
)
@dataclass(frozen=True)
class AbrQueue(Element):
    """Queue cells for the line, first come, first served, and tell sources of ABR of congestion.

    With `efci` and `relative_rate` it is congested from when more than `high` cells wait until no
    more than `low` do. `efci` marks all cells that come then, and their target reports it;
    `relative_rate` sets CI in the RM cells that come, and NI in those that come while more than
    `low` wait and it is not congested. `explicit_rate` goes by no watermark: in each interval it
    counts what comes, and of how many connections, and lowers the rate in RM cells to the greater
    of a fair share of its `target` and of what the connection may keep at this load. Cells that
    find no room are lost as `overflow`.

    Not modelled: marks in RM cells on their way back; connections with a weight, or with a minimum
    that is above the fair share; queues of single connections.
    """

    causes = (CAUSES[OVERFLOW],)
    needs_line = True

    limit: Limit
    """How much may wait: cells."""
    feedback: Feedback
    """How sources are told: marked cells, marked RM cells, or a rate in these."""
    high: Watermark = None
    """Above which number of cells that wait it is congested, of `efci` and `relative_rate`."""
    low: Watermark = None
    """Up to which number it is no more; by default `high`."""
    target: Share = Fraction(19, 20)
    """How much of its line it may fill, of `explicit_rate`."""
    every: Interval = PS_PER_MS
    """The length of an interval, of `explicit_rate`."""

    def __post_init__(self) -> None:
        if self.limit.unit == "packet":
            raise UnfitError("limit: cells wait here", "count them: `limit = 500 cell`")
        if self.feedback == "explicit_rate":
            return
        if self.high is None:
            raise UnfitError(
                f"high: `{self.feedback}` marks above a number of cells that wait",
                "write one, such as `high = 100 cell`",
            )
        if self.low is not None and self.low > self.high:
            raise UnfitError("low: it is above `high`", "write at most that, or leave it out")
        if self.high >= self.limit.amount:
            raise UnfitError("high: so many never wait", "write less than the `limit`")

    @property
    def idle_fields(self) -> frozenset[str]:
        by_rate = self.feedback == "explicit_rate"
        return frozenset({"high", "low"} if by_rate else {"target", "every"})

    @property
    def buffer(self) -> Buffer:
        return self.limit

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        return guarantee_line(clock, arriving[0], self.limit)

    def build_transition(self, setting: Setting) -> Transition:
        known = np.zeros(SEEN + setting.streams.indices, np.int64)
        assert setting.clock is not None  # noqa: S101 -- or there were no line
        target = convert_rate(self.target * setting.clock.bit_rate / (8 * CELL_BYTES))
        high = self.high or 0
        low = high if self.low is None else self.low
        known[: TURN + 1] = (
            FEEDBACKS.index(self.feedback),
            high,
            low,
            0,
            target,
            PS_PER_S * RATE_UNITS // self.every,
            self.every,
            self.every,
            1,
        )
        known[[LOAD, CAPACITY, FAIR, MOST, MOST_BEFORE]] = FULL, *[target] * 4
        line = transmission.build_line(setting.clock)
        return Transition(
            build_fields(line, self.limit, known),
            _arrive,
            losses=(("", self.causes[0]),),
            queues=("",) if setting.watched else (),
            replenish=lambda state, _lacking: with_more_places(state),
            within=COLUMNS_USED,
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Note in a cell what waits ahead of it, and queue it; see `engine.event.transition`."""
    if state[TAIL] - state[HEAD] == (len(state) - state[RING]) // WIDTH:
        return NO_PLACES
    release_begun(state, now_ps)
    known = view_part(state, state[TABLE], state[RING] - state[TABLE])
    flags = items[item, FLAGS]
    is_forward = flags & (IS_RM | IS_BACKWARD) == IS_RM
    if known[FEEDBACK] == BY_RATE:
        _count(known, items[item, CONNECTION], is_forward, now_ps)
        if is_forward:
            rate = _find_rate(known, items[item, CURRENT_RATE])
            items[item, EXPLICIT_RATE] = min(items[item, EXPLICIT_RATE], rate)
    else:
        waiting = state[TAIL] - state[HEAD]
        known[IS_CONGESTED] = waiting > known[LOW + (HIGH - LOW) * (1 - known[IS_CONGESTED])]
        if known[FEEDBACK] == BY_MARK:
            items[item, FLAGS] |= EFCI * known[IS_CONGESTED] * (flags & IS_RM == 0)
        elif is_forward and known[IS_CONGESTED]:
            items[item, FLAGS] |= CONGESTED
        elif is_forward and waiting > known[LOW]:
            items[item, FLAGS] |= NO_INCREASE
    return arrive(state, items, item, port, now_ps, out)


@kernel
def _count(known: Whole, connection: int, is_forward: bool, now_ps: int) -> None:  # noqa: FBT001
    """Count a cell that comes, behind what has ended by now."""
    if now_ps >= known[ENDS_AT]:
        missed = (now_ps - known[ENDS_AT]) // known[EVERY]
        _end_interval(known)
        if missed:
            _end_interval(known)  # in which nothing came
        known[ENDS_AT] += (1 + missed) * known[EVERY]
    seen = SEEN + connection
    if not (known[seen] or is_forward):
        known[OTHERS] += 1
        return
    known[CELLS] += 1
    if known[seen] != known[TURN]:
        known[seen] = known[TURN]
        known[ACTIVE] += 1


@kernel
def _end_interval(known: Whole) -> None:
    """Find the load of an interval, and the fair share of what others left; begin the next."""
    known[CAPACITY] = max(known[TARGET] - known[OTHERS] * known[ONE_CELL], RATE_UNITS)
    came = min(known[CELLS] * known[ONE_CELL], MOST_CAME)
    known[LOAD] = max((came << LOAD_BITS) // known[CAPACITY], 1)
    known[FAIR] = known[CAPACITY] // max(known[ACTIVE], 1)
    known[MOST_BEFORE], known[MOST] = known[MOST], known[FAIR]
    known[CELLS], known[OTHERS], known[ACTIVE] = 0, 0, 0
    known[TURN] += 1


@kernel
def _find_rate(known: Whole, current: int) -> int:
    """Return the rate that a connection with this rate is offered."""
    rate = max(known[FAIR], (current << LOAD_BITS) // known[LOAD])
    if known[LOAD] <= FULL:
        rate = max(rate, known[MOST_BEFORE])
    rate = min(rate, known[CAPACITY])
    known[MOST] = max(known[MOST], rate)
    if rate > known[FAIR] > current:
        return known[FAIR]  # type: ignore[no-any-return]
    return rate  # type: ignore[no-any-return]
