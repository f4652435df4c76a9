"""Counts by intervals of the window, of the connections of which a report asks for a time series.

A cell counts in the interval in which its source's line sent it, as `sent`, as received or lost,
and with its delay; in that in which it arrived, as `carried`. All are whole numbers, so it does not
matter how time is cut into batches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.measure.bytes import AROUND, HEADER, LEAST, TRANSPORT, Volume
from qospec.engine.measure.tally import Delays, Tally
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Rows, Sizes, Times, Whole
    from qospec.engine.experiment import Intervals, MeasurementSpec
    from qospec.engine.items.batch import Batch

SENT, CARRIED, LOST, RECEIVED, SUM_LOW, SUM_HIGH, SHORTEST, LONGEST = range(8)
"""Columns of an interval's row; a sum is in two words, its lower one of SUM_BITS."""
LINE, FRAME, PACKET, PAYLOAD = range(4)
"""Columns of its bytes."""
SUM_BITS = 31
NO_DELAY_PS = 2**62
"""`SHORTEST` of an interval without delays."""


class Series:
    """Counts by intervals; costs nothing where no series is asked for."""

    def __init__(self, measurement: MeasurementSpec, around: Whole) -> None:
        """Take what to record; (indices, 4) what is around packets, without rows where none are."""
        self._measurement = measurement
        self._around = around
        length_ps = measurement.stop_ps - measurement.start_ps
        self._counts = {each: _rows(-(-length_ps // each.every_ps)) for each in measurement.series}
        self._bytes = {each: np.zeros((len(of), 4), np.int64) for each, of in self._counts.items()}

    @property
    def needed(self) -> bool:
        """Return whether anything is recorded."""
        return bool(self._counts)

    def sent(self, connection: Indices, sent_ps: Times, step: int = 1) -> None:
        """Count cells that left their source; OAM cells inserted, or with step -1 taken back."""
        self._count(connection, sent_ps, SENT, step)

    def lost(self, connection: Indices, sent_ps: Times) -> None:
        """Count cells that ended on the way."""
        self._count(connection, sent_ps, LOST, 1)

    def _count(self, connection: Indices, time_ps: Times, column: int, step: int) -> None:
        mine = connection.view(np.uint32)
        for each, counts in self._counts.items():
            _count(time_ps, mine, each.first, each.stop, *self._cut(each), column, step, counts)

    def arrived(self, batch: Batch) -> None:
        """Count cells that arrived, and their delays."""
        at_ps, sent_ps = batch.at_ps, batch.sent_ps
        mine = batch.connection.view(np.uint32)
        for each, counts in self._counts.items():
            cut = self._cut(each)
            _count(at_ps, mine, each.first, each.stop, *cut, CARRIED, 1, counts)
            _delay(at_ps, sent_ps, mine, each.first, each.stop, *cut, counts)
            if len(self._around):
                ends = each.first, each.stop
                _weigh(at_ps, mine, batch.size_bytes, *ends, *cut, self._around, self._bytes[each])

    def _cut(self, each: Intervals) -> tuple[int, int, int]:
        return self._measurement.start_ps, self._measurement.stop_ps, each.every_ps

    def tallies(self, each: Intervals, size_bytes: int) -> Iterator[Tally]:
        """Yield the counts of one interval after another; the last may be shorter than others."""
        length_ps = self._measurement.stop_ps - self._measurement.start_ps
        rows = zip(self._counts[each].tolist(), self._bytes[each].tolist(), strict=True)
        for number, (row, weights) in enumerate(rows):
            yield Tally(
                connections=each.stop - each.first,
                up=0,
                planned=0,
                sent=row[SENT],
                received=row[RECEIVED],
                carried=row[CARRIED],
                lost={("", ""): row[LOST]},
                size_bytes=size_bytes,
                window_ps=min(each.every_ps, length_ps - number * each.every_ps),
                delays=_delays(row),
                volume=Volume(*weights) if len(self._around) else None,
            )


def _rows(intervals: int) -> Whole:
    rows = np.zeros((intervals, 8), np.int64)
    rows[:, SHORTEST] = NO_DELAY_PS
    return rows


def _delays(row: list[int]) -> Delays:
    if not row[RECEIVED]:
        return Delays()
    return Delays(
        count=row[RECEIVED],
        sum_ps=row[SUM_LOW] + (row[SUM_HIGH] << SUM_BITS),
        sum_of_squares_ps2=None,
        min_ps=row[SHORTEST],
        max_ps=row[LONGEST],
    )


@kernel
def _count(  # noqa: PLR0913, PLR0917 -- a kernel has no objects
    time_ps: Times,
    connection: Rows,
    first: int,
    stop: int,
    start_ps: int,
    stop_ps: int,
    every_ps: int,
    column: int,
    step: int,
    counts: Whole,
) -> None:
    """Add `step` for each cell to a column of the interval that its time is in.

    Args:
        time_ps: (n,) Of each.
        connection: (n,) Of each.
        first: Of the connections that count,
        stop: up to here.
        start_ps: Of the window,
        stop_ps: up to here.
        every_ps: Length of an interval.
        column: Of `counts`.
        step: What a cell counts.
        counts: (intervals, 8) Carried on.
    """
    for i in range(len(time_ps)):
        if first <= connection[i] < stop and start_ps <= time_ps[i] < stop_ps:
            counts[(time_ps[i] - start_ps) // every_ps, column] += step


@kernel
def _delay(  # noqa: PLR0913, PLR0917 -- a kernel has no objects
    at_ps: Times,
    sent_ps: Times,
    connection: Rows,
    first: int,
    stop: int,
    start_ps: int,
    stop_ps: int,
    every_ps: int,
    counts: Whole,
) -> None:
    """Add the delay of each cell to the interval in which it was sent; else as `_count`."""
    for i in range(len(at_ps)):
        if first <= connection[i] < stop and start_ps <= sent_ps[i] < stop_ps:
            row = counts[(sent_ps[i] - start_ps) // every_ps]
            delay_ps = at_ps[i] - sent_ps[i]
            low = row[SUM_LOW] + (delay_ps & (2**SUM_BITS - 1))
            row[SUM_LOW] = low & (2**SUM_BITS - 1)
            row[SUM_HIGH] += (delay_ps >> SUM_BITS) + (low >> SUM_BITS)
            row[RECEIVED] += 1
            row[SHORTEST] = min(row[SHORTEST], delay_ps)
            row[LONGEST] = max(row[LONGEST], delay_ps)


@kernel
def _weigh(  # noqa: PLR0913, PLR0917 -- a kernel has no objects
    at_ps: Times,
    connection: Rows,
    size_bytes: Sizes,
    first: int,
    stop: int,
    start_ps: int,
    stop_ps: int,
    every_ps: int,
    around: Whole,
    weights: Whole,
) -> None:
    """Add the bytes of each packet, layer by layer, to the interval in which it arrived.

    `around` is (indices, 4), what is around each connection's packets; else as `_count`.
    """
    for i in range(len(at_ps)):
        if first <= connection[i] < stop and start_ps <= at_ps[i] < stop_ps:
            row, outside = weights[(at_ps[i] - start_ps) // every_ps], around[connection[i]]
            frame = max(size_bytes[i] + outside[HEADER], outside[LEAST])
            row[LINE] += frame + outside[AROUND]
            row[FRAME] += frame
            row[PACKET] += size_bytes[i]
            row[PAYLOAD] += size_bytes[i] - outside[TRANSPORT] - IPV4_HEADER_BYTES
