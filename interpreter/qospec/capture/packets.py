"""Packets as bytes: frame, IP and transport headers with their checks, exactly as long as emulated.

What a specification does not say is filled in: a flow without addresses gets some of the ranges for
benchmarks, one per connection, so that decoders tell connections apart.

Sources: IEEE 802.3, 3.2 (frame, check sequence), IEEE 802.1Q, 9 (tag), RFC 3032, 2.1 (label), RFC
1662, 3.1 (PPP in HDLC-like framing), RFC 791, 3.1, RFC 8200, 3 and 8.1, RFC 768, RFC 9293, 3.1, RFC
1071 (checksum), RFC 2003 (IP in IP), RFC 2784, 2 (GRE), RFC 3692 (protocol 253), RFC 2544, C.2.2
and RFC 5180, 8 (addresses).
"""

from __future__ import annotations

import ipaddress
import zlib
from typing import TYPE_CHECKING, NamedTuple

from qospec.capture.payload import payloads
from qospec.capture.pcapng import LinkType
from qospec.ciphers import headers
from qospec.ciphers.octets import big_endian, each_row, repeated
from qospec.engine.arrays import np
from qospec.engine.security.seal import INDEX_BITS, SIZE_BITS
from qospec.protocol.encapsulation import LABEL_BYTES, TAG_BYTES
from qospec.protocol.ip import FAMILY_EXTRA_BYTES, IPV4_HEADER_BYTES, TRANSPORT_HEADER_BYTES
from qospec.protocol.marks import MARKS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from qospec.capture.payload import Fill
    from qospec.capture.sightings import Items
    from qospec.protocol.encapsulation import Encapsulation

    Bytes = NDArray[np.uint8]
    """(n, size) n packets of one size."""
    Wrap = Callable[[Items, Bytes, int], Bytes]
    """What puts so many bytes more around packets of one size, as an element between did."""

ETHERNET, PPP, RAW = LinkType(1, 4), LinkType(50, 2), LinkType(101)
"""LINKTYPE_ETHERNET, LINKTYPE_PPP_HDLC, and LINKTYPE_RAW: an IP packet alone."""
ETHERNET_BYTES, PPP_BYTES = 18, 6
"""What each adds to a packet."""
ETHERNET_CHECK_BYTES = 4
NEAR_STATION, FAR_STATION = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
"""Addresses of the two ends of a link, administered locally."""
TAG_TYPE, SERVICE_TAG_TYPE, LABEL_TYPE = 0x8100, 0x88A8, 0x8847
IP_TYPES = {"ipv4": 0x0800, "ipv6": 0x86DD}
PPP_ADDRESS_AND_CONTROL = b"\xff\x03"
PPP_TYPES = {"ipv4": 0x0021, "ipv6": 0x0057}
FIRST_LABEL = 16
"""Labels below are reserved."""
TCP, GRE, EXPERIMENT = 6, 47, 253
PROTOCOLS = {"udp": headers.UDP, "tcp": TCP, "none": EXPERIMENT}
SOURCES = {"ipv4": ipaddress.ip_address("198.18.0.0"), "ipv6": ipaddress.ip_address("2001:2::")}
DESTINATIONS = {
    "ipv4": ipaddress.ip_address("198.19.0.0"),
    "ipv6": ipaddress.ip_address("2001:2:0:1::"),
}
GATEWAYS = {
    "ipv4": (ipaddress.ip_address("198.18.255.1"), ipaddress.ip_address("198.18.255.2")),
    "ipv6": (ipaddress.ip_address("2001:2::ff01"), ipaddress.ip_address("2001:2::ff02")),
}
"""Addresses of the ends of a tunnel."""
GRE_BYTES = 4
MOST_HOSTS = 2**16
"""Addresses in a range."""


class Flow(NamedTuple):
    """The packets of one source.

    Attributes:
        first: The index of its first connection.
        stop: One beyond that of its last.
        fields: What its headers hold, by name, as `Stream.header_fields`.
        answered: Of answers, the index of the first connection whose requests they answer.
    """

    first: int
    stop: int
    fields: Mapping[str, Fraction | str]
    answered: int | None = None

    @property
    def family(self) -> str:
        """Return the version of IP."""
        return str(self.fields["family"])


def link_type(framed: Encapsulation) -> LinkType:
    """Return what the frames of a line are, by the number of bytes that they add to a packet."""
    around = framed.header_bytes - framed.vlan_tags * TAG_BYTES - framed.labels * LABEL_BYTES
    if around == ETHERNET_BYTES:
        return ETHERNET
    return PPP if around == PPP_BYTES and not framed.vlan_tags else RAW


