"""Rings: rows numbered without end, each at the place of its number modulo the number of places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


def double_ring(ring: Whole, width: int, head: int, tail: int) -> Whole:
    """Return a ring with twice the places and the same rows, flat as it is given.

    Args:
        ring: (places * width,) Not changed.
        width: The number of columns.
        head: The number of the first row.
        tail: That behind the last.
    """
    before = ring.reshape(-1, width)
    after = np.zeros((2 * len(before), width), np.int64)
    numbers = np.arange(head, tail)
    after[numbers % len(after)] = before[numbers % len(before)]
    return after.ravel()
