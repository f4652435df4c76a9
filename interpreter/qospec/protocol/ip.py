"""IP packets: limits of their size, and the headers of what they carry."""

from __future__ import annotations

IPV4_HEADER_BYTES = 20
"""Without options. Source: RFC 791, 3.1."""
LARGEST_PACKET_BYTES = 65_535
"""Source: RFC 791, 3.1 (total length)."""
TRANSPORT_HEADER_BYTES = {"udp": 8, "tcp": 20, "none": 0}
"""By protocol, behind the IP header. Source: RFC 768; RFC 9293, 3.1 (without options)."""
FAMILY_EXTRA_BYTES = {"ipv4": 0, "ipv6": 20}
"""Header bytes beyond an IPv4 header's. Source: RFC 8200, 3 (40 bytes without extensions)."""
HIGHEST_PORT = 65_535
"""Of UDP and TCP; 16 bits."""
