"""Fragments of IPv4 packets.

Source: RFC 791, 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qospec.ciphers import headers
from qospec.ciphers.octets import encode_big_endian
from qospec.protocol.fragments import UNIT_BYTES
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from qospec.ciphers.octets import Octets


def cut_fragment(packets: Octets, start_bytes: int, payload_bytes: int) -> Octets:
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
    header = packets[:, :IPV4_HEADER_BYTES].copy()
    header[:, headers.FLAGS : headers.FLAGS + 2] = encode_big_endian(words, 2)
    length = encode_big_endian([IPV4_HEADER_BYTES + payload_bytes], 2)
    header[:, headers.TOTAL_LENGTH : headers.TOTAL_LENGTH + 2] = length
    header[:, headers.CHECKSUM : headers.CHECKSUM + 2] = 0
    header[:, headers.CHECKSUM : headers.CHECKSUM + 2] = encode_big_endian(
        headers.compute_checksum(header), 2
    )
    return np.concatenate([header, carried[:, start_bytes : start_bytes + payload_bytes]], axis=1)
