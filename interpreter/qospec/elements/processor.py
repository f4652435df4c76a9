"""A forwarding processor: it processes one packet after the other, unless interrupted."""

from __future__ import annotations

import functools
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.calculus.guarantee import (
    Arrival,
    Costs,
    Guarantee,
    Guarantees,
    Server,
    compute_costs,
    find_least_known,
)
from qospec.calculus.service import RateLatency, bound_backlog, bound_delay_ps
from qospec.catalogue.kinds import Boolean, Domain, Limit, Time, TimeBySize, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.curve import find_time_ps, to_curve
from qospec.engine.element import Element, Loss, Step
from qospec.engine.event.transition import (
    DONE,
    IN_SERVICE,
    SIZE,
    Transition,
    lose,
    report_wait,
    send,
)
from qospec.engine.items.batch import FOREVER_PS, TooLateError, join_batches
from qospec.engine.kernel import get_function, kernel
from qospec.engine.processor.interruptions import Interruptions, Periodic, RandomInterruptions
from qospec.engine.processor.service import (
    FREE,
    LEFT,
    OVERFLOW,
    RESTART,
    Lists,
    Outcomes,
    build_idle_state,
    replenish,
    serve,
    serve_batch,
)

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer, Curve
    from qospec.engine.arrays import Marks, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock
    from qospec.protocol.streams import KindName

Ports = Annotated[int, Domain("integer", 1, 255)]
Extra = Annotated[int, Domain("time", 0, 10**11)]
PerByte = Annotated[int, Domain("time", 0, 10**7)]
"""Up to 10 us, so that no packet takes a second."""
PerSegment = Annotated[int, Domain("time", 0, 10**8)]
Segment = Annotated[int, Domain("data", 64, 65_535)]
Headroom = Annotated[int, Domain("data", 0, 4_096)]
Interval = Annotated[int, Domain("time", 10**8, 10**15)]
"""At least 100 us, so that a packet sees few interruptions."""
Lengths = Annotated[
    Literal["constant", "uniform", "exponential"],
    Domain("choice", choices=("constant", "uniform", "exponential")),
]
Phase = Annotated[int | None, Domain("time", 0, 10**15)]

