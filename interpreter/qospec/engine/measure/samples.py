"""Samples: what endpoints and sources tell of connections, for those whose statements use it.

A sample is a number at a time: so many bytes acknowledged then, or a round trip that took so long.
What is HELD is so from then on, such as a window; it is weighed by time. Sums are of whole numbers,
in two words, so that the size of batches does not matter. Of round trips, which are times, there
is a histogram, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.endpoint import tcp_connection
from qospec.engine.items.batch import build_batch
from qospec.engine.kernel import kernel
from qospec.engine.measure import delays
from qospec.engine.measure.tally import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qospec.engine.arrays import Rows, Times, Whole
    from qospec.engine.experiment import Intervals, MeasurementSpec
    from qospec.engine.items.batch import Batch
    from qospec.engine.source.arrivals import Told

QUANTITIES = (*tcp_connection.QUANTITIES, "offered", "established", "refused", "held")
"""What is told: by senders of TCP, and by sources of calls."""
HELD = ("window", "held")
"""Those of the quantities that hold until another is told."""
TIMED = "round_trip"
"""That of which there is a histogram."""

WEIGHT, LOW, HIGH, LEAST, MOST = range(5)
"""Columns: the number of samples or, of what is held, for how many ps; the sum of the values by
their weights, in two words of which the lower one has SUM_BITS; the extremes."""
SUM_BITS = 20
NONE = 2**62
"""`LEAST` without samples."""
VALUE, SINCE = range(2)
"""Of what is held: its last value, 0 before there is one, and since when."""
Window = tuple[int, int, int]
"""The window: its start, its end, and the length of intervals; 0: there is a row for each
connection, and not for each interval."""


class Samples:
    """Records samples; costs nothing if no statement uses any.

    Attributes:
        needed: Whether some does.
    """

    def __init__(self, measurement: MeasurementSpec, indices: int, histogram_row: Whole) -> None:
        self.needed = bool(measurement.list_ranges("samples"))
        self._start_ps, self._stop_ps = measurement.start_ps, measurement.stop_ps
        length_ps = measurement.stop_ps - measurement.start_ps
        counts = {asked: -(-length_ps // asked.every_ps) for asked in measurement.series}
        self._groups: dict[Intervals | None, tuple[Whole, Whole]] = {
            intervals: (_create_rows(count), np.zeros((len(HELD), indices, 2), np.int64))
            for intervals, count in ((None, indices), *counts.items())
            if self.needed
        }
        self._indices = indices
        rows = histogram_row if self.needed else histogram_row[:0]
        self._times = delays.create_rows(rows)
        self._histogram = delays.Histogram(int(rows.max(initial=-1)) + 1)

    def add(self, quantity: str, batch: Batch) -> None:
        """Record samples in order of time: `sent_ps` is the value of each."""
        mine = batch.connection.view(np.uint32)
        for intervals, (rows, held) in self._groups.items():
            number = QUANTITIES.index(quantity)
            of, window = self._compute_bounds(intervals)
            columns = batch.at_ps, batch.sent_ps, mine
            if quantity in HELD:
                _hold(columns, of, window, held[HELD.index(quantity)], rows[number])
            else:
                _count(columns, of, window, rows[number])
        if self._groups and quantity == TIMED:
            first, last = batch.at_ps.searchsorted((self._start_ps, self._stop_ps))
            values = batch.sent_ps[first:last]
            none = np.zeros(len(values), np.int64)
            self._histogram.add(values, none, batch.connection[first:last], self._times)

    def tell(self, told: Told, connection: int) -> None:
        """Record what a source tells, as of its first connection."""
        count = len(told.at_ps)
        self.add(
            told.quantity,
            build_batch(
                at_ps=told.at_ps,
                sent_ps=told.values,
                connection=np.full(count, connection, np.int32),
                size_bytes=np.zeros(count, np.int32),
                marks=np.zeros(count, np.uint32),
            ),
        )

    def finish(self) -> None:
        """Take what is held as held until the end of the window."""
        if not self.needed:
            return
        last = np.arange(self._indices, dtype=np.uint32)
        columns = np.full(self._indices, self._stop_ps), np.zeros(self._indices, np.int64), last
        for intervals, (rows, held) in self._groups.items():
            for quantity, state in zip(HELD, held, strict=True):
                _hold(
                    columns,
                    *self._compute_bounds(intervals),
                    state,
                    rows[QUANTITIES.index(quantity)],
                )

    def _compute_bounds(self, intervals: Intervals | None) -> tuple[tuple[int, int], Window]:
        window = self._start_ps, self._stop_ps
        if intervals is None:
            return (0, self._indices), (*window, 0)
        return (intervals.first, intervals.stop), (*window, intervals.every_ps)

    def pool(self, first: int, stop: int) -> Mapping[str, Sample]:
        """Return the samples of some connections, by quantity."""
        rows, _ = self._groups[None]
        found = _pool_samples(rows[:, first:stop])
        times = self._histogram.pool(self._times[first:stop])
        return found | {TIMED: found[TIMED]._replace(times=times)}

    def pool_intervals(self, intervals: Intervals) -> Iterator[Mapping[str, Sample] | None]:
        """Yield the samples of each interval; None without end if none are recorded."""
        if not self.needed:
            while True:
                yield None
        rows, _ = self._groups[intervals]
        for number in range(rows.shape[1]):
            yield _pool_samples(rows[:, number : number + 1])


def _create_rows(count: int) -> Whole:
    rows = np.zeros((len(QUANTITIES), count, MOST + 1), np.int64)
    rows[:, :, LEAST] = NONE
    return rows


def _pool_samples(rows: Whole) -> dict[str, Sample]:
    """Return samples by quantity, pooled: (quantities, n, 5)."""
    found = {}
    for quantity, mine in zip(QUANTITIES, rows, strict=True):
        seen = mine[mine[:, WEIGHT] > 0]
        total = sum(int(low) + (int(high) << SUM_BITS) for low, high in seen[:, LOW : HIGH + 1])
        ends = (int(seen[:, LEAST].min()), int(seen[:, MOST].max())) if len(seen) else (None, None)
        found[quantity] = Sample(int(seen[:, WEIGHT].sum()), total, *ends)
    return found


@kernel
def _count(
    columns: tuple[Times, Times, Rows], of: tuple[int, int], window: Window, rows: Whole
) -> None:
    """Add samples of some connections.

    Args:
        columns: (n,) each: when, the value, the connection.
        of: The first connection that counts, and the end of these.
        window: See `Window`.
        rows: (connections or intervals, 5) Updated.
    """
    at_ps, values, connection = columns
    start_ps, stop_ps, every_ps = window
    for i in range(len(at_ps)):
        if of[0] <= connection[i] < of[1] and start_ps <= at_ps[i] < stop_ps:
            place = (at_ps[i] - start_ps) // every_ps if every_ps else connection[i]
            _weigh(rows[place], values[i], 1)


@kernel
def _hold(
    columns: tuple[Times, Times, Rows],
    of: tuple[int, int],
    window: Window,
    state: Whole,
    rows: Whole,
) -> None:
    """Add what was held until samples came, as `_count` does; (connections, 2) `state` is updated.

    Between two samples it is weighed in each interval by the time that it has of it.
    """
    at_ps, values, connection = columns
    start_ps, stop_ps, every_ps = window
    for i in range(len(at_ps)):
        c = connection[i]
        if not of[0] <= c < of[1]:
            continue
        begin, end, value = max(start_ps, state[c, SINCE]), min(stop_ps, at_ps[i]), state[c, VALUE]
        while begin < end and value > 0:
            place, until = int(c), end
            if every_ps:
                place = (begin - start_ps) // every_ps
                until = min(end, start_ps + (place + 1) * every_ps)
            _weigh(rows[place], value, until - begin)
            begin = until
        state[c, VALUE], state[c, SINCE] = values[i], at_ps[i]


@kernel
def _weigh(row: Whole, value: int, weight: int) -> None:
    """Add a value by its weight."""
    low = row[LOW] + (value & ((1 << SUM_BITS) - 1)) * (weight & ((1 << SUM_BITS) - 1))
    high = (value >> SUM_BITS) * (weight & ((1 << SUM_BITS) - 1)) + value * (weight >> SUM_BITS)
    row[LOW] = low & ((1 << SUM_BITS) - 1)
    row[HIGH] += high + (low >> SUM_BITS)
    row[WEIGHT] += weight
    row[LEAST], row[MOST] = min(row[LEAST], value), max(row[MOST], value)
