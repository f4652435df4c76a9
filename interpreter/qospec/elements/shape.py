"""A shaper: packets wait until they conform to a token bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Limit, element
from qospec.dataclass import dataclass
from qospec.engine.arrays import np
from qospec.engine.element import Element, Loss, Step
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.partition import split
from qospec.engine.kernel import kernel
from qospec.engine.meter import token_bucket
from qospec.engine.meter.token_bucket import (
    BYTE,
    FULL,
    FULL_PART,
    Bucket,
    BucketSize,
    TokenRate,
    cost,
    fill,
    take,
    until_covered,
)

if TYPE_CHECKING:
    from qospec.catalogue.kinds import Buffer
    from qospec.engine.arrays import Marks, Times, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

NOW, HEAD, WAITING = 0, 1, 2
KEPT, TOO_LONG, NO_ROOM = 0, 1, 2


@dataclass
class State:
    """The state that is kept from batch to batch.

    Attributes:
        marks: NOW, up to which the bucket is filled: the last packet has left by then. WAITING,
            the amount that waits, and HEAD, the first waiting packet.
        bucket: See `engine.meter.token_bucket`.
        leaving: (2, n) When each waiting packet leaves, and its amount.
        watched: Whether to report which packets waited.
    """

    marks: Whole
    bucket: Whole
    leaving: Whole
    watched: bool


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

    def start(self, setting: Setting) -> State:
        marks = np.zeros(3, np.int64)
        marks[NOW] = -1  # nothing has left yet, and something may at 0
        return State(
            marks, token_bucket.full(self.token_bucket), np.zeros((2, 0), np.int64), setting.watched
        )

    def process(self, state: State, arrivals: tuple[Batch, ...], until_ps: int) -> Step:
        (batch,) = arrivals
        losses: tuple[Loss, ...] = ()
        waits = None
        if batch.count:
            batch, losses, waits = self._shaped(state, batch)
        # A packet that leaves at a later NOW has waited: tokens for another byte need a ps.
        last_ps = state.marks.item(NOW)
        watermark_ps = last_ps + 1 if last_ps >= until_ps else until_ps
        return Step((batch,), (min(watermark_ps, FOREVER_PS),), losses, waits)

    def _shaped(
        self, state: State, batch: Batch
    ) -> tuple[Batch, tuple[Loss, ...], tuple[Times, Times] | None]:
        """Return the packets that leave, the losses, and the times of those that waited."""
        token_bucket.check_sizes(batch)
        self._check_load(state, batch)
        before = state.leaving.shape[1]
        room = np.empty((2, before + batch.count), np.int64)
        room[:, :before] = state.leaving
        left_ps, outcome = np.empty(batch.count, np.int64), np.empty(batch.count, np.uint8)
        limit = (self.limit.amount, self.limit.unit == "byte")
        queue = (room[0], room[1], before)
        last, *counts = _shape(batch, (state.marks, state.bucket), queue, limit, (left_ps, outcome))
        state.leaving = room[:, state.marks[HEAD] : last].copy()
        state.marks[HEAD] = 0
        waited = left_ps > batch.at_ps if state.watched else None
        waits = None if waited is None else (batch.at_ps[waited], left_ps[waited])
        batch, losses = batch.moved(left_ps), []
        for each, cause in ((TOO_LONG, "policed"), (NO_ROOM, "overflow")):
            count = counts[each - 1]
            batch, lost = split(batch, (outcome == each).view(np.uint8), count)
            outcome = outcome[outcome != each] if count else outcome
            if count:
                losses.append(Loss(cause, lost.connection, lost.sent_ps))
        return batch, tuple(losses), waits

    def _check_load(self, state: State, batch: Batch) -> None:
        """Raise OverflowError if the wait of the last packet might exceed int64."""
        most, largest_bytes = self.limit.amount, int(batch.size_bytes.max())
        all_bytes = batch.count * largest_bytes
        # Waiting packets have left by NOW; then follow the arrivals that find room.
        most_bytes = min(all_bytes, most if self.limit.unit == "byte" else most * largest_bytes)
        latest_ps = max(state.marks.item(NOW), batch.at_ps.item(-1))
        if latest_ps + most_bytes * (state.bucket.item(BYTE) + 1) >= FOREVER_PS:
            raise OverflowError("the packets that wait for a shaper take it more than 50 days")


@kernel
def _shape(
    batch: Batch,
    state: tuple[Whole, Whole],
    queue: tuple[Whole, Whole, int],
    limit: tuple[int, bool],
    written: tuple[Whole, Marks],
) -> tuple[int, int, int]:
    """Find when each packet leaves.

    Args:
        batch: n packets.
        state: Marks and bucket; updated.
        queue: When each waiting packet leaves, its amount, and the number of these packets; with
            room for all arrivals.
        limit: How much may wait, and whether that is counted in bytes.
        written: (n,) When each leaves, and its outcome.

    Returns:
        The number after that of the last waiting packet, the number of packets that are too long,
        and of those that find no room.
    """
    at_ps, size_bytes = batch.at_ps, batch.size_bytes
    marks, bucket = state
    leaves_ps, amounts, last = queue
    left_ps, outcome = written
    full = (bucket[FULL], bucket[FULL_PART])
    head, waiting, now = marks[HEAD], marks[WAITING], marks[NOW]
    long = lost = 0
    for i in range(len(at_ps)):
        while head < last and leaves_ps[head] <= at_ps[i]:
            waiting -= amounts[head]
            head += 1
        price = cost(bucket, size_bytes[i])
        if at_ps[i] > now:
            fill(bucket, at_ps[i] - now, 0)
            now = at_ps[i]
        left_ps[i] = at_ps[i]
        wait_ps = until_covered(bucket, price)
        amount = size_bytes[i] if limit[1] else 1
        if price > full:
            outcome[i] = TOO_LONG
            long += 1
        elif now + wait_ps > at_ps[i] and waiting + amount > limit[0]:
            outcome[i] = NO_ROOM
            lost += 1
        else:
            fill(bucket, wait_ps, 0)
            take(bucket, price)
            now += wait_ps
            outcome[i], left_ps[i] = KEPT, now
            if now > at_ps[i]:
                leaves_ps[last], amounts[last] = now, amount
                last += 1
                waiting += amount
    marks[HEAD], marks[WAITING], marks[NOW] = head, waiting, now
    return last, long, lost
