"""Insertion of cells into a batch, each directly ahead of a cell of its connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.items.batch import Batch, allocate_batch, build_batch, copy_item
from qospec.engine.kernel import kernel
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.marks import LEG

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole


def insert_cells(batch: Batch, before: Whole, first: int) -> tuple[Batch, Batch]:
    """Return the cells with a new one ahead of some of them, in the same ps; and the new ones.

    Args:
        batch: n cells.
        before: (m,) Ascending numbers of user cells.
        first: The connection index of new cells of the first VC.
    """
    behind = batch.select(before)
    new = build_batch(
        at_ps=behind.at_ps,
        sent_ps=behind.at_ps,
        connection=behind.connection + np.int32(first),
        size_bytes=np.full(behind.count, CELL_BYTES, np.int32),
        marks=behind.marks & np.uint32(LEG.mask),
    )
    both = allocate_batch(batch.count + behind.count, width=batch.width)
    _insert(batch, before, new, both)
    return both, new


@kernel
def _insert(batch: Batch, before: Whole, new: Batch, both: Batch) -> None:
    """Copy the cells, with a new one ahead of each whose number is in `before`.

    Args:
        batch: n cells.
        before: (m,) Ascending numbers.
        new: m cells, to be inserted.
        both: n + m cells; written.
    """
    at, at_1 = both.at_ps, batch.at_ps
    sent, sent_1 = both.sent_ps, batch.sent_ps
    connection, connection_1 = both.connection, batch.connection
    size, size_1 = both.size_bytes, batch.size_bytes
    marks, marks_1 = both.marks, batch.marks
    more, more_1 = both.more, batch.more
    start = 0
    for m in range(len(before) + 1):
        stop = before[m] if m < len(before) else len(at_1)
        at[start + m : stop + m] = at_1[start:stop]
        sent[start + m : stop + m] = sent_1[start:stop]
        connection[start + m : stop + m] = connection_1[start:stop]
        size[start + m : stop + m] = size_1[start:stop]
        marks[start + m : stop + m] = marks_1[start:stop]
        for column in range(more.shape[1]):
            for i in range(start, stop):
                more[i + m, column] = more_1[i, column]
        if m < len(before):
            at[stop + m] = new.at_ps[m]
            copy_item(new, m, both, stop + m)
        start = stop
