"""Batches: items, cells or packets, in order of time, one row each, as columns.

An element that delays items returns another `at_ps` and shares the other columns, which are never
changed. Between one element and the next `at_ps` has one owner, which may write over it
(`Setting.owns_times`). A lost item leaves the batch and is reported as an `element.Loss`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.engine.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.engine.arrays import Bits, Indices, Rows, Sizes, Times, Truths, Whole

FOREVER_PS = 2**62
"""A time that no trial reaches: the watermark at the end."""


class Batch(NamedTuple):
    """Items at one point, in order of time; cells or packets, never both.

    Attributes:
        at_ps: (n,) When the last bit was at this point; never falling.
        sent_ps: (n,) When the first bit left the source's own line (I.356, cell exit event); before
            that line, when the source had the cell ready.
        connection: (n,) Index into `Connections`.
        size_bytes: (n,) Length in its own layer: 53 for a cell, the IP packet's for a packet.
        marks: (n,) Its marks; see `protocol.marks`.
    """

    at_ps: Times
    sent_ps: Times
    connection: Indices
    size_bytes: Sizes
    marks: Bits

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of items (`len` is the number of columns)."""
        return len(self.at_ps)

    def part(self, start: int, stop: int) -> Batch:
        """Return the items from `start` up to `stop`, as views."""
        at_ps, sent_ps, connection, size_bytes, marks = self
        return Batch(
            at_ps[start:stop],
            sent_ps[start:stop],
            connection[start:stop],
            size_bytes[start:stop],
            marks[start:stop],
        )

    def select(self, which: Whole | Rows | Truths) -> Batch:
        """Return the items of an index array or a boolean mask."""
        at_ps, sent_ps, connection, size_bytes, marks = self
        return Batch(
            at_ps[which], sent_ps[which], connection[which], size_bytes[which], marks[which]
        )

    def moved(self, at_ps: Times) -> Batch:
        """Return the same items at other times."""
        return self._replace(at_ps=at_ps)

    def equals(self, other: Batch) -> bool:
        """Return whether both hold the same items, bit for bit."""
        columns: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(self, other, strict=True)
        return all(np.array_equal(mine, its) for mine, its in columns)


@functools.cache
def empty() -> Batch:
    """Return the batch without items."""
    return Batch(
        np.empty(0, np.int64),
        np.empty(0, np.int64),
        np.empty(0, np.int32),
        np.empty(0, np.int32),
        np.empty(0, np.uint16),
    )


def joined(*batches: Batch) -> Batch:
    """Return the items of all batches; each begins no earlier than the one before it ends."""
    filled = [batch for batch in batches if len(batch.at_ps)]
    if len(filled) > 1:
        return Batch(*(np.concatenate(columns) for columns in zip(*filled, strict=True)))
    return filled[0] if filled else empty()


def well_formed(batch: Batch) -> bool:
    """Return whether columns have one length and times never fall."""
    lengths = {len(column) for column in batch}
    return len(lengths) == 1 and bool((batch.at_ps[1:] >= batch.at_ps[:-1]).all())
