"""How times vary from packet to packet, for the flows that a statement asks it of.

Some definitions of jitter take packets in the order in which they arrive, others in that in which
they were sent. For these, packets stand in a ring from when they are sent; when the fate of the
first is known, it is counted and leaves. So memory is bounded by what is on its way, and neither
loss nor reordering changes what is a pair. A packet of the ring that one behind it overtakes notes
when.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.engine.arrays import np
from qospec.engine.kernel import kernel
from qospec.engine.measure import delays
from qospec.engine.measure.delays import enter
from qospec.engine.measure.latency import sending_times
from qospec.engine.measure.tally import Packet, Reordering, Smoothed, Variation, signed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qospec.engine.arrays import Doubles, Indices, Rows, Sizes, Times, Whole
    from qospec.engine.experiment import Experiment, Source
    from qospec.engine.items.batch import Batch

KEPT = 10_000
"""Of so many packets of a flow the times are kept, the first of each connection."""
PLACES = 64
"""Of a ring at first; a power of two, doubled as needed."""
QUANTILES = 5
"""So many rows of a connection have a histogram, the first."""


class Variations:
    """Follows the packets of some sources."""

    def __init__(self, experiment: Experiment, histogram_row: Whole) -> None:
        ranges = experiment.measurement.ranges("variation")
        asked: list[tuple[Whole, Source]] = []
        for source in experiment.sources:
            times_ps = sending_times(experiment, source)
            mine = any(source.first < end and begin < _stop(source) for begin, end in ranges)
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
        return sent(batch.sent_ps, indices, batch.size_bytes, times_ps, followed, done)

    def arrived(self, batch: Batch) -> None:
        """Note packets that have arrived."""
        for _, followed in self._sources:
            self._histogram.settle(batch.count, followed.seen)
            arrived(batch.at_ps, batch.sent_ps, batch.connection.view(np.uint32), followed)

    def ended(self, connection: Indices, sent_ps: Times) -> None:
        """Note packets that have ended on the way."""
        for _, followed in self._sources:
            ended(sent_ps, connection.view(np.uint32), followed)

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
            _reordering(seen[:, REORDERED]),
            _smoothed(before[:, AS_RECEIVED]),
            _smoothed(before[:, AS_SENT]),
            packets,
            complete=len(packets) == int(before[:, AS_SENT, SEEN].sum()),
            connections=stop - first,
        )

    def _parts(self, first: int, stop: int) -> Iterator[TrackedConnections]:
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


def _followed(
    source: Source, histogram_row: Whole, histogram: delays.Histogram
) -> TrackedConnections:
    n = source.connections
    rows = np.full((n, REORDERED + 1), -1)
    named = histogram_row >= 0
    rows[named, :QUANTILES] = QUANTILES * histogram_row[named, None] + np.arange(QUANTILES)
    kept = np.zeros((n, KEPT // n, 3), np.int64)
    kept[:, :, AT] = ON_ITS_WAY
    return TrackedConnections(
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
    head = marks[:, HEAD, None]
    number = head + ((np.arange(places) - head) & (places - 1))
    more = np.zeros((count, 2 * places, columns), np.int64)
    more[np.arange(count)[:, None], number & (2 * places - 1)] = ring
    return more


def _reordering(rows: Whole) -> Reordering:
    packets, largest = int(rows[:, delays.COUNT].sum()), int(rows[:, delays.LARGEST].max())
    return Reordering(packets, delays.total(rows, delays.SUM_LOW, delays.SUM_BITS), max(0, largest))


def _smoothed(rows: Whole) -> Smoothed | None:
    rows = rows[rows[:, SEEN] > 1]
    if not len(rows):
        return None
    last, largest = int(rows[:, JITTER].max()), int(rows[:, LARGEST_JITTER].max())
    return Smoothed(Fraction(last, 16), Fraction(largest, 16))


def _packets(kept: Whole) -> Iterator[Packet]:
    for rows in kept:
        for number in np.nonzero(rows[:, AT] >= 0)[0].tolist():
            sent_ps, sending_ps, at_ps = rows[number].tolist()
            yield Packet(number + 1, sent_ps, at_ps, at_ps - sent_ps - sending_ps)


SENT, SENDING, AT, OVERTAKEN = range(4)
"""Columns of a ring: when the first bit was sent, the time until the last was, the arrival; and how
many packets had arrived before the first that was sent later."""
ON_ITS_WAY, ENDED = -1, -2
"""In place of an arrival."""
HEAD, TAIL, EXPECTED = range(3)
"""Of the marks. EXPECTED is the number behind the highest that arrived."""

ARRIVALS, LATENCIES, LATER, SOONER, RECEIVED, REORDERED = range(6)
"""The rows of a connection: of `Variation`; `one_way` from 0 on, and below 0 without its sign; and
the extents of reordering, in packets."""

AS_SENT, AS_RECEIVED = 0, 1
"""The two orders."""
SEEN, LATENCY, DELAY, CAME, NUMBER, APART, JITTER, LARGEST_JITTER = range(8)
"""Of the packet before, by order. SEEN: how many came so far; CAME: when it arrived; APART: how far
from the one before it. JITTER is 16 times that of RFC 3550, as in its A.8."""
LONGEST_STEP_PS = 2**58
"""Of the jitter of RFC 3550: delays that differ by more than three days count as that."""


class TrackedConnections(NamedTuple):
    """The connections of one source, n of them, with all that is known of them.

    Attributes:
        first: Index of the first.
        marks: (n, 3) HEAD and TAIL of each ring: the number of its first packet and of the next.
        ring: (n, places, 4) A packet's place is its number modulo places.
        before: (n, 2, 8) By order, of the packet before.
        seen: (n, 6, 8) Rows as `engine.measure.delays` keeps them.
        kept: (n, each, 3) Of the first packets, by number, as in the ring.
        buckets, as_double, as_bits: Of the histogram that the rows belong to.
    """

    first: int
    marks: Whole
    ring: Whole
    before: Whole
    seen: Whole
    kept: Whole
    buckets: Whole
    as_double: Doubles
    as_bits: Whole


@kernel
def sent(
    sent_ps: Times,
    connection: Rows,
    size_bytes: Sizes,
    times_ps: Whole,
    followed: TrackedConnections,
    done: int,
) -> int:
    """Put packets from number `done` on into the rings; return how many fit."""
    first, marks, ring, kept = followed.first, followed.marks, followed.ring, followed.kept
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
        ring[c, place, SENDING] = times_ps[size_bytes[i]]
        ring[c, place, AT] = ON_ITS_WAY
        if number < kept.shape[1]:
            kept[c, number, SENT] = sent_ps[i]
            kept[c, number, SENDING] = times_ps[size_bytes[i]]
        marks[c, TAIL] = number + 1
    return len(sent_ps)


@kernel
def arrived(at_ps: Times, sent_ps: Times, connection: Rows, followed: TrackedConnections) -> None:
    """Count packets that arrived, in both orders.

    Args:
        at_ps: (n,) When they arrived.
        sent_ps: (n,) Which they are.
        connection: (n,) Whose they are; those of other sources are passed over.
        followed: Carried on.
    """
    first, marks, ring, kept = followed.first, followed.marks, followed.ring, followed.kept
    before = followed.before
    for i in range(len(at_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = _number(marks, ring, c, sent_ps[i])
        if number == marks[c, TAIL]:
            continue  # it was sent outside of the window
        place = number & (ring.shape[1] - 1)
        ring[c, place, AT] = at_ps[i]
        if number < kept.shape[1]:
            kept[c, number, AT] = at_ps[i]
        delay_ps = at_ps[i] - sent_ps[i]
        latency_ps = delay_ps - ring[c, place, SENDING]
        _order(c, number, followed)
        if before[c, AS_RECEIVED, SEEN]:
            _add(followed, c, RECEIVED, abs(latency_ps - before[c, AS_RECEIVED, LATENCY]))
        _follow(before, c, AS_RECEIVED, latency_ps, delay_ps)
        if number == marks[c, HEAD]:
            _retire(c, followed)


@kernel
def ended(sent_ps: Times, connection: Rows, followed: TrackedConnections) -> None:
    """Note packets that did not arrive. See `arrived`."""
    first, marks, ring = followed.first, followed.marks, followed.ring
    for i in range(len(sent_ps)):
        c = connection[i] - first
        if c < 0 or c >= len(marks):
            continue
        number = _number(marks, ring, c, sent_ps[i])
        if number == marks[c, TAIL]:
            continue  # it was sent outside of the window
        ring[c, number & (ring.shape[1] - 1), AT] = ENDED
        if number == marks[c, HEAD]:
            _retire(c, followed)


@kernel
def _number(marks: Whole, ring: Whole, c: int, sent_ps: int) -> int:
    """Return the number of the packet on its way that was sent then; the next if there is none."""
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
def _order(c: int, number: int, followed: TrackedConnections) -> None:
    """Count a packet that comes behind one with a higher number, and note which this one overtakes.

    The extent is how many packets ahead of it the first of them came. Source: RFC 4737, 3.3, 4.2.
    """
    marks, ring = followed.marks, followed.ring
    last = ring.shape[1] - 1
    came = followed.before[c, AS_RECEIVED, SEEN]
    if number < marks[c, EXPECTED]:
        _add(followed, c, REORDERED, came - ring[c, number & last, OVERTAKEN])
        return
    # The fate of those ahead of HEAD is known, and their places are others'.
    for overtaken in range(max(marks[c, EXPECTED], marks[c, HEAD]), number):
        ring[c, overtaken & last, OVERTAKEN] = came
    marks[c, EXPECTED] = number + 1


@kernel
def _retire(c: int, followed: TrackedConnections) -> None:
    """Count, in order of sending, the packets of which all before them is known."""
    marks, ring, before = followed.marks, followed.ring, followed.before
    last = ring.shape[1] - 1
    number, end = marks[c, HEAD], marks[c, TAIL]
    while number < end and ring[c, number & last, AT] != ON_ITS_WAY:
        place = number & last
        at_ps = ring[c, place, AT]
        if at_ps != ENDED:
            delay_ps = at_ps - ring[c, place, SENT]
            latency_ps = delay_ps - ring[c, place, SENDING]
            seen = before[c, AS_SENT, SEEN]
            if seen:
                _add(followed, c, LATENCIES, abs(latency_ps - before[c, AS_SENT, LATENCY]))
                if before[c, AS_SENT, NUMBER] == number - 1:
                    step_ps = delay_ps - before[c, AS_SENT, DELAY]
                    _add(followed, c, LATER if step_ps >= 0 else SOONER, abs(step_ps))
                apart_ps = abs(at_ps - before[c, AS_SENT, CAME])
                if seen > 1:
                    _add(followed, c, ARRIVALS, abs(apart_ps - before[c, AS_SENT, APART]))
                before[c, AS_SENT, APART] = apart_ps
            before[c, AS_SENT, CAME] = at_ps
            before[c, AS_SENT, NUMBER] = number
            _follow(before, c, AS_SENT, latency_ps, delay_ps)
        number += 1
    marks[c, HEAD] = number


@kernel
def _follow(before: Whole, c: int, order: int, latency_ps: int, delay_ps: int) -> None:
    """Make a packet the one before, and carry the jitter of RFC 3550 on."""
    if before[c, order, SEEN]:
        step_ps = min(abs(delay_ps - before[c, order, DELAY]), LONGEST_STEP_PS)
        jitter = before[c, order, JITTER]
        jitter += step_ps - ((jitter + 8) >> 4)
        before[c, order, JITTER] = jitter
        before[c, order, LARGEST_JITTER] = max(jitter, before[c, order, LARGEST_JITTER])
    before[c, order, SEEN] += 1
    before[c, order, LATENCY] = latency_ps
    before[c, order, DELAY] = delay_ps


@kernel
def _add(followed: TrackedConnections, c: int, which: int, value: int) -> None:
    """Add a value, not below 0, to a row."""
    row = followed.seen[c, which]
    enter(row, value, followed.buckets, followed.as_double, followed.as_bits)
