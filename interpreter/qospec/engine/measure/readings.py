"""Readings: delays as the tester reads them, for the flows whose statements use them.

A tester notes when a cell is sent and when it arrives by a clock that has ticks. It counts the
ticks between, so a reading is a whole number of them, and the mean of many is close to the delay.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.measure import delays

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment, Source
    from qospec.engine.items.batch import Batch
    from qospec.engine.measure.tally import Delays

NOT_READ = -1


def _list_counted(source: Source) -> list[slice]:
    """Return the indices by which the items of a source are counted, and its frames if any."""
    if source.framing is None:
        return [source.indices]
    first = source.framing.first
    return [source.indices, slice(first, first + source.connections)]


class Readings:
    """Records what a tester reads of delays.

    Attributes:
        needed: Whether a statement uses any.
    """

    def __init__(self, experiment: Experiment, histogram_row: Whole) -> None:
        ranges = experiment.measurement.list_ranges("readings")
        self._tick_ps = np.full(len(histogram_row), NOT_READ, np.int64)
        self._overhead_ps = np.zeros(len(histogram_row), np.int64)
        for source in experiment.sources:
            for (first, stop), counted in product(ranges, _list_counted(source)):
                mine = slice(max(first, counted.start), min(stop, counted.stop))
                self._tick_ps[mine] = source.monitor.resolution_ps or 1
                self._overhead_ps[mine] = source.monitor.overhead_ps
        self.needed = bool((self._tick_ps != NOT_READ).any())
        read = np.where(self._tick_ps == NOT_READ, -1, histogram_row)
        self._rows = delays.create_rows(read)
        self._histogram = delays.Histogram(int(read.max(initial=-1)) + 1)

    def add(self, batch: Batch) -> None:
        """Add items that have arrived."""
        mine = batch.select(self._tick_ps[batch.connection] != NOT_READ)
        if mine.count:
            self._histogram.add(*self.read(mine), mine.connection, self._rows)

    def read(self, batch: Batch) -> tuple[Whole, Whole]:
        """Return (n,) when items arrived and (n,) when they were sent, by the tester's clock.

        A clock that starts late shows 0 for what arrives before that.
        """
        tick_ps = self._tick_ps[batch.connection]
        at_ps = np.maximum(batch.at_ps + self._overhead_ps[batch.connection], batch.sent_ps)
        return at_ps - at_ps % tick_ps, batch.sent_ps - batch.sent_ps % tick_ps

    def pool(self, part: slice) -> Delays | None:
        """Return the readings of a range of connections; None if one of them was not read."""
        if (self._tick_ps[part] == NOT_READ).any():
            return None
        return self._histogram.pool(self._rows[part])
