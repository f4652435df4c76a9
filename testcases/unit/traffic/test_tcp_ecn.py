"""ECN: packet by packet what RFC 3168, 6.1, says of codepoints, ECE, CWR and the window."""

from dataclasses import replace

import pytest
from tcp_path import MSS, RTT, STEADY, S, observe, rounds

from qospec.congestion.cubic import Cubic
from qospec.congestion.newreno import Newreno
from qospec.engine.endpoint.congestion import CongestionControl
from qospec.traffic.tcp import Tcp

NOT_ECT, ECT0 = 0b00, 0b10
"""RFC 3168, 5, figure 1."""
ECE, CWR = 1, 2
MARKING = replace(
    STEADY, ecn=True, initial_window=16, send_buffer=64 * MSS, receive_buffer=64 * MSS
)
FIRST = 2
"""The order of the first segment: a SYN and an acknowledgement come before it."""
UNLIMITED = replace(MARKING, send_buffer=10**6, receive_buffer=10**6)
ASKING = Tcp(mss=MSS, request=200, response=MSS, ecn=True)


def test_only_data_that_is_sent_for_the_first_time_is_capable():
    """6.1.1, 6.1.4, 6.1.5: no SYN, no acknowledgement, and nothing that is sent again."""
    _, there, back = observe(MARKING, 6 * RTT, there=[FIRST + 5, FIRST + 6])
    highest = 0
    for (_, number, size, _), (codepoint, _) in zip(there.seen, there.flags, strict=True):
        is_new = number > 0 and number > highest
        assert codepoint == (ECT0 if is_new else NOT_ECT), (number, size)
        highest = max(highest, number)
    again = [number for _, number in there.data if number in (5, 6)]
    assert sorted(again) == [5, 5, 6, 6]
    assert {codepoint for codepoint, _ in back.flags} == {NOT_ECT}


def test_probes_of_a_window_are_not_capable():
    traffic = replace(MARKING, send_buffer=8 * MSS, receive_buffer=8 * MSS, read_every=5 * S)
    _, there, _ = observe(traffic, 8 * S)
    probes = [
        flags
        for (_, number, *_), flags in zip(there.seen, there.flags, strict=True)
        if number == -2
    ]
    assert probes
    assert {codepoint for codepoint, _ in probes} == {NOT_ECT}


def test_a_mark_is_echoed_until_the_sender_says_that_it_has_reduced_its_window():
    """6.1.2, 6.1.3: ECE from the marked segment on, and CWR with the first new one."""
    _, there, back = observe(MARKING, 5 * RTT, marked=[FIRST + 3])
    reduced = [n for n, (_, flag) in enumerate(there.flags) if flag]
    assert len(reduced) == 1
    behind = there.seen[reduced[0]][1]
    echoes = [
        number for (_, number, *_), (_, flag) in zip(back.seen, back.flags, strict=True) if flag
    ]
    assert echoes == list(range(1 + 4 * MSS, 1 + behind, MSS))
    assert there.seen[reduced[0]][1] == max(
        number for _, number, *_ in there.seen[: reduced[0] + 1]
    )


@pytest.mark.parametrize("marks", [1, 2, 7])
def test_the_window_is_halved_once_for_a_window_of_data(marks):
    """6.1.2: of 16 and what slow start has added so far, however many are marked."""
    traffic = replace(UNLIMITED, initial_window=16)
    marked = [FIRST + 16 + k for k in range(marks)]  # of the second round trip, of 32
    _, there, _ = observe(traffic, 6 * RTT, marked=marked)
    # As the first mark of 32 is echoed, 32 are under way. All 32 acknowledgements echo it, so that
    # the window stays at 16; the next 16 open it by hardly a segment, since MSS^2 / window is less.
    assert rounds(there)[:5] == [16, 32, 16, 16, 17]


def test_a_loss_in_a_window_that_was_reduced_does_not_reduce_it_again():
    _, there, _ = observe(UNLIMITED, 7 * RTT, marked=[FIRST + 16], there=[FIRST + 16 + 20])
    numbers = [number for _, number in there.data]
    assert numbers.count(36) == 2
    assert rounds(there)[4] >= 16


def test_the_window_is_reduced_as_its_control_says():
    """RFC 9438, 4.6: by 0.7; of 32 that are 22."""
    _, there, _ = observe(replace(UNLIMITED, algorithm=Cubic()), 4 * RTT, marked=[FIRST + 16])
    assert rounds(there)[2] == 22


