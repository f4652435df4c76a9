"""The single-rate three-colour marker."""

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
from qospec.engine.meter.token_bucket import Bucket, BucketSize, fill

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def _choose_colour(committed: Whole, excess: Whole, packet: Packet) -> int:
    """Return a packet's colour: what finds no room in the first bucket goes into the second."""
    _, _, elapsed_ps = packet
    over_ps, over_part = fill(committed, elapsed_ps, 0)
    fill(excess, over_ps, over_part)
    return take_green_else_yellow(committed, excess, packet)


@element(source="RFC 2697, 3 (srTCM)", abbreviations=ABBREVIATIONS, carries=("packet",))
@dataclass(frozen=True)
class Srtcm(ThreeColours):
    """Colour packets by one rate and two bursts: green, yellow, red.

    A bucket of CBS gains CIR, and what finds no room there goes into one of EBS; both
    are full at first. A packet is green if the first has tokens for all of it, else yellow if the
    second has; it takes them there; else it is red. If aware, only a green packet uses the first
    bucket, and a red one none. All packets are metered together.
    """

    arrive = link_arrive("srtcm", _choose_colour)

    excess_burst_size: BucketSize
    """Size of the bucket for yellow packets, EBS."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_excess(self)

    @property
    def other_bucket(self) -> Bucket:
        cir, ebs = self.committed_information_rate, self.excess_burst_size
        return self.make_bucket("cir", cir, "ebs", ebs)
