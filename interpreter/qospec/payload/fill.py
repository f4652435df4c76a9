"""The bytes that items carry: a label that names the item, and a pseudo-random fill behind it.

The label, big-endian: the letters `QOS1`, the index of the connection (4 bytes), the number of the
item (8) and the time when it was sent in picoseconds (8). The fill is a part of the sequence of
2^15 - 1 bits of ITU-T O.150, 5.3; where it begins depends on the seed, connection and number. What
does not fit is cut off at the end. Nothing that a trial measures depends on any of this.
"""

from __future__ import annotations

import functools
import hashlib
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.protocol.ip import LARGEST_PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from qospec.payload.flight import Items

MARK = b"QOS1"
LABEL = [("mark", "S4"), ("connection", ">u4"), ("number", ">i8"), ("sent_ps", ">i8")]
LABEL_BYTES = 24
PERIOD = 2**15 - 1
"""Of the pseudo-random sequence, in bits; and in bytes, since 8 periods are that many whole."""
_CONNECTION_STEP, _NUMBER_STEP = 7_919, 12_553
"""Primes that do not divide the period."""


class Fill(NamedTuple):
    """Where the fill of items begins; `offset` is that of the first item of connection 0."""

    offset: int

    @classmethod
    def from_seed(cls, seed: Sequence[str]) -> Fill:
        """Return the fill of a trial, by the names that its draws depend on."""
        name = "\x1f".join((*seed, "payload")).encode()
        digest = hashlib.blake2b(name, digest_size=8).digest()
        return cls(int.from_bytes(digest, "little") % PERIOD)


def fill_payloads(items: Items, size_bytes: int, fill: Fill) -> NDArray[np.uint8]:
    """Return (n, size_bytes) the payloads of n items."""
    made = np.empty((items.total, size_bytes), np.uint8)
    labels = np.empty(items.total, LABEL)
    labels["mark"], labels["connection"] = MARK, items.batch.connection
    labels["number"], labels["sent_ps"] = items.number, items.batch.sent_ps
    label = labels.view(np.uint8).reshape(-1, LABEL_BYTES)
    made[:, :LABEL_BYTES] = label[:, :size_bytes]
    if size_bytes > LABEL_BYTES:
        steps = (
            items.batch.connection.astype(np.int64) * _CONNECTION_STEP + items.number * _NUMBER_STEP
        )
        starts = (fill.offset + steps) % PERIOD
        parts = np.lib.stride_tricks.sliding_window_view(
            _build_sequence(), size_bytes - LABEL_BYTES
        )
        made[:, LABEL_BYTES:] = parts[starts]
    return made


def tamper_rows(rows: NDArray[np.uint8], which: NDArray[np.bool_], place: int) -> NDArray[np.uint8]:
    """Return rows, in some of which a bit of the byte at a place is changed."""
    changed = rows.copy() if which.any() else rows
    changed[which, place] ^= 1
    return changed


@functools.cache
def _build_sequence() -> NDArray[np.uint8]:
    """Return the bytes of the sequence, once and so many more that the largest packet has a part.

    Each bit is the sum of those 14 and 15 before it.
    """
    bits = [1] * 15
    for place in range(15, PERIOD):
        bits.append(bits[place - 14] ^ bits[place - 15])
    once = np.packbits(np.tile(np.array(bits, np.uint8), 8))
    return np.resize(once, PERIOD + LARGEST_PACKET_BYTES)
