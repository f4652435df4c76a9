"""The two-rate three-colour marker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.meter.meter import (
    ABBREVIATIONS,
    GREEN,
    RED,
    YELLOW,
    State,
    ThreeColours,
    colour_on_arrival,
    elapsed,
)
from qospec.engine.meter.token_bucket import Bucket, BucketSize, TokenRate, cost, covers, fill, take

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks
    from qospec.engine.items.batch import Batch


@kernel
def _judge(batch: Batch, state: State, is_colour_aware: bool, colour: Marks) -> tuple[int, int]:  # noqa: FBT001
    """Write the colour of each packet; return the numbers of yellow and red ones."""
    at_ps, size_bytes, marks = batch.at_ps, batch.size_bytes, batch.marks
    clock, committed, peak = state
    yellow = red = 0
    for i in range(len(at_ps)):
        price, peak_price = cost(committed, size_bytes[i]), cost(peak, size_bytes[i])
        ps = elapsed(clock, at_ps[i])
        fill(committed, ps, 0)
        fill(peak, ps, 0)
        arriving = colour_on_arrival(marks[i], is_colour_aware)
        if arriving == RED or not covers(peak, peak_price):
            colour[i] = RED
            red += 1
            continue
        take(peak, peak_price)
        if arriving == YELLOW or not covers(committed, price):
            colour[i] = YELLOW
            yellow += 1
        else:
            take(committed, price)
            colour[i] = GREEN
    return yellow, red


@element(source="RFC 2698, 3 (trTCM)", abbreviations=ABBREVIATIONS, carries=("packet",))
@dataclass(frozen=True)
class Trtcm(ThreeColours):
    """Colour packets by a committed and a peak rate: green, yellow, red.

    A bucket of CBS bytes gains CIR, one of PBS bytes gains PIR; both are full at first. A packet is
    red if the peak bucket lacks tokens for all of it, else yellow if the committed bucket does. A
    yellow packet takes tokens of the peak bucket, a green one of both. If aware, a packet that
    arrives red stays red, and one that arrives yellow is at best yellow. All packets are metered
    together.
    """

    peak_information_rate: TokenRate
    """Rate of tokens for green and yellow packets, PIR."""
    peak_burst_size: BucketSize
    """Size of their bucket in bytes, PBS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.peak_information_rate < self.committed_information_rate:
            raise ValueError("pir: the peak information rate is less than the committed one")
        if not (self.committed_burst_size and self.peak_burst_size):
            raise ValueError("cbs, pbs: both must be more than 0")

    @property
    def other_bucket(self) -> Bucket:
        return Bucket("pir", self.peak_information_rate, "pbs", self.peak_burst_size)

    def judge(self, batch: Batch, state: State, colour: Marks) -> tuple[int, int]:
        return _judge(batch, state, self.aware, colour)
