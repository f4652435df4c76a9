"""Path MTU discovery in numbers: what routers tell, and which MTUs are likely.

Source: RFC 1191.
"""

from __future__ import annotations

from qospec.protocol.fragments import LEAST_MTU_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES

NOTICE_BYTES = IPV4_HEADER_BYTES + 8 + IPV4_HEADER_BYTES + 8
"""A message that a packet was too large: with the header of that packet, and 8 bytes behind it.

Source: RFC 792 (destination unreachable).
"""
PLATEAUS = (
    *(65_535, 32_000, 17_914, 8_166, 4_352, 2_002, 1_492, 1_006, 508, 296),
    LEAST_MTU_BYTES,
)
"""The MTUs of links, descending, as they are tried where no router says one. Source: RFC 1191, 7,
table 7-1."""


def list_plateaus(largest_bytes: int, mtu_bytes: int) -> tuple[int, ...]:
    """Return the plateaus below a size that are tried until one is not above an MTU."""
    below = [plateau for plateau in PLATEAUS if plateau < largest_bytes]
    tried = [plateau for plateau in below if plateau > mtu_bytes]
    return (*tried, *below[len(tried) : len(tried) + 1])
