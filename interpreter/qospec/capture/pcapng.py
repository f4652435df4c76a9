"""The blocks of a pcapng file: little-endian, one section, one interface, times in nanoseconds.

Source: draft-ietf-opsawg-pcapng, 4.1 (section header), 4.2 (interface description), 4.3 (enhanced
packet) and 3.5 (options). No clock of the computer is read: a time counts from the beginning of the
trial, which a reader shows as 1970-01-01. Picoseconds can be written too, but widespread readers
multiply them by 10^9 in 64 bits, which overflows after 18 ms; comments have them.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qospec.engine.arrays import Times

SECTION_HEADER, INTERFACE_DESCRIPTION, ENHANCED_PACKET = 0x0A0D0D0A, 1, 6
"""Types of blocks."""
BYTE_ORDER = 0x1A2B3C4D
END_OF_OPTIONS, COMMENT = 0, 1
INTERFACE_NAME, SPEED, TIME_RESOLUTION, CHECK_SEQUENCE_BYTES = 2, 8, 9, 13
APPLICATION = 4
"""Codes of options."""
NANOSECONDS = 9
"""The resolution of times, as a negative power of 10."""
PS_PER_NS = 1_000
LONGEST_OPTION = 65_532
"""Bytes of an option: its length has 16 bits, and is filled up to a multiple of 4."""
PACKET_HEAD_BYTES = 28
"""Of an enhanced packet block, ahead of the packet."""


class LinkType(NamedTuple):
    """What the bytes of a packet are.

    Attributes:
        number: As registered at tcpdump.org.
        check_sequence_bytes: How many bytes at the end of a frame are its check sequence.
    """

    number: int
    check_sequence_bytes: int = 0


def build_opening(
    link: LinkType, name: str, application: str, comment: str, bit_rate: int = 0
) -> bytes:
    """Return the blocks ahead of all packets; `name` is that of the interface.

    So is the rate, in bit/s, 0 if it says nothing: from it a reader knows when packets began.
    """
    versions = struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1)
    options = [(COMMENT, comment.encode()), (APPLICATION, application.encode())]
    description = [(INTERFACE_NAME, name.encode()), (TIME_RESOLUTION, bytes([NANOSECONDS]))]
    if bit_rate:
        description.append((SPEED, bit_rate.to_bytes(8, "little")))
    if link.check_sequence_bytes:
        description.append((CHECK_SEQUENCE_BYTES, bytes([link.check_sequence_bytes])))
    interface = struct.pack("<HHI", link.number, 0, 0)
    return _build_block(SECTION_HEADER, versions + _build_options(options)) + _build_block(
        INTERFACE_DESCRIPTION, interface + _build_options(description)
    )


def build_packets(at_ps: Times, packets_: Sequence[bytes], comments: Sequence[str]) -> bytes:
    """Return a block of each packet with its time and a comment.

    Args:
        at_ps: (n,) Times; they are rounded down.
        packets_: n packets, whole.
        comments: n comments.
    """
    return b"".join(map(_build_packet, (at_ps // PS_PER_NS).tolist(), packets_, comments))


def _build_packet(at_ns: int, packet: bytes, comment: str) -> bytes:
    words = comment.encode()
    size, length = len(packet), len(words)
    filled, filled_words = -size % 4, -length % 4
    whole = PACKET_HEAD_BYTES + size + filled + 4 + length + filled_words + 4 + 4
    head = _HEAD.pack(ENHANCED_PACKET, whole, 0, at_ns >> 32, at_ns & 0xFFFFFFFF, size, size)
    option = _OPTION.pack(COMMENT, length)
    end = _LENGTH.pack(whole)
    return b"".join((head, packet, bytes(filled), option, words, bytes(filled_words + 4), end))


_HEAD, _OPTION, _LENGTH = struct.Struct("<IIIIIII"), struct.Struct("<HH"), struct.Struct("<I")


def _build_options(options: Sequence[tuple[int, bytes]]) -> bytes:
    parts = []
    for code, value in options:
        cut = value[:LONGEST_OPTION]
        parts.append(_OPTION.pack(code, len(cut)) + cut + bytes(-len(cut) % 4))
    return b"".join([*parts, _OPTION.pack(END_OF_OPTIONS, 0)])


def _build_block(kind: int, body: bytes) -> bytes:
    size = _LENGTH.pack(len(body) + 12)
    return _LENGTH.pack(kind) + size + body + size
