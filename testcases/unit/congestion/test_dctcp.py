"""DCTCP: the window after marks, beside a program by the text of RFC 8257, and what is echoed."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tcp_path import BULK, MSS, RTT, observe, rounds

from qospec.congestion.dctcp import Dctcp

FIRST = 2
"""The order of the first segment: a SYN and an acknowledgement come before it."""
WIDE = replace(
    BULK,
    algorithm=Dctcp(),
    ecn=True,
    initial_window=16,
    send_buffer=10**6,
    receive_buffer=10**6,
)


def cut(number):
    """Return nearly the same, without the thousands of digits that fractions get."""
    return Fraction(round(number * 2**40), 2**40)


def book(marked, count, gain, every=1):
    """Return how many segments are sent in each round trip, by RFC 8257, 3.3, steps 1 to 9.

    Acknowledgements arrive a round trip after what they are of was sent, or after what it has
    waited for; see `acknowledge`.
    """
    window, threshold, alpha = Fraction(16), 10**9, Fraction(1)
    window_end = reduced_to = done = acknowledged = marks = waiting = is_told = 0
    flight, following, found = range(16), 16, []
    for _ in range(count):
        found.append(len(flight))
        first = following
        told, waiting, is_told = acknowledge(flight, marked, every, waiting, is_told)
        for number, has_echo in told:
            acknowledged, marks = acknowledged + number - done, marks + has_echo * (number - done)
            done = number
            if number > window_end:
                alpha = cut(alpha + gain * (Fraction(marks, acknowledged) - alpha))
                window_end, acknowledged, marks = following, 0, 0
            if not has_echo:
                window = cut(window + (1 if window < threshold else 1 / window))
            elif number > reduced_to:
                window = threshold = cut(window * (1 - alpha / 2))
                reduced_to = following
            following = max(following, number + int(window))
        flight = range(first, following)
    return found


def acknowledge(flight, marked, every, waiting, is_told):
    """Return what is acknowledged of segments in order: up to where, whether with ECE; what waits.

    By RFC 8257, 3.2: one of so many, and one at once where marks begin or end, with one before it
    of those that wait.
    """
    told = []
    for segment in flight:
        is_changed = is_told != (segment in marked)
        if is_changed and waiting:
            told.append((segment, is_told))
            waiting = 0
        waiting, is_told = waiting + 1, segment in marked
        if is_changed or waiting == every:
            told.append((segment + 1, is_told))
            waiting = 0
    return told, waiting, is_told


RARE = range(16, 10_000, 97)
RUNS = [segment for segment in range(100, 10_000) if segment % 150 < 10]


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("marked", [RARE, RUNS])
def test_the_window_is_that_of_the_book(marked, every):
    """With 1/8 as the weight of the last window it would be another."""
    traffic, orders = replace(WIDE, ack_every=every), [FIRST + segment for segment in marked]
    _, there, _ = observe(traffic, 31 * RTT, marked=orders)
    expected, other = (book(frozenset(marked), 30, Fraction(1, part), every) for part in (16, 8))
    assert rounds(there)[:30] == pytest.approx(expected, abs=1)
    assert rounds(there)[:30] != pytest.approx(other, abs=1)


def test_acknowledgements_tell_of_the_marks_of_their_segments_alone():
    """RFC 8257, 3.2: one at once where marks begin, and where they end; else one of two.

    Segment 8 waits for another as 9 comes, the first with a mark: each has its own.
    """
    _, _, back = observe(replace(WIDE, ack_every=2), 3 * RTT // 2, marked=[FIRST + 4, FIRST + 9])
    acknowledged = [(number - 1) // MSS for _, number, *_ in back.seen[1:]]
    echoed = [flag for _, flag in back.flags[1:]]
    assert acknowledged == [2, 4, 5, 6, 8, 9, 10, 11, 13, 15, 16]
    assert [number for number, flag in zip(acknowledged, echoed, strict=True) if flag] == [5, 10]


def test_the_window_with_delayed_acknowledgements_is_that_worked_out_by_hand():
    """RFC 8257, 3.3: the share is 15/16 as the first of 16 segments are acknowledged, by twos.

    Those of 2 and 4 open the window to 18, that of 5, marked, leaves 18 (1 - 15/32) = 9.56 of it,
    and the mark of 10 nothing less. Six others of 16 open it to 10.17: 25 segments are then sent.
    Up to 17, 2 of 15 were marked: the share is 0.887. The next five open the window to 10.65, so up
    to 35. Of these 26 waits as 27 is marked. Acknowledged alone it opens the window to 10.75, lets
    another go, and ends a window without marks: the share is 0.832. That of 27 leaves 6.28, of 35
    the others open it to 6.89, beyond 34: up to 40.
    """
    marked = [FIRST + 4, FIRST + 9, FIRST + 26]
    _, there, _ = observe(replace(WIDE, ack_every=2), 5 * RTT, marked=marked)
    assert rounds(there)[:4] == [16, 25 - 16, 35 - 25, 40 - 35]


def test_without_marks_it_is_newreno():
    """RFC 8257, 3.4 and 3.5."""
    lost = [FIRST + 20, FIRST + 25]
    plain = replace(WIDE, algorithm=None)
    seen = [observe(traffic, 10 * RTT, there=lost)[1].seen for traffic in (WIDE, plain)]
    assert seen[0] == seen[1]
