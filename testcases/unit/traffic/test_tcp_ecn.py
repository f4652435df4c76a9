"""ECN: packet by packet what RFC 3168, 6.1, says of codepoints, ECE, CWR and the window."""

from dataclasses import replace

import pytest
from tcp_path import MSS, RTT, STEADY, S, observe, rounds

from qospec.congestion.cubic import Cubic
from qospec.congestion.newreno import Newreno

NOT_ECT, ECT0 = 0b00, 0b10
"""RFC 3168, 5, figure 1."""
MARKING = replace(
    STEADY, ecn=True, initial_window=16, send_buffer=64 * MSS, receive_buffer=64 * MSS
)
FIRST = 2
"""The order of the first segment: a SYN and an acknowledgement come before it."""
UNLIMITED = replace(MARKING, send_buffer=10**6, receive_buffer=10**6)


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
        observe(each, 10 * RTT, there=lost)[1].seen for each in (plain, replace(plain, ecn=True))
    ]
    assert seen[0] == seen[1]
