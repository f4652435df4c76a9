"""IP and UDP headers of rows, and the Internet checksum.

Sources: RFC 791, 3.1 (IPv4); RFC 8200, 3 (IPv6); RFC 768 (UDP); RFC 1071 (checksum).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from qospec.ciphers.octets import big_endian, numbers_in, repeated
from qospec.protocol.ip import FAMILY_EXTRA_BYTES, IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.ciphers.octets import Numbers, Octets
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
TYPE_OF_SERVICE, TOTAL_LENGTH, FLAGS, TIME_TO_LIVE, PROTOCOL, CHECKSUM = 1, 2, 6, 8, 9, 10
"""Where fields of an IPv4 header begin."""
ADDRESSES = 12
IPV6_PAYLOAD_LENGTH, IPV6_NEXT_HEADER, IPV6_ADDRESSES = 4, 6, 8
"""Where fields of an IPv6 header begin."""
DEFAULT_TIME_TO_LIVE = 64
_WORD = 0xFFFF


class Carried(NamedTuple):
    """What an outer header takes over from each packet.

    Attributes:
        type_of_service: (n,) DSCP and congestion notification, 8 bits.
        flags: (n,) DONT_FRAGMENT or 0; for IPv4.
        identification: (n,) Any numbers; for IPv4, their last 16 bits.
    """

    type_of_service: Numbers
    flags: Numbers
    identification: Numbers


def checksum(rows: Octets) -> Numbers:
    """Return (n,) the Internet checksum of rows of an even size; 0 where it is in place."""
    return _folded(rows.view(">u2").sum(axis=1, dtype=np.int64))


def _folded(sums: Numbers) -> Numbers:
    """Return the checksums of sums of words."""
    for _ in range(2):
        sums = (sums & _WORD) + (sums >> 16)
    return ~sums & _WORD


def ipv4(packet_bytes: int, protocol: int, ends: bytes, carried: Carried) -> Octets:
    """Return (n, 20) headers of packets of one size; `ends` are source and destination."""
    identification = carried.identification & _WORD
    same = bytearray(IPV4_HEADER_BYTES)
    same[0] = WITHOUT_OPTIONS
    same[TOTAL_LENGTH : TOTAL_LENGTH + 2] = packet_bytes.to_bytes(2, "big")
    same[TIME_TO_LIVE], same[PROTOCOL] = DEFAULT_TIME_TO_LIVE, protocol
    same[ADDRESSES:] = ends
    header = repeated(bytes(same), len(identification)).copy()
    header[:, TYPE_OF_SERVICE] = carried.type_of_service
    header[:, 4:6] = big_endian(identification, 2)
    header[:, FLAGS : FLAGS + 2] = big_endian(carried.flags, 2)
    # Only these three fields differ, so only they are added up for each packet.
    sums = int(np.frombuffer(same, ">u2").sum(dtype=np.int64)) + carried.type_of_service
    sums = sums + identification + carried.flags
    header[:, CHECKSUM : CHECKSUM + 2] = big_endian(_folded(sums), 2)
    return header


def ipv6(packet_bytes: int, protocol: int, ends: bytes, carried: Carried) -> Octets:
    """Return (n, 40) headers of packets of one size; `ends` are source and destination."""
    payload_bytes = packet_bytes - IPV6_HEADER_BYTES
    rest = payload_bytes.to_bytes(2, "big") + bytes([protocol, DEFAULT_TIME_TO_LIVE]) + ends
    count = len(carried.type_of_service)
    first = VERSIONS["ipv6"] << 28 | carried.type_of_service << 20
    return np.concatenate([big_endian(first, 4), repeated(rest, count)], axis=1)


def udp(datagram_bytes: int, port: int) -> NDArray[np.uint8]:
    """Return (8,) a header from a port to the same one, without a checksum (RFC 3948, 2.1)."""
    return np.frombuffer(struct.pack(">4H", port, port, datagram_bytes, 0), np.uint8)


def protocol_of(family: Family) -> int:
    """Return where the header of a family has the protocol of what it carries."""
    return PROTOCOL if family == "ipv4" else IPV6_NEXT_HEADER


def own_carried(packets: Octets, identification: Numbers) -> Carried:
    """Return what packets hand on, IPv4 or IPv6; IPv6 is never fragmented on its way."""
    version_6 = packets[:, 0] >> 4 == VERSIONS["ipv6"]
    first = numbers_in(packets[:, :2])
    flags = numbers_in(packets[:, FLAGS : FLAGS + 2]) & DONT_FRAGMENT
    return Carried(
        np.where(version_6, first >> 4 & 0xFF, first & 0xFF),
        np.where(version_6, DONT_FRAGMENT, flags),
        identification,
    )


def rewritten(headers: Octets, packet_bytes: Numbers, protocol: int | NDArray[np.uint8]) -> Octets:
    """Return IP headers of one family and length with another length of packet and protocol."""
    found = headers.copy()
    if found[0, 0] >> 4 == VERSIONS["ipv6"]:
        length = packet_bytes - IPV6_HEADER_BYTES
        found[:, IPV6_PAYLOAD_LENGTH : IPV6_PAYLOAD_LENGTH + 2] = big_endian(length, 2)
        found[:, IPV6_NEXT_HEADER] = protocol
        return found
    found[:, TOTAL_LENGTH : TOTAL_LENGTH + 2] = big_endian(packet_bytes, 2)
    found[:, PROTOCOL] = protocol
    found[:, CHECKSUM : CHECKSUM + 2] = 0
    found[:, CHECKSUM : CHECKSUM + 2] = big_endian(checksum(found), 2)
    return found
