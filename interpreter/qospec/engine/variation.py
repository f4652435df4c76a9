"""How times vary from packet to packet, for the flows that a statement asks it of."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.engine import delays, flight
from qospec.engine.arrays import np
from qospec.engine.flight import Followed
from qospec.engine.latencies import sending_times
from qospec.engine.tally import Packet, Reordering, Smoothed, Variation, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.batch import Batch
    from qospec.engine.experiment import Experiment, Source

KEPT = 10_000
"""Of so many packets of a flow the times are kept, the first of each connection."""
PLACES = 64
"""Of a ring at first; a power of two, doubled as needed."""
QUANTILES = 5
"""So many rows of a connection have a histogram, the first."""


class Variations:
    """Follows the packets of some sources."""

    def __init__(self, experiment: Experiment, histogram_row: Whole) -> None:
        stretches = experiment.watch.stretches("variation")
        asked: list[tuple[Whole, Source]] = []
        for source in experiment.sources:
            times_ps = sending_times(experiment, source)
            mine = any(source.first < end and begin < _stop(source) for begin, end in stretches)
            if mine and times_ps is not None:
                asked.append((times_ps, source))
        rows = [histogram_row[source.first : _stop(source)] for _, source in asked]
        used = np.unique(np.concatenate([[-1], *rows]))  # few of all rows
        self._histogram = delays.Histogram(QUANTILES * (len(used) - 1))
        self._sources = [
            (times_ps, _followed(source, np.searchsorted(used, mine) - 1, self._histogram))
            for (times_ps, source), mine in zip(asked, rows, strict=True)
        ]

    @property
    def needed(self) -> bool:
        """Return whether any source is followed."""
        return bool(self._sources)

    def sent(self, batch: Batch) -> None:
        """Note packets that have left their source's line."""
        for number in range(len(self._sources)):
            done = self._put(number, batch, 0)
            while done < batch.count:
                times_ps, followed = self._sources[number]
                ring = _doubled(followed.marks, followed.ring)
                self._sources[number] = times_ps, followed._replace(ring=ring)
                done = self._put(number, batch, done)

    def _put(self, number: int, batch: Batch, done: int) -> int:
        times_ps, followed = self._sources[number]
        indices = batch.connection.view(np.uint32)
        return flight.sent(batch.sent_ps, indices, batch.size_bytes, times_ps, followed, done)

    def arrived(self, batch: Batch) -> None:
        """Note packets that have arrived."""
        for _, followed in self._sources:
            self._histogram.settle(batch.count, followed.seen)
            flight.arrived(batch.at_ps, batch.sent_ps, batch.connection.view(np.uint32), followed)

    def ended(self, connection: Indices, sent_ps: Times) -> None:
        """Note packets that have ended on the way."""
        for _, followed in self._sources:
            flight.ended(sent_ps, connection.view(np.uint32), followed)

    def of(self, first: int, stop: int) -> Variation | None:
        """Return what was seen of some connections; None if one of them was not followed."""
        parts = list(self._parts(first, stop))
        if sum(len(each.marks) for each in parts) != stop - first:
            return None
        seen = np.concatenate([each.seen for each in parts])
        before = np.concatenate([each.before for each in parts])
        packets = tuple(packet for each in parts for packet in _packets(each.kept))
        arrivals, latencies, later, sooner, received = (
            self._histogram.pooled(seen[:, each]) for each in range(QUANTILES)
        )
        return Variation(
            arrivals,
            latencies,
            signed(later, sooner),
            received,
            _reordering(seen[:, flight.REORDERED]),
            _smoothed(before[:, flight.AS_RECEIVED]),
            _smoothed(before[:, flight.AS_SENT]),
            packets,
            complete=len(packets) == int(before[:, flight.AS_SENT, flight.SEEN].sum()),
            connections=stop - first,
        )

    def _parts(self, first: int, stop: int) -> Iterator[Followed]:
        for _, each in self._sources:
            begin = max(first - each.first, 0)
            end = min(stop - each.first, len(each.marks))
            if begin < end:
                part = slice(begin, end)
                yield each._replace(
                    marks=each.marks[part],
                    before=each.before[part],
                    seen=each.seen[part],
                    kept=each.kept[part],
                )


def _stop(source: Source) -> int:
    return source.first + source.connections


def _followed(source: Source, histogram_row: Whole, histogram: delays.Histogram) -> Followed:
    n = source.connections
    rows = np.full((n, flight.REORDERED + 1), -1)
    named = histogram_row >= 0
    rows[named, :QUANTILES] = QUANTILES * histogram_row[named, None] + np.arange(QUANTILES)
    kept = np.zeros((n, KEPT // n, 3), np.int64)
    kept[:, :, flight.AT] = flight.ON_ITS_WAY
    return Followed(
        source.first,
        np.zeros((n, 3), np.int64),
        np.zeros((n, PLACES, 4), np.int64),
        np.zeros((n, 2, 8), np.int64),
        delays.new_rows(rows.reshape(-1)).reshape(n, -1, 8),
        kept,
        histogram.counts,
        histogram.as_double,
        histogram.as_bits,
    )


def _doubled(marks: Whole, ring: Whole) -> Whole:
    """Return the rings with twice the places, each packet at that of its number."""
    count, places, columns = ring.shape
    head = marks[:, flight.HEAD, None]
    number = head + ((np.arange(places) - head) & (places - 1))
    more = np.zeros((count, 2 * places, columns), np.int64)
    more[np.arange(count)[:, None], number & (2 * places - 1)] = ring
    return more


def _reordering(rows: Whole) -> Reordering:
    packets, largest = int(rows[:, delays.COUNT].sum()), int(rows[:, delays.LARGEST].max())
    return Reordering(packets, delays.total(rows, delays.SUM_LOW, delays.SUM_BITS), max(0, largest))


def _smoothed(rows: Whole) -> Smoothed | None:
    rows = rows[rows[:, flight.SEEN] > 1]
    if not len(rows):
        return None
    last, largest = int(rows[:, flight.JITTER].max()), int(rows[:, flight.LARGEST_JITTER].max())
    return Smoothed(Fraction(last, 16), Fraction(largest, 16))


def _packets(kept: Whole) -> Iterator[Packet]:
    for rows in kept:
        for number in np.nonzero(rows[:, flight.AT] >= 0)[0].tolist():
            sent_ps, sending_ps, at_ps = rows[number].tolist()
            yield Packet(number + 1, sent_ps, at_ps, at_ps - sent_ps - sending_ps)
