"""The two-rate three-colour marker of RFC 4115, which leaves in-profile traffic untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.meter.meter import (
    ABBREVIATIONS,
    Packet,
    ThreeColours,
    check_excess,
    link_arrive,
    take_green_else_yellow,
)
from qospec.engine.meter.token_bucket import Bucket, BucketSize, TokenRate, fill

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def _colour(committed: Whole, excess: Whole, packet: Packet) -> int:
    """Return a packet's colour: each bucket gains at its own rate."""
    _, _, elapsed_ps = packet
    fill(committed, elapsed_ps, 0)
    fill(excess, elapsed_ps, 0)
    return take_green_else_yellow(committed, excess, packet)


@element(source="RFC 4115, 3", abbreviations=ABBREVIATIONS, carries=("packet",))
@dataclass(frozen=True)
class Rfc4115(ThreeColours):
    """Colour packets by a committed and an excess rate, each with a bucket of its own.

    A bucket of CBS bytes gains CIR, one of EBS bytes gains EIR; both are full at first. A packet is
    green if the first has tokens for all of it, else yellow if the second has; it takes them there;
    else it is red. So yellow packets never use up the tokens of green ones. If aware, only a green
    packet uses the first bucket, and a red one none. All packets are metered together.
    """

    arrive = link_arrive("rfc4115", _colour)

    excess_information_rate: TokenRate
    """Rate of tokens for yellow packets, EIR."""
    excess_burst_size: BucketSize
    """Size of their bucket in bytes, EBS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_excess(self.committed_burst_size, self.excess_burst_size)

    @property
    def other_bucket(self) -> Bucket:
        return Bucket("eir", self.excess_information_rate, "ebs", self.excess_burst_size)
