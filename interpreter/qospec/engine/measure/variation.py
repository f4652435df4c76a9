"""Variation of times from packet to packet, for the flows whose statements use it.

Some definitions of jitter take packets in order of arrival, others in order of sending. For the
latter, packets are kept in a ring from when they are sent; once the outcome of the first is known,
it is counted and removed. So memory is bounded by the packets in flight, and neither loss nor
reordering affects which packets form a pair. When a packet overtakes others, each of them records
this.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.engine.arrays import np
from qospec.engine.items import delay_row
from qospec.engine.items.delay_row import add_delay
from qospec.engine.kernel import kernel
from qospec.engine.measure import delays
from qospec.engine.measure.latency import tabulate_transmission_times
from qospec.engine.measure.tally import Packet, Reordering, Smoothed, Variation, combine_signs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Indices, Rows, Sizes, Times, Whole
    from qospec.engine.experiment import Experiment, Source
    from qospec.engine.items.batch import Batch

MAX_TRACKED = 10_000
"""The number of packets of a flow whose times are kept, the first of each connection."""
INITIAL_PLACES = 64
"""The initial size of a ring; a power of two, doubled as needed."""
HISTOGRAM_ROWS = 5
"""The number of rows of a connection with a histogram; these are the first."""


class Variations:
    """Tracks the packets of some sources."""

    def __init__(self, experiment: Experiment, histogram_row: Whole) -> None:
        ranges = experiment.measurement.list_ranges("variation")
        recorded: list[tuple[Whole, Source]] = []
        for source in experiment.sources:
            mine = any(
                source.indices.start < end and begin < source.indices.stop for begin, end in ranges
            )
            times_ps = tabulate_transmission_times(experiment, source) if mine else None
            if times_ps is not None:
                recorded.append((times_ps, source))
        rows = [histogram_row[source.indices] for _, source in recorded]
        used = np.unique(np.concatenate([[-1], *rows]))  # few of all rows
        self._histogram = delays.Histogram(HISTOGRAM_ROWS * (len(used) - 1))
        self._sources = [
            (times_ps, _create_tracked(source, np.searchsorted(used, mine) - 1, self._histogram))
            for (times_ps, source), mine in zip(recorded, rows, strict=True)
        ]

    @property
    def needed(self) -> bool:
        """Return whether any source is tracked."""
        return bool(self._sources)

    def record_sent(self, batch: Batch) -> None:
        """Record packets that have left the line of their source."""
        for number in range(len(self._sources)):
            done = self._put(number, batch, 0)
            while done < batch.count:
                times_ps, tracked = self._sources[number]
                ring = _with_larger_rings(tracked.marks, tracked.ring)
                self._sources[number] = times_ps, tracked._replace(ring=ring)
                done = self._put(number, batch, done)

    def _put(self, number: int, batch: Batch, done: int) -> int:
        times_ps, tracked = self._sources[number]
        indices = batch.connection.view(np.uint32)
        return follow_sent(batch.sent_ps, indices, batch.size_bytes, times_ps, tracked, done)

    def record_arrived(self, batch: Batch, changes_ps: Times) -> None:
        """Record packets that have arrived.

        Args:
            batch: Of n packets.
            changes_ps: (n,) Written, or (0,): the change of latency since the packet that arrived
                before, where that is known.
        """
        indices = batch.connection.view(np.uint32)
        for _, tracked in self._sources:
            self._histogram.normalise(batch.count, tracked.seen)
            follow_arrived(batch.at_ps, batch.sent_ps, indices, tracked, changes_ps)

    def record_lost(self, connection: Indices, sent_ps: Times) -> None:
        """Record packets that were lost."""
        for _, tracked in self._sources:
            follow_lost(sent_ps, connection.view(np.uint32), tracked)

    def pool(self, first: int, stop: int) -> Variation | None:
        """Return the variation of some connections; None if one of them was not tracked."""
        parts = list(self._list_parts(first, stop))
        if sum(len(part.marks) for part in parts) != stop - first:
            return None
        seen = np.concatenate([part.seen for part in parts])
        previous = np.concatenate([part.previous for part in parts])
        packets = tuple(packet for part in parts for packet in _list_packets(part.kept))
        arrivals, latencies, increases, decreases, received = (
            self._histogram.pool(seen[:, i]) for i in range(HISTOGRAM_ROWS)
        )
        return Variation(
            arrivals,
            latencies,
            combine_signs(increases, decreases),
            received,
            _read_reordering(seen[:, REORDERED]),
            _read_smoothed(previous[:, AS_RECEIVED]),
            _read_smoothed(previous[:, AS_SENT]),
            packets,
            complete=len(packets) == int(previous[:, AS_SENT, SEEN].sum()),
            connections=stop - first,
        )

    def _list_parts(self, first: int, stop: int) -> Iterator[TrackedConnections]:
        for _, source in self._sources:
            begin = max(first - source.first, 0)
            end = min(stop - source.first, len(source.marks))
            if begin < end:
                part = slice(begin, end)
                yield source._replace(
                    marks=source.marks[part],
                    previous=source.previous[part],
                    seen=source.seen[part],
                    kept=source.kept[part],
                )


def _create_tracked(
    source: Source, histogram_row: Whole, histogram: delays.Histogram
) -> TrackedConnections:
    n = source.connections
    rows = np.full((n, REORDERED + 1), -1)
    named = histogram_row >= 0
    rows[named, :HISTOGRAM_ROWS] = HISTOGRAM_ROWS * histogram_row[named, None] + np.arange(
        HISTOGRAM_ROWS
    )
    kept = np.zeros((n, MAX_TRACKED // n, 3), np.int64)
    kept[:, :, AT] = IN_FLIGHT
    return TrackedConnections(
        source.first,
        np.zeros((n, 3), np.int64),
        np.zeros((n, INITIAL_PLACES, 4), np.int64),
        np.zeros((n, 2, 10), np.int64),
        delays.create_rows(rows.reshape(-1)).reshape(n, -1, 8),
        kept,
        histogram.counts,
    )


def _with_larger_rings(marks: Whole, ring: Whole) -> Whole:
    """Return rings of twice the size, with each packet at the place of its number."""
    count, places, columns = ring.shape
    head = marks[:, HEAD, None]
    number = head + ((np.arange(places) - head) & (places - 1))
    more = np.zeros((count, 2 * places, columns), np.int64)
    more[np.arange(count)[:, None], number & (2 * places - 1)] = ring
    return more


def _read_reordering(rows: Whole) -> Reordering:
    packets, largest = int(rows[:, delay_row.COUNT].sum()), int(rows[:, delay_row.LARGEST].max())
    return Reordering(
        packets, delays.sum_words(rows, delay_row.SUM_LOW, delay_row.SUM_BITS), max(0, largest)
    )


def _read_smoothed(rows: Whole) -> Smoothed | None:
    rows = rows[rows[:, SEEN] > 1]
    if not len(rows):
        return None
    last, largest = int(rows[:, JITTER].max()), int(rows[:, LARGEST_JITTER].max())
    means = [
        Fraction(delays.sum_words(row[None], JITTERS_LOW, delay_row.SUM_BITS), int(row[SEEN]) - 1)
        for row in rows
    ]
    return Smoothed(Fraction(last, 16), Fraction(largest, 16), max(means) / 16)


def _list_packets(kept: Whole) -> Iterator[Packet]:
    for rows in kept:
        for number in np.nonzero(rows[:, AT] >= 0)[0].tolist():
            sent_ps, transmission_ps, at_ps = rows[number].tolist()
            yield Packet(number + 1, sent_ps, at_ps, at_ps - sent_ps - transmission_ps)


SENT, TRANSMISSION, AT, OVERTAKEN = range(4)
"""Columns of a ring: when the first bit was sent, the time until the last bit was, the arrival; and
the number of packets that had arrived before the first one that overtook it."""
IN_FLIGHT, ENDED = -1, -2
"""In place of a time of arrival."""
HEAD, TAIL, EXPECTED = range(3)
"""Columns of the marks. EXPECTED is one above the highest number that arrived."""

ARRIVALS, LATENCIES, INCREASES, DECREASES, RECEIVED, REORDERED = range(6)
"""The rows of a connection, as in `Variation`: `one_way` is split into increases and decreases, as
absolute values. The last one has the extents of reordering, in packets."""

AS_SENT, AS_RECEIVED = 0, 1
"""The two orders of packets."""
SEEN, LATENCY, DELAY, ARRIVED, NUMBER, GAP, JITTER, LARGEST_JITTER = range(8)
JITTERS_LOW, JITTERS_HIGH = 8, 9
"""Columns of the previous packet, by order. SEEN: the number so far; ARRIVED: when it arrived; GAP:
the time since the one before it. JITTER is 16 times that of RFC 3550, as in its A.8; the sum of all
its values has two words, as sums of delays have."""
LONGEST_STEP_PS = 2**58
"""The limit of a step in the jitter of RFC 3550, more than three days."""


class TrackedConnections(NamedTuple):
    """The state of the n connections of one source.

    Attributes:
        first: Index of the first.
        marks: (n, 3) HEAD and TAIL of each ring, the numbers of its first and of the next packet;
            EXPECTED.
        ring: (n, places, 4) The place of a packet is its number modulo places.
        previous: (n, 2, 10) The previous packet, by order.
        seen: (n, 6, 8) Rows of `engine.measure.delays`.
        kept: (n, each, 3) The first packets, by number, as in the ring.
        buckets: Of the histogram of the rows.
    """

    first: int
    marks: Whole
    ring: Whole
    previous: Whole
    seen: Whole
    kept: Whole
    buckets: Whole


@kernel
def follow_sent(
    sent_ps: Times,
    connection: Rows,
    size_bytes: Sizes,
    times_ps: Whole,
    tracked: TrackedConnections,
    done: int,
) -> int:
    """Put packets from number `done` on into the rings; return where the first full ring stops."""
    first, marks, ring, kept = tracked.first, tracked.marks, tracked.ring, tracked.kept
    places = ring.shape[1]
    for i in range(done, len(sent_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = marks[c, TAIL]
        if number - marks[c, HEAD] == places:
            return i
        place = number & (places - 1)
        ring[c, place, SENT] = sent_ps[i]
        ring[c, place, TRANSMISSION] = times_ps[size_bytes[i]]
        ring[c, place, AT] = IN_FLIGHT
        if number < kept.shape[1]:
            kept[c, number, SENT] = sent_ps[i]
            kept[c, number, TRANSMISSION] = times_ps[size_bytes[i]]
        marks[c, TAIL] = number + 1
    return len(sent_ps)


@kernel
def follow_arrived(
    at_ps: Times,
    sent_ps: Times,
    connection: Rows,
    tracked: TrackedConnections,
    changes_ps: Times,
) -> None:
    """Count packets that arrived, in both orders.

    Args:
        at_ps: (n,) When they arrived.
        sent_ps: (n,) When they were sent, which identifies them.
        connection: (n,) The connection of each; those of other sources are skipped.
        tracked: Updated.
        changes_ps: (n,) Written where there is a change of latency; or (0,).
    """
    first, marks, ring, kept = tracked.first, tracked.marks, tracked.ring, tracked.kept
    previous = tracked.previous
    for i in range(len(at_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = _find_number(marks, ring, c, sent_ps[i])
        if number == marks[c, TAIL]:
            continue  # it was sent outside of the window
        place = number & (ring.shape[1] - 1)
        ring[c, place, AT] = at_ps[i]
        if number < kept.shape[1]:
            kept[c, number, AT] = at_ps[i]
        delay_ps = at_ps[i] - sent_ps[i]
        latency_ps = delay_ps - ring[c, place, TRANSMISSION]
        _count_reordering(c, number, tracked)
        if previous[c, AS_RECEIVED, SEEN]:
            change_ps = abs(latency_ps - previous[c, AS_RECEIVED, LATENCY])
            _add(tracked, c, RECEIVED, change_ps)
            if len(changes_ps):
                changes_ps[i] = change_ps
        _update_previous(previous, c, AS_RECEIVED, latency_ps, delay_ps)
        if number == marks[c, HEAD]:
            _retire(c, tracked)


@kernel
def follow_lost(sent_ps: Times, connection: Rows, tracked: TrackedConnections) -> None:
    """Record packets that were lost; see `follow_arrived`."""
    first, marks, ring = tracked.first, tracked.marks, tracked.ring
    for i in range(len(sent_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = _find_number(marks, ring, c, sent_ps[i])
        if number == marks[c, TAIL]:
            continue  # it was sent outside of the window
        ring[c, number & (ring.shape[1] - 1), AT] = ENDED
        if number == marks[c, HEAD]:
            _retire(c, tracked)


@kernel
def _find_number(marks: Whole, ring: Whole, c: int, sent_ps: int) -> int:
    """Return the number of the packet in flight that was sent then; TAIL if there is none."""
    low: int = marks[c, HEAD]
    high: int = marks[c, TAIL]
    end, last = high, ring.shape[1] - 1
    if low < high and ring[c, low & last, SENT] == sent_ps:
        return low
    while low < high:
        middle = (low + high) // 2
        if ring[c, middle & last, SENT] < sent_ps:
            low = middle + 1
        else:
            high = middle
    return low if low < end and ring[c, low & last, SENT] == sent_ps else end


@kernel
def _count_reordering(c: int, number: int, tracked: TrackedConnections) -> None:
    """Count a packet that arrives after one of a higher number; mark those that it overtakes.

    The extent is how many packets earlier the first of those arrived. Source: RFC 4737, 3.3, 4.2.
    """
    marks, ring = tracked.marks, tracked.ring
    last = ring.shape[1] - 1
    arrived_count = tracked.previous[c, AS_RECEIVED, SEEN]
    if number < marks[c, EXPECTED]:
        _add(tracked, c, REORDERED, arrived_count - ring[c, number & last, OVERTAKEN])
        return
    # The outcome of those ahead of HEAD is known, and their places are reused.
    for overtaken in range(max(marks[c, EXPECTED], marks[c, HEAD]), number):
        ring[c, overtaken & last, OVERTAKEN] = arrived_count
    marks[c, EXPECTED] = number + 1


@kernel
def _retire(c: int, tracked: TrackedConnections) -> None:
    """Count, in order of sending, the packets up to the first one whose outcome is unknown."""
    marks, ring, previous = tracked.marks, tracked.ring, tracked.previous
    last = ring.shape[1] - 1
    number, end = marks[c, HEAD], marks[c, TAIL]
    while number < end and ring[c, number & last, AT] != IN_FLIGHT:
        place = number & last
        at_ps = ring[c, place, AT]
        if at_ps != ENDED:
            delay_ps = at_ps - ring[c, place, SENT]
            latency_ps = delay_ps - ring[c, place, TRANSMISSION]
            seen = previous[c, AS_SENT, SEEN]
            if seen:
                _add(tracked, c, LATENCIES, abs(latency_ps - previous[c, AS_SENT, LATENCY]))
                if previous[c, AS_SENT, NUMBER] == number - 1:
                    step_ps = delay_ps - previous[c, AS_SENT, DELAY]
                    _add(tracked, c, INCREASES if step_ps >= 0 else DECREASES, abs(step_ps))
                gap_ps = abs(at_ps - previous[c, AS_SENT, ARRIVED])
                if seen > 1:
                    _add(tracked, c, ARRIVALS, abs(gap_ps - previous[c, AS_SENT, GAP]))
                previous[c, AS_SENT, GAP] = gap_ps
            previous[c, AS_SENT, ARRIVED] = at_ps
            previous[c, AS_SENT, NUMBER] = number
            _update_previous(previous, c, AS_SENT, latency_ps, delay_ps)
        number += 1
    marks[c, HEAD] = number


@kernel
def _update_previous(previous: Whole, c: int, order: int, latency_ps: int, delay_ps: int) -> None:
    """Make a packet the previous one, and update the jitter of RFC 3550."""
    if previous[c, order, SEEN]:
        step_ps = min(abs(delay_ps - previous[c, order, DELAY]), LONGEST_STEP_PS)
        jitter = previous[c, order, JITTER]
        jitter += step_ps - ((jitter + 8) >> 4)
        previous[c, order, JITTER] = jitter
        previous[c, order, LARGEST_JITTER] = max(jitter, previous[c, order, LARGEST_JITTER])
        previous[c, order, JITTERS_LOW] += jitter & delay_row.LOW_31
        previous[c, order, JITTERS_HIGH] += jitter >> delay_row.SUM_BITS
    previous[c, order, SEEN] += 1
    previous[c, order, LATENCY] = latency_ps
    previous[c, order, DELAY] = delay_ps


@kernel
def _add(tracked: TrackedConnections, c: int, which: int, value: int) -> None:
    """Add a value of at least 0 to a row."""
    row = tracked.seen[c, which]
    add_delay(row, value, 0, tracked.buckets)
