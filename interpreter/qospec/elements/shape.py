"""A shaper: packets wait until they conform to a token bucket."""

from __future__ import annotations

import functools
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.guarantee import (
    Arrival,
    Costs,
    Guarantee,
    Guarantees,
    Server,
    compute_costs,
    find_least_known,
)
from qospec.calculus.service import RateLatency
from qospec.catalogue.kinds import LONGEST_PS, Domain, Limit, UnfitError, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, report_wait, send
from qospec.engine.items.holding import (
    OWN,
    has_place,
    has_room,
    hold,
    let_go,
    make_holding,
    with_more_places,
)
from qospec.engine.kernel import kernel, view_part
from qospec.engine.meter import token_bucket
from qospec.engine.meter.meter import Metering
from qospec.engine.meter.token_bucket import (
    FIELDS,
    FULL,
    FULL_PART,
    TOO_LARGE,
    Bucket,
    BucketSize,
    TokenRate,
    compute_wait_ps,
    cost,
    fill,
    refuse,
    take,
)
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

Interval = Annotated[int, Domain("time", 0, LONGEST_PS)]

NOW, REFILL, BUCKET = OWN, OWN + 1, OWN + 2
"""Its own fields: up to when the bucket is filled, by when the last packet has left; how often it
is, or 0 if all the time; the bucket."""

KEPT, TOO_LONG, NO_ROOM, NO_PLACES = 0, 1, 2, 3
"""The outcome of a packet: it leaves, it is lost for one of two causes, or it is to be tried again
with a larger ring."""
CAUSES = ("policed", "overflow")
"""For TOO_LONG and NO_ROOM."""


@functools.lru_cache(maxsize=256)
def _costs(bucket: Bucket, sizes: tuple[int, ...]) -> Costs:
    """Return how long the tokens of packets take to accrue."""
    return compute_costs(sizes, bucket.count_tokens, bucket.token_ps)


