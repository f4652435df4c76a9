"""How times vary from packet to packet, for the flows that a statement asks it of."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.engine import flight
from qospec.engine.arrays import np
from qospec.engine.flight import Followed
from qospec.engine.latencies import sending_times
from qospec.engine.tally import Extent, Packet, Smoothed, Variation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Times, Whole
    from qospec.engine.batch import Batch
    from qospec.engine.experiment import Experiment, Source

KEPT = 10_000
"""Of so many packets of a flow the times are kept, the first of each connection."""
PLACES = 64
"""Of a ring at first; a power of two, doubled as needed."""


class Variations:
    """Follows the packets of some sources."""

    def __init__(self, experiment: Experiment) -> None:
        stretches = experiment.watch.stretches("variation")
        self._sources: list[tuple[Whole, Followed]] = []
        for source in experiment.sources:
            stop = source.first + source.connections
            times_ps = sending_times(experiment, source)
            asked = any(source.first < end and begin < stop for begin, end in stretches)
            if asked and times_ps is not None:
                self._sources.append((times_ps, _followed(source)))

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
        extents = np.concatenate([each.extents for each in parts])
        before = np.concatenate([each.before for each in parts])
        packets = tuple(packet for each in parts for packet in _packets(each.kept))
        arrivals, latencies, one_way, received = (_extent(extents[:, each]) for each in range(4))
        return Variation(
            arrivals,
            latencies,
            one_way,
            received,
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
                yield Followed(each.first, *(column[begin:end] for column in each[1:]))


def _followed(source: Source) -> Followed:
    n = source.connections
    kept = np.zeros((n, KEPT // n, 3), np.int64)
    kept[:, :, flight.AT] = flight.ON_ITS_WAY
    return Followed(
        source.first,
        np.zeros((n, 2), np.int64),
        np.zeros((n, PLACES, 3), np.int64),
        np.zeros((n, 2, 8), np.int64),
        np.zeros((n, 4, 5), np.int64),
        kept,
    )


def _doubled(marks: Whole, ring: Whole) -> Whole:
    """Return the rings with twice the places, each packet at that of its number."""
    count, places, columns = ring.shape
    head = marks[:, flight.HEAD, None]
    number = head + ((np.arange(places) - head) & (places - 1))
    more = np.zeros((count, 2 * places, columns), np.int64)
    more[np.arange(count)[:, None], number & (2 * places - 1)] = ring
    return more


def _extent(rows: Whole) -> Extent:
    rows = rows[rows[:, flight.COUNT] > 0]
    if not len(rows):
        return Extent()
    sum_ps = sum(rows[:, flight.SUM_LOW].tolist()) + (
        sum(rows[:, flight.SUM_HIGH].tolist()) << flight.SUM_BITS
    )
    count, least_ps = int(rows[:, flight.COUNT].sum()), int(rows[:, flight.LEAST].min())
    return Extent(count, sum_ps, least_ps, int(rows[:, flight.LARGEST].max()))


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