@pytest.mark.parametrize("sack", [False, True])
def test_without_marks_nothing_is_another_than_without_ecn(sack):
    plain = replace(UNLIMITED, ecn=False, sack=sack, algorithm=Newreno())
    lost = [FIRST + 20, FIRST + 25]
    seen = [
        observe(traffic, 10 * RTT, there=lost)[1].seen
        for traffic in (plain, replace(plain, ecn=True))
    ]
    assert seen[0] == seen[1]


# ---- requests and responses: either end sends data, and tells of the other's


@pytest.mark.parametrize(
    ("marked", "marked_back", "asked", "answered"),
    [
        ([], [], [0, 0, 0, 0], [0, 0, 0]),
        ([2], [], [0, CWR, 0, 0], [ECE, 0, 0]),
        ([], [1], [0, ECE, 0, 0], [0, CWR, 0]),
        ([2], [1], [0, ECE | CWR, 0, 0], [ECE, CWR, 0]),
        ([2, 3], [1], [0, ECE | CWR, CWR, 0], [ECE, ECE | CWR, 0]),
    ],
)
def test_a_packet_tells_of_both_directions(marked, marked_back, asked, answered):
    """6.1.2, 6.1.3: each has data and acknowledges, so ECE is of what came, CWR of what goes.

    The second request says that the window was reduced, and may be marked itself: that counts.
    """
    _, there, back = observe(ASKING, 4 * RTT, marked=marked, marked_back=marked_back)
    assert [flag for _, flag in there.flags[2:6]] == asked
    assert [flag for _, flag in back.flags[1:4]] == answered


def test_data_of_both_ends_is_capable_and_nothing_else():
    """6.1.1, 6.1.4, 6.1.5: the response that is lost is sent again without."""
    _, there, back = observe(replace(ASKING, response=2 * MSS), 15 * RTT, back=[3])
    for probe in (there, back):
        highest = 0
        for (_, number, *_), (codepoint, _) in zip(probe.seen, probe.flags, strict=True):
            assert codepoint == (ECT0 if number > highest else NOT_ECT)
            highest = max(highest, number)
    numbers = [number for _, number, *_ in back.seen if number > 0]
    assert len(numbers) == len(set(numbers)) + 1


@pytest.mark.parametrize("client_sends", [True, False])
def test_either_end_reduces_its_window_and_is_told_until_it_says_so(client_sends):
    """The fourth of 12 segments is marked, when 9,000 bytes are under way: 4,500 remain.

    It is echoed by all that acknowledges it or the others, with the data that follows, as nothing
    new is there that could say that the window was reduced, until the next turn begins. In it 4
    segments go; they open the window by MSS^2 / window each, to 5,330: 5 go, then the other 3.
    """
    sizes = (12 * MSS, 200) if client_sends else (200, 12 * MSS)
    traffic = replace(ASKING, request=sizes[0], response=sizes[1], ack_every=1)
    path = "marked" if client_sends else "marked_back"
    _, there, back = observe(traffic, 6 * RTT, **{path: [FIRST + 3]})
    sends, hears = (there, back) if client_sends else (back, there)
    assert rounds(sends)[:5] == [10, 2, 4, 5, 3]
    said = [  # CWR
        number for (_, number, *_), (_, flag) in zip(sends.seen, sends.flags, strict=True) if flag
    ]
    assert said == [1 + 12 * MSS]
    expected = [number for _, number in hears.stamps]
    told = [number for number, (_, flag) in zip(expected, hears.flags, strict=True) if flag == ECE]
    assert told == [number for number in expected if 1 + 4 * MSS <= number <= 1 + 12 * MSS]
    assert len(told) == 9 + 1


class Counting(CongestionControl):
    """As NewReno does, but told of the marks of each segment."""

    counts_marks = True


def test_requests_and_responses_tell_of_the_marks_of_their_segments_alone():
    """RFC 8257, 3.2: as acknowledgements without data would; the last of them is a request."""
    traffic = replace(ASKING, response=16 * MSS, initial_window=16, algorithm=Counting())
    _, there, _ = observe(traffic, 5 * RTT // 2, marked_back=[1 + 4, 1 + 9])
    told = [
        ((expected - 1) // MSS, flag & ECE)
        for (_, expected), (_, flag) in zip(there.stamps, there.flags, strict=True)
    ]
    told = told[FIRST + 1 :]
    assert [end for end, _ in told[:11]] == [2, 4, 5, 6, 8, 9, 10, 11, 13, 15, 16]
    assert [end for end, is_echo in told if is_echo] == [5, 10]
    assert there.seen[FIRST + 11][1] == 1 + 200
