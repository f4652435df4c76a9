"""Packets that are tracked one by one, and the sums of their variation."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.measure import delays, variation
from qospec.engine.measure.variation import TrackedConnections

times = st.integers(0, 10**18) | st.integers(0, 10**6)


@given(st.lists(times, min_size=2, max_size=20))
def test_no_sum_overflows_however_many_are_added(latencies_ps):
    histogram = delays.Histogram(1)
    followed = TrackedConnections(
        0,
        np.zeros((1, 3), np.int64),
        np.zeros((1, 64, 4), np.int64),
        np.zeros((1, 2, 8), np.int64),
        delays.new_rows(np.full(6, -1)).reshape(1, 6, 8),
        np.zeros((1, 0, 3), np.int64),
        histogram.counts,
        histogram.as_double,
        histogram.as_bits,
    )
    sent_ps = np.arange(len(latencies_ps), dtype=np.int64)
    whose = np.zeros(len(sent_ps), np.uint32)
    sizes, times_ps = np.zeros(len(sent_ps), np.int32), np.zeros(1, np.int64)
    assert variation.sent(sent_ps, whose, sizes, times_ps, followed, 0) == len(sent_ps)
    variation.arrived(sent_ps + np.array(latencies_ps), sent_ps, whose, followed)
    steps = [b - a for a, b in pairwise(latencies_ps)]
    sums = [
        delays.total(followed.seen[:, each], delays.SUM_LOW, delays.SUM_BITS) for each in range(6)
    ]
    assert sums[variation.INCREASES] - sums[variation.DECREASES] == sum(steps)
    assert sums[variation.RECEIVED] == sum(map(abs, steps))
