"""The totals of batches, their items and bytes by kind, and the entries of accounts."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Literal

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Indices, Sizes, Whole
    from qospec.engine.items.batch import Batch
    from qospec.protocol.streams import Streams

Unit = Literal["items", "bytes"]
UNITS: tuple[Unit, ...] = ("items", "bytes")
ITEMS, BYTES = range(2)
"""The columns of totals."""
ENTRIES = 6
CAME, MADE, GREW, LEFT, CONSUMED, LOST = range(ENTRIES)
"""What may become of items at one place, in the order of `measure.ledger.Account`."""


class Totals:
    """The totals of the batches of a trial, each summed once.

    An element that only delays items hands on their columns, so it hands on their totals: they are
    known as long as these columns exist.
    """

    def __init__(self, streams: Streams) -> None:
        """Take the streams of the trial."""
        self._kinds = len(streams.kinds)
        starts = [streams.start(kind) for kind in streams.kinds]
        self._starts = np.array([*starts, streams.indices], np.int64)
        self._known: dict[tuple[int, int], tuple[weakref.ref[Indices], weakref.ref[Sizes], Whole]]
        self._known = {}

    def allocate_entries(self) -> Whole:
        """Return (ENTRIES, kinds, 2) zeros, for what becomes of items at one place."""
        return np.zeros((ENTRIES, self._kinds, len(UNITS)), np.int64)

    def count(self, batch: Batch) -> Whole:
        """Return (kinds, 2) the items and bytes of a batch, which are shared: do not write."""
        connection, size_bytes = batch.connection, batch.size_bytes
        key = id(connection), id(size_bytes)
        known = self._known.get(key)
        if known is not None:
            return known[2]
        totals = np.zeros((self._kinds, len(UNITS)), np.int64)
        _add_up(connection, size_bytes, self._starts, totals)
        self._keep(batch, totals)
        return totals

    def know_alike(self, batch: Batch) -> None:
        """Take a batch, not empty, whose items are of one kind and size: its totals follow."""
        totals = np.zeros((self._kinds, len(UNITS)), np.int64)
        kind = int(self._starts.searchsorted(batch.connection[0], "right")) - 1
        totals[kind] = batch.count, batch.count * int(batch.size_bytes[0])
        self._keep(batch, totals)

    def _keep(self, batch: Batch, totals: Whole) -> None:
        """Keep the totals of a batch as long as its columns exist."""
        connection, size_bytes = batch.connection, batch.size_bytes
        key = id(connection), id(size_bytes)
        forget = functools.partial(self._known.pop, key)  # given the reference, as if by default
        self._known[key] = weakref.ref(connection, forget), weakref.ref(size_bytes, forget), totals


@kernel
def _add_up(connection: Indices, size_bytes: Sizes, starts: Whole, totals: Whole) -> None:
    """Add up items and bytes, given where the indices of each kind start, and of a next one."""
    if len(totals) == 1:  # at a third of the time
        amount = 0
        for i in range(len(size_bytes)):
            amount += size_bytes[i]
        totals[0, ITEMS], totals[0, BYTES] = len(size_bytes), amount
        return
    for kind in range(len(totals)):
        first, stop = starts[kind], starts[kind + 1]
        items = amount = 0
        for i in range(len(connection)):
            inside = (connection[i] >= first) & (connection[i] < stop)
            items += inside
            amount += inside * size_bytes[i]
        totals[kind, ITEMS], totals[kind, BYTES] = items, amount
