"""IPv4 fragmentation in numbers.

Source: RFC 791, 3.2.
"""

from __future__ import annotations

from qospec.protocol.ip import IPV4_HEADER_BYTES

UNIT_BYTES = 8
"""Offsets count in it, so all fragments but the last carry a multiple. Source: RFC 791, 3.1."""
LEAST_MTU_BYTES = 68
"""What every link carries. Source: RFC 791, 3.2."""


def compute_full_payload_bytes(mtu_bytes: int) -> int:
    """Return what a fragment carries of a packet, unless it is the last."""
    return (mtu_bytes - IPV4_HEADER_BYTES) // UNIT_BYTES * UNIT_BYTES


def list_fragment_bytes(packet_bytes: int, mtu_bytes: int) -> tuple[int, ...]:
    """Return the sizes of what a packet without IP options becomes on a path with this MTU.

    Raises:
        ValueError: The MTU is below what every link carries.
    """
    if mtu_bytes < LEAST_MTU_BYTES:
        raise ValueError(f"an MTU is at least {LEAST_MTU_BYTES} B, not {mtu_bytes} B")
    if packet_bytes <= mtu_bytes:
        return (packet_bytes,)
    full_bytes = compute_full_payload_bytes(mtu_bytes)
    count, rest_bytes = divmod(packet_bytes - IPV4_HEADER_BYTES, full_bytes)
    sizes = (full_bytes + IPV4_HEADER_BYTES,) * count
    return (*sizes, rest_bytes + IPV4_HEADER_BYTES) if rest_bytes else sizes
