"""The length of a packet's frame, given its framing, and sums of bytes of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

PACKET, FRAME = 0, 1
"""Columns: bytes of packets, and of their frames on the first link."""
HEADER, LEAST, OUTSIDE, PER_CELL, TRANSPORT = range(5)
"""Columns of the framing of a connection: see `Framing`."""


@kernel
def frame_bytes(size_bytes: int, header_bytes: int, least_bytes: int, per_cell_bytes: int) -> int:
    """Return the length of a packet's frame: see `protocol.encapsulation.Framing`."""
    framed_bytes = max(size_bytes + header_bytes, least_bytes)
    if per_cell_bytes == 0:
        return framed_bytes
    return -(-framed_bytes // per_cell_bytes) * CELL_BYTES


@kernel
def add_bytes(row: Whole, size_bytes: int, framing: Whole) -> None:
    """Add a packet to a row of bytes."""
    row[PACKET] += size_bytes
    row[FRAME] += frame_bytes(size_bytes, framing[HEADER], framing[LEAST], framing[PER_CELL])
