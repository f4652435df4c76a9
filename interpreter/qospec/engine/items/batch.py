"""Batches: items, cells or packets, in order of time, one row each, as columns.

An element that delays items returns another `at_ps` and shares the other columns, which are never
changed. Between one element and the next `at_ps` has one owner, which may write over it
(`Setting.owns_times`). A lost item leaves the batch and is reported as an `element.Loss`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from qospec.engine.arrays import Bits, Indices, Rows, Sizes, Times, Truths, Whole

FOREVER_PS = 2**62
"""A time that no trial reaches: the watermark at the end."""
COLUMNS = (
    *("frame", "seal", "number", "fragment"),
    *("window", "flags", "stamp", "first_block", "second_block", "third_block"),
)
"""The columns of `more`, by name: of which frame an item is a cell, see `engine.items.piece`; what
the device that encrypted it has noted of it, see `engine.security.seal`; its number within its
connection, for endpoints; of which packet it is a fragment, see `engine.items.piece`; how much data
an endpoint takes, its flags, its time stamp, and what it has got, see
`engine.endpoint.tcp_connection`.
Behind them is what messages between machines carry, see `engine.machine.state`. All are 0 until
something is noted. The first is that of the most items: an item carries all columns before its own.
"""
FRAME_PLACE = COLUMNS.index("frame")


class TooLateError(OverflowError):
    """What waits at an element takes it longer than times can say.

    An element does not know its path, and leaves it out.
    """

    def __init__(self, path: str = "") -> None:
        where = f" at `{path}`" if path else ""
        super().__init__(f"what waits{where} takes it more than 50 days")


class Batch(NamedTuple):
    """Items at one point, in order of time; cells or packets, never both.

    Attributes:
        at_ps: (n,) When the last bit was at this point; never falling.
        sent_ps: (n,) When the first bit left the source's own line (I.356, cell exit event); before
            that line, when the source had the cell ready.
        connection: (n,) The index by which it is known; see `protocol.streams`.
        size_bytes: (n,) Length in its own layer: 53 for a cell, the IP packet's for a packet.
        marks: (n,) Its marks; see `protocol.marks`.
        more: (n, k) What elements have noted of it, in the first k of `COLUMNS`; (0, 0) if nothing
            is noted of any of these: then it costs nothing.
    """

    at_ps: Times
    sent_ps: Times
    connection: Indices
    size_bytes: Sizes
    marks: Bits
    more: Whole

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of items (`len` is the number of columns)."""
        return len(self.at_ps)

    def select_range(self, start: int, stop: int) -> Batch:
        """Return the items from `start` up to `stop`, as views."""
        at_ps, sent_ps, connection, size_bytes, marks, more = self
        return Batch(
            at_ps[start:stop],
            sent_ps[start:stop],
            connection[start:stop],
            size_bytes[start:stop],
            marks[start:stop],
            more[start:stop],
        )

    def select(self, which: Whole | Rows | Truths | slice) -> Batch:
        """Return the items of an index array, a boolean mask or a slice."""
        at_ps, sent_ps, connection, size_bytes, marks, more = self
        return Batch(
            at_ps[which],
            sent_ps[which],
            connection[which],
            size_bytes[which],
            marks[which],
            _select_rows(more, which) if len(more) else more,
        )

    def with_times(self, at_ps: Times, sent_ps: Times | None = None) -> Batch:
        """Return the same items at other times; with `sent_ps`, as sent at others too."""
        return self._replace(at_ps=at_ps, sent_ps=self.sent_ps if sent_ps is None else sent_ps)

    def with_marks(self, marks: Bits) -> Batch:
        """Return the same items with other marks."""
        return self._replace(marks=marks)

    def with_sizes(self, size_bytes: Sizes) -> Batch:
        """Return the same items with other sizes."""
        return self._replace(size_bytes=size_bytes)

    @property
    def width(self) -> int:
        """Return how many columns of `more` it has."""
        width: int = self.more.shape[1]
        return width

    def widen(self, width: int) -> Batch:
        """Return the same items with at least so many columns of `more`."""
        if self.width >= width:
            return self
        more = np.zeros((self.count, width), np.int64)
        if self.width:
            more[:, : self.width] = self.more
        return self._replace(more=more)

    def narrow(self) -> Batch:
        """Return the same items without the last columns of `more`, if nothing stands in them."""
        width = self.width
        while width and not self.more[:, width - 1].any():  # at once for all, five times slower
            width -= 1
        if width == self.width:
            return self
        more = np.ascontiguousarray(self.more[:, :width]) if width else make_empty().more
        return self._replace(more=more)

    def without_notes(self) -> Batch:
        """Return the same items as if nothing was noted of them, for those that only count."""
        return self._replace(more=np.empty((0, 0), np.int64))

    def read_column(self, name: str) -> Whole:
        """Return (n,) what is noted by a name of `COLUMNS`, which is not to be written to."""
        place = COLUMNS.index(name)
        if place >= self.width:
            return np.zeros(self.count, np.int64)
        return np.ascontiguousarray(self.more[:, place])

    def with_column(self, name: str, values: Whole) -> Batch:
        """Return the same items of which something else is noted, by a name of `COLUMNS`."""
        place = COLUMNS.index(name)
        more = self.widen(place + 1).more.copy()
        more[:, place] = values
        return self._replace(more=more)

    def equals(self, other: Batch) -> bool:
        """Return whether both hold the same items, bit for bit."""
        both = (self.widen(other.width), other.widen(self.width))
        columns: zip[tuple[NDArray[Any], NDArray[Any]]] = zip(*both, strict=True)
        return all(np.array_equal(mine, its) for mine, its in columns)


