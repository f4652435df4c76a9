"""Batches: items, cells or packets, in order of time, one row each, as columns.

An element that delays items returns another `at_ps` and shares the other columns, which are never
changed. Between one element and the next `at_ps` has one owner, which may write over it
(`Setting.owns_times`). A lost item leaves the batch and is reported as an `element.Loss`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

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
        connection: (n,) The index by which it is known; see `protocol.streams`.
        size_bytes: (n,) Length in its own layer: 53 for a cell, the IP packet's for a packet.
        marks: (n,) Its marks; see `protocol.marks`.
        seal: (n,) What the device that encrypted it has noted, 0 if none has; see
            `engine.security.seal`. (0,) if none has encrypted any of these: then it costs nothing.
    """

    at_ps: Times
    sent_ps: Times
    connection: Indices
    size_bytes: Sizes
    marks: Bits
    seal: Whole

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of items (`len` is the number of columns)."""
        return len(self.at_ps)

    def part(self, start: int, stop: int) -> Batch:
        """Return the items from `start` up to `stop`, as views."""
        at_ps, sent_ps, connection, size_bytes, marks, seal = self
        return Batch(
            at_ps[start:stop],
            sent_ps[start:stop],
            connection[start:stop],
            size_bytes[start:stop],
            marks[start:stop],
            seal[start:stop],
        )

    def select(self, which: Whole | Rows | Truths) -> Batch:
        """Return the items of an index array or a boolean mask."""
        at_ps, sent_ps, connection, size_bytes, marks, seal = self
        return Batch(
            at_ps[which],
            sent_ps[which],
            connection[which],
            size_bytes[which],
            marks[which],
            seal[which] if len(seal) else seal,
        )

    def moved(self, at_ps: Times, sent_ps: Times | None = None) -> Batch:
        """Return the same items at other times; with `sent_ps`, as sent at others too."""
        return self._replace(at_ps=at_ps, sent_ps=self.sent_ps if sent_ps is None else sent_ps)

    def with_marks(self, marks: Bits) -> Batch:
        """Return the same items with other marks."""
        return self._replace(marks=marks)

    def with_sizes(self, size_bytes: Sizes) -> Batch:
        """Return the same items with other sizes."""
        return self._replace(size_bytes=size_bytes)

    def with_seals(self, seal: Whole) -> Batch:
        """Return the same items with other notes of a device that encrypts."""
        return self._replace(seal=seal)

    @property
    def is_sealed(self) -> bool:
        """Return whether it has a column of seals."""
        return len(self.seal) > 0

    def sealed(self) -> Batch:
        """Return the same items with a column of seals, whether or not there was one."""
        return self if self.is_sealed else self.with_seals(np.zeros(self.count, np.int64))

    def equals(self, other: Batch) -> bool:
        """Return whether both hold the same items, bit for bit."""
        both = (self.sealed(), other.sealed())
        columns: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(*both, strict=True)
        return all(np.array_equal(mine, its) for mine, its in columns)


@functools.cache
def empty() -> Batch:
    """Return the batch without items."""
    return uninitialised(0)


def uninitialised(count: int, *, is_unsent: bool = False, is_sealed: bool = False) -> Batch:
    """Return a batch of `count` items, to be written before it is read.

    Args:
        count: The number of items.
        is_unsent: Whether a line will stamp the items: `sent_ps` is then `at_ps` itself.
        is_sealed: Whether it has a column of seals.
    """
    at_ps = np.empty(count, np.int64)
    return Batch(
        at_ps=at_ps,
        sent_ps=at_ps if is_unsent else np.empty(count, np.int64),
        connection=np.empty(count, np.int32),
        size_bytes=np.empty(count, np.int32),
        marks=np.empty(count, np.uint32),
        seal=np.empty(count * is_sealed, np.int64),
    )


def joined(*batches: Batch) -> Batch:
    """Return the items of all batches, one batch after the other.

    They are in order of time if each batch begins no earlier than the one before it ends.
    """
    filled = [batch for batch in batches if len(batch.at_ps)]
    if len(filled) > 1:
        if any(batch.is_sealed for batch in filled):
            filled = [batch.sealed() for batch in filled]
        return Batch(*(np.concatenate(columns) for columns in zip(*filled, strict=True)))
    return filled[0] if filled else empty()


def unsealed(
    at_ps: Times, sent_ps: Times, connection: Indices, size_bytes: Sizes, marks: Bits
) -> Batch:
    """Return items that no device has encrypted, given their other columns."""
    return Batch(at_ps, sent_ps, connection, size_bytes, marks, np.empty(0, np.int64))


@kernel
def copy_item(source: Batch, i: int, target: Batch, k: int) -> None:
    """Copy item `i` of a batch into place `k` of another, except for its time there."""
    target.sent_ps[k], target.connection[k] = source.sent_ps[i], source.connection[i]
    target.size_bytes[k], target.marks[k] = source.size_bytes[i], source.marks[i]
    if len(target.seal):
        target.seal[k] = source.seal[i] if len(source.seal) else 0


def well_formed(batch: Batch) -> bool:
    """Return whether columns have one length and times never fall."""
    lengths = {len(column) for column in batch.sealed()}
    return len(lengths) == 1 and bool((batch.at_ps[1:] >= batch.at_ps[:-1]).all())
