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
    Packet,
    ThreeColours,
    link_arrive,
)
from qospec.engine.meter.token_bucket import Bucket, BucketSize, TokenRate, cost, covers, fill, take

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def _choose_colour(committed: Whole, peak: Whole, packet: Packet) -> int:
    """Return red if the peak bucket lacks tokens, else green if the committed one has them."""
    size_bytes, arriving, elapsed_ps = packet
    price, peak_price = cost(committed, size_bytes), cost(peak, size_bytes)
    fill(committed, elapsed_ps, 0)
    fill(peak, elapsed_ps, 0)
    if arriving == RED or not covers(peak, peak_price):
        return RED
    take(peak, peak_price)
    if arriving == YELLOW or not covers(committed, price):
        return YELLOW
    take(committed, price)
    return GREEN


@element(source="RFC 2698, 3 (trTCM)", abbreviations=ABBREVIATIONS, carries=("packet",))
@dataclass(frozen=True)
class Trtcm(ThreeColours):
    """Colour packets by a committed and a peak rate: green, yellow, red.

    A bucket of CBS gains CIR, one of PBS gains PIR; both are full at first. A packet is
    red if the peak bucket lacks tokens for all of it, else yellow if the committed bucket does. A
    yellow packet takes tokens of the peak bucket, a green one of both. If aware, a packet that
    arrives red stays red, and one that arrives yellow is at best yellow. All packets are metered
    together.
    """

    arrive = link_arrive("trtcm", _choose_colour)

    peak_information_rate: TokenRate
    """Rate of tokens for green and yellow packets, PIR."""
    peak_burst_size: BucketSize
    """Size of their bucket, PBS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.peak_information_rate.amount < self.committed_information_rate.amount:
            raise ValueError("pir: the peak information rate is less than the committed one")
        if not (self.committed_burst_size.amount and self.peak_burst_size.amount):
            raise ValueError("cbs, pbs: both must be more than 0")

    @property
    def other_bucket(self) -> Bucket:
        return self.make_bucket("pir", self.peak_information_rate, "pbs", self.peak_burst_size)
