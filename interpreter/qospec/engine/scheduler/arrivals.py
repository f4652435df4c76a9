"""Arrivals at a scheduler, merged into time order: one batch per input, or one unsplit batch.

A classifier that feeds only one scheduler gives its batch unsplit: partitioning it, only for the
scheduler to merge the parts, would move each item twice.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items.batch import FOREVER_PS
from qospec.engine.items.partition import look_up_outputs, partition
from qospec.engine.kernel import kernel

if TYPE_CHECKING:
    from qospec.engine.arrays import Marks, Rows, Times, Whole
    from qospec.engine.items.batch import Batch
    from qospec.engine.items.partition import RoutingTable


class Incoming(NamedTuple):
    """The arrivals at a scheduler's queues.

    Attributes:
        batches: A batch per input; or one for all, in which no two items are simultaneous.
        counts: The number of arrivals at each input.
        inputs: (n,) If there is one batch: the input of each of its items.
    """

    batches: tuple[Batch, ...]
    counts: tuple[int, ...]
    inputs: Marks | None = None


class ArrivalOrder(NamedTuple):
    """Arrivals in the order in which the loop takes them.

    Attributes:
        numbers: (n,) The items' numbers.
        rows: (n,) The row of the queue that each arrives at.
        at_ps: (n,) When each arrives.
    """

    numbers: Rows
    rows: Rows
    at_ps: Times


def group_by_input(batches: tuple[Batch, ...]) -> Incoming:
    """Return the arrivals of a batch per input."""
    return Incoming(batches, tuple([batch.count for batch in batches]))


def group_by_routes(batch: Batch, where: RoutingTable, inputs: int) -> Incoming:
    """Return the arrivals of one batch; its outputs by the table are the inputs."""
    input_of, counts = look_up_outputs(batch, where, inputs)
    if input_of is None or max(counts) == batch.count or _has_ties(batch.at_ps):
        return group_by_input(partition(batch, input_of, counts))
    return Incoming((batch,), counts, input_of)


def sort_arrivals(incoming: Incoming, at_ps: Times, rows: Rows) -> ArrivalOrder:
    """Return the items in order of time; simultaneous items in the order of their queues' rows.

    Args:
        incoming: n items.
        at_ps: By number, when each arrives.
        rows: By input, the row of its queue.
    """
    count = sum(incoming.counts)
    if incoming.inputs is not None:
        order = ArrivalOrder(
            _get_numbers(count.bit_length())[:count], np.empty(count, np.uint32), at_ps
        )
        _look_up(incoming.inputs, rows, order.rows)
        return order
    inputs = [n for n in np.argsort(rows) if incoming.counts[n]]
    stop = np.cumsum(incoming.counts)
    start = (stop - incoming.counts)[inputs].astype(np.uint32)
    columns = np.empty(count, np.uint32), np.empty(count, np.uint32), np.empty(count, np.int64)
    order = ArrivalOrder(*columns)
    _merge(at_ps, start, stop[inputs], at_ps[start], rows[inputs], order)
    return order


@functools.lru_cache(maxsize=1)
def _get_numbers(bits: int) -> Rows:
    """Return 0, 1, 2 …; shared, since the loop reorders only simultaneous arrivals."""
    return np.arange(2**bits, dtype=np.uint32)


@kernel
def _has_ties(at_ps: Times) -> bool:
    """Return whether two items are simultaneous."""
    ties = False
    for i in range(1, len(at_ps)):
        ties |= at_ps[i] == at_ps[i - 1]
    return ties


@kernel
def _look_up(inputs: Marks, rows: Rows, found: Rows) -> None:
    """Write the row of each input: NumPy would first widen the inputs."""
    for i in range(len(inputs)):
        found[i] = rows[inputs[i]]


@kernel
def _merge(
    at_ps: Times, start: Rows, stop: Whole, next_ps: Times, rows: Rows, order: ArrivalOrder
) -> None:
    """Merge runs of items into time order; simultaneous items in the order of the runs.

    Args:
        at_ps: By number, in order within each run.
        start: Per run, its first number; written.
        stop: Per run, the number behind its last.
        next_ps: Per run, when its first arrives; written.
        rows: Per run, the row of its queue.
        order: Written.
    """
    numbers, row, times = order
    for place in range(len(numbers)):
        mine, at = 0, next_ps[0]
        for n in range(1, len(start)):
            earlier = next_ps[n] < at
            mine = n if earlier else mine
            at = next_ps[n] if earlier else at
        i = start[mine]
        numbers[place], row[place], times[place] = i, rows[mine], at
        start[mine] = i + 1
        next_ps[mine] = at_ps[i + 1] if i + 1 < stop[mine] else FOREVER_PS
