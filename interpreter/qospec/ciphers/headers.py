"""IP and UDP headers of rows, and the Internet checksum.

Sources: RFC 791, 3.1 (IPv4); RFC 8200, 3 (IPv6); RFC 768 (UDP); RFC 1071 (checksum).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from qospec.ciphers.octets import encode_big_endian, repeat_row
from qospec.dataclass import NamedTuple
from qospec.protocol.ip import FAMILY_EXTRA_BYTES, IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.ciphers.octets import Numbers, Octets, Truths
    from qospec.protocol.esp import Family

IPV6_HEADER_BYTES = IPV4_HEADER_BYTES + FAMILY_EXTRA_BYTES["ipv6"]
WITHOUT_OPTIONS = 0x45
"""The first byte of an IPv4 header of five words."""
VERSIONS: dict[Family, int] = {"ipv4": 4, "ipv6": 6}
IPV4_IN_IP, IPV6_IN_IP, UDP, ESP = 4, 41, 17, 50
"""Numbers of protocols."""
PROTOCOLS_OF_VERSIONS = np.full(16, IPV4_IN_IP, np.uint8)
"""The protocol of a packet that is carried in another, by its version."""
PROTOCOLS_OF_VERSIONS[VERSIONS["ipv6"]] = IPV6_IN_IP
DONT_FRAGMENT, MORE_FRAGMENTS = 0x4000, 0x2000
"""Flags, in the word that they share with the offset of a fragment."""
OFFSET_MASK = 0x1FFF
TOTAL_LENGTH, FLAGS, PROTOCOL, CHECKSUM = 2, 6, 9, 10
"""Where fields of an IPv4 header begin."""
ADDRESSES = 12
UDP_CHECKSUM = 6
"""Where it begins in a header of UDP."""
IPV6_PAYLOAD_LENGTH, IPV6_NEXT_HEADER, IPV6_ADDRESSES = 4, 6, 8
"""Where fields of an IPv6 header begin."""
DEFAULT_TIME_TO_LIVE = 64
_WORD = 0xFFFF


class Carried(NamedTuple):
    """What an outer header takes over from each packet.

    Attributes:
        type_of_service: (n,) DSCP and congestion notification, 8 bits.
        dont_fragment: (n,) Whether it may not be cut; for IPv4.
        identification: (n,) Any numbers; for IPv4, their last 16 bits.
    """

    type_of_service: NDArray[np.integer[Any]]
    dont_fragment: Truths
    identification: Numbers


def compute_checksum(rows: Octets) -> Numbers:
    """Return (n,) the Internet checksum of rows of an even size; 0 where it is in place."""
    return _fold(rows.view(">u2").sum(axis=1, dtype=np.int64))


def _fold(sums: Numbers) -> Numbers:
    """Return the checksums of sums of words."""
    for _ in range(2):
        sums = (sums & _WORD) + (sums >> 16)
    return ~sums & _WORD


def build_ipv4(packet_bytes: int, protocol: int, ends: bytes, carried: Carried) -> Octets:
    """Return (n, 20) headers of packets of one size; `ends` are source and destination."""
    start = struct.pack(
        ">BBHHHBBH", WITHOUT_OPTIONS, 0, packet_bytes, 0, 0, DEFAULT_TIME_TO_LIVE, protocol, 0
    )
    same = np.frombuffer(start + ends, ">u2")
    words = np.empty((len(carried.identification), len(same)), ">u2")
    words[:] = same
    words[:, 0] += carried.type_of_service.astype(np.uint16)
    words[:, 2] = carried.identification & _WORD
    words[:, 3] = carried.dont_fragment * np.uint16(DONT_FRAGMENT)
    # Only these three words differ, so only they are added up for each packet.
    sums = int(same.sum(dtype=np.int64)) + carried.type_of_service.astype(np.int64)
    sums += carried.identification & _WORD
    sums += words[:, 3]
    words[:, 5] = _fold(sums)
    return words.view(np.uint8)


def build_ipv6(packet_bytes: int, protocol: int, ends: bytes, carried: Carried) -> Octets:
    """Return (n, 40) headers of packets of one size; `ends` are source and destination."""
    payload_bytes = packet_bytes - IPV6_HEADER_BYTES
    rest = payload_bytes.to_bytes(2, "big") + bytes([protocol, DEFAULT_TIME_TO_LIVE]) + ends
    count = len(carried.type_of_service)
    first = VERSIONS["ipv6"] << 28 | carried.type_of_service.astype(np.int64) << 20
    return np.concatenate([encode_big_endian(first, 4), repeat_row(rest, count)], axis=1)


def build_udp(datagram_bytes: int, port: int) -> NDArray[np.uint8]:
    """Return (8,) a header from a port to the same one, without a checksum."""
    return np.frombuffer(struct.pack(">4H", port, port, datagram_bytes, 0), np.uint8)


def compute_transport_checksum(ends: Octets, protocol: int, segments: Octets) -> Numbers:
    """Return (n,) the checksum of what IP carries, in which its own field is 0.

    Args:
        ends: (n, size) Or (1, size) the addresses of source and destination.
        protocol: Its number; a checksum of UDP is never 0, which says that there is none.
        segments: (n, size) From the header of the transport on.
    """
    count, width = segments.shape
    start = np.broadcast_to(ends, (count, ends.shape[1]))
    said = repeat_row(struct.pack(">HH", protocol, width), count)
    found = compute_checksum(
        np.concatenate([start, said, segments, repeat_row(bytes(width % 2), count)], 1)
    )
    return np.where(found == 0, _WORD, found) if protocol == UDP else found


def find_protocol(family: Family) -> int:
    """Return where the header of a family has the protocol of what it carries."""
    return PROTOCOL if family == "ipv4" else IPV6_NEXT_HEADER


def list_carried(packets: Octets, identification: Numbers) -> Carried:
    """Return what packets hand on, IPv4 or IPv6; IPv6 is never fragmented on its way."""
    first, second = packets[:, 0], packets[:, 1]
    of_version_6 = first >> 4 == VERSIONS["ipv6"]
    return Carried(
        np.where(of_version_6, first << 4 | second >> 4, second),
        of_version_6 | (packets[:, FLAGS] & DONT_FRAGMENT >> 8 != 0),
        identification,
    )


def rewrite_headers(
    headers: Octets, packet_bytes: Numbers, protocol: int | NDArray[np.uint8]
) -> Octets:
    """Return IP headers of one family and length with another length of packet and protocol."""
    found = headers.copy()
    if found[0, 0] >> 4 == VERSIONS["ipv6"]:
        length = packet_bytes - IPV6_HEADER_BYTES
        found[:, IPV6_PAYLOAD_LENGTH : IPV6_PAYLOAD_LENGTH + 2] = encode_big_endian(length, 2)
        found[:, IPV6_NEXT_HEADER] = protocol
        return found
    found[:, TOTAL_LENGTH : TOTAL_LENGTH + 2] = encode_big_endian(packet_bytes, 2)
    found[:, PROTOCOL] = protocol
    found[:, CHECKSUM : CHECKSUM + 2] = 0
    found[:, CHECKSUM : CHECKSUM + 2] = encode_big_endian(compute_checksum(found), 2)
    return found
