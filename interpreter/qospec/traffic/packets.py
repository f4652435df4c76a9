"""IP packets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue import Domain, PacketLoad, PacketSizes, traffic
from qospec.engine.connections import Contract
from qospec.engine.descriptor import Count, Phases, check_exact
from qospec.engine.encapsulation import SMALLEST_PACKET_BYTES, Encapsulation
from qospec.engine.marks import MARKS, marked
from qospec.engine.sizes import LARGEST_WEIGHT, Sizes
from qospec.engine.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

Gaps = Annotated[Literal["constant", "poisson"], Domain("choice", choices=("constant", "poisson"))]
"""The arrival process that packets come by."""
Protocol = Annotated[
    Literal["udp", "tcp", "none"], Domain("choice", choices=("udp", "tcp", "none"))
]
"""What an IP packet carries."""
Port = Annotated[int, Domain("integer", 0, 65_535)]
"""A port of UDP or TCP."""
CodePoint = Annotated[int, Domain("integer", 0, MARKS["dscp"].highest)]
"""A DSCP."""
PriorityCode = Annotated[int, Domain("integer", 0, MARKS["priority"].highest)]
"""A priority code point."""

LOWEST_PACKET_RATE = Fraction(1, 1_000)
HIGHEST_PACKET_RATE = 10**11
"""As of the arrival processes."""
HEADER_BYTES = {"udp": 8, "tcp": 20, "none": 0}
"""Behind IP's header. Source: RFC 768; RFC 9293, 3.1 (without options)."""


@traffic(source="RFC 791, 3.1 (IPv4); RFC 2544, 26 (offered load); RFC 2474, 3 (DSCP)")
@dataclass(frozen=True)
class Packets:
    """Send IP packets at a mean rate, whether they arrive or not.

    A rate in bit/s is that of one connection, in the layer that it names, and becomes packets/s by
    the mean size in that layer on the first link. Sizes of a mix are drawn independently.

    Not modelled: IPv6, fragmentation; an end that answers.
    """

    rate: PacketLoad
    """Bits per second in a layer, or packets per second, of each connection."""
    size: PacketSizes
    """The size of all packets, or a mix of sizes by the number of packets."""
    gaps: Gaps = "constant"
    """Whether packets come at constant intervals or at random."""
    dscp: CodePoint = 0
    """The code point in the IP header."""
    priority: PriorityCode = 0
    """The priority code point of the VLAN tag, 802.1p."""
    protocol: Protocol = "udp"
    """What is in the packets: a header of 8 bytes (udp), of 20 (tcp) or of none."""
    source_port: Port = 0
    """Of UDP or TCP."""
    destination_port: Port = 0
    """Of UDP or TCP."""
    connections: Count = 1
    """How many like connections."""
    phases: Phases = "random"
    """Whether they begin at random or evenly spread over a period."""

    def __post_init__(self) -> None:
        if sum(weight for _, weight in self.size.parts) > LARGEST_WEIGHT:
            raise ValueError("size: these weights are too fine; give fewer digits")

    def stream(self, link: Encapsulation) -> Stream:
        """Return what is sent on a first link.

        Raises:
            ValueError: A size does not fit the link, or the rate cannot be kept exactly.
        """
        sizes, transport_bytes = self._sizes(link), HEADER_BYTES[self.protocol]
        packet_rate = Fraction(self.rate.amount)
        if self.rate.layer:
            packet_rate /= 8 * link.mean_bytes(sizes, self.rate.layer, transport_bytes)
        if not LOWEST_PACKET_RATE <= packet_rate <= HIGHEST_PACKET_RATE:
            raise ValueError("rate: between one packet in 1000 s and 100 Gpkt/s can be sent")
        check_exact("rate", packet_rate, self.connections)
        source: tuple[str, Mapping[str, object]] = (self.gaps, {"rate": packet_rate})
        marks = marked(dscp=self.dscp, priority=self.priority)
        asked = {
            "protocol": self.protocol,
            "source_port": Fraction(self.source_port),
            "destination_port": Fraction(self.destination_port),
        }
        contract = Contract("packets", packet_rate, 0)
        return Stream(contract, source, sizes, marks, asked, link, transport_bytes)

    def _sizes(self, link: Encapsulation) -> Sizes:
        headers = HEADER_BYTES[self.protocol]
        least = SMALLEST_PACKET_BYTES + headers
        weights: dict[int, int] = {}
        for size, weight in self.size.parts:
            packet = link.packet_bytes(size, self.size.layer, headers)
            if not least <= packet <= link.largest_bytes:
                raise ValueError(
                    f"size: {size} B @{self.size.layer} leaves {max(packet, 0)} B @ip; on this link"
                    f" a packet with its headers has {least} to {link.largest_bytes} B @ip"
                )
            weights[packet] = weights.get(packet, 0) + weight
        rising = sorted(weights)
        return Sizes(tuple(rising), tuple(weights[size] for size in rising))
