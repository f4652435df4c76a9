"""What kinds of packet traffic share: the types of their header fields, and sizes on a link."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Literal

from qospec.catalogue.kinds import Domain, UnfitError
from qospec.dataclass import NamedTuple
from qospec.engine.source.sizes import Sizes
from qospec.protocol.encapsulation import HIGHEST_VLAN, RESERVED_VLANS
from qospec.protocol.ip import (
    FAMILY_EXTRA_BYTES,
    HIGHEST_PORT,
    IPV4_HEADER_BYTES,
    TRANSPORT_HEADER_BYTES,
)
from qospec.protocol.marks import MARKS, set_marks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.catalogue.kinds import SizeMix
    from qospec.protocol.encapsulation import Encapsulation

Family = Annotated[Literal["ipv4", "ipv6"], Domain("choice", choices=("ipv4", "ipv6"))]
"""The version of IP."""
Address = Annotated[str | None, Domain("address")]
"""An address of that version, in its shortest form."""
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
Vlan = Annotated[int | None, Domain("integer", 1, HIGHEST_VLAN, beyond=RESERVED_VLANS)]
"""An identifier of a VLAN."""
TrafficClass = Annotated[int | None, Domain("integer", 0, MARKS["traffic_class"].highest)]
"""Of an MPLS label."""

UNSPECIFIED = {"ipv4": "0.0.0.0", "ipv6": "::"}  # noqa: S104 -- no socket is bound
"""The address of packets without one. Source: RFC 1122, 3.2.1.3; RFC 4291, 2.5.2."""


class Headers(NamedTuple):
    """The headers of the packets of a flow, but for what elements change."""

    family: str
    protocol: str
    source_port: int
    destination_port: int
    source_address: str | None
    destination_address: str | None
    vlan: int | None
    inner_vlan: int | None

    def verify(self) -> None:
        """Raise ValueError, in the author's words, if they do not fit each other."""
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

    @property
    def transport_bytes(self) -> int:
        """Return the bytes of headers besides the 20 bytes of IPv4."""
        return FAMILY_EXTRA_BYTES[self.family] + TRANSPORT_HEADER_BYTES[self.protocol]

    @property
    def fields(self) -> Mapping[str, Fraction | str]:
        """Return what classifiers can test and no element changes, by name."""
        unspecified = UNSPECIFIED[self.family]
        return {
            "family": self.family,
            "source_address": self.source_address or unspecified,
            "destination_address": self.destination_address or unspecified,
            "protocol": self.protocol,
            "source_port": Fraction(self.source_port),
            "destination_port": Fraction(self.destination_port),
            "vlan": Fraction(self.vlan or 0),
            "inner_vlan": Fraction(self.inner_vlan or 0),
        }

    @property
    def reversed(self) -> Headers:
        """Return those of an answer."""
        return self._replace(
            source_port=self.destination_port,
            destination_port=self.source_port,
            source_address=self.destination_address,
            destination_address=self.source_address,
        )


class WithHeaders:
    """A base of kinds of packet traffic: what follows from the fields of their headers.

    Each kind declares the fields itself, in its order and with what they mean for it.
    """

    dscp: CodePoint
    priority: PriorityCode
    vlan: Vlan
    inner_vlan: Vlan
    traffic_class: TrafficClass
    family: Family
    protocol: Protocol
    source_port: Port
    destination_port: Port
    source_address: Address
    destination_address: Address

    @property
    def _headers(self) -> Headers:
        return Headers(**{name: getattr(self, name) for name in Headers._fields})

    @property
    def is_tagged(self) -> bool:
        """Return whether frames have a tag, on a link where this depends on the flow."""
        tag = self.priority, self.vlan, self.inner_vlan
        return any(field is not None for field in tag)

    @property
    def _marks(self) -> int:
        return set_marks(
            dscp=self.dscp, priority=self.priority or 0, traffic_class=self.traffic_class or 0
        )


def convert_sizes(
    link: Encapsulation, mix: SizeMix, transport_bytes: int, field: str = "size"
) -> Sizes:
    """Return the sizes of IP packets on a link, from those that an author wrote.

    Raises:
        UnfitError: A size does not fit the link; `field` is where it was written.
    """
    least, most = IPV4_HEADER_BYTES + transport_bytes, link.largest_bytes
    if link.per_cell_bytes and mix.layer in ("line", "frame"):
        raise UnfitError(
            f"{field}: packets of several sizes have as many cells on this link",
            "give the size of packets, `@ip`",
        )
    found: list[tuple[int, int]] = []
    unfit: dict[int, int] = {}
    for size, weight in mix.parts:
        packet = link.count_packet_bytes(size, mix.layer, transport_bytes)
        if not least <= packet <= most:
            unfit[size] = packet
        found.append((packet, weight))
    if unfit:
        ends = {
            end: link.count_layer_bytes(end, mix.layer, transport_bytes) for end in (least, most)
        }
        raise _build_error(field, mix.layer, unfit, ends)
    if not mix.in_order:
        weights: Counter[int] = Counter()
        for packet, weight in found:
            weights[packet] += weight
        found = sorted(weights.items())
    packets, weights_of = zip(*found, strict=True)
    return Sizes(packets, weights_of, in_order=mix.in_order)


def _build_error(
    field: str, layer: str, packets: Mapping[int, int], ends: Mapping[int, int]
) -> UnfitError:
    """Return the error for sizes that do not fit; it names the nearest ones that do.

    It describes the first size. `packets` has the resulting bytes @ip by size as written; `ends`
    the least and the most bytes @ip, each with its length in the layer, as a whole frame.
    """
    least, most = ends
    size, packet = next(iter(packets.items()))
    inside = f"leaves {max(packet, 0)} B @ip" if layer != "ip" else "does not fit"
    nearest = sorted({ends[least if packet < least else most] for packet in packets.values()})
    fit = " and ".join(f"`{size:_} B @{layer}`" for size in nearest)
    are = "sizes that fit are" if len(nearest) > 1 else "size that fits is"
    return UnfitError(
        f"{field}: {size} B @{layer} {inside}; on this link"
        f" a packet with its headers has {least} to {most} B @ip",
        f"the nearest {are} {fit}" if least <= most else "",
    )
