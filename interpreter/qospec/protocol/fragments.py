"""IPv4 fragmentation in numbers, alone and together with ESP.

Source: RFC 791, 3.2 (fragmentation); RFC 4303, 3.3.4 (before and after encryption).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from qospec.protocol.esp import Esp

UNIT_BYTES = 8
"""Offsets count in it, so all fragments but the last carry a multiple. Source: RFC 791, 3.1."""
LEAST_MTU_BYTES = 68
"""What every link carries. Source: RFC 791, 3.2."""
MOST_FRAGMENTS = 31
"""Of a packet, in the emulation: as many as an element may send in one event."""


def full_payload_bytes(mtu_bytes: int) -> int:
    """Return what a fragment carries of a packet, unless it is the last."""
    return (mtu_bytes - IPV4_HEADER_BYTES) // UNIT_BYTES * UNIT_BYTES


def fragment_bytes(packet_bytes: int, mtu_bytes: int) -> tuple[int, ...]:
    """Return the sizes of what a packet without IP options becomes on a path with this MTU.

    Raises:
        ValueError: The MTU is below what every link carries.
    """
    if mtu_bytes < LEAST_MTU_BYTES:
        raise ValueError(f"an MTU is at least {LEAST_MTU_BYTES} B, not {mtu_bytes} B")
    if packet_bytes <= mtu_bytes:
        return (packet_bytes,)
    full_bytes = full_payload_bytes(mtu_bytes)
    count, rest_bytes = divmod(packet_bytes - IPV4_HEADER_BYTES, full_bytes)
    sizes = (full_bytes + IPV4_HEADER_BYTES,) * count
    return (*sizes, rest_bytes + IPV4_HEADER_BYTES) if rest_bytes else sizes


def encrypted_then_fragmented(esp: Esp, packet_bytes: int, mtu_bytes: int) -> tuple[int, ...]:
    """Return the sizes on the path of a packet that is encrypted whole."""
    return fragment_bytes(esp.size_of(packet_bytes), mtu_bytes)


def fragmented_then_encrypted(esp: Esp, packet_bytes: int, mtu_bytes: int) -> tuple[int, ...]:
    """Return the sizes of a packet of which each fragment is encrypted, so that all fit.

    Raises:
        ValueError: In transport mode, which protects only whole packets.
    """
    if esp.mode == "transport":
        raise ValueError("transport mode protects whole packets: fragment them after encryption")
    return tuple(map(esp.size_of, fragment_bytes(packet_bytes, esp.largest_within(mtu_bytes))))