def frames(
    items: Items, framed: Encapsulation, flows: Sequence[Flow], fill: Fill, wrap: Wrap
) -> list[bytes]:
    """Return the frame of each packet on a line.

    Args:
        items: What passed.
        framed: The framing of the line.
        flows: All sources.
        fill: Of payloads.
        wrap: What elements ahead of the line put around packets.
    """
    found: list[bytes] = [b""] * items.total
    flow_of = np.searchsorted([each.stop for each in flows], items.batch.connection, "right")
    seal = items.batch.sealed().seal
    inside = seal & ((1 << INDEX_BITS + SIZE_BITS) - 1)  # all but the number
    kinds = np.stack([flow_of, items.sent_bytes, items.batch.size_bytes, inside], axis=1)
    each_kind, kind_of = np.unique(kinds, axis=0, return_inverse=True)
    for number, (flow, sent_bytes, size_bytes, _) in enumerate(each_kind.tolist()):
        mine = np.flatnonzero(kind_of.reshape(-1) == number)
        alike = items.where(mine)
        inner = _ip_packets(alike, flows[flow], sent_bytes, fill)
        around = size_bytes - sent_bytes
        whole = wrap(alike, inner, around) if around > 0 else inner
        version_6 = whole[0, 0] >> 4 == headers.VERSIONS["ipv6"]
        family = "ipv6" if version_6 else "ipv4"
        for place, frame in zip(mine.tolist(), _framed(alike, whole, framed, family), strict=True):
            found[place] = frame
    return found


def _framed(items: Items, packets: Bytes, framed: Encapsulation, family: str) -> list[bytes]:
    kind = link_type(framed)
    if kind is RAW:
        return each_row(packets)
    if kind is PPP:
        head = PPP_ADDRESS_AND_CONTROL + PPP_TYPES[family].to_bytes(2, "big")
        return [with_ppp_check(head + each) for each in each_row(packets)]
    parts = [repeated(FAR_STATION + NEAR_STATION, items.total)]
    parts += _tags(items, framed.vlan_tags)
    parts.append(
        repeated(
            (LABEL_TYPE if framed.labels else IP_TYPES[family]).to_bytes(2, "big"), items.total
        )
    )
    parts += _labels(items, framed.labels)
    parts.append(packets)
    size = sum(part.shape[1] for part in parts) + ETHERNET_CHECK_BYTES
    parts.append(np.zeros((items.total, max(0, framed.least_bytes - size)), np.uint8))
    whole = each_row(np.concatenate(parts, axis=1))
    return [each + zlib.crc32(each).to_bytes(ETHERNET_CHECK_BYTES, "little") for each in whole]


def _tags(items: Items, count: int) -> list[Bytes]:
    """Return the tags of frames, the outer one with their priority; no VLAN is emulated: 0."""
    parts = []
    for place in range(count):
        kind = SERVICE_TAG_TYPE if place < count - 1 else TAG_TYPE
        priority = _mark(items, "priority") if place == 0 else np.zeros(items.total, np.int64)
        parts.append(big_endian(kind << 16 | priority << 13, TAG_BYTES))
    return parts


def _labels(items: Items, count: int) -> list[Bytes]:
    """Return the labels ahead of packets, the outer one with their traffic class."""
    parts = []
    for place in range(count):
        none = np.zeros(items.total, np.int64)
        group = _mark(items, "traffic_class") if place == 0 else none
        entry = (
            (FIRST_LABEL + place) << 12 | (place == count - 1) << 8 | headers.DEFAULT_TIME_TO_LIVE
        )
        parts.append(big_endian(entry | group << 9, LABEL_BYTES))
    return parts


def with_ppp_check(frame: bytes) -> bytes:
    """Return a frame with its check sequence of 16 bits. Source: RFC 1662, C.2."""
    rest = 0xFFFF
    for byte in frame:
        rest ^= byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x8408 if rest & 1 else 0)
    return frame + (rest ^ 0xFFFF).to_bytes(2, "little")


