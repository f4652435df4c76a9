"""Partition of a batch: by the outputs of a router, or into items that go on and items lost.

All columns move in one pass. A batch whose items all take the same output is returned as it is.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import allocate_batch, copy_item, make_empty
from qospec.engine.items.columns import build_columns, find_column
from qospec.engine.kernel import as_signed, kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Whole
    from qospec.engine.element import Setting
    from qospec.engine.items.batch import Batch

MAX_OUTPUTS = 255
"""The number of outputs that a table can name; 255 itself stands for none."""


class RoutingTable(NamedTuple):
    """The output that each item takes.

    Attributes:
        table: (indices, columns) Outputs by connection index and column.
        columns: The columns by marks; see `engine.items.columns`.
        only: The only output there is, or -1.
    """

    table: Marks
    columns: Whole
    only: int


def build_routing_table(setting: Setting) -> RoutingTable:
    """Return the planner's table, ready for use.

    Raises:
        ValueError: There is no table.
    """
    table, marks = setting.outputs, setting.columns
    if table is None:
        raise ValueError("no routing table was planned for this element")
    outputs = np.unique(table[table < MAX_OUTPUTS])
    # One more column, for marks that were not planned for.
    whole = np.full((len(table), len(marks) + 1), MAX_OUTPUTS, np.uint8)
    whole[:, :-1] = table
    only = int(outputs[0]) if len(outputs) == 1 else -1
    return RoutingTable(whole, build_columns(marks), only)


def encode_table(setting: Setting) -> Whole:
    """Return the planner's table as integers, for `find_output`.

    These are its width, the number of integers that its columns take, its columns, and its rows.
    """
    table, columns, _ = build_routing_table(setting)
    shape = [table.shape[1], len(columns)]
    return np.concatenate([shape, columns, table.ravel()], dtype=np.int64)


@kernel
def find_output(state: Whole, start: int, connection: int, marks: int) -> int:
    """Return the output of an item in the table that begins at a place of `state`."""
    column = find_column(state, start + 2, marks)
    row = start + 2 + state[start + 1] + connection * state[start]
    return state[row + column]  # type: ignore[no-any-return]


def partition_by_table(batch: Batch, where: RoutingTable, outputs: int) -> tuple[Batch, ...]:
    """Return the items of each output; raises ValueError as `look_up_outputs` does."""
    return partition(batch, *look_up_outputs(batch, where, outputs))


def look_up_outputs(
    batch: Batch, where: RoutingTable, outputs: int
) -> tuple[Marks | None, tuple[int, ...]]:
    """Return (n,) the output of each item, None if all take one; and the number for each output.

    Raises:
        ValueError: The table names no output for an item. Not checked where the table names one
            output only.
    """
    table, columns, only = where
    if only >= 0:
        return None, tuple([batch.count * (number == only) for number in range(outputs)])
    output = np.empty(batch.count, np.uint8)
    tallies = np.zeros((2, MAX_OUTPUTS + 1), np.int64)
    _look_up_outputs(batch, columns, table, output, tallies)
    counts = tallies.sum(axis=0)
    if counts[outputs:].any():
        astray = int(batch.connection[output >= outputs][0])
        raise ValueError(f"an item of connection {astray} arrived where none was planned")
    return output, tuple(counts[:outputs].tolist())


def partition(batch: Batch, output: Marks | None, counts: tuple[int, ...]) -> tuple[Batch, ...]:
    """Return the items of each output, of which there are `counts`."""
    if output is None or batch.count == max(counts):
        whole = counts.index(max(counts))
        return tuple([batch if number == whole else make_empty() for number in range(len(counts))])
    bounds = [0, *itertools.accumulate(counts)]
    moved = allocate_batch(batch.count, width=batch.width)
    _partition(batch, output, np.array(bounds[:-1]), moved)
    return tuple([moved.select_range(start, end) for start, end in itertools.pairwise(bounds)])


def split(batch: Batch, lost: Marks, count: int) -> tuple[Batch, Batch]:
    """Return the items that go on, and the `count` items for which `lost` is not 0."""
    if not count:
        return batch, make_empty()
    if count == batch.count:
        return make_empty(), batch
    moved = allocate_batch(batch.count, width=batch.width)
    _split(batch, lost, batch.count - count, moved)
    return moved.select_range(0, batch.count - count), moved.select_range(
        batch.count - count, batch.count
    )


@kernel
def _look_up_outputs(
    batch: Batch, columns: Whole, table: Marks, output: Marks, tallies: Whole
) -> None:
    """Write the output of each item, and add to the number of items of each output.

    Two rows of `tallies` are used in turn: adding to a number that was just written waits for it.
    """
    connection, marks = batch.connection, batch.marks
    for i in range(len(connection)):
        number = table[connection[i], find_column(columns, 0, as_signed(marks[i]))]
        output[i] = number
        tallies[i & 1, number] += 1


@kernel
def _partition(batch: Batch, output: Marks, place: Whole, moved: Batch) -> None:
    """Move each item to the place of its output.

    Args:
        batch: n items.
        output: (n,) The output of each.
        place: Per output, where its next item goes; written.
        moved: n items, written.
    """
    at, at_1 = moved.at_ps, batch.at_ps
    for i in range(len(output)):
        k = place[output[i]]
        place[output[i]] = k + 1
        at[k] = at_1[i]
        copy_item(batch, i, moved, k)


@kernel
def _split(batch: Batch, lost: Marks, kept: int, moved: Batch) -> None:
    """Move lost items behind the `kept` others; both keep their order."""
    at, at_1 = moved.at_ps, batch.at_ps
    here, there = 0, kept
    for i in range(len(lost)):
        goes = lost[i] != 0
        k = there if goes else here
        there += goes
        here += not goes
        at[k] = at_1[i]
        copy_item(batch, i, moved, k)
