"""SACK and limited transmit: packet by packet what RFC 2018, 3042, 5681 and 6675 say comes next."""

from dataclasses import replace

import pytest
from tcp_path import BULK, HEADERS, MS, MSS, RTT, STEADY, S, observe, rounds

from qospec.congestion.cubic import Cubic
from qospec.congestion.newreno import Newreno

SACKING = replace(STEADY, sack=True, initial_window=16, send_buffer=16 * MSS)
FIRST = 2 + 16
"""The order of the first segment of the second window of 16."""
US = 10**6


def blocks_of(back):
    """Return by acknowledgement its number and its blocks, both in segments."""
    found = []
    for (_, number, _), its in zip(back.windows, back.blocks, strict=True):
        base = (number - 1) // MSS
        ranges = [(base + (b >> 31) // MSS, base + ((b >> 31) + b % 2**31) // MSS) for b in its]
        found.append((base, ranges))
    return found


@pytest.mark.parametrize("losses", [1, 2, 3, 4])
def test_all_losses_of_a_window_are_repaired_in_one_round_trip(losses):
    """V7: where NewReno needs one for each."""
    lost = [FIRST + 3 * k for k in range(losses)]
    _, there, back = observe(SACKING, 9 * RTT, there=lost)
    numbers = [16 + 3 * k for k in range(losses)]
    at = {n: [at for at, number in there.data if number == n] for n in numbers}
    assert all(len(times) == 2 for times in at.values())
    again = [times[1] for times in at.values()]
    assert max(again) - min(again) < RTT / 2
    whole = next(at for at, number, _, _ in back.seen if number >= 1 + 32 * MSS)
    assert whole - min(again) < 1.5 * RTT


def test_the_first_block_holds_the_segment_that_is_acknowledged():
    """RFC 2018, 4, with segments 16, 18 and 20 lost: the latest first, then those before."""
    _, _, back = observe(SACKING, 3 * RTT - RTT // 4, there=[FIRST, FIRST + 2, FIRST + 4])
    seen = [blocks for base, blocks in blocks_of(back) if base == 16][1:]
    assert seen[:4] == [
        [(17, 18)],
        [(19, 20), (17, 18)],
        [(21, 22), (19, 20), (17, 18)],
        [(21, 23), (19, 20), (17, 18)],
    ]
    sizes = [size for _, number, size, _ in back.seen if number == 1 + 16 * MSS][1:5]
    assert sizes == [HEADERS + 12, HEADERS + 20, HEADERS + 28, HEADERS + 28]


def test_as_many_blocks_as_fit_are_reported_the_latest_first():
    """RFC 2018, 4: as ranges are filled, those that had no room are reported again.

    Segments 10, 8, 6, 4, 3, 5 and 7 arrive, 9 does not; what is sent behind them is lost.
    """
    traffic = replace(SACKING, initial_window=17, send_buffer=17 * MSS)
    held = {8: 3, 6: 6, 4: 9, 3: 11, 5: 10, 7: 9}
    _, _, back = observe(
        traffic,
        2 * RTT - RTT // 4,
        there=[2 + 9, *range(2 + 11, 2 + 17)],
        held={2 + number: behind for number, behind in held.items()},
    )
    begin = next(k for k, blocks in enumerate(back.blocks) if blocks)
    assert blocks_of(back)[begin : begin + 7] == [
        (3, [(10, 11)]),
        (3, [(8, 9), (10, 11)]),
        (3, [(6, 7), (8, 9), (10, 11)]),
        (3, [(4, 5), (6, 7), (8, 9)]),
        (5, [(6, 7), (8, 9), (10, 11)]),
        (7, [(8, 9), (10, 11)]),
        (9, [(10, 11)]),
    ]
    sizes = [size - HEADERS for _, _, size, _ in back.seen]
    assert sizes[begin : begin + 7] == [12, 20, 28, 28, 28, 20, 12]


@pytest.mark.parametrize("is_sacking", [False, True])
def test_a_hole_that_is_not_known_as_lost_is_sent_again_if_nothing_is_new(is_sacking):
    """RFC 6675, 4, NextSeg, (3): of a transfer of 10 segments 0 and 8 are lost.

    But one segment behind 8 is reported. It is sent again as soon as the window allows, in the same
    round trip as 0, and not by a timeout; NewReno sends it a round trip later.
    """
    traffic = replace(SACKING, sack=is_sacking, transfer=10 * MSS)
    seen, there, _ = observe(traffic, 3 * S, there=[2, 2 + 8])
    begun = there.data[0][0]
    again = [round((at - begun) / RTT) for at, _ in there.data[10:]]
    assert [number for _, number in there.data[10:]] == [0, 8]
    assert again == ([1, 1] if is_sacking else [1, 2])
    assert seen.pool(2, 3).received == 1


def test_what_is_sent_in_a_recovery_follows_the_pipe():
    """RFC 6675, 5: of 16 under way the first is lost, the window is then 8.

    The third duplicate tells of it: the pipe is 12, and 13 with what is sent again. It is 7 with
    the ninth, and from there on each of the 15 duplicates lets one new segment go: 7 of them.
    """
    traffic = replace(SACKING, send_buffer=64 * MSS, receive_buffer=64 * MSS, initial_window=16)
    _, there, back = observe(traffic, 20 * RTT, there=[2])
    again = [at for at, number in there.data if number == 0][1]
    duplicates = [at for at, base, _, _ in back.seen if base == 1]
    assert round((again - duplicates[2]) / MS) == 50
    new = [number for at, number in there.data if again < at < again + RTT - MS]
    assert new == [16, 17, 18, 19, 20, 21, 22]


def test_a_timeout_forgets_what_was_reported():
    """RFC 2018, 8; what is sent again is lost too, so that only a timeout helps."""
    lost = [FIRST, FIRST + 16]
    _, there, back = observe(SACKING, 40 * RTT, there=lost)
    times = [at for at, number in there.data if number == 16]
    assert len(times) == 3
    assert times[2] - times[1] > S - RTT
    assert max(number for _, number, _, _ in back.seen) > 1 + 64 * MSS


@pytest.mark.parametrize("is_prompted", [False, True])
def test_limited_transmit_finds_a_third_duplicate(is_prompted):
    """Of a window of 3 the first is lost: two duplicates, and no third but for RFC 3042."""
    traffic = replace(
        BULK,
        initial_window=3,
        receive_buffer=64 * MSS,
        send_buffer=64 * MSS,
        limited_transmit=is_prompted,
    )
    _, there, _ = observe(traffic, 2 * S, there=[2])
    times = [at for at, number in there.data if number == 0]
    if is_prompted:
        assert round((times[1] - times[0]) / RTT) == 2
        assert [number for _, number in there.data][3:5] == [3, 4]
    else:
        assert times[1] - times[0] >= S - MS


@pytest.mark.parametrize("is_sacking", [False, True])
@pytest.mark.parametrize(("algorithm", "expected"), [(Newreno(), 8), (Cubic(), 11)])
def test_what_limited_transmit_has_sent_does_not_raise_the_threshold(
    algorithm, expected, is_sacking
):
    """RFC 5681, 3.2, step 2; RFC 6675, 5, (4.2): of 16 under way half, or 70 % by CUBIC, is left.

    The two segments that the first duplicates have let go are not counted among the 16.
    """
    traffic = replace(
        BULK,
        sack=is_sacking,
        algorithm=algorithm,
        initial_window=16,
        receive_buffer=64 * MSS,
        send_buffer=64 * MSS,
        limited_transmit=True,
    )
    _, there, _ = observe(traffic, 5 * RTT, there=[2])
    assert rounds(there)[:2] == [16, expected]