def outer_header(items: Items, inner: Bytes, size_bytes: int) -> Bytes:
    """Put the header of an outer IPv4 packet around packets, for which alone there is a `Wrap`.

    Of 20 bytes it is IP in IP, of 24 GRE; of more, an unknown protocol, and bytes of 0 behind the
    outer header. Fewer than 20 cannot be: they are bytes of 0 ahead of the packet.
    """
    behind, version = size_bytes - IPV4_HEADER_BYTES, int(inner[0, 0] >> 4)
    if behind < 0:
        return np.concatenate([repeated(bytes(size_bytes), items.total), inner], axis=1)
    family = "ipv6" if version == headers.VERSIONS["ipv6"] else "ipv4"
    protocol, more = {
        0: (int(headers.PROTOCOLS_OF_VERSIONS[version]), b""),
        GRE_BYTES: (GRE, b"\0\0" + IP_TYPES[family].to_bytes(2, "big")),
    }.get(behind, (EXPERIMENT, bytes(behind)))
    ends = repeated(b"".join(each.packed for each in GATEWAYS["ipv4"]), items.total)
    packets = np.concatenate([repeated(more, items.total), inner], axis=1)
    return _with_ip(items, packets, "ipv4", protocol, ends)


# ---- IP packets, before anything was put around them


def _ip_packets(items: Items, flow: Flow, size_bytes: int, fill: Fill) -> Bytes:
    protocol, family = str(flow.fields["protocol"]), flow.family
    ip_bytes = IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES[family]
    carried = payloads(items, size_bytes - ip_bytes - TRANSPORT_HEADER_BYTES[protocol], fill)
    ends, number = _ends(items, flow), PROTOCOLS[protocol]
    if protocol != "none":
        pseudo = [ends, _pair(items, number), _pair(items, size_bytes - ip_bytes)]
        carried = _with_transport(items, flow, carried, np.concatenate(pseudo, axis=1))
    return _with_ip(items, carried, family, number, ends)


def _with_ip(items: Items, carried: Bytes, family: str, protocol: int, ends: Bytes) -> Bytes:
    """Put an IP header ahead of what packets carry; `ends` are their addresses."""
    type_of_service = _mark(items, "dscp") << 2
    said = headers.Carried(type_of_service, np.zeros(items.total, np.bool_), items.number)
    own_bytes = IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES[family]
    make, start = {
        "ipv4": (headers.ipv4, headers.ADDRESSES),
        "ipv6": (headers.ipv6, headers.IPV6_ADDRESSES),
    }[family]
    size_bytes = own_bytes + carried.shape[1]
    header = make(size_bytes, protocol, bytes(own_bytes - start), said)
    header[:, start:] = ends
    header = headers.rewritten(header, np.full(items.total, size_bytes), protocol)
    return np.concatenate([header, carried], axis=1)


def _with_transport(items: Items, flow: Flow, carried: Bytes, pseudo: Bytes) -> Bytes:
    ports = b"".join(
        int(flow.fields[f"{end}_port"]).to_bytes(2, "big") for end in ("source", "destination")
    )
    start = repeated(ports, items.total)
    check = 6 if flow.fields["protocol"] == "udp" else 16
    if flow.fields["protocol"] == "udp":
        head = [
            start,
            _pair(items, TRANSPORT_HEADER_BYTES["udp"] + carried.shape[1]),
            _pair(items, 0),
        ]
    else:
        sequence = big_endian(items.number * carried.shape[1] & 0xFFFFFFFF, 4)
        acknowledgement = repeated(bytes.fromhex("00000000 5010 ffff 0000 0000"), items.total)
        head = [start, sequence, acknowledgement]
    whole = np.concatenate([*head, carried], axis=1)
    odd = repeated(bytes(whole.shape[1] % 2), items.total)
    found = headers.checksum(np.concatenate([pseudo, whole, odd], axis=1))
    if flow.fields["protocol"] == "udp":
        found[found == 0] = 0xFFFF
    whole[:, check : check + 2] = big_endian(found, 2)
    return whole


def _ends(items: Items, flow: Flow) -> Bytes:
    """Return the source and destination addresses, one behind the other.

    Those of answers are those of the requests, the other way round.
    """
    numbers, ranges = items.batch.connection.astype(np.int64), [SOURCES, DESTINATIONS]
    if flow.answered is not None:
        numbers, ranges = numbers - flow.first + flow.answered, ranges[::-1]
    ends = []
    for end, addresses in zip(("source", "destination"), ranges, strict=True):
        given = ipaddress.ip_address(str(flow.fields[f"{end}_address"]))
        base = addresses[flow.family] if given.is_unspecified else given
        made = repeated(base.packed, items.total).copy()
        if given.is_unspecified:
            made[:, -2:] = big_endian(numbers % MOST_HOSTS, 2)
        ends.append(made)
    return np.concatenate(ends, axis=1)


def _mark(items: Items, name: str) -> NDArray[np.int64]:
    mark = MARKS[name]
    values = items.batch.marks & np.uint32(mark.mask)
    return (values >> np.uint32(mark.first)).astype(np.int64)


def _pair(items: Items, value: int) -> Bytes:
    return repeated(value.to_bytes(2, "big"), items.total)
