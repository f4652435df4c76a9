"""TCP and its application: short segments, silly windows, and windows that stay closed.

Packet by packet, on a path whose losses are known; the figures follow from RFC 1122 and RFC 9293.
"""

import itertools
from dataclasses import replace

import pytest
from tcp_path import BULK, HEADERS, MS, RTT, S, observe

WRITES = replace(BULK, write_size=300, send_buffer=3_000, receive_buffer=60_000)
"""Ten writes fill the buffer of three segments."""


def segments(probe):
    """Return when data passed, its first byte, counted from 0, and its length."""
    return [
        (at, number - 1, size - HEADERS) for at, number, size, _ in probe.seen if size > HEADERS
    ]


def test_a_short_segment_waits_for_what_is_under_way():
    """Nagle: the first write goes at once; the next three fill a segment, and so on.

    Behind them 700 bytes of 3,000 are held until all is acknowledged, and go then.
    """
    _, there, _ = observe(WRITES, 2 * RTT + RTT // 4)
    assert [(first, size) for _, first, size in segments(there)[:3]] == [
        (0, 300),
        (300, 1_000),
        (1_300, 1_000),
    ]
    later = [(first, size) for at, first, size in segments(there) if at > RTT * 2]
    # 300 bytes are acknowledged first: 700 that were held, with 300 written since, are a segment.
    assert later[0] == (2_300, 1_000)


def test_without_nagle_each_write_is_sent():
    _, there, _ = observe(replace(WRITES, nagle=False), RTT + RTT // 2)
    assert [size for _, _, size in segments(there)] == [300] * 10


def test_a_write_waits_until_all_of_it_fits():
    """Of 3,000 bytes 1,400 and 1,400 are written; what is acknowledged then makes room for one."""
    traffic = replace(BULK, write_size=1_400, send_buffer=3_000, nagle=False)
    _, there, _ = observe(traffic, RTT + RTT // 2)
    assert [size for _, _, size in segments(there)] == [1_000, 400, 1_000, 400]


@pytest.mark.slow
def test_a_short_segment_that_is_lost_is_sent_again_as_it_was():
    _, there, _ = observe(replace(WRITES, nagle=False, initial_window=1), 4 * S, there=[2])
    of_first = [(at, size) for at, first, size in segments(there) if first == 0]
    assert [size for _, size in of_first] == [300, 300]


@pytest.mark.parametrize("windows", ["standard", "bsd"])
def test_a_reader_of_single_bytes_opens_no_silly_window(windows):
    """RFC 1122, 4.2.3.3: the edge moves by a segment or half of the buffer, the smaller.

    BSD's moves at each acknowledgement, but announces nothing below a quarter of the buffer.
    """
    traffic = replace(
        BULK, receive_buffer=1_600, read_size=1, read_every=MS, windows=windows, min_rto=60 * S
    )
    _, _, back = observe(traffic, 6 * S)
    seen = [(number + window, window) for _, number, window in back.windows if number]
    moves = [
        (after - before, window)
        for (before, _), (after, window) in itertools.pairwise(seen)
        if after != before
    ]
    assert len(moves) >= 4
    if windows == "standard":
        assert min(move for move, _ in moves) >= 800
    else:
        assert min(window for _, window in moves) >= 400


@pytest.mark.slow
def test_a_closed_window_is_probed_after_a_timeout_and_then_twice_as_late():
    """V16: with a lower limit of 5 s as in BSD after 5, 10, 20, 40 and 60 s.

    The server reads nothing for 200 s.
    """
    traffic = replace(BULK, receive_buffer=2_000, read_every=200 * S, min_rto=5 * S)
    _, there, back = observe(traffic, 140 * S)
    probes = [at for at, number, size, _ in there.seen if number < -1]
    gaps = [round((after - before) / S) for before, after in itertools.pairwise(probes)]
    assert gaps[:4] == [10, 20, 40, 60]
    closed = next(at for at, number, window in back.windows if number and not window)
    assert round((probes[0] - closed) / S) == 5
    answers = [window for at, _, window in back.windows if probes[0] < at < 140 * S]
    assert answers == [0] * 5


@pytest.mark.slow
@pytest.mark.parametrize("is_lost", [False, True])
def test_data_flow_again_when_the_window_opens_or_one_probe_later(is_lost):
    """The server reads after 12 s. If that it announces this is lost, the next probe asks."""
    traffic = replace(BULK, receive_buffer=2_000, read_every=12 * S, min_rto=5 * S)
    _, _, back = observe(traffic, 14 * S)
    update = next(k for k, (_, number, window) in enumerate(back.windows) if k > 2 and window)
    _, there, back = observe(traffic, 22 * S, back=[update] * is_lost)
    resumed = next(at for at, first, _ in segments(there) if first == 2_000)
    opened = back.windows[update][0]
    expected = 5 + 10 - 12 if is_lost else 0
    assert round((resumed - opened) / S) == expected


def test_acknowledgements_count_bytes_not_segments():
    """RFC 5681, 4.2: of two full segments, which are seven of 300 bytes."""
    traffic = replace(WRITES, nagle=False, ack_every=2, ack_timer=30 * MS)
    _, _, back = observe(traffic, RTT + RTT // 4)
    assert [number for _, number, _ in back.windows] == [0, 1 + 2_100, 1 + 3_000]


def test_bsd_announces_a_window_that_moves_by_half_of_the_buffer():
    """3 segments of a buffer of 4: with `bsd` the second is half of it; else the third waits."""
    traffic = replace(BULK, ack_every=10, receive_buffer=4_000, initial_window=3, ack_timer=30 * MS)
    numbers = {}
    for windows in ("standard", "bsd"):
        _, _, back = observe(replace(traffic, windows=windows), RTT + RTT // 4)
        numbers[windows] = [number for _, number, _ in back.windows]
    assert numbers == {"standard": [0, 3_001], "bsd": [0, 2_001, 3_001]}


@pytest.mark.slow
def test_a_line_may_be_full_of_segments_that_are_short_as_writes_are():
    """60,000 bytes in each 200 ns, which a line of 1 Tbit/s sends in 518 ns, so it is full.

    A segment of 500 bytes takes 4.32 ns, of 1,000 bytes 8.32 ns: there are more than of full ones.
    """
    window = {"send_buffer": 60_000, "receive_buffer": 60_000, "initial_window": 100}
    traffic = replace(BULK, write_size=500, nagle=False, **window)
    stop_ps, takes_ps = 60_000_000, 4_320
    seen, *_ = observe(traffic, stop_ps, rtt=200_000)
    assert seen.pool(2, 3).sent == pytest.approx(stop_ps / takes_ps, rel=0.02)
