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


def book(marked, count, gain):
    """Return how many segments are sent in each round trip, by RFC 8257, 3.3, steps 1 to 9.

    Each is acknowledged, in order, a round trip after it was sent, with ECE if it was marked.
    """
    window, threshold, alpha = Fraction(16), 10**9, Fraction(1)
    window_end = reduced_to = acknowledged = marks = 0
    flight, following, found = range(16), 16, []
    for _ in range(count):
        found.append(len(flight))
        first = following
        for segment in flight:
            acknowledged, marks = acknowledged + 1, marks + (segment in marked)
            if segment + 1 > window_end:
                alpha = cut(alpha + gain * (Fraction(marks, acknowledged) - alpha))
                window_end, acknowledged, marks = following, 0, 0
            if segment not in marked:
                window = cut(window + (1 if window < threshold else 1 / window))
            elif segment + 1 > reduced_to:
                window = threshold = cut(window * (1 - alpha / 2))
                reduced_to = following
            following = max(following, segment + 1 + int(window))
        flight = range(first, following)
    return found


RARE = range(16, 10_000, 97)
RUNS = [segment for segment in range(100, 10_000) if segment % 150 < 10]


@pytest.mark.parametrize("marked", [RARE, RUNS])
def test_the_window_is_that_of_the_book(marked):
    """With 1/8 as the weight of the last window it would be another."""
    _, there, _ = observe(WIDE, 61 * RTT, marked=[FIRST + segment for segment in marked])
    expected, other = (book(frozenset(marked), 60, Fraction(1, part)) for part in (16, 8))
    assert rounds(there)[:60] == pytest.approx(expected, abs=1)
    assert rounds(there)[:60] != pytest.approx(other, abs=1)


def test_acknowledgements_tell_of_the_marks_of_their_segments_alone():
    """RFC 8257, 3.2: one at once where marks begin, and where they end; else one of two.

    Segment 8 waits for another as 9 comes, the first with a mark: each has its own.
    """
    _, _, back = observe(replace(WIDE, ack_every=2), 3 * RTT // 2, marked=[FIRST + 4, FIRST + 9])
    acknowledged = [(number - 1) // MSS for _, number, *_ in back.seen[1:]]
    echoed = [flag for _, flag in back.flags[1:]]
    assert acknowledged == [2, 4, 5, 6, 8, 9, 10, 11, 13, 15, 16]
    assert [number for number, flag in zip(acknowledged, echoed, strict=True) if flag] == [5, 10]


def test_without_marks_it_is_newreno():
    """RFC 8257, 3.4 and 3.5."""
    lost = [FIRST + 20, FIRST + 25]
    plain = replace(WIDE, algorithm=None)
    seen = [observe(traffic, 10 * RTT, there=lost)[1].seen for traffic in (WIDE, plain)]
    assert seen[0] == seen[1]