MIN_SHARE = Fraction(1, 10)
"""The minimum share of its time that interruptions leave a processor."""


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        fields: See `engine.processor.service`.
        interruptions: When it is interrupted.
        watched: Whether to report which packets waited, and when it was busy.
    """

    fields: Whole
    interruptions: Interruptions
    watched: bool


@element(
    source="RFC 1812, 5.2 (forwarding); RFC 2544, 26.5 and 26.6 (system recovery, reset)",
    carries=("packet",),
    renamed={
        "ways": "ports",
        "prefix": "headroom",
        "per_change": "per_size_change",
        "hiccup": "random_interruption",
        "hiccup_every": "random_interruption_every",
        "hiccup_lengths": "random_interruption_lengths",
        "reboot": "restart_time",
        "patience": "watchdog_timeout",
    },
)
@dataclass(frozen=True)
class Processor(Element):
    """Process packets one at a time, each for a time that depends on it; first come, first served.

    The limit counts what waits, not what is being processed. A packet that is begun in the same ps
    in which another arrives has made room for it. Packets that enter by `entry[k]` leave by
    `exit[k]`; of those that arrive in the same ps, the lower input goes first. Bytes are those of
    the IP packet.

    An interruption suspends the processing, and precedes a packet that could begin in the same ps.
    Interruptions that are due during another wait for its end.

    A processor restarts when a test tells it to, or once it has been busy for longer than
    `watchdog_timeout` without a pause. All packets that are not done by then are lost, and so are
    all that arrive until it is up again. A restart during a restart begins it anew.

    Not modelled: several parallel processors; what else a restart may lose, such as routes.
    """

    per_packet: TimeBySize
    """The time for each packet, or measured times by size: between two sizes it is on the line
    between theirs, beyond the least and the greatest that of the least and the greatest."""
    limit: Limit
    """How much may wait, in packets or bytes."""
    ports: Ports = 1
    """Number of inputs, and of outputs."""
    shared: Boolean = True
    """Whether the limit is for all inputs together or for each."""
    per_byte: PerByte = 0
    """The time for each byte, as for copying."""
    segment: Segment = 65_535
    """Size of one of its buffers; a packet occupies as many as it needs."""
    headroom: Headroom = 0
    """Bytes left free ahead of a packet in its first segment, as for the header of its frame."""
    per_segment: PerSegment = 0
    """The time for each segment of a packet except the first."""
    per_size_change: Extra = 0
    """The extra time for a packet whose size differs from the one before it."""
    housekeeping: Time = 0
    """Length of an interruption that occurs once a period; 0: there are none."""
    housekeeping_every: Interval = 10**10
    """The period of `housekeeping`."""
    housekeeping_phase: Phase = None
    """When the first begins; by default at random within a period."""
    random_interruption: Time = 0
    """Mean length of interruptions that occur at random; 0: there are none."""
    random_interruption_every: Interval = 10**10
    """Mean interval between these; exponentially distributed."""
    random_interruption_lengths: Lengths = "constant"
    """Distribution of their lengths; a uniform one begins at 0."""
    restart_time: Time = 0
    """How long a restart takes; 0: it cannot restart."""
    watchdog_timeout: Time = 0
    """How long it may be busy without a pause before a watchdog restarts it; 0: no watchdog."""

    causes = ("overflow", "reboot")
    holds = True
    serves = True

    def __post_init__(self) -> None:
        left = 1 - Fraction(self.housekeeping, self.housekeeping_every)
        left -= Fraction(self.random_interruption, self.random_interruption_every)
        if left < MIN_SHARE:
            raise ValueError("interruptions leave the processor less than 10 % of its time")

    @property
    def idle_fields(self) -> frozenset[str]:
        unused = {"segment"} if not self.per_segment else set()
        for name in ("housekeeping", "random_interruption"):
            if not getattr(self, name):
                unused |= {f"{name}_{field}" for field in ("every", "phase", "lengths")}
        return frozenset(unused & vars(self).keys())

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(f"entry[{number}]" for number in range(self.ports))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(f"exit[{number}]" for number in range(self.ports))

    def predict_output(self, number: int, *, kind: KindName) -> int:
        return number

    @property
    def buffer(self) -> Buffer:
        return self.limit

    @property
    def down_ps(self) -> int:
        return self.restart_time

    @property
    def _curve(self) -> Curve:
        return to_curve(self.per_packet)

    def find_lookahead_ps(self, clock: Clock | None) -> int:
        return self._curve.least_ps

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        """Return what a server guarantees that loses a share of its time, a period at once.

        A restart loses what waits and what arrives, and so delays nothing.
        """
        offered = functools.reduce(Arrival.add, arriving)
        if not offered.sizes:
            return Guarantees((Guarantee(0, 0),) * self.ports)
        if self.random_interruption:
            none = Guarantee(self._curve.least_ps, None, why="its interruptions are random")
            return Guarantees((none,) * self.ports)
        share = 1 - Fraction(self.housekeeping, self.housekeeping_every)
        service = (RateLatency(share, Fraction(self.housekeeping)),)
        longest_ps = self._costs(offered.sizes).longest_ps
        most = bound_delay_ps(offered.measure_work(self._costs), service)
        queues_there = 1 if self.shared else self.ports
        fitting = self.limit.amount // (offered.sizes[0] if self.limit.unit == "byte" else 1)
        full_ps = (fitting * queues_there + 1) * longest_ps / share + self.housekeeping
        most_ps = floor(full_ps if most is None else min(most, full_ps))
        behind = bound_backlog(
            offered.items, (RateLatency(share / longest_ps, service[0].latency_ps),)
        )
        waiting = fitting * queues_there
        came = offered.items.count_within(most_ps - int(self._curve.least_ps))
        waiting = floor(find_least_known(waiting, behind, came) or 0)
        least_ps, server = int(self._curve.least_ps), Server(service, self._costs, shared=True)
        return Guarantees((Guarantee(least_ps, most_ps, waiting, server=server),) * self.ports)

    @functools.lru_cache(maxsize=256)  # noqa: B019 -- elements are small, and equal ones the same
    def _costs(self, sizes: tuple[int, ...]) -> Costs:
        """Return the longest times for packets of some sizes, behind those of others."""
        points = np.array(self._curve.points)

        def compute_longest_ps(size_bytes: int) -> int:
            segments = (size_bytes + self.headroom - 1) // self.segment
            time_ps = (
                int(get_function(find_time_ps)(points, size_bytes)) + size_bytes * self.per_byte
            )
            return time_ps + segments * self.per_segment + self.per_size_change

        return compute_costs(sizes, compute_longest_ps, Fraction(1))

    def start(self, setting: Setting) -> State:
        periodic = Periodic(self.housekeeping, self.housekeeping_every, self.housekeeping_phase)
        random = RandomInterruptions(
            self.random_interruption,
            self.random_interruption_every,
            self.random_interruption_lengths,
        )
        interruptions = Interruptions(periodic, random, setting.draws)
        queues = 1 if self.shared else self.ports
        if setting.restarts_ps and not self.restart_time:
            raise ValueError("a processor without a restart time cannot restart")
        lists = Lists(queues, setting.restarts_ps, self._curve)
        fields = build_idle_state(self._terms, lists, interruptions)
        return State(fields, interruptions, setting.watched)

    @property
    def _terms(self) -> tuple[int, ...]:
        """Return the fields of `engine.processor.service` that are parameters."""
        per_segment = (self.segment, self.headroom, self.per_segment)
        limit = (self.limit.amount, self.limit.unit == "byte")
        watched = self.restart_time and self.watchdog_timeout
        restarts = (self.watchdog_timeout if watched else FOREVER_PS, self.restart_time)
        return (self.per_byte, *per_segment, self.per_size_change, *limit, *restarts)

    def _bound_time_ps(self, size_bytes: int) -> int:
        """Return how long a packet takes at most that is no longer."""
        segments = (size_bytes + self.headroom - 1) // self.segment
        each_ps = self._curve.most_ps + self.per_size_change
        return each_ps + size_bytes * self.per_byte + segments * self.per_segment

    def build_transition(self, setting: Setting) -> Transition:
        state = self.start(setting)
        return Transition(
            state.fields,
            _arrive,
            losses=(("", "overflow"), ("", "reboot")),
            queues=("", IN_SERVICE) if setting.watched else (),
            replenish=lambda fields, lacking: replenish(state.interruptions, fields, -lacking),
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        batch, port = _merge_inputs(arrivals)
        losses: tuple[Loss, ...] = ()
        waits = services = None
        if batch.count:
            self._check(state, batch)
            outcomes = self._compute_outcomes(state, batch, port)
            if state.watched:
                waited = outcomes.began_ps > batch.at_ps
                waits = {"": (batch.at_ps[waited], outcomes.began_ps[waited])}
                served = outcomes.left_ps > outcomes.began_ps
                services = outcomes.began_ps[served], outcomes.left_ps[served]
            batch, port, losses = _separate_lost(batch, port, outcomes)
        departures = tuple(_select_port(batch, port, number) for number in range(self.ports))
        next_ps = min(max(until_ps, int(state.fields[LEFT])) + self._curve.least_ps, FOREVER_PS)
        return Step(departures, (next_ps,) * self.ports, losses, waits, services=services)

    def _check(self, state: State, batch: Batch) -> None:
        """Raise TooLateError if times might exceed int64, by a generous upper bound."""
        latest_ps = max(int(batch.at_ps[-1]), int(state.fields[FREE]))
        packets = min(batch.count, self.ports * self.limit.amount + 1)
        work_ps = packets * self._bound_time_ps(int(batch.size_bytes.max()))
        if latest_ps + work_ps / MIN_SHARE + self.restart_time >= FOREVER_PS:
            raise TooLateError

    def _compute_outcomes(self, state: State, batch: Batch, port: Marks) -> Outcomes:
        """Return the outcome for each packet, given the input by which it arrived."""
        left_ps, began_ps = np.empty(batch.count, np.int64), np.empty(batch.count, np.int64)
        outcomes = Outcomes(port, left_ps, np.empty(batch.count, np.uint8), began_ps)
        done, lacking = serve_batch(batch, 0, state.fields, outcomes)
        while lacking:
            state.fields = replenish(state.interruptions, state.fields, lacking)
            done, lacking = serve_batch(batch, done, state.fields, outcomes)
        return outcomes


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet once it has been processed, or lose it; see `engine.event.transition`."""
    cause, begins_ps, done_ps = serve(state, items[item, SIZE], port, now_ps)
    if cause < 0:
        return -cause
    if begins_ps > now_ps:
        report_wait(out, 0, now_ps, begins_ps)
    if done_ps > begins_ps:
        report_wait(out, 1, begins_ps, done_ps)
    if cause:
        lose(out, cause - OVERFLOW, item)
    else:
        send(out, port, item, done_ps)
    return DONE


