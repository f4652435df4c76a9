"""IP packets."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from qospec.catalogue.kinds import Domain, Load, PacketSizes, Time, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.items.contract import Contract
from qospec.engine.source.changing import begin_later
from qospec.engine.source.contract import Count, Gaps, Phases, check_exact
from qospec.engine.source.headers import (
    Address,
    CodePoint,
    Family,
    Port,
    PriorityCode,
    Protocol,
    TrafficClass,
    Vlan,
    WithHeaders,
    convert_sizes,
)
from qospec.engine.source.sizes import LARGEST_WEIGHT, compute_mean_bytes
from qospec.engine.source.traffic import CellTraffic, PacketTraffic, SentPackets
from qospec.protocol.marks import CODEPOINTS, MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.source.arrivals import Arrivals
    from qospec.protocol.encapsulation import Encapsulation

PacketLoad = Annotated[Load | None, Domain("load")]
"""Bits per second in a layer of packets, or packets per second; exact."""
CongestionField = Annotated[str, Domain("choice", choices=CODEPOINTS)]
"""A codepoint of ECN."""
CellContract = Annotated[Any, Domain("contract")]
"""A traffic of cells, of which only the terms of its contract count."""
LOWEST_PACKET_RATE = Fraction(1, 1_000)
HIGHEST_PACKET_RATE = 10**11
"""The limits of the arrival processes."""


@traffic(
    source="RFC 791, 3.1 (IPv4); RFC 8200, 3 (IPv6); RFC 2285, 3.5.1 (intended load); RFC 2474, 3"
    " (DSCP); RFC 3168, 5 (ECN)",
    carries=("packet",),
)
@dataclass(frozen=True, kw_only=True)
class Packets(WithHeaders, PacketTraffic):
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
    ecn: CongestionField = "not_ect"
    """The ECN field in the IP header: whether queues may mark in place of a loss."""
    priority: PriorityCode = None
    """The priority code point of the VLAN tag, 802.1p; requires tags on the first link."""
    vlan: Vlan = None
    """The VLAN of the outer tag, of two a provider's; requires tags on the first link."""
    inner_vlan: Vlan = None
    """That of the inner one, a customer's; requires two tags on the first link."""
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
    cells: CellContract = None
    """The contract of each connection where its packets become cells; by default there is none."""
    connections: Count = 1
    """Number of identical connections."""
    phases: Phases = "random"
    """Whether they start at random, or evenly spread over a period."""
    offset: Time = 0
    """How long after the trial begins that is, to shift flows to each other."""

    def __post_init__(self) -> None:
        if sum(weight for _, weight in self.size.parts) > LARGEST_WEIGHT:
            raise ValueError("size: these weights are too fine; give fewer digits")
        self._headers.verify()
        given: Any = self.cells
        if given is not None and not isinstance(given, CellTraffic):
            raise ValueError("cells: expected a contract: `cbr`, `vbr_rt`, `vbr_nrt` or `ubr`")
        sent = {"connections": 1, "clp": 0, "virtual_path": 0}
        if given is not None and any(vars(given).get(name, n) != n for name, n in sent.items()):
            raise ValueError("cells: give the terms of a contract alone; what is sent are packets")

    @property
    def _marks(self) -> int:
        return MARKS["ecn"].put(super()._marks, CODEPOINTS.index(self.ecn))

    def begin(self, process: Arrivals) -> Arrivals:
        return begin_later(process, self.offset)

    def describe_packets(self, link: Encapsulation) -> SentPackets:
        """Return the packets that are sent on a first link.

        Raises:
            UnfitError: A size does not fit the link.
            ValueError: The rate cannot be kept exactly.
        """
        if self.rate is None:
            raise ValueError("rate: missing, and no source gives one")
        headers = self._headers
        transport_bytes = headers.transport_bytes
        sizes = convert_sizes(link, self.size, transport_bytes)
        packet_rate = Fraction(self.rate.amount)
        if self.rate.layer == "cell" and not link.per_cell_bytes:
            raise UnfitError(
                "rate: packets are not counted @cell on this link",
                "count them at one of their layers, `@line`, or let the link carry them in cells",
            )
        if self.rate.layer:
            packet_rate /= 8 * compute_mean_bytes(sizes, link, self.rate.layer, transport_bytes)
        if not LOWEST_PACKET_RATE <= packet_rate <= HIGHEST_PACKET_RATE:
            raise ValueError("rate: expected between one packet in 1000 s and 100 Gpkt/s")
        check_exact("rate", packet_rate, self.connections)
        source: tuple[str, Mapping[str, object]] = (self.gaps, {"rate": packet_rate})
        contract = Contract("packets", packet_rate, 0)
        return SentPackets(
            contract,
            source,
            sizes,
            self._marks,
            headers.fields,
            link,
            transport_bytes,
            cell_contract=None if self.cells is None else self.cells.build_contract(),
        )
