"""Counts by intervals, against the same written down plainly, cut into batches anywhere."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from arriving import build_items
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.engine.experiment import Intervals, MeasurementSpec
from qospec.engine.items.batch import Batch
from qospec.engine.measure.samples import Samples
from qospec.engine.measure.series import Series

CELLS = np.zeros((0, 5), np.int64)
"""Around cells there is nothing."""
OUTSIDE = np.array([[18, 64, 20, 0, 28]] * 4, np.int64)
"""Header and trailer, least frame, preamble and gap, no cells, headers of transport."""
ITEMS = st.lists(
    st.tuples(
        st.integers(0, 999), st.integers(0, 2**40), st.integers(0, 3), st.integers(60, 1_500)
    ),
    max_size=40,
)
"""When each was sent, how long it took, whose it is and how long."""


def build_series(measurement, framing) -> Series:
    """Return series of flows of which nothing is told."""
    return Series(
        measurement, framing, Samples(measurement, len(framing), np.full(len(framing), -1))
    )


def batch(items) -> Batch:
    """Return (sent, delay, connection, size) in the order of arrival."""
    return build_items(
        sorted((sent + delay, sent, connection, size) for sent, delay, connection, size in items)
    )


def counted(items, intervals, start_ps, stop_ps, cuts=(), framing=CELLS):
    """Return the tallies of intervals, after all items were sent, and arrived in batches."""
    series = build_series(MeasurementSpec(start_ps, stop_ps, (), series=(intervals,)), framing)
    whole = batch(items)
    ends = [0, *sorted(min(cut, whole.count) for cut in cuts), whole.count]
    for first, last in pairwise(ends):
        part = whole.select_range(first, last)
        series.count_sent(part.connection, part.sent_ps)
        series.count_arrived(part)
    return list(series.pool_intervals(intervals, 53))


def by_hand(items, intervals, start_ps, stop_ps):
    """Return by interval: sent, carried, delays, and which connections were up."""
    sent, carried, up = defaultdict(int), defaultdict(int), defaultdict(set)
    delays = defaultdict(list)
    for sent_ps, delay_ps, connection, _ in items:
        if not intervals.first <= connection < intervals.stop:
            continue
        if start_ps <= sent_ps < stop_ps:
            sent[(sent_ps - start_ps) // intervals.every_ps] += 1
            delays[(sent_ps - start_ps) // intervals.every_ps].append(delay_ps)
        if start_ps <= sent_ps + delay_ps < stop_ps:
            number = (sent_ps + delay_ps - start_ps) // intervals.every_ps
            carried[number] += 1
            up[number].add(connection)
    return sent, carried, delays, up


# One is sent, and one arrives, when the last interval has just ended.
@example([(600, 0, 1, 60), (500, 100, 2, 60)], 100, 100, [])
@given(ITEMS, st.integers(1, 400), st.integers(0, 300), st.lists(st.integers(0, 40), max_size=4))
def test_an_interval_counts_what_was_sent_and_what_arrived_in_it(items, every_ps, start_ps, cuts):
    stop_ps, intervals = start_ps + 500, Intervals(1, 3, every_ps)
    found = counted(items, intervals, start_ps, stop_ps, cuts)
    sent, carried, delays, up = by_hand(items, intervals, start_ps, stop_ps)
    assert len(found) == -(-500 // every_ps)
    for number, tally in enumerate(found):
        mine = delays[number]
        assert (tally.sent, tally.carried) == (sent[number], carried[number])
        assert tally.up == len(up[number])
        assert tally.received == tally.delays.count == len(mine)
        assert tally.delays.read("mean") == (Fraction(sum(mine), len(mine)) if mine else None)
        assert tally.delays.read("min") == min(mine, default=None)
        assert tally.delays.read("max") == max(mine, default=None)
    assert sum(tally.window_ps for tally in found) == 500


@example([(0, 7 * 2**37, connection, 60) for connection in range(4)], [])
@example([(0, 2**37, connection, 60) for connection in range(4)], [])
@example([(0, 3 * 2**37 + 1, connection, 60) for connection in range(4)], [])
@given(ITEMS, st.lists(st.integers(0, 40), max_size=4))
def test_packets_are_weighed_in_each_layer(items, cuts):
    start_ps, stop_ps, intervals = 2**37, 7 * 2**37, Intervals(1, 3, 2**38)
    found = counted(items, intervals, start_ps, stop_ps, cuts, OUTSIDE)
    arrived = [
        (sent + delay - start_ps, size)
        for sent, delay, connection, size in items
        if connection in {1, 2} and start_ps <= sent + delay < stop_ps
    ]
    for number, tally in enumerate(found):
        sizes = [size for at_ps, size in arrived if at_ps // intervals.every_ps == number]
        frames = [max(size + 18, 64) for size in sizes]
        assert tally.volume.ip == sum(sizes)
        assert tally.volume.frame == sum(frames)
        assert tally.volume.line == sum(frame + 20 for frame in frames)
        assert tally.volume.payload == sum(size - 28 - 20 for size in sizes)


def test_what_was_lost_counts_where_it_was_sent():
    intervals = Intervals(0, 1, 10)
    series = build_series(MeasurementSpec(5, 30, (), series=(intervals,)), CELLS)
    series.count_lost(np.array([0, 0, 0, 1], np.int32), np.array([4, 15, 29, 15], np.int64))
    found = list(series.pool_intervals(intervals, 53))
    assert [tally.lost_count for tally in found] == [0, 1, 1]
    assert [tally.window_ps for tally in found] == [10, 10, 5]


def test_the_sum_of_the_longest_delays_is_exact():
    longest = 2**62 - 1
    intervals = Intervals(0, 1, 10)
    found = counted([(0, longest, 0, 53)] * 5, intervals, 0, 10)
    assert found[0].delays.sum_ps == 5 * longest


@pytest.mark.parametrize("series", [(), (Intervals(0, 1, 10),)])
def test_nothing_is_counted_that_nobody_asks_for(series):
    assert build_series(MeasurementSpec(0, 10, (), series=series), CELLS).needed == bool(series)


def test_a_change_of_latency_counts_where_its_later_packet_was_sent():
    """Latencies of 1 and 19 take turns, then stay at 10: 18 and 18, 9 and 0, nothing at all."""
    intervals = Intervals(0, 1, 20)
    series = build_series(MeasurementSpec(0, 60, (), series=(intervals,)), CELLS)
    sent_ps = [0, 1, 10, 20, 25]
    series.count_changes(batch([(at, 0, 0, 60) for at in sent_ps]), np.array([-1, 18, 18, 9, 0]))
    found = [tally.variation.received for tally in series.pool_intervals(intervals, 53)]
    assert [(one.count, one.read("mean"), one.read("max")) for one in found] == [
        (2, 18, 18),
        (2, Fraction(9, 2), 9),
        (0, None, None),
    ]
