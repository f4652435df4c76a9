"""Packets that are tracked one by one, against the same counted by hand."""

from itertools import pairwise

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from qospec.engine.items import delay_row
from qospec.engine.measure import delays, variation
from qospec.engine.measure.variation import TrackedConnections

times = st.integers(0, 10**18) | st.integers(0, 10**6)
SIZES = np.array([0, 5, 9], np.int64)
NOT_BY_TIME = np.empty(0, np.int64)
"""Where no change is asked for by interval."""
"""By size, the time of transmission."""
PACKETS = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 2), st.sampled_from([10, 17, 24, 60]), st.booleans()
    ),
    max_size=40,
)
"""Of each in order of sending: whose it is, its size, how long it takes, whether it is lost."""

_DRAWS = np.random.default_rng(0)
MANY = [
    (connection, size, delay_ps, lost)
    for connection, size, delay_ps, lost in zip(
        _DRAWS.integers(0, 5, 300).tolist(),
        _DRAWS.integers(0, 3, 300).tolist(),
        _DRAWS.choice([10, 17, 24, 60], 300).tolist(),
        (_DRAWS.random(300) < 0.2).tolist(),
        strict=True,
    )
]


def tracked(first: int = 0, connections: int = 1, places: int = 64) -> TrackedConnections:
    histogram = delays.Histogram(1)
    return TrackedConnections(
        first,
        np.zeros((connections, 3), np.int64),
        np.zeros((connections, places, 4), np.int64),
        np.zeros((connections, 2, 10), np.int64),
        delays.create_rows(np.full(6 * connections, -1)).reshape(connections, 6, 8),
        np.zeros((connections, 0, 3), np.int64),
        histogram.counts,
    )


def sums(followed: TrackedConnections, connection: int) -> list[tuple[int, int]]:
    """Return by row how many were added, and their sum."""
    rows = followed.seen[connection]
    return [
        (
            int(row[delay_row.COUNT]),
            delays.sum_words(row[None], delay_row.SUM_LOW, delay_row.SUM_BITS),
        )
        for row in rows
    ]


@given(st.lists(times, min_size=2, max_size=20))
def test_no_sum_overflows_however_many_are_added(latencies_ps):
    followed = tracked()
    sent_ps = np.arange(len(latencies_ps), dtype=np.int64)
    whose = np.zeros(len(sent_ps), np.uint32)
    sizes, times_ps = np.zeros(len(sent_ps), np.int32), np.zeros(1, np.int64)
    assert variation.follow_sent(sent_ps, whose, sizes, times_ps, followed, 0) == len(sent_ps)
    variation.follow_arrived(
        sent_ps + np.array(latencies_ps), sent_ps, whose, followed, NOT_BY_TIME
    )
    steps = [b - a for a, b in pairwise(latencies_ps)]
    added = [total for _, total in sums(followed, 0)]
    assert added[variation.INCREASES] - added[variation.DECREASES] == sum(steps)
    assert added[variation.RECEIVED] == sum(map(abs, steps))


def by_hand(mine: list[tuple[int, int, int, int, bool]]) -> list[tuple[int, int]]:
    """Return the sums of a connection's packets: number, sent, time on the first line, arrived."""
    rows: list[list[int]] = [[] for _ in range(6)]
    kept = [(n, sent, at, at - sent - time) for n, sent, time, at, lost in mine if not lost]
    for (n, sent, at, latency), (m, sent_2, at_2, latency_2) in pairwise(kept):
        rows[variation.LATENCIES].append(abs(latency_2 - latency))
        step = at_2 - sent_2 - at + sent
        if m == n + 1:
            rows[variation.INCREASES if step >= 0 else variation.DECREASES].append(abs(step))
    gaps = [abs(b[2] - a[2]) for a, b in pairwise(kept)]
    rows[variation.ARRIVALS] = [abs(b - a) for a, b in pairwise(gaps)]
    as_received = sorted(kept, key=lambda packet: (packet[2], packet[0]))
    rows[variation.RECEIVED] = [abs(b[3] - a[3]) for a, b in pairwise(as_received)]
    for place, (number, *_) in enumerate(as_received):
        earlier = [n for n, *_ in as_received[:place]]
        if any(n > number for n in earlier):
            first = next(k for k, n in enumerate(earlier) if n > number)
            rows[variation.REORDERED].append(place - first)
    return [(len(row), sum(row)) for row in rows]