def _separate_lost(
    batch: Batch, port: Marks, outcomes: Outcomes
) -> tuple[Batch, Marks, tuple[Loss, ...]]:
    """Return the packets that leave, their outputs, and the losses, as they came."""
    left, cause = batch.with_times(outcomes.left_ps), outcomes.cause
    if not cause.any():
        return left, port, ()
    names = {OVERFLOW: "overflow", RESTART: "reboot"}
    lost = ((name, batch.select(cause == number)) for number, name in names.items())
    losses = tuple(Loss(name, of) for name, of in lost if of.count)
    return left.select(cause == 0), port[cause == 0], losses


def _merge_inputs(arrivals: tuple[Batch, ...]) -> tuple[Batch, Marks]:
    """Merge the arrivals of all inputs by time; return them, and the input of each."""
    port = np.repeat(np.arange(len(arrivals)), [batch.count for batch in arrivals]).astype(np.uint8)
    together = join_batches(*arrivals)
    if any(batch.count == together.count for batch in arrivals):
        return together, port
    order = together.at_ps.argsort(kind="stable")
    return together.select(order), port[order]


def _select_port(batch: Batch, port: Marks, number: int) -> Batch:
    """Return the packets that leave by one output."""
    mine = port == number
    return batch if mine.all() else batch.select(mine)
