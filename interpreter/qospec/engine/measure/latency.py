"""Latencies: delays less the time from the first to the last bit of an item on its first link.

Where all items of a flow have one size this is a constant, and nothing is recorded for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qospec.engine.arrays import np
from qospec.engine.line.tagging import Tagging
from qospec.engine.measure import delays

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole
    from qospec.engine.experiment import Experiment, Source
    from qospec.engine.items.batch import Batch
    from qospec.engine.line.clock import Clock
    from qospec.engine.measure.tally import Delays

NOT_CONSTANT = -1
"""In place of a constant: items of several sizes, or a source without a line."""


def compute_transmission_ps(clock: Clock, size_bytes: int) -> int:
    """Return the time from the first bit of an item to its last, at its minimum.

    It is rounded down like the times of a line, so that on a line of no length it equals the delay,
    up to a ps, and no latency is negative.
    """
    framed = clock.encapsulation
    on_the_line = size_bytes if framed is None else framed.count_line_bytes(size_bytes)
    behind_ps = clock.arrival_ps - clock.propagation_ps
    return int(on_the_line * clock.byte_time_ps) + behind_ps - clock.lead_ps


def tabulate_transmission_times(experiment: Experiment, source: Source) -> Whole | None:
    """Return (largest size + 1,) the times by size for a source; None without a line.

    The sizes are those with which items arrive, too: the planner has made sure, where they matter.
    """
    clock = _find_first_line(experiment, source) if experiment.nodes else None
    if clock is None:
        return None
    times_ps = np.zeros(max(source.sizes.size_bytes) + 1, np.int64)
    for size_bytes in source.sizes.size_bytes:
        times_ps[size_bytes] = compute_transmission_ps(clock, size_bytes)
    return times_ps


def _find_first_line(experiment: Experiment, source: Source) -> Clock | None:
    """Return the clock of the line on which a source sends, as it is for its packets."""
    number = source.node
    if isinstance(experiment.nodes[number].element, Tagging):
        number = next(wire.to for wire in experiment.wires if wire.node == number)
    clock = experiment.nodes[number].clock
    return clock and clock.with_tag_settled(tagged=source.is_tagged)


class Latencies:
    """Records the latencies that statements use, unless they are delays less a constant.

    Attributes:
        offset_ps: (indices,) Delay less latency; NOT_CONSTANT where that varies.
    """

    def __init__(self, experiment: Experiment, histogram_row: Whole) -> None:
        self.offset_ps = np.full(len(histogram_row), NOT_CONSTANT, np.int64)
        self._table = np.full(len(histogram_row), -1, np.int32)
        self._tables: list[Whole] = []
        for source in experiment.sources:
            mine = source.indices
            times_ps = (
                tabulate_transmission_times(experiment, source) if source.sizes.alike else None
            )
            if times_ps is not None:
                self.offset_ps[mine] = times_ps[-1]
        for source in experiment.sources:
            mine = source.indices
            recorded = self._is_recorded(experiment, mine)
            times_ps = tabulate_transmission_times(experiment, source) if recorded else None
            if times_ps is not None:
                self._table[mine] = len(self._tables)
                self._tables.append(times_ps)
        followed = (
            np.where(self._table < 0, -1, histogram_row) if self._tables else histogram_row[:0]
        )
        self._rows = delays.create_rows(followed)
        self._histogram = delays.Histogram(int(followed.max(initial=-1)) + 1)

    def _is_recorded(self, experiment: Experiment, mine: slice) -> bool:
        """Return whether a statement uses any of these in a range without a common constant."""
        return any(
            first < mine.stop
            and mine.start < stop
            and self._find_constant_offset_ps(slice(first, stop)) is None
            for first, stop in experiment.measurement.list_ranges("latencies")
        )

    def _find_constant_offset_ps(self, part: slice) -> int | None:
        """Return the common constant of a range of connections; None if there is none."""
        constants = np.unique(self.offset_ps[part])
        return int(constants[0]) if len(constants) == 1 and constants[0] != NOT_CONSTANT else None

    @property
    def needed(self) -> bool:
        """Return whether anything is recorded."""
        return bool(self._tables)

    def add(self, batch: Batch) -> None:
        """Add items that have arrived."""
        table = self._table[batch.connection]
        for number, times_ps in enumerate(self._tables):
            which = table == number
            mine = batch if which.all() else batch.select(which)
            if mine.count:
                ended_ps = mine.sent_ps + times_ps[mine.size_bytes]
                self._histogram.add(mine.at_ps, ended_ps, mine.connection, self._rows)

    def pool(self, part: slice, seen: Delays) -> Delays | None:
        """Return the latencies of a range of connections, given their delays."""
        offset_ps = self._find_constant_offset_ps(part)
        if offset_ps is not None:
            return seen.reduce(offset_ps)
        if (self._table[part] < 0).any():
            return None
        return self._histogram.pool(self._rows[part])
