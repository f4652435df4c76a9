"""The parting of one batch into several: the outputs of a router, or what goes on and what is lost.

All columns move in one pass. A batch whose cells all go the same way is passed on as it is.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import Batch, empty
from qospec.engine.kernel import kernel
from qospec.engine.marks import VALUES

if TYPE_CHECKING:
    from qospec.engine.arrays import Bits, Marks, Whole
    from qospec.engine.element import Setting

WAYS = 255
"""How many ways a table can name; 255 itself stands for none."""


class Routes(NamedTuple):
    """Where items go.

    Attributes:
        table: (indices, columns) Their way by connection index and column.
        column: (VALUES,) The column of each value that marks can have.
        only: The only way there is, or -1.
    """

    table: Marks
    column: Bits
    only: int


def routes(setting: Setting) -> Routes:
    """Return the planner's table, ready for use."""
    table, marks = setting.outputs, setting.columns
    if table is None:
        raise ValueError("no table says where connections go")
    ways = np.unique(table[table < WAYS])
    # One column more: there lead marks that nobody planned for.
    whole = np.full((len(table), len(marks) + 1), WAYS, np.uint8)
    whole[:, :-1] = table
    column = np.full(VALUES, len(marks), np.uint16)
    column[list(marks)] = np.arange(len(marks))
    return Routes(whole, column, int(ways[0]) if len(ways) == 1 else -1)


def routed(batch: Batch, where: Routes, ways: int) -> tuple[Batch, ...]:
    """Return the cells of each way; raises ValueError as `ways_of` does."""
    return dealt(batch, *ways_of(batch, where, ways))


def ways_of(batch: Batch, where: Routes, ways: int) -> tuple[Marks | None, tuple[int, ...]]:
    """Return (n,) the way of each cell, or None if there is only one; and how many go each way.

    Raises:
        ValueError: If a cell came that the table has no way for; nobody looks where there is but
            one way.
    """
    table, column, only = where
    if only >= 0:
        return None, tuple([batch.count * (number == only) for number in range(ways)])
    way = np.empty(batch.count, np.uint8)
    tallies = np.zeros((2, WAYS + 1), np.int64)
    _route(batch, column, table, way, tallies)
    counts = tallies.sum(axis=0)
    if counts[ways:].any():
        astray = int(batch.connection[way >= ways][0])
        raise ValueError(f"a cell of connection {astray} came where none was planned")
    return way, tuple(counts[:ways].tolist())


def dealt(batch: Batch, way: Marks | None, counts: tuple[int, ...]) -> tuple[Batch, ...]:
    """Return the cells of each way, of which there are so many."""
    if way is None or batch.count == max(counts):
        whole = counts.index(max(counts))
        return tuple([batch if number == whole else empty() for number in range(len(counts))])
    bounds = [0, *itertools.accumulate(counts)]
    moved = uninitialised(batch.count)
    _deal(batch, way, np.array(bounds[:-1]), moved)
    return tuple([moved.part(start, end) for start, end in itertools.pairwise(bounds)])


def split(batch: Batch, gone: Marks, count: int) -> tuple[Batch, Batch]:
    """Return the cells that stay, and the `count` cells for which `gone` is not 0."""
    if not count:
        return batch, empty()
    if count == batch.count:
        return empty(), batch
    dealt = uninitialised(batch.count)
    _split(batch, gone, batch.count - count, dealt)
    return dealt.part(0, batch.count - count), dealt.part(batch.count - count, batch.count)


def uninitialised(count: int) -> Batch:
    """Return a batch of `count` cells, to be written before it is read."""
    return Batch(
        np.empty(count, np.int64),
        np.empty(count, np.int64),
        np.empty(count, np.int32),
        np.empty(count, np.int32),
        np.empty(count, np.uint16),
    )


@kernel
def _route(batch: Batch, column: Bits, table: Marks, way: Marks, tallies: Whole) -> None:
    """Write the way of each cell, and add to the number of cells of each way.

    Cells are tallied in turns in two rows of `tallies`, for to add to what was written just before
    is to wait for it.
    """
    _, _, connection, _, marks = batch
    for i in range(len(connection)):
        number = table[connection[i], column[marks[i]]]
        way[i] = number
        tallies[i & 1, number] += 1


@kernel
def _deal(batch: Batch, way: Marks, place: Whole, dealt: Batch) -> None:
    """Move each cell to the place of its way.

    Args:
        batch: n cells.
        way: (n,) The number of each cell's way.
        place: Per way, where its next cell goes; written.
        dealt: n cells, written.
    """
    at_1, sent_1, connection_1, size_1, marks_1 = batch
    at, sent, connection, size, marks = dealt
    for i in range(len(way)):
        k = place[way[i]]
        place[way[i]] = k + 1
        at[k], sent[k], connection[k] = at_1[i], sent_1[i], connection_1[i]
        size[k], marks[k] = size_1[i], marks_1[i]


@kernel
def _split(batch: Batch, gone: Marks, staying: int, dealt: Batch) -> None:
    """Move each cell that stays to the front, and each that is gone behind the `staying` others."""
    at_1, sent_1, connection_1, size_1, marks_1 = batch
    at, sent, connection, size, marks = dealt
    here, there = 0, staying
    for i in range(len(gone)):
        goes = gone[i] != 0
        k = there if goes else here
        there += goes
        here += not goes
        at[k], sent[k], connection[k] = at_1[i], sent_1[i], connection_1[i]
        size[k], marks[k] = size_1[i], marks_1[i]
