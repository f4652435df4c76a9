"""The seal of a packet: what its ESP header says, and what only its receiver can read in it.

A column of a batch, and of the pool of the event driver; 0 for items that no device has encrypted.
From low bits to high: the size of the packet inside, the index of the security association, the
sequence number, and whether it was changed on the way. That of a cell is its position, and that one
bit. An item has one seal, so no tunnel may be inside another.
"""

from __future__ import annotations

from qospec.engine.kernel import kernel

SIZE_BITS = 16
"""Of the packet inside, in bytes."""
INDEX_BITS = 15
"""Of the security parameters index; in packets it has 32."""
LEAST_INDEX, LARGEST_INDEX = 256, (1 << INDEX_BITS) - 1
"""Source: RFC 4303, 2.1 (1 to 255 are reserved)."""
LARGEST_NUMBER = (1 << 32) - 1
"""Of a sequence; none follows it. Source: RFC 4303, 2.2 and 3.3.3."""
TAMPERED = -(1 << 63)
"""The highest bit, also of what is in the clear: something has changed what the item carries."""
UNTAMPERED = ~TAMPERED
"""All other bits."""
FAILED = TAMPERED | 1
"""The seal of what was decrypted though its check had failed; without a number, so in the clear."""


@kernel
def build_seal(number: int, index: int, size_bytes: int) -> int:
    """Return the seal of a packet; 1 is the first sequence number."""
    return (number << INDEX_BITS | index) << SIZE_BITS | size_bytes


@kernel
def number_in(seal: int) -> int:
    """Return the sequence number; 0 if there is no seal."""
    return seal >> (SIZE_BITS + INDEX_BITS) & LARGEST_NUMBER


@kernel
def read_index(seal: int) -> int:
    """Return the index of the security association."""
    return seal >> SIZE_BITS & LARGEST_INDEX


@kernel
def size_in(seal: int) -> int:
    """Return the size of the packet inside, in bytes."""
    return seal & (1 << SIZE_BITS) - 1
