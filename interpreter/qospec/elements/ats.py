"""Asynchronous traffic shaping: a packet is given the time from which on it may go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from qospec.calculus.guarantee import Arrival, Guarantee, Guarantees
from qospec.catalogue.kinds import LONGEST_PS, Domain, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.event.transition import (
    CONNECTION,
    DONE,
    SIZE,
    Transition,
    lose,
    report_wait,
    send,
)
from qospec.engine.kernel import kernel, view_part
from qospec.engine.meter import token_bucket
from qospec.engine.meter.meter import ABBREVIATIONS, Metering
from qospec.engine.meter.token_bucket import (
    DENOMINATOR,
    FIELDS,
    FULL,
    FULL_PART,
    TOO_LARGE,
    Bucket,
    BucketSize,
    TokenRate,
    cost,
    refuse,
)
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Whole
    from qospec.engine.element import Setting
    from qospec.engine.line.clock import Clock

    Instant = tuple[int, int]
    """Whole ps, and a numerator."""

Residence = Annotated[int, Domain("time", 1, LONGEST_PS)]
Streams = Annotated[Literal["each", "all"], Domain("choice", choices=("each", "all"))]

MOST, GROUP, GROUP_PART, TABLE, BUCKET = 0, 1, 2, 3, 4
"""The state: the longest time that a packet stays; the eligibility time of the last packet, with a
numerator; where the table begins; what packets cost and a full bucket holds. Then come, by stream,
the time when its bucket was empty, with a numerator; and the table: by connection index, where
those of its stream are."""
EMPTY = BUCKET + FIELDS


@element(
    source="IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11 (ATS, 802.1Qcr): ProcessFrame",
    abbreviations=ABBREVIATIONS,
    carries=("packet",),
)
@dataclass(frozen=True)
class Ats(Metering):
    """Delay packets until they conform to the bucket of their stream, in order of arrival.

    Each stream has a bucket of `cbs`, full at first, that gains `cir`. A packet is eligible when it
    has come, the packet before it is eligible, of whatever stream, and its bucket has tokens for
    all of it. It goes on at that time; one that would stay longer than `max_residence` is lost as
    `policed`, and takes no tokens. To one that is longer than the bucket this lends the rest once
    it has been full for as long as that takes. All that passes is one group of schedulers: give
    what comes from another port, or has another priority, an element of its own. Where several lead
    to one queue, packets enter it in order of their eligibility times, which is how the standard
    selects them.

    Not modelled: clocks that differ from bridge to bridge; a length that is counted otherwise than
    that of a token.
    """

    committed_information_rate: TokenRate
    """The rate of tokens of a stream, CIR: bits of IP packets, `@ip`, of the frames in which they
    come, `@frame`, of all that these take of a line, `@line`; or packets."""
    committed_burst_size: BucketSize
    """The size of its bucket, CBS, counted likewise."""
    max_residence: Residence
    """How long a packet may stay at most."""
    streams: Streams = "each"
    """What has a bucket of its own: each connection, or all together."""

    answers_at_once = True
    lends = True
    causes = ("policed",)
    holds = True

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        cir, cbs = self.committed_information_rate, self.committed_burst_size
        return (self.make_bucket("cir", cir, "cbs", cbs),)

    def guarantee_service(
        self,
        arriving: tuple[Arrival, ...],
        clock: Clock | None,  # no line serves it
        limits: tuple[Buffer | None, ...],
    ) -> Guarantees:
        """Return that no packet stays longer, and the bucket of what leaves, if there is one.

        It does not bound packets that are longer than itself, which owe it the rest.
        """
        (offered,) = arriving
        if not offered.sizes:
            return Guarantees((Guarantee(0, 0),))
        bucket, leaves = self.token_bucket, None
        holds_all = bucket.count_tokens(max(offered.sizes)) <= bucket.size.amount
        if self.streams == "all" and holds_all:
            leaves = bucket.bound_passing(offered.sizes)
        return Guarantees((Guarantee(0, self.max_residence),), leaves)

    def build_transition(self, setting: Setting) -> Transition:
        streams = setting.streams
        own = 1 if self.streams == "all" else streams.count
        table = EMPTY + 2 * own
        state = np.zeros(table + streams.indices, np.int64)
        state[MOST], state[TABLE] = self.max_residence, table
        bucket = token_bucket.build_full_bucket(self.token_bucket)
        state[BUCKET : BUCKET + token_bucket.PRICES] = bucket
        # A bucket that is full at 0 was empty when it would have begun to be filled.
        filled = bucket[FULL] * bucket[DENOMINATOR] + bucket[FULL_PART]
        state[EMPTY:table:2], state[EMPTY + 1 : table : 2] = divmod(-filled, bucket[DENOMINATOR])
        stream_of = [0 if own == 1 else streams.find_connection(n) for n in range(streams.indices)]
        state[table:] = EMPTY + 2 * np.array(stream_of, np.int64)
        return Transition(
            state,
            _arrive,
            losses=(("", "policed"),),
            queues=("",) if setting.watched else (),
            replenish=refuse,
        )


@kernel
def _arrive(state: Whole, items: Whole, item: int, port: int, now_ps: int, out: Whole) -> int:
    """Send a packet once it is eligible, or lose it; see `engine.event.transition`."""
    size_bytes = items[item, SIZE]
    if size_bytes > LARGEST_PACKET_BYTES:
        return TOO_LARGE
    row = state[state[TABLE] + items[item, CONNECTION]]
    eligible_ps = _find_eligible_ps(state, row, size_bytes, now_ps)
    if eligible_ps < 0:
        lose(out, 0, item)
        return DONE
    if eligible_ps > now_ps:
        report_wait(out, 0, now_ps, eligible_ps)
    send(out, 0, item, eligible_ps)
    return DONE


@kernel
def _find_eligible_ps(state: Whole, row: int, size_bytes: int, now_ps: int) -> int:
    """Return when a packet is eligible, and keep account of it; -1: it would stay for too long."""
    bucket = view_part(state, BUCKET, FIELDS)
    denominator = bucket[DENOMINATOR]
    length = cost(bucket, size_bytes)
    empty = state[row], state[row + 1]
    scheduled = _add(empty, length, denominator)
    full = _add(empty, (bucket[FULL], bucket[FULL_PART]), denominator)
    eligible = _choose_later((state[GROUP], state[GROUP_PART]), scheduled)
    eligible = _choose_later(eligible, (now_ps, 0))
    if eligible > (now_ps + state[MOST], 0):
        return -1
    state[GROUP], state[GROUP_PART] = eligible
    if eligible >= full:  # the bucket has been full since, and what came then has overflowed
        scheduled = _add(scheduled, eligible, denominator)
        scheduled = _add(scheduled, (-full[0], -full[1]), denominator)
    state[row], state[row + 1] = scheduled
    return eligible[0]


@kernel
def _choose_later(one: Instant, other: Instant) -> Instant:
    """Return the later of two times; `max` takes no tuples when it is compiled."""
    if one > other:
        return one
    return other


@kernel
def _add(one: Instant, other: Instant, denominator: int) -> Instant:
    """Return the sum of two times."""
    ps, part = one[0] + other[0], one[1] + other[1]
    if part >= denominator:
        return ps + 1, part - denominator
    if part < 0:
        return ps - 1, part + denominator
    return ps, part
