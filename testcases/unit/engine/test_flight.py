"""Packets that are followed one by one: what is summed up of them."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine import flight
from qospec.engine.flight import Followed

times = st.integers(0, 10**18) | st.integers(0, 10**6)


@given(st.lists(times, min_size=2, max_size=20))
def test_no_sum_outgrows_its_word_however_many_are_added(latencies_ps):
    followed = Followed(
        0,
        np.zeros((1, 2), np.int64),
        np.zeros((1, 64, 3), np.int64),
        np.zeros((1, 2, 8), np.int64),
        np.zeros((1, 4, 5), np.int64),
        np.zeros((1, 0, 3), np.int64),
    )
    sent_ps = np.arange(len(latencies_ps), dtype=np.int64)
    whose = np.zeros(len(sent_ps), np.uint32)
    sizes, times_ps = np.zeros(len(sent_ps), np.int32), np.zeros(1, np.int64)
    assert flight.sent(sent_ps, whose, sizes, times_ps, followed, 0) == len(sent_ps)
    flight.arrived(sent_ps + np.array(latencies_ps), sent_ps, whose, followed)
    low, high = followed.extents[0, :, flight.SUM_LOW], followed.extents[0, :, flight.SUM_HIGH]
    assert (low >> flight.SUM_BITS == 0).all()
    steps = [b - a for a, b in pairwise(latencies_ps)]
    sums = [int(a) + (int(b) << flight.SUM_BITS) for a, b in zip(low, high, strict=True)]
    assert sums[flight.ONE_WAY] == sum(steps)
    assert sums[flight.RECEIVED] == sum(map(abs, steps))
