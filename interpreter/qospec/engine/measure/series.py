"""Counts by interval of the window, for the connections whose time series a report shows.

A cell counts in the interval in which the line of its source sent it: as `sent`, as received or
lost, and with its delay and the change of its latency; and in the interval in which it arrived, as
`carried`, where its connection counts as up. All are whole numbers, so the size of batches does not
matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.items.frame_length import (
    HEADER,
    LEAST,
    OUTSIDE,
    PER_CELL,
    TRANSPORT,
    frame_bytes,
)
from qospec.engine.kernel import kernel
from qospec.engine.measure.bytes import Volume
from qospec.engine.measure.tally import Delays, Tally, Variation
from qospec.protocol.ip import IPV4_HEADER_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Rows, Sizes, Times, Whole
    from qospec.engine.experiment import Intervals, MeasurementSpec
    from qospec.engine.items.batch import Batch
    from qospec.engine.measure.samples import Samples

SENT, CARRIED, LOST, RECEIVED, SUM_LOW, SUM_HIGH, SHORTEST, LONGEST, UP = range(9)
"""Columns of the row of an interval; a sum is in two words, the lower one of SUM_BITS."""
LINE, FRAME, PACKET, PAYLOAD = range(4)
"""Columns of its byte counts."""
SUM_BITS = 31
NO_DELAY_PS = 2**62
"""`SHORTEST` of an interval without delays."""


class Series:
    """Counts by interval; costs nothing if no series is reported."""

    def __init__(self, measurement: MeasurementSpec, framing: Whole, samples: Samples) -> None:
        """Take what to record, and (indices, 5) the framing of packets, without rows for cells."""
        self._measurement, self._samples = measurement, samples
        self._around = framing
        length_ps = measurement.stop_ps - measurement.start_ps
        self._counts = {
            series: _create_rows(-(-length_ps // series.every_ps)) for series in measurement.series
        }
        self._changes = {intervals: _create_rows(len(of)) for intervals, of in self._counts.items()}
        self._last_up = {
            intervals: np.full(intervals.stop - intervals.first, -1, np.int64)
            for intervals in self._counts
        }
        self._bytes = {
            intervals: np.zeros((len(of), 4), np.int64) for intervals, of in self._counts.items()
        }

    @property
    def needed(self) -> bool:
        """Return whether anything is recorded."""
        return bool(self._counts)

    def count_sent(self, connection: Indices, sent_ps: Times) -> None:
        """Count cells that left their source, or inserted cells."""
        self._count(connection, sent_ps, SENT)

    def count_lost(self, connection: Indices, sent_ps: Times) -> None:
        """Count cells that were lost."""
        self._count(connection, sent_ps, LOST)

    def lose_absent(self, frames: slice) -> None:
        """Count as lost what was sent and did not arrive, of ranges that begin among these."""
        for intervals, counts in self._counts.items():
            if frames.start <= intervals.first < frames.stop:
                counts[:, LOST] = counts[:, SENT] - counts[:, RECEIVED]

    def _count(self, connection: Indices, time_ps: Times, column: int) -> None:
        mine = connection.view(np.uint32)
        for intervals, counts in self._counts.items():
            _count(
                time_ps,
                mine,
                intervals.first,
                intervals.stop,
                *self._compute_bounds(intervals),
                column,
                counts,
            )

    def count_arrived(self, batch: Batch) -> None:
        """Count cells that arrived, and their delays."""
        at_ps, sent_ps = batch.at_ps, batch.sent_ps
        mine = batch.connection.view(np.uint32)
        for intervals, counts in self._counts.items():
            bounds = self._compute_bounds(intervals)
            _count(at_ps, mine, intervals.first, intervals.stop, *bounds, CARRIED, counts)
            _delay(at_ps, sent_ps, mine, intervals.first, intervals.stop, *bounds, counts)
            _count_up(at_ps, mine, intervals.first, *bounds, self._last_up[intervals], counts)
            if len(self._around):
                connections = intervals.first, intervals.stop
                _add_bytes(
                    at_ps,
                    mine,
                    batch.size_bytes,
                    *connections,
                    *bounds,
                    self._around,
                    self._bytes[intervals],
                )

    def count_changes(self, batch: Batch, changes_ps: Times) -> None:
        """Count changes of latency, (n,) in ps, below 0 where there is none, as delays."""
        some = changes_ps >= 0
        sent_ps, mine = batch.sent_ps[some], batch.connection[some].view(np.uint32)
        for intervals, rows in self._changes.items():
            bounds = self._compute_bounds(intervals)
            _delay(
                sent_ps + changes_ps[some],
                sent_ps,
                mine,
                intervals.first,
                intervals.stop,
                *bounds,
                rows,
            )

    def _compute_bounds(self, intervals: Intervals) -> tuple[int, int, int]:
        return self._measurement.start_ps, self._measurement.stop_ps, intervals.every_ps

    def pool_intervals(self, intervals: Intervals, size_bytes: int) -> Iterator[Tally]:
        """Yield the counts of each interval; the last one may be shorter."""
        length_ps = self._measurement.stop_ps - self._measurement.start_ps
        rows = zip(self._counts[intervals].tolist(), self._bytes[intervals].tolist(), strict=True)
        changes = self._changes[intervals].tolist()
        samples = self._samples.pool_intervals(intervals)
        for number, (row, byte_counts) in enumerate(rows):
            yield Tally(
                connections=intervals.stop - intervals.first,
                up=row[UP],
                planned=0,
                sent=row[SENT],
                received=row[RECEIVED],
                carried=row[CARRIED],
                lost={("", ""): row[LOST]},
                size_bytes=size_bytes,
                window_ps=min(intervals.every_ps, length_ps - number * intervals.every_ps),
                delays=_build_delays(row),
                volume=Volume(*byte_counts) if len(self._around) else None,
                samples=next(samples),
                variation=Variation(received=_build_delays(changes[number])),
            )


def _create_rows(intervals: int) -> Whole:
    rows = np.zeros((intervals, UP + 1), np.int64)
    rows[:, SHORTEST] = NO_DELAY_PS
    return rows


def _build_delays(row: list[int]) -> Delays:
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
    counts: Whole,
) -> None:
    """Add 1 for each cell to a column of the interval that contains its time.

    Args:
        time_ps: (n,) The time of each cell.
        connection: (n,) The connection of each cell.
        first: The first connection that counts.
        stop: The end of the connections that count, exclusive.
        start_ps: Start of the window.
        stop_ps: End of the window, exclusive.
        every_ps: Length of an interval.
        column: Column of `counts`.
        counts: (intervals, columns) Updated.
    """
    for i in range(len(time_ps)):
        if first <= connection[i] < stop and start_ps <= time_ps[i] < stop_ps:
            counts[(time_ps[i] - start_ps) // every_ps, column] += 1


@kernel
def _count_up(  # noqa: PLR0913, PLR0917 -- a kernel has no objects
    at_ps: Times,
    connection: Rows,
    first: int,
    start_ps: int,
    stop_ps: int,
    every_ps: int,
    last_up: Whole,
    counts: Whole,
) -> None:
    """Count in each interval the connections of which a cell arrived in it.

    `last_up` is (connections,), the interval in which one was counted last, and is updated. What
    arrives of one connection does so at one place, and so in order of time; else as `_count`.
    """
    for i in range(len(at_ps)):
        place = connection[i] - first
        if 0 <= place < len(last_up) and start_ps <= at_ps[i] < stop_ps:
            interval = (at_ps[i] - start_ps) // every_ps
            if last_up[place] != interval:
                last_up[place] = interval
                counts[interval, UP] += 1


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
def _add_bytes(  # noqa: PLR0913, PLR0917 -- a kernel has no objects
    at_ps: Times,
    connection: Rows,
    size_bytes: Sizes,
    first: int,
    stop: int,
    start_ps: int,
    stop_ps: int,
    every_ps: int,
    framing: Whole,
    byte_counts: Whole,
) -> None:
    """Add the bytes of each packet, layer by layer, to the interval in which it arrived.

    `framing` is (indices, 5), the framing of each connection; else as `_count`.
    """
    for i in range(len(at_ps)):
        if first <= connection[i] < stop and start_ps <= at_ps[i] < stop_ps:
            row, frame_of = byte_counts[(at_ps[i] - start_ps) // every_ps], framing[connection[i]]
            frame = frame_bytes(
                size_bytes[i], frame_of[HEADER], frame_of[LEAST], frame_of[PER_CELL]
            )
            row[LINE] += frame + frame_of[OUTSIDE]
            row[FRAME] += frame
            row[PACKET] += size_bytes[i]
            row[PAYLOAD] += size_bytes[i] - frame_of[TRANSPORT] - IPV4_HEADER_BYTES
