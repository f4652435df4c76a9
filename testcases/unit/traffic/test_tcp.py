"""TCP, packet by packet: what the RFCs say must come next, on a path whose losses are known."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tcp_path import BULK, HEADERS, MS, MSS, RTT, STEADY, S, observe, rounds

from qospec.congestion.cubic import Cubic
from qospec.congestion.reno import Reno


@pytest.mark.slow
@pytest.mark.parametrize(("mss", "segments"), [(1_460, 44), (536, 122)])
def test_a_window_counts_bytes(mss, segments):
    """65,535 B hold 44 segments of 1,460 B, and 122 of 536 B, in each round trip."""
    traffic = replace(BULK, mss=mss)
    seen, there, _ = observe(traffic, 5 * S)
    of_size = [at for at, _, size, _ in there.seen if size == mss + HEADERS]
    assert sum(3 * S <= at < 4 * S for at in of_size) == 10 * segments
    assert not seen.losses


@pytest.mark.parametrize("buffer", ["send_buffer", "receive_buffer"])
def test_the_smaller_buffer_limits(buffer):
    _, there, _ = observe(replace(BULK, **{buffer: 7_999}), 2 * S)
    assert rounds(there)[-5:] == [7] * 5


@pytest.mark.parametrize(
    ("first", "expected"), [(1, [1, 2, 4, 8, 16, 32]), (10, [10, 20, 40, 65, 65, 65])]
)
def test_slow_start_doubles(first, expected):
    """After k round trips i (2^k - 1) segments have been sent; then 65,535 B are the limit."""
    _, there, _ = observe(replace(BULK, initial_window=first), 2 * S)
    assert rounds(there)[:6] == expected


@pytest.mark.parametrize(
    ("mss", "segments"), [(536, 10), (1_460, 10), (2_000, 7), (9_140, 2), (20_000, 2)]
)
def test_the_first_window_is_that_of_rfc_6928(mss, segments):
    """min(10 MSS, max(2 MSS, 14,600 B))."""
    _, there, _ = observe(replace(BULK, mss=mss), RTT + RTT // 2)
    assert sum(size == mss + HEADERS for _, _, size, _ in there.seen) == segments


def test_slow_start_with_delayed_acknowledgements_grows_by_half():
    """An acknowledgement of two segments opens the window by one: 10, 15, 22 or 23, …"""
    traffic = replace(BULK, ack_every=2, send_buffer=2**20, receive_buffer=2**20)
    _, there, _ = observe(traffic, 12 * RTT)
    windows = rounds(there)
    assert windows[0] == 10
    for before, after in itertools.pairwise(windows):
        assert abs(after - 1.5 * before) <= 1.5


def test_an_acknowledgement_waits_for_a_second_segment_or_the_timer():
    traffic = replace(BULK, ack_every=2, ack_timer=30 * MS, initial_window=3)
    _, there, back = observe(traffic, RTT + RTT // 2)
    first, second, third = (at for at, _ in there.data)
    at = [at for at, number, _, _ in back.seen if number > 0]
    numbers = [number for _, number, _, _ in back.seen]
    assert numbers == [0, 1 + 2 * MSS, 1 + 3 * MSS]
    assert first < second < third
    assert 30 * MS <= at[1] - at[0] < 31 * MS


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1, 2, 3, 4])
def test_a_lost_syn_is_sent_again_after_1_s_doubled(lost):
    """then the window is one segment, and the timeout 3 s: RFC 5681, 3.1; RFC 6298, 5.7."""
    traffic = replace(BULK, initial_window=4, send_buffer=4 * MSS)
    _, there, _ = observe(traffic, (2**lost + 4) * S, there=[*range(lost), lost + 2])
    syn = [at for at, number, _, _ in there.seen if number == 0]
    begun = syn[0]
    assert [(at - begun) // S for at in syn] == [0, 1, 3, 7, 15][: lost + 1]
    data = there.data
    if lost:
        assert [number for _, number in data[:2]] == [0, 0]
        assert round((data[1][0] - data[0][0]) / MS) == 3_000
    else:
        assert [number for _, number in data[:4]] == [0, 1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize(("rtt", "timeout"), [(600 * MS, 1_800 * MS), (100 * MS, 1_000 * MS)])
def test_the_timeout_is_three_round_trips_at_least_1_s_and_doubles(rtt, timeout):
    """The SYN alone has been timed, so RTO = R + 4 R / 2; a segment is lost four times."""
    traffic = replace(BULK, initial_window=1, send_buffer=MSS)
    _, there, _ = observe(traffic, 30 * S, there=[2, 3, 4, 5], rtt=rtt)
    at = [at for at, number in there.data if number == 0]
    gaps = [after - before for before, after in itertools.pairwise(at)]
    assert [round(gap / MS) for gap in gaps] == [timeout // MS * 2**k for k in range(4)]


def test_the_limit_of_the_timeout_is_a_field():
    _, there, _ = observe(replace(BULK, initial_window=1, min_rto=MS), 3 * S, there=[2])
    at = [at for at, number in there.data if number == 0]
    assert round((at[1] - at[0]) / MS) == 300


def test_the_third_duplicate_begins_a_fast_retransmit():
    """Of a window of 8 the first is lost. All is acknowledged a round trip later.

    The buffer holds no more than these 8, so nothing is under way then: the window is 2 segments
    (RFC 6582, 3.2, step 3, option 1), and grows to the threshold of 4 in slow start, then slowly.
    """
    _, there, back = observe(STEADY, 8 * RTT, there=[2 + 8])
    again = [at for at, number in there.data if number == 8]
    duplicates = [at for at, number, _, _ in back.seen if number == 1 + 8 * MSS]
    assert len(again) == 2
    assert len(duplicates) == 1 + 7
    assert round((again[1] - duplicates[3]) / MS) == 50
    acknowledged = next(at for at, number, _, _ in back.seen if number == 1 + 16 * MSS)
    assert round((acknowledged - duplicates[3]) / MS) == 100
    begins = again[1] + RTT - MS
    counted = Counter((at - begins) // RTT for at, _ in there.data if at > begins)
    assert [counted[k] for k in range(3)] == [2, 4, 4]


@pytest.mark.parametrize("is_sacking", [False, True])
@pytest.mark.parametrize(("behind", "times"), [(2, 1), (3, 2)])
def test_only_a_third_duplicate_is_taken_for_a_loss(behind, times, is_sacking):
    """RFC 5681, 3.2: a segment that two others overtake is not sent again, one that three do is."""
    traffic = replace(STEADY, sack=is_sacking)
    _, there, back = observe(traffic, 6 * RTT, held={2 + 8: behind})
    assert [number for _, number in there.data].count(8) == times
    duplicates = [number for _, number, _, _ in back.seen].count(1 + 8 * MSS) - 1
    assert duplicates == behind


def test_a_timeout_begins_again_with_one_segment():
    """A whole window of 8 is lost: after 1 s slow start, up to half of what was under way."""
    _, there, _ = observe(STEADY, 40 * RTT, there=range(2 + 8, 2 + 16))
    late = [(at, number) for at, number in there.data if at > there.data[15][0] + S // 2]
    counted = Counter((at - late[0][0] + RTT // 10) // RTT for at, _ in late)
    # Congestion avoidance from 4 on: 4 + 4 * (1 / 4) is just below 5, then it is 5.
    assert [counted[k] for k in range(4)] == [1, 2, 4, 4]


def test_congestion_avoidance_adds_a_segment_in_a_round_trip():
    traffic = replace(BULK, initial_window=16, send_buffer=64 * MSS)
    _, there, _ = observe(traffic, 30 * RTT, there=[2])
    assert rounds(there)[:14] == [16, 8, *range(8, 20)]


def test_a_connection_that_nobody_answers_is_given_up():
    seen, there, _ = observe(replace(BULK, initial_window=2, retries=3), S, there=range(2, 99))
    assert seen.pool(2, 3).lost == {("client", "timed_out"): 2}
    assert len(there.data) == 2 + 3
    seen, there, _ = observe(replace(BULK, retries=3), S, there=range(99))
    assert len(there.seen) == 1 + 3
    assert seen.pool(2, 3).sent == 0


def test_a_segment_of_several_holes_is_kept():
    """Every other segment of a window is lost: what came is not sent again."""
    _, there, _ = observe(STEADY, 20 * RTT, there=range(2 + 8, 2 + 16, 2))
    times = Counter(number for _, number in there.data)
    assert [times[k] for k in range(8, 16)] == [2, 1, 2, 1, 2, 1, 2, 1]


US = 10**6


@pytest.mark.slow
@given(
    lost=st.tuples(st.sets(st.integers(0, 80)), st.sets(st.integers(0, 80))),
    fields=st.fixed_dictionaries(
        {
            "ack_every": st.integers(1, 3),
            "algorithm": st.sampled_from([None, Reno(), Cubic()]),
            "initial_window": st.integers(1, 20),
            "connections": st.integers(1, 3),
            "sack": st.booleans(),
            "limited_transmit": st.booleans(),
            "ecn": st.booleans(),
            "write_size": st.sampled_from([None, 300, 1_700]),
            "nagle": st.booleans(),
            "read_every": st.sampled_from([None, 70 * US]),
            "receive_buffer": st.integers(MSS, 20 * MSS),
        }
    ),
    chunk=st.integers(1_000, 9_000),
)
@settings(max_examples=settings().max_examples // 4)
def test_all_that_is_sent_is_acknowledged_in_the_end(lost, fields, chunk):
    """Whatever is lost, and however it is written and read; and batches change nothing."""
    traffic = replace(BULK, **fields, retries=100, min_rto=300 * US, ack_timer=200 * US)
    seen, _, _ = observe(traffic, 2_000 * US, *lost, rtt=100 * US)
    n = traffic.connections
    tally = seen.pool(2 * n, 3 * n)
    assert tally.received == tally.sent
    assert not tally.lost
    assert not seen.ledger.imbalance
    again, _, _ = observe(traffic, 2_000 * US, *lost, rtt=100 * US, chunk=chunk)
    assert again.pool(2 * n, 3 * n) == tally