@element(
    source="RFC 2475, 2.3.3.3 (shapers); RFC 3290, 7.1.2 (non-work-conserving) and Appendix A",
    carries=("packet",),
    abbreviations={"burst_size": "burst"},
)
@dataclass(frozen=True)
class Shape(Metering):
    """Delay packets until they conform to a rate and a burst; drop what finds no room to wait.

    A bucket of `burst`, full at first, gains `rate`. A packet leaves as soon as all before it
    have left and there are tokens for all of it. Packets of all connections wait in one queue,
    first in, first out. A packet that is larger than the bucket never conforms and is dropped.

    With `refill` the tokens of that time come all at once at its end, as in shapers of routers: its
    tokens are the committed burst, Bc, the time Tc, and what the bucket holds besides Be. What
    finds no room in the bucket then is lost. Times count from the beginning of the trial.
    """

    rate: TokenRate
    """Rate of tokens: bits of IP packets, `@ip`, of the frames in which they leave, `@frame`, of
    all that these take of a line, `@line`; or packets."""
    burst_size: BucketSize
    """Maximum number of tokens, counted likewise."""
    limit: Limit
    """How much may wait, in packets or bytes."""
    refill: Interval = 0
    """How often tokens come, those of so much time at once, Tc; 0: all the time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        bucket = self.token_bucket
        if self.refill > bucket.size.amount * bucket.token_ps:
            raise UnfitError(
                "burst: it has no room for the tokens of `refill`",
                "write a longer `burst`, of at least Bc, or a shorter `refill`",
            )

    answers_at_once = True
    causes = ("overflow", "policed")
    holds = True
    counted_frames = "leaving"

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        return (self.make_bucket("rate", self.rate, "burst", self.burst_size),)

    @property
    def buffer(self) -> Buffer:
        return self.limit

    def guarantee_service(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees | None:
        """Return how long it holds packets, and the bucket that what leaves keeps within.

        A shaper serves its own bucket: Le Boudec and Thiran, 1.5 and 1.7.4. What is
        owed at the end of a ps, by rounding down when a packet leaves, is less than a ps's worth.
        A packet that waits has come within the longest time that one waits. Tokens that come at
        once are late by less than `refill`, and none are lost while a packet waits if there is
        room for them beside those of the largest one; else nothing is known.
        """
        (offered,) = arriving
        if not offered.sizes:
            return Guarantees((Guarantee(0, 0),))
        bucket, costs = self.token_bucket, _costs(self.token_bucket, offered.sizes)
        saved_ps = bucket.size.amount * bucket.token_ps - self.refill
        if self.refill and saved_ps < costs.longest_ps:  # the first may wait while tokens are lost
            return super().guarantee_service(arriving, clock, limits)
        in_bytes = self.limit.unit == "byte"
        each_ps = costs.dearest_ps if in_bytes else min(costs.longest_ps, saved_ps)
        held_ps = self.limit.amount * each_ps + self.refill + 1
        excess_ps = offered.measure_work(functools.partial(_costs, bucket)).find_excess()
        if excess_ps is not None:
            held_ps = min(held_ps, max(excess_ps - saved_ps, Fraction(0)))
        most_ps = floor(held_ps)
        waiting = find_least_known(held_ps / costs.shortest_ps, offered.items.count_within(most_ps))
        assert waiting is not None  # noqa: S101 -- the first is known
        service = (RateLatency(latency_ps=-saved_ps),)
        server = Server(service, functools.partial(_costs, bucket), saves=True)
        leaves = bucket.bound_passing(offered.sizes)
        return Guarantees((Guarantee(0, most_ps, floor(waiting), server=server),), leaves)

    def build_transition(self, setting: Setting) -> Transition:
        fields = make_holding(self.limit, np.zeros(2 + FIELDS, np.int64))
        fields[NOW] = -1  # nothing has left yet, and something may at 0
        fields[REFILL] = self.refill
        fields[BUCKET : BUCKET + token_bucket.PRICES] = token_bucket.build_full_bucket(
            self.token_bucket
        )
        return Transition(
            fields,
            _arrive,
            losses=tuple(("", cause) for cause in CAUSES),
            queues=("",) if setting.watched else (),
            replenish=_replenish,
        )


def _replenish(fields: Whole, lacking: int) -> Whole:
    return with_more_places(fields) if lacking == NO_PLACES else refuse(fields, lacking)


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet once it conforms, or lose it; see `engine.event.transition`."""
    if items[item, SIZE] > LARGEST_PACKET_BYTES:
        return TOO_LARGE
    outcome, leaves_ps = _shape(state, items[item, SIZE], now_ps)
    if outcome == NO_PLACES:
        return NO_PLACES
    if outcome != KEPT:
        lose(out, outcome - TOO_LONG, item)
        return DONE
    if leaves_ps > now_ps:
        report_wait(out, 0, now_ps, leaves_ps)
    send(out, 0, item, leaves_ps)
    return DONE


@kernel
def _shape(state: Whole, size_bytes: int, now_ps: int) -> tuple[int, int]:
    """Return the outcome of a packet that arrives now, and when it leaves or is lost."""
    bucket = view_part(state, BUCKET, FIELDS)
    if not has_place(state):
        return NO_PLACES, now_ps
    let_go(state, now_ps)
    if now_ps > state[NOW]:
        fill(bucket, _measure_accrued(state, now_ps), 0)
        state[NOW] = now_ps
    price = cost(bucket, size_bytes)
    if price > (bucket[FULL], bucket[FULL_PART]):
        return TOO_LONG, now_ps
    leaves_ps = state[NOW] + compute_wait_ps(bucket, price)
    if state[REFILL] and leaves_ps > state[NOW]:
        refills = (leaves_ps - state[NOW] + state[REFILL] - 1) // state[REFILL]
        leaves_ps = (max(0, state[NOW]) // state[REFILL] + refills) * state[REFILL]
    if leaves_ps > now_ps and not has_room(state, size_bytes):
        return NO_ROOM, now_ps
    fill(bucket, _measure_accrued(state, leaves_ps), 0)
    take(bucket, price)
    state[NOW] = leaves_ps
    if leaves_ps > now_ps:
        hold(state, size_bytes, leaves_ps)
    return KEPT, leaves_ps


@kernel
def _measure_accrued(state: Whole, until_ps: int) -> int:
    """Return for how long tokens have come since the bucket was filled: for whole refills."""
    since_ps, refill_ps = state[NOW], state[REFILL]
    if refill_ps == 0:
        return until_ps - since_ps  # type: ignore[no-any-return]
    return (until_ps // refill_ps - max(0, since_ps) // refill_ps) * refill_ps  # type: ignore[no-any-return]
