"""A shaper: packets wait until they conform to a token bucket."""

from __future__ import annotations

import functools
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

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
from qospec.catalogue.kinds import Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element
from qospec.engine.event.transition import DONE, SIZE, Transition, lose, report_wait, send
from qospec.engine.items.ring import double_ring
from qospec.engine.kernel import kernel, view_part, view_rows
from qospec.engine.meter import token_bucket
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

NOW, HEAD, TAIL, WAITING, LIMIT, IN_BYTES, BUCKET = range(7)
"""The fields: up to when the bucket is filled, by when the last packet has left; the numbers of the
first packet that waits and of that after the last, and their amount; how much may wait, and whether
that counts bytes; the bucket. Then comes what waits, a ring."""
RING = BUCKET + FIELDS
LEAVES, AMOUNT = 0, 1
"""The columns of the ring: when a packet leaves, and the amount of the limit that it takes."""
WIDTH = 2
PLACES = 64
"""The initial size of the ring; a power of two, doubled as needed."""

KEPT, TOO_LONG, NO_ROOM, NO_PLACES = 0, 1, 2, 3
"""The outcome of a packet: it leaves, it is lost for one of two causes, or it is to be tried again
with a larger ring."""
CAUSES = ("policed", "overflow")
"""For TOO_LONG and NO_ROOM."""


@functools.lru_cache(maxsize=256)
def _costs(byte_ps: Fraction, sizes: tuple[int, ...]) -> Costs:
    """Return how long the tokens of packets take to accrue."""
    return compute_costs(sizes, lambda size_bytes: size_bytes, byte_ps)


@element(
    source="RFC 2475, 2.3.3.3 (shapers); RFC 3290, 7.1.2 (non-work-conserving) and Appendix A",
    carries=("packet",),
    abbreviations={"burst_size": "burst"},
)
@dataclass(frozen=True)
class Shape(Element):
    """Delay packets until they conform to a rate and a burst; drop what finds no room to wait.

    A bucket of `burst` bytes, full at first, gains `rate`. A packet leaves as soon as all before it
    have left and there are tokens for all of it. Packets of all connections wait in one queue,
    first in, first out. A packet that is larger than the bucket never conforms and is dropped.
    """

    rate: TokenRate
    """Rate of tokens, in bytes of IP packets."""
    burst_size: BucketSize
    """Maximum number of tokens in bytes."""
    limit: Limit
    """How much may wait, in packets or bytes."""

    answers_at_once = True
    causes = ("overflow", "policed")
    holds = True

    def __post_init__(self) -> None:
        token_bucket.check(self.token_bucket)

    @property
    def token_bucket(self) -> Bucket:
        return Bucket("rate", self.rate, "burst", self.burst_size)

    @property
    def buffer(self) -> Buffer:
        return self.limit

    def guarantees(
        self, arriving: tuple[Arrival, ...], clock: Clock | None, limits: tuple[Buffer | None, ...]
    ) -> Guarantees:
        """Return how long it holds packets, and the bucket that what leaves keeps within.

        A shaper serves its own bucket: Le Boudec and Thiran, 1.5 and 1.7.4. What is
        owed at the end of a ps, by rounding down when a packet leaves, is less than a ps's worth.
        A packet that waits has come within the longest time that one waits.
        """
        (offered,) = arriving
        if not offered.sizes:
            return Guarantees((Guarantee(0, 0),))
        byte_ps = token_bucket.compute_byte_time_ps(self.rate)
        each_bytes = 1 if self.limit.unit == "byte" else min(offered.sizes[-1], self.burst_size)
        held_bytes = Fraction(self.limit.amount * each_bytes) + 1 / byte_ps
        excess_bytes = offered.size_bytes.find_excess(1 / byte_ps)
        if excess_bytes is not None:
            held_bytes = min(held_bytes, max(excess_bytes - self.burst_size, Fraction(0)))
        passed = token_bucket.bound_passed_bytes(self.token_bucket)
        leaves = Arrival(passed.scale_by(Fraction(1, offered.sizes[0])), passed, offered.sizes)
        most_ps = floor(held_bytes * byte_ps)
        waiting = find_least_known(
            held_bytes / offered.sizes[0], offered.items.count_within(most_ps)
        )
        assert waiting is not None  # noqa: S101 -- the first is known
        saved_ps = self.burst_size * byte_ps
        service = (RateLatency(latency_ps=-saved_ps),)
        server = Server(service, functools.partial(_costs, byte_ps), saves=True)
        return Guarantees((Guarantee(0, most_ps, floor(waiting), server=server),), leaves)

    def transition(self, setting: Setting) -> Transition:
        fields = np.zeros(RING + PLACES * WIDTH, np.int64)
        fields[NOW] = -1  # nothing has left yet, and something may at 0
        fields[LIMIT], fields[IN_BYTES] = self.limit.amount, self.limit.unit == "byte"
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


def _with_more_places(fields: Whole) -> Whole:
    """Return the fields with a ring of twice the places."""
    ring = double_ring(fields[RING:], WIDTH, fields[HEAD], fields[TAIL])
    return np.concatenate([fields[:RING], ring])


def _replenish(fields: Whole, lacking: int) -> Whole:
    return _with_more_places(fields) if lacking == NO_PLACES else refuse(fields, lacking)


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
    places = (len(state) - RING) // WIDTH
    ring, bucket = view_rows(state, RING, places, WIDTH), view_part(state, BUCKET, FIELDS)
    if state[TAIL] - state[HEAD] == places:
        return NO_PLACES, now_ps
    while state[HEAD] < state[TAIL] and ring[state[HEAD] & places - 1, LEAVES] <= now_ps:
        state[WAITING] -= ring[state[HEAD] & places - 1, AMOUNT]
        state[HEAD] += 1
    if now_ps > state[NOW]:
        fill(bucket, now_ps - state[NOW], 0)
        state[NOW] = now_ps
    price = cost(bucket, size_bytes)
    if price > (bucket[FULL], bucket[FULL_PART]):
        return TOO_LONG, now_ps
    wait_ps, amount = compute_wait_ps(bucket, price), size_bytes if state[IN_BYTES] else 1
    leaves_ps = state[NOW] + wait_ps
    if leaves_ps > now_ps and state[WAITING] + amount > state[LIMIT]:
        return NO_ROOM, now_ps
    fill(bucket, wait_ps, 0)
    take(bucket, price)
    state[NOW] = leaves_ps
    if leaves_ps > now_ps:
        place = state[TAIL] & places - 1
        ring[place, LEAVES], ring[place, AMOUNT] = leaves_ps, amount
        state[TAIL] += 1
        state[WAITING] += amount
    return KEPT, leaves_ps