def jitters(delays_ps: list[int]) -> tuple[int, int, int]:
    """Return 16 times the last jitter, the largest, and the sum of all: RFC 3550, A.8."""
    jitter, largest, total = 0, 0, 0
    for before, after in pairwise(delays_ps):
        jitter += abs(after - before) - (jitter + 8) // 16
        largest = max(largest, jitter)
        total += jitter
    return jitter, largest, total


@example(MANY, 3)
# The last of a full ring overtakes all others.
@example([*[(1, 0, 60, False)] * 3, (1, 0, 10, False)], 0)
@given(PACKETS, st.integers(0, 6))
def test_the_packets_of_a_source_are_told_from_all_others(packets, before):
    """Those of connections 1 to 3, one each 7 ps, of which some overtake others and some are lost.

    Each has a number of its connection, and its outcome is known in order of time. Some were sent
    `before` the measurement, and what happens to them does not count.
    """
    places = 1 << max(0, len(packets) - 1).bit_length()
    followed = tracked(first=1, connections=3, places=places)
    columns = [*zip(*packets, strict=True)] or [(), (), (), ()]
    whose = np.array(columns[0], np.uint32)
    sizes = np.array(columns[1], np.int32)
    sent_ps = 7 * np.arange(len(packets), dtype=np.int64)
    inside = slice(before, None)
    sent = variation.follow_sent(sent_ps[inside], whose[inside], sizes[inside], SIZES, followed, 0)
    assert sent == max(0, len(packets) - before)
    outcomes = sorted(
        (int(sent_ps[n]) + delay, n, lost) for n, (_, _, delay, lost) in enumerate(packets)
    )
    for at, n, lost in outcomes:
        of = slice(n, n + 1)
        if lost:
            variation.follow_lost(sent_ps[of], whose[of], followed)
        else:
            variation.follow_arrived(np.array([at]), sent_ps[of], whose[of], followed, NOT_BY_TIME)
    for connection in (1, 2, 3):
        numbers = [n for n, packet in enumerate(packets) if packet[0] == connection and n >= before]
        mine = [
            (place, 7 * n, int(SIZES[packets[n][1]]), 7 * n + packets[n][2], packets[n][3])
            for place, n in enumerate(numbers)
        ]
        assert sums(followed, connection - 1) == by_hand(mine)
        kept = [(n, at, at - sent) for n, sent, _, at, lost in mine if not lost]
        as_received = sorted(kept, key=lambda packet: (packet[1], packet[0]))
        for order, order_kept in ((variation.AS_SENT, kept), (variation.AS_RECEIVED, as_received)):
            row = followed.previous[connection - 1, order]
            added = delays.sum_words(row[None], variation.JITTERS_LOW, delay_row.SUM_BITS)
            found = (row[variation.JITTER], row[variation.LARGEST_JITTER], added)
            assert found == jitters([delay for *_, delay in order_kept])


def test_a_full_ring_stops_before_the_packet_that_has_no_place():
    """The first two of three places for four are free again once their packets have arrived."""
    followed = tracked(places=4)
    sent_ps, whose = np.arange(8, dtype=np.int64), np.zeros(8, np.uint32)
    sizes = np.zeros(8, np.int32)
    assert variation.follow_sent(sent_ps, whose, sizes, SIZES, followed, 0) == 4
    variation.follow_arrived(np.array([10, 11]), sent_ps[:2], whose[:2], followed, NOT_BY_TIME)
    assert variation.follow_sent(sent_ps, whose, sizes, SIZES, followed, 4) == 6
