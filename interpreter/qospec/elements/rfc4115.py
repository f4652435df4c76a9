"""The two-rate three-colour marker of RFC 4115, which leaves in-profile traffic untouched."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import Boolean, element
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
from qospec.engine.meter.token_bucket import GAIN, Bucket, BucketSize, TokenRate, add_overflow, fill

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def _choose_colour(committed: Whole, excess: Whole, packet: Packet) -> int:
    """Return a packet's colour: each bucket gains at its own rate."""
    _, _, elapsed_ps = packet
    over = fill(committed, elapsed_ps, 0)
    fill(excess, elapsed_ps, 0)
    if excess[GAIN]:
        add_overflow(excess, committed, over)
    return take_green_else_yellow(committed, excess, packet)


@element(
    source="RFC 4115, 3; MEF 10.4, 12 (coupling flag)",
    abbreviations=ABBREVIATIONS,
    carries=("packet",),
)
@dataclass(frozen=True)
class Rfc4115(ThreeColours):
    """Colour packets by a committed and an excess rate, each with a bucket of its own.

    A bucket of CBS gains CIR, one of EBS gains EIR; both are full at first. A packet is
    green if the first has tokens for all of it, else yellow if the second has; it takes them there;
    else it is red. So yellow packets never use up the tokens of green ones. If aware, only a green
    packet uses the first bucket, and a red one none. With `coupling`, the second bucket also gets
    the tokens that find no room in the first. All packets are metered together.

    Not modelled: what flows of one envelope share (MEF 10.4, 12), which `envelope` does.
    """

    arrive = link_arrive("rfc4115", _choose_colour)

    excess_information_rate: TokenRate
    """Rate of tokens for yellow packets, EIR."""
    excess_burst_size: BucketSize
    """Size of their bucket, EBS."""
    coupling: Boolean = field(default=False, kw_only=True)
    """Whether the bucket of yellow packets gets the tokens that find no room in the other: the
    coupling flag of MEF."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_excess(self)

    @property
    def other_bucket(self) -> Bucket:
        eir, ebs = self.excess_information_rate, self.excess_burst_size
        gains_from = self.committed_information_rate if self.coupling else None
        return self.make_bucket("eir", eir, "ebs", ebs)._replace(gains_from=gains_from)
