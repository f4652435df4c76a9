"""IP packets."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Domain, Load, PacketSizes, traffic
from qospec.dataclass import dataclass
from qospec.engine.items.connections import Contract
from qospec.engine.source.contract import Count, Phases, check_exact
from qospec.engine.source.sizes import LARGEST_WEIGHT, Sizes, mean_bytes
from qospec.engine.source.traffic import PacketTraffic, Stream
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.ip import (
    FAMILY_EXTRA_BYTES,
    HIGHEST_PORT,
    IPV4_HEADER_BYTES,
    TRANSPORT_HEADER_BYTES,
)
from qospec.protocol.marks import MARKS, marked

if TYPE_CHECKING:
    from collections.abc import Mapping

PacketLoad = Annotated[Load | None, Domain("load")]
"""Bits per second in a layer of packets, or packets per second; exact."""
Family = Annotated[Literal["ipv4", "ipv6"], Domain("choice", choices=("ipv4", "ipv6"))]
"""The version of IP."""
Address = Annotated[str | None, Domain("address")]
"""An address of that version, in its shortest form."""
Gaps = Annotated[Literal["constant", "poisson"], Domain("choice", choices=("constant", "poisson"))]
"""The arrival process of packets."""
Protocol = Annotated[
    Literal["udp", "tcp", "none"], Domain("choice", choices=("udp", "tcp", "none"))
]
"""What an IP packet carries."""
Port = Annotated[int, Domain("integer", 0, HIGHEST_PORT)]
"""A port of UDP or TCP."""
CodePoint = Annotated[int, Domain("integer", 0, MARKS["dscp"].highest)]
"""A DSCP."""
PriorityCode = Annotated[int | None, Domain("integer", 0, MARKS["priority"].highest)]
"""A priority code point."""
TrafficClass = Annotated[int | None, Domain("integer", 0, MARKS["traffic_class"].highest)]
"""Of an MPLS label."""

LOWEST_PACKET_RATE = Fraction(1, 1_000)
HIGHEST_PACKET_RATE = 10**11
"""The limits of the arrival processes."""
UNSPECIFIED = {"ipv4": "0.0.0.0", "ipv6": "::"}  # noqa: S104 -- no socket is bound
"""The address of packets without one. Source: RFC 1122, 3.2.1.3; RFC 4291, 2.5.2."""


class UnfitError(ValueError):
    """A size does not fit the first link; `help` names the nearest sizes that do."""

    def __init__(self, message: str, help_text: str) -> None:
        super().__init__(message)
        self.help = help_text


@traffic(
    source="RFC 791, 3.1 (IPv4); RFC 8200, 3 (IPv6); RFC 2285, 3.5.1 (intended load); RFC 2474, 3"
    " (DSCP)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Packets(PacketTraffic):
    """IP packets at a mean rate, sent whether or not they arrive.

    A rate in bit/s is that of one connection, in the layer that it names, and becomes packets/s by
    the mean size in that layer on the first link. Sizes of a mix are drawn independently, or keep
    the order of its list, from the first of a trial on. Packets are emitted at `gaps`, or by a
    `source`; if the source has a rate, it is left out here.

    Not modelled: options and extension headers, fragmentation; a receiver that responds.
    """

    rate: PacketLoad = None
    """The rate of each connection: bits per second in a layer, or packets per second."""
    size: PacketSizes
    """The size of all packets, or a mix of sizes: weighted by number of packets, or in order."""
    gaps: Gaps = "constant"
    """Whether packets are emitted at constant intervals or at random."""
    dscp: CodePoint = 0
    """The code point in the IP header."""
    priority: PriorityCode = None
    """The priority code point of the VLAN tag, 802.1p; requires tags on the first link."""
    traffic_class: TrafficClass = None
    """The traffic class of the MPLS label, EXP; requires labels on the first link."""
    family: Family = "ipv4"
    """The version of IP: its header has 20 bytes (ipv4) or 40 (ipv6)."""
    protocol: Protocol = "udp"
    """The transport protocol: its header has 8 bytes (udp), 20 (tcp) or none."""
    source_port: Port = 0
    """Source port of UDP or TCP."""
    destination_port: Port = 0
    """Destination port of UDP or TCP."""
    source_address: Address = None
    """Source address in the IP header; by default unspecified."""
    destination_address: Address = None
    """Destination address in the IP header; by default unspecified. It does not affect the path.
    """
    connections: Count = 1
    """Number of identical connections."""
    phases: Phases = "random"
    """Whether they start at random, or evenly spread over a period."""

    def __post_init__(self) -> None:
        if sum(weight for _, weight in self.size.parts) > LARGEST_WEIGHT:
            raise ValueError("size: these weights are too fine; give fewer digits")
        ports = {"source_port": self.source_port, "destination_port": self.destination_port}
        for name, port in ports.items():
            if port and self.protocol == "none":
                raise ValueError(f"{name}: packets without UDP or TCP have no ports")
        addresses = {
            "source_address": self.source_address,
            "destination_address": self.destination_address,
        }
        for name, address in addresses.items():
            if address is not None and (":" in address) != (self.family == "ipv6"):
                raise ValueError(f"{name}: expected an address of {self.family}")

    def stream(self, link: Encapsulation) -> Stream:
        """Return the packets that are sent on a first link.

        Raises:
            UnfitError: A size does not fit the link.
            ValueError: The rate cannot be kept exactly.
        """
        if self.rate is None:
            raise ValueError("rate: missing, and no source gives one")
        sizes, transport_bytes = self._sizes(link), self._transport_bytes
        packet_rate = Fraction(self.rate.amount)
        if self.rate.layer:
            packet_rate /= 8 * mean_bytes(sizes, link, self.rate.layer, transport_bytes)
        if not LOWEST_PACKET_RATE <= packet_rate <= HIGHEST_PACKET_RATE:
            raise ValueError("rate: expected between one packet in 1000 s and 100 Gpkt/s")
        check_exact("rate", packet_rate, self.connections)
        source: tuple[str, Mapping[str, object]] = (self.gaps, {"rate": packet_rate})
        marks = marked(
            dscp=self.dscp, priority=self.priority or 0, traffic_class=self.traffic_class or 0
        )
        unspecified = UNSPECIFIED[self.family]
        header_fields: dict[str, Fraction | str] = {
            "family": self.family,
            "source_address": self.source_address or unspecified,
            "destination_address": self.destination_address or unspecified,
            "protocol": self.protocol,
            "source_port": Fraction(self.source_port),
            "destination_port": Fraction(self.destination_port),
        }
        contract = Contract("packets", packet_rate, 0)
        return Stream(contract, source, sizes, marks, header_fields, link, transport_bytes)

    @property
    def _transport_bytes(self) -> int:
        """Return the bytes of headers besides the 20 bytes of IPv4."""
        return FAMILY_EXTRA_BYTES[self.family] + TRANSPORT_HEADER_BYTES[self.protocol]

    def _sizes(self, link: Encapsulation) -> Sizes:
        headers = self._transport_bytes
        least = IPV4_HEADER_BYTES + headers
        found: list[tuple[int, int]] = []
        unfit: dict[int, int] = {}
        for size, weight in self.size.parts:
            packet = link.packet_bytes(size, self.size.layer, headers)
            if not least <= packet <= link.largest_bytes:
                unfit[size] = packet
            found.append((packet, weight))
        if unfit:
            raise self._unfit(unfit, (least, link.largest_bytes))
        if not self.size.in_order:
            weights: Counter[int] = Counter()
            for packet, weight in found:
                weights[packet] += weight
            found = sorted(weights.items())
        packets, weights_of = zip(*found, strict=True)
        return Sizes(packets, weights_of, in_order=self.size.in_order)

    def _unfit(self, packets: Mapping[int, int], ends: tuple[int, int]) -> UnfitError:
        """Return the error for sizes that do not fit; it names the nearest ones that do.

        It describes the first size. `packets` has the resulting bytes @ip by size as written.
        """
        (least, most), layer = ends, self.size.layer
        size, packet = next(iter(packets.items()))
        inside = f"leaves {max(packet, 0)} B @ip" if layer != "ip" else "does not fit"
        nearest = sorted(
            {
                size + (least if packet < least else most) - packet
                for size, packet in packets.items()
            }
        )
        fit = " and ".join(f"`{each:_} B @{layer}`" for each in nearest)
        are = "sizes that fit are" if len(nearest) > 1 else "size that fits is"
        return UnfitError(
            f"size: {size} B @{layer} {inside}; on this link"
            f" a packet with its headers has {least} to {most} B @ip",
            f"the nearest {are} {fit}" if least <= most else "",
        )
