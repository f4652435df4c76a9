"""Time stamps: packet by packet what RFC 7323 says of round trips."""

import itertools
from dataclasses import replace

import pytest
from tcp_path import BULK, HEADERS, MS, MSS, RTT, STEADY, S, observe

from qospec.traffic.tcp import Tcp

STAMPED = replace(STEADY, time_stamps=True)
"""Eight segments in each round trip."""


def test_all_packets_are_longer():
    _, there, back = observe(STAMPED, 3 * RTT)
    assert {size for _, _, size, _ in there.seen} == {HEADERS + 12, MSS + HEADERS + 12}
    assert {size for _, _, size, _ in back.seen} == {HEADERS + 12}


@pytest.mark.slow
@pytest.mark.parametrize("is_stamped", [False, True])
def test_a_round_trip_of_what_was_sent_again_is_timed(is_stamped):
    """RFC 7323, 4.1: it is known which of both is acknowledged; without stamps it is not (Karn).

    Two segments are lost, each once. The first waits for 1.8 s, three round trips, and then the
    timeout is twice that; the second waits so long, or by what the first has told.
    """
    rtt = 600 * MS
    traffic = replace(BULK, initial_window=1, send_buffer=MSS, time_stamps=is_stamped)
    # Sent: SYN, its acknowledgement, segment 0 lost, 0 again, 1 lost, 1 again.
    _, there, _ = observe(traffic, 30 * S, there=[2, 4], rtt=rtt)
    size = MSS + HEADERS + 12 * is_stamped
    at = [at for at, number, found, _ in there.seen if found == size and number == 1 + MSS]
    waited = round((at[1] - at[0]) / MS)
    # A second sample R' = R: RTTVAR falls from R / 2 to 3 R / 8, and RTO = R + 4 * 3 R / 8.
    assert waited == (1_500 if is_stamped else 3_600)


def test_a_delayed_acknowledgement_tells_of_the_first_of_its_segments():
    """RFC 7323, 4.3: so that the round trip includes the delay, here 30 ms."""
    traffic = replace(STAMPED, ack_every=3, ack_timer=30 * MS, initial_window=2, min_rto=MS)
    _, there, back = observe(traffic, 2 * RTT)
    sent = [at for at, number in _data(there) if number == 0]
    _, stamp = next(pair for pair in back.stamps if pair[0] > 1)
    assert round((sent[0] - stamp) / MS) == 50


def test_what_fills_a_hole_is_what_an_acknowledgement_tells_of():
    """RFC 7323, 4.3, (B): duplicates tell of the segment before the hole, what fills it of it."""
    _, there, back = observe(STAMPED, 6 * RTT, there=[2 + 8])
    stamps = [stamp for number, stamp in back.stamps if number == 1 + 8 * MSS]
    assert len(set(stamps)) == 1
    again = [at for at, number in _data(there) if number == 8][1]
    filled = next(stamp for number, stamp in back.stamps if number == 1 + 16 * MSS)
    assert round((again - filled) / MS) == 50
    assert all(a <= b for a, b in itertools.pairwise(stamp for _, stamp in back.stamps))


DIALOGUE = Tcp(mss=MSS, request=200, response=MSS, time_stamps=True)
"""Sent there: SYN, its acknowledgement, a request … and back: an answer to the SYN, a response …"""


def test_all_packets_of_a_dialogue_are_longer():
    _, there, back = observe(DIALOGUE, 3 * RTT)
    headers = HEADERS + 12
    assert {size for _, _, size, _ in there.seen} == {headers, 200 + headers}
    assert {size for _, _, size, _ in back.seen} == {headers, MSS + headers}


@pytest.mark.parametrize(("is_stamped", "waits_ms"), [(False, 3_600), (True, 1_500)])
def test_a_round_trip_of_a_request_that_was_sent_again_is_timed(is_stamped, waits_ms):
    """As of data one way, by what the response echoes: each of two requests is lost once."""
    traffic = replace(DIALOGUE, time_stamps=is_stamped)
    _, there, _ = observe(traffic, 5 * S, there=[2, 4], rtt=600 * MS)
    at = [at for at, number, _, _ in there.seen if number == 1 + 200]
    assert round((at[1] - at[0]) / MS) == waits_ms


@pytest.mark.parametrize("think_ms", [0, 150])
def test_a_request_echoes_the_response_that_it_acknowledges(think_ms):
    """RFC 7323, 4.3: the server's round trip includes how long the client has thought.

    Its timeout is then three times that. By then the client's has expired, so it hears it twice.
    """
    traffic = replace(DIALOGUE, think=think_ms * MS)
    _, _, back = observe(traffic, 5 * S, back=[2], rtt=600 * MS)
    at = [at for at, number, _, _ in back.seen if number == 1 + MSS]
    assert round((at[1] - at[0]) / MS) == 3 * (600 + think_ms)


def test_what_was_acknowledged_without_data_is_not_echoed_again():
    """A client that thinks for longer than an acknowledgement waits: the echo is the response's."""
    traffic = replace(DIALOGUE, think=900 * MS)
    _, _, back = observe(traffic, 5 * S, back=[2], rtt=600 * MS)
    at = [at for at, number, _, _ in back.seen if number == 1 + MSS]
    assert round((at[1] - at[0]) / MS) == 3 * (600 + 200)


def _data(probe):
    size = MSS + HEADERS + 12
    return [(at, (number - 1) // MSS) for at, number, found, _ in probe.seen if found == size]
