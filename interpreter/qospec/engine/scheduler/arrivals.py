"""Who comes to the queues of a scheduler, and in what order: in a batch per input, or all in one.

All come in one batch from a classifier that feeds nothing else. To part it, only for the scheduler
to look at the parts together, would be to move each item twice.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.partition import dealt, ways_of
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Rows, Times, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.partition import Routes


class Coming(NamedTuple):
    """What comes to a scheduler's queues.

    Attributes:
        batches: A batch per input; or one for all, in which no two come at the same time.
        counts: How many come to each input.
        way: (n,) If there is one batch: the input of each of its items.
    """

    batches: tuple[Batch, ...]
    counts: tuple[int, ...]
    way: Marks | None = None


class Turns(NamedTuple):
    """Who comes, one after the other.

    Attributes:
        numbers: (n,) The items' numbers.
        rows: (n,) The row of the queue that each comes to.
        at_ps: (n,) When each comes.
    """

    numbers: Rows
    rows: Rows
    at_ps: Times


def by_input(batches: tuple[Batch, ...]) -> Coming:
    """Return what comes in a batch per input."""
    return Coming(batches, tuple([batch.count for batch in batches]))


def by_routes(batch: Batch, where: Routes, inputs: int) -> Coming:
    """Return what comes in one batch, whose ways are the inputs."""
    way, counts = ways_of(batch, where, inputs)
    if way is None or max(counts) == batch.count or _meet(batch.at_ps):
        return by_input(dealt(batch, way, counts))
    return Coming((batch,), counts, way)


def turns_of(coming: Coming, at_ps: Times, rows: Rows) -> Turns:
    """Return the items in order of time, those of one time in that of their queues' rows.

    Args:
        coming: n items.
        at_ps: By number, when each comes.
        rows: By input, the row of its queue.
    """
    count = sum(coming.counts)
    if coming.way is not None:
        turns = Turns(_numbers(count.bit_length())[:count], np.empty(count, np.uint32), at_ps)
        _look_up(coming.way, rows, turns.rows)
        return turns
    inputs = [n for n in np.argsort(rows) if coming.counts[n]]
    stop = np.cumsum(coming.counts)
    start = (stop - coming.counts)[inputs].astype(np.uint32)
    columns = np.empty(count, np.uint32), np.empty(count, np.uint32), np.empty(count, np.int64)
    turns = Turns(*columns)
    _merge(at_ps, start, stop[inputs], at_ps[start], rows[inputs], turns)
    return turns


@functools.lru_cache(maxsize=1)
def _numbers(bits: int) -> Rows:
    """Return 0, 1, 2 …, kept for all: only where two come together does the loop change turns."""
    return np.arange(2**bits, dtype=np.uint32)


@kernel
def _meet(at_ps: Times) -> bool:
    """Return whether two come at the same time."""
    met = False
    for i in range(1, len(at_ps)):
        met |= at_ps[i] == at_ps[i - 1]
    return met


@kernel
def _look_up(way: Marks, rows: Rows, found: Rows) -> None:
    """Write the row of each way: NumPy would first make wide numbers of the ways."""
    for i in range(len(way)):
        found[i] = rows[way[i]]


@kernel
def _merge(
    at_ps: Times, start: Rows, stop: Whole, next_ps: Times, rows: Rows, turns: Turns
) -> None:
    """Write the turns of items: by time, at one time in the order of stretches.

    Args:
        at_ps: By number, in order within each stretch.
        start: Per stretch, its first number; written.
        stop: Per stretch, the number behind its last.
        next_ps: Per stretch, when its first comes; written.
        rows: Per stretch, the row of its queue.
        turns: Written.
    """
    numbers, row, times = turns
    for turn in range(len(numbers)):
        mine, at = 0, next_ps[0]
        for n in range(1, len(start)):
            earlier = next_ps[n] < at
            mine = n if earlier else mine
            at = next_ps[n] if earlier else at
        i = start[mine]
        numbers[turn], row[turn], times[turn] = i, rows[mine], at
        start[mine] = i + 1
        next_ps[mine] = at_ps[i + 1] if i + 1 < stop[mine] else FOREVER_PS