def _select_rows(table: Whole, which: Whole | Rows | Truths | slice) -> Whole:
    """Return rows of a table; by a mask NumPy takes ten times as long as by indices."""
    if isinstance(which, slice):
        return table[which]
    return table.take(np.flatnonzero(which) if which.dtype == np.bool_ else which, axis=0)


@kernel
def read_note(table: Whole, row: int, place: int) -> int:
    """Return what stands in a column; 0 if there are not so many, as nothing is noted there."""
    return table[row, place] if table.shape[1] > place else 0


def count_columns(name: str) -> int:
    """Return how wide `more` is if a name of `COLUMNS` is its last."""
    return COLUMNS.index(name) + 1


@functools.cache
def make_empty() -> Batch:
    """Return the batch without items."""
    return allocate_batch(0)


def allocate_batch(count: int, *, is_unsent: bool = False, width: int = 0) -> Batch:
    """Return a batch of `count` items, to be written before it is read.

    Args:
        count: The number of items.
        is_unsent: Whether a line will stamp the items: `sent_ps` is then `at_ps` itself.
        width: The number of columns of `more`.
    """
    at_ps = np.empty(count, np.int64)
    return Batch(
        at_ps=at_ps,
        sent_ps=at_ps if is_unsent else np.empty(count, np.int64),
        connection=np.empty(count, np.int32),
        size_bytes=np.empty(count, np.int32),
        marks=np.empty(count, np.uint32),
        more=np.empty((count if width else 0, width), np.int64),
    )


def join_batches(*batches: Batch) -> Batch:
    """Return the items of all batches, one batch after the other.

    They are in order of time if each batch begins no earlier than the one before it ends.
    """
    filled = [batch for batch in batches if len(batch.at_ps)]
    if len(filled) > 1:
        width = max(batch.width for batch in filled)
        if width:
            filled = [batch.widen(width) for batch in filled]
        return Batch(*(np.concatenate(columns) for columns in zip(*filled, strict=True)))
    return filled[0] if filled else make_empty()


def build_batch(
    at_ps: Times, sent_ps: Times, connection: Indices, size_bytes: Sizes, marks: Bits
) -> Batch:
    """Return items of which no element has noted anything, given their other columns."""
    return Batch(at_ps, sent_ps, connection, size_bytes, marks, np.empty((0, 0), np.int64))


@kernel
def copy_item(source: Batch, i: int, target: Batch, k: int) -> None:
    """Copy item `i` of a batch into place `k` of another, except for its time there."""
    target.sent_ps[k], target.connection[k] = source.sent_ps[i], source.connection[i]
    target.size_bytes[k], target.marks[k] = source.size_bytes[i], source.marks[i]
    for column in range(target.more.shape[1]):
        target.more[k, column] = source.more[i, column] if column < source.more.shape[1] else 0


def is_well_formed(batch: Batch) -> bool:
    """Return whether columns have one length and times never fall."""
    lengths = {len(column) for column in (batch.widen(1) if not batch.width else batch)}
    return len(lengths) == 1 and bool((batch.at_ps[1:] >= batch.at_ps[:-1]).all())
