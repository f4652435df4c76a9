"""A policer: a token bucket that separates packets in profile from those out of profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from qospec.catalogue.kinds import element
from qospec.dataclass import dataclass
from qospec.engine.kernel import kernel
from qospec.engine.meter.meter import ABBREVIATIONS, GREEN, RED, Action, Meter, Packet, link_arrive
from qospec.engine.meter.token_bucket import Bucket, cost, covers, fill, take

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


@kernel
def _choose_colour(committed: Whole, other: Whole, packet: Packet) -> int:
    """Return green if the bucket covers a packet; see `engine.meter.meter`."""
    size_bytes, _, elapsed_ps = packet
    price = cost(committed, size_bytes)
    fill(committed, elapsed_ps, 0)
    if not covers(committed, price):
        return RED
    take(committed, price)
    return GREEN


@element(
    source="RFC 3290, 5.1.3 and Appendix A (token bucket, strict conformance); RFC 2475, 2.3.3.4",
    abbreviations=ABBREVIATIONS,
    carries=("packet",),
)
@dataclass(frozen=True)
class Police(Meter):
    """Admit packets up to a rate and a burst, and drop or mark those that exceed them.

    A bucket of CBS, full at first, gains CIR. A packet with enough tokens for all of it
    takes them and is green; any other takes none and exceeds: it is dropped, or passed on red. All
    packets are metered together, whatever their connection.

    Not modelled: loose conformance, in which a packet passes if any token is left.
    """

    colours: ClassVar[tuple[int, ...]] = (GREEN, RED)
    arrive = link_arrive("police", _choose_colour)

    exceed: Action = "drop"
    """What happens to a packet that exceeds."""

    @property
    def actions(self) -> dict[int, str]:
        return {RED: self.exceed}

    @property
    def other_bucket(self) -> Bucket:
        empty = self.committed_burst_size._replace(amount=0)
        return self.make_bucket("cir", self.committed_information_rate, "cbs", empty)
