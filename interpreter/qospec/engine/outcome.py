"""The cells at a scheduler: those that come and those held, and what became of each of them.

Those held are few as a rule, and to put them in front of the others would be to move all of those:
so the n cells that come are numbered from 0, and the m that wait already from n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.batch import Batch, empty
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.admission import Gate
    from qospec.engine.arrays import Bits, Marks, Rows, Sizes, Whole
    from qospec.engine.coming import Turns
    from qospec.engine.scheduler_tree import Tree


class Held(NamedTuple):
    """What has found room and waits.

    Attributes:
        cells: m cells, input by input; their times do not matter.
        counts: How many of each input.
        came: (levels, m) What was noted of each.
    """

    cells: Batch
    counts: list[int]
    came: Whole


def nothing_held(inputs: int, levels: int) -> Held:
    """Return what is held where nothing waits."""
    return Held(empty(), [0] * inputs, np.zeros((levels, 0), np.int64))


Comer = tuple[int, int, int]
"""A cell that comes: the row of its queue, its number, and when."""


class Service(NamedTuple):
    """What became of the cells.

    Attributes:
        turns: Who comes, in order of time, then of rows; written.
        lost: (n,) For what each that comes is lost; see `engine.admission`.
        queue: (n + m) Numbers of cells, within the slice of their input: from the front those that
            found room, from the back those that were lost.
        came: (levels, n + m) What `arrived` returned for each cell, per level that keeps it.
        left: n + m cells: who was sent, in that order, with their last bit at the far end; then who
            waits, and then who was lost, queue by queue; of the lost without a time.
        rows: (inputs,) The row of each queue.
        ends: (inputs,) The place behind those of each queue.
        gate: What the queues' drop policies know.
        marks: (n,) What those that come are marked with.
        draws: (n,) A random number for each that comes, if there are drop policies; else (0,).
    """

    turns: Turns
    lost: Marks
    queue: Rows
    came: Whole
    left: Batch
    rows: Rows
    ends: Rows
    gate: Gate
    marks: Bits
    draws: Sizes


@kernel
def size_of(sizes: tuple[Any, Any], i: int) -> int:
    """Return the size of a cell, one that comes or one that waits already."""
    comers, held = sizes
    return comers[i] if i < len(comers) else held[i - len(comers)]  # type: ignore[no-any-return]


@kernel
def carry(comers: Batch, held: Batch, i: int, left: Batch, place: int) -> None:
    """Write a cell, one that comes or one that waits already, but for its time."""
    _, sent_ps, connection, size_bytes, marks = left
    _, sent_1, connection_1, size_1, marks_1 = comers
    _, sent_2, connection_2, size_2, marks_2 = held
    if i < len(sent_1):
        sent_ps[place], connection[place] = sent_1[i], connection_1[i]
        size_bytes[place], marks[place] = size_1[i], marks_1[i]
    else:
        j = i - len(sent_1)
        sent_ps[place], connection[place] = sent_2[j], connection_2[j]
        size_bytes[place], marks[place] = size_2[j], marks_2[j]


@kernel
def sort_out(
    comers: Batch, held: Batch, tree: Tree, until_ps: int, sent: tuple[int, Service]
) -> None:
    """Write who waits and who was lost behind those who were sent."""
    place, service = sent
    queue, left, at_ps = service.queue, service.left, service.left[0]
    for k in service.rows:
        for each in range(tree[k]["head"], tree[k]["head"] + tree[k]["waits"]):
            at_ps[place] = until_ps
            carry(comers, held, queue[each], left, place)
            place += 1
    for number in range(len(service.rows)):
        end, tail = service.ends[number], tree[service.rows[number]]["tail"]
        for back in range(1, end - tail + 1):  # from the back, where the first that was lost is
            carry(comers, held, queue[end - back], left, place)
            place += 1
