"""The authentication of GCM: a polynomial over the blocks of a row, in the field of 2**128.

Both the multiplication and the order of bits are those of NIST SP 800-38D, 6.3 and 6.4. A key's
multiples of all bytes at all places of a block are made once, so a product is the sum of sixteen
of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.ciphers.octets import Numbers, Octets

BLOCK_BITS = 128
REDUCTION = 0xE1 << 120
"""What x**128 is in the field: bits stand for powers that rise from the left."""
HALF = "<i8"
"""A half of a block as a number: its first byte is the lowest, on any machine."""


class Ghash:
    """The function of one key."""

    def __init__(self, subkey: bytes) -> None:
        """Take the block of zeros as the cipher encrypts it."""
        self._multiples = _tabulate_multiples(subkey)

    def hash_rows(self, rows: Octets) -> Octets:
        """Return (n, 16) the value of each row (n, any), which are whole blocks."""
        values = np.empty((len(rows), 2), np.int64)
        halves = np.ascontiguousarray(rows).view(HALF).astype(np.int64, copy=False)
        _evaluate(self._multiples, halves, values)
        return values.astype(HALF, copy=False).view(np.uint8)


def _tabulate_multiples(subkey: bytes) -> NDArray[np.int64]:
    """Return (2, 8, 256, 2) the subkey times each byte at each place of either half of a block."""
    shifted = np.empty((BLOCK_BITS, 2), np.int64)
    value = int.from_bytes(subkey, "big")
    for row in shifted:
        row[:] = np.frombuffer(value.to_bytes(16, "big"), HALF)
        value = value >> 1 ^ (REDUCTION if value & 1 else 0)
    found = np.zeros((2, 8, 256, 2), np.int64)
    for bit in range(8):
        found[:, :, np.arange(256) << bit & 128 != 0] ^= shifted.reshape(2, 8, 8, 1, 2)[:, :, bit]
    return found


@kernel
def _evaluate(multiples: Numbers, rows: Numbers, values: Numbers) -> None:
    """Write (n, 2) the value of each row (n, 2 * blocks); a half of a block is a number."""
    for row in range(len(rows)):
        left, right = 0, 0
        for place in range(0, rows.shape[1], 2):
            left ^= rows[row, place]
            right ^= rows[row, place + 1]
            product_left, product_right = 0, 0
            for byte in range(8):
                on_left = left >> 8 * byte & 255
                on_right = right >> 8 * byte & 255
                product_left ^= multiples[0, byte, on_left, 0] ^ multiples[1, byte, on_right, 0]
                product_right ^= multiples[0, byte, on_left, 1] ^ multiples[1, byte, on_right, 1]
            left, right = product_left, product_right
        values[row, 0], values[row, 1] = left, right
