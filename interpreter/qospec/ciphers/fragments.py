"""IPv4 packets cut into fragments for a path, and put together again.

Source: RFC 791, 3.2 (both procedures); RFC 815 (what is missing); RFC 1858, 3 (overlaps).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from qospec.ciphers import headers
from qospec.ciphers.octets import big_endian, rows_of
from qospec.protocol.fragments import UNIT_BYTES, fragment_bytes
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.ciphers.octets import Numbers, Octets


class FragmentationError(ValueError):
    """A packet exceeds the MTU of a path, and its header forbids to cut it."""


def fragmented(packet: bytes, mtu_bytes: int) -> list[bytes]:
    """Return the fragments of a packet without options, or itself if it fits.

    Raises:
        FragmentationError: It does not fit, and has the flag DF.
        ValueError: The packet has options, or the MTU is below what every link carries.
    """
    if packet[0] != headers.WITHOUT_OPTIONS:
        raise ValueError("only IPv4 packets without options are cut into fragments")
    sizes = fragment_bytes(len(packet), mtu_bytes)
    if len(sizes) == 1:
        return [packet]
    word = int.from_bytes(packet[headers.FLAGS : headers.FLAGS + 2], "big")
    if word & headers.DONT_FRAGMENT:
        raise FragmentationError(
            f"a packet of {len(packet)} B exceeds the path MTU of {mtu_bytes} B, and its header"
            " forbids fragmentation (DF)"
        )
    return list(_fragments(packet, sizes))


def _fragments(packet: bytes, sizes: tuple[int, ...]) -> Iterator[bytes]:
    """Yield fragments of these sizes; of a fragment, its offset and its flag count on."""
    start_bytes = 0
    for size in sizes:
        payload_bytes = size - IPV4_HEADER_BYTES
        yield part_of(rows_of([packet]), start_bytes, payload_bytes).tobytes()
        start_bytes += payload_bytes


def part_of(packets: Octets, start_bytes: int, payload_bytes: int) -> Octets:
    """Return (n, size) the same fragment of each of n packets of one size, without options.

    Args:
        packets: (n, size) Packets, which may be fragments themselves.
        start_bytes: Where it begins in what they carry, a multiple of UNIT_BYTES.
        payload_bytes: What it carries.
    """
    carried = packets[:, IPV4_HEADER_BYTES:]
    more = 0 if start_bytes + payload_bytes == carried.shape[1] else headers.MORE_FRAGMENTS
    words = packets[:, headers.FLAGS].astype(np.int64) << 8 | packets[:, headers.FLAGS + 1]
    words = (words | more) + start_bytes // UNIT_BYTES
    return _with_header(packets, words, carried[:, start_bytes : start_bytes + payload_bytes])


def _with_header(packets: Octets, words: Numbers, carried: Octets) -> Octets:
    """Return what is carried behind the headers of packets, with other flags and offsets."""
    header = packets[:, :IPV4_HEADER_BYTES].copy()
    header[:, headers.FLAGS : headers.FLAGS + 2] = big_endian(words, 2)
    length = big_endian([IPV4_HEADER_BYTES + carried.shape[1]], 2)
    header[:, headers.TOTAL_LENGTH : headers.TOTAL_LENGTH + 2] = length
    header[:, headers.CHECKSUM : headers.CHECKSUM + 2] = 0
    header[:, headers.CHECKSUM : headers.CHECKSUM + 2] = big_endian(headers.checksum(header), 2)
    return np.concatenate([header, carried], axis=1)


class Reassembly:
    """Puts fragments together, in whatever order they come; how long it waits is not its affair."""

    def __init__(self) -> None:
        self._waiting: dict[bytes, dict[int, bytes]] = {}
        self._ends: dict[bytes, int] = {}

    @property
    def incomplete(self) -> int:
        """Return of how many packets there are some fragments, and not all."""
        return len(self._waiting)

    def add(self, packet: bytes) -> bytes | None:
        """Return a packet that this completes, or the packet itself if it is whole.

        Raises:
            ValueError: It overlaps with another fragment, and not as its copy, or lies behind the
                last; all fragments of its packet are dropped.
        """
        word = int.from_bytes(packet[headers.FLAGS : headers.FLAGS + 2], "big")
        more = word & headers.MORE_FRAGMENTS
        offset = (word & headers.OFFSET_MASK) * UNIT_BYTES
        if not more and not offset:
            return packet
        # Source, destination, protocol and identification say what belongs together.
        name = packet[headers.ADDRESSES : IPV4_HEADER_BYTES] + packet[9:10] + packet[4:6]
        parts = self._waiting.setdefault(name, {})
        if parts.setdefault(offset, packet) != packet:
            self._refuse(name)
        if not more:
            self._ends[name] = offset + len(packet) - IPV4_HEADER_BYTES
        return self._completed(name, parts)

    def _completed(self, name: bytes, parts: dict[int, bytes]) -> bytes | None:
        """Return the packet if its parts follow one another up to its end."""
        data, end = b"", self._ends.get(name)
        for offset in sorted(parts):
            if offset < len(data) or (end is not None and offset >= end):
                self._refuse(name)
            if offset > len(data):
                return None
            data += parts[offset][IPV4_HEADER_BYTES:]
        if len(data) != end:
            return None
        del self._waiting[name], self._ends[name]
        first = parts[0]
        word = int.from_bytes(first[headers.FLAGS : headers.FLAGS + 2], "big")
        words = np.array([word & ~headers.MORE_FRAGMENTS])
        return _with_header(rows_of([first]), words, rows_of([data])).tobytes()

    def _refuse(self, name: bytes) -> NoReturn:
        """Drop what is known of a packet."""
        del self._waiting[name]
        self._ends.pop(name, None)
        raise ValueError("fragments of a packet overlap, or one lies behind the last")
