"""Requests and responses on connections of TCP, packet by packet."""

from dataclasses import replace

import pytest
from tcp_path import HEADERS, MS, MSS, RTT, S, observe

from qospec.traffic.tcp import Tcp

ASKING = Tcp(mss=MSS, request=200, response=MSS)
HANDSHAKE = 2
"""A SYN, and the acknowledgement of its answer."""


def exchanges(seen):
    return seen.pool(2, 3).delays


def data(probe):
    """Return the packets with data: when they passed, and their size without headers."""
    return [(at, size - HEADERS) for at, number, size, _ in probe.seen if size > HEADERS]


def test_a_request_is_answered_after_a_round_trip_and_the_next_one_follows():
    seen, there, back = observe(ASKING, 10 * RTT)
    assert [size for _, size in data(there)] == [200] * 9
    assert [size for _, size in data(back)] == [MSS] * 9
    found = exchanges(seen)
    assert (found.count, found.min_ps, found.max_ps) == (9, *[pytest.approx(RTT, rel=1e-6)] * 2)


def test_packets_with_data_acknowledge_what_has_come():
    """No packet but the handshake and the last acknowledgement is without data (RFC 5681, 4.2)."""
    _, there, back = observe(ASKING, 10 * RTT)
    assert len(there.seen) == HANDSHAKE + 9 + 1
    assert len(back.seen) == 1 + 9
    last = there.seen[-1][0] - there.seen[-2][0]
    assert last == pytest.approx(RTT + 200 * MS, rel=1e-6)


def test_the_client_thinks_behind_each_response():
    _, there, _ = observe(replace(ASKING, think=300 * MS), 10 * RTT)
    at = [at for at, _ in data(there)]
    assert [round((at[k] - at[0]) / MS) for k in range(len(at))] == [0, 400, 800]


def test_a_response_goes_by_slow_start_and_the_window_stays_open():
    """Of 35 segments 10, 20 and 5 in three round trips; then 45 are allowed: all in one."""
    traffic = replace(ASKING, response=35 * MSS, ack_every=1)
    seen, _, _ = observe(traffic, 5 * RTT - RTT // 2)
    assert exchanges(seen).count == 2
    assert exchanges(seen).max_ps == pytest.approx(3 * RTT, rel=1e-4)
    assert exchanges(seen).min_ps == pytest.approx(RTT, rel=1e-4)


@pytest.mark.parametrize(("nagle", "takes_ps"), [(True, 200 * MS + 2 * RTT), (False, RTT)])
def test_write_write_read(nagle, takes_ps):
    """The second write waits for the acknowledgement of the first, that for its timer."""
    traffic = replace(ASKING, write_size=100, nagle=nagle)
    seen, _, _ = observe(traffic, 10 * RTT)
    assert exchanges(seen).min_ps == pytest.approx(takes_ps, rel=1e-4)
    assert exchanges(seen).max_ps == pytest.approx(takes_ps, rel=1e-4)


@pytest.mark.parametrize(("there", "back"), [([HANDSHAKE], []), ([], [1])])
def test_what_is_lost_of_an_exchange_is_sent_again_after_a_timeout(there, back):
    """A second, as the client has timed a round trip; or as the server has timed none.

    A lost response was acknowledged by nothing: the request, too, is then sent again, in vain.
    """
    seen, _, _ = observe(ASKING, 3 * RTT // 2, there=there, back=back)
    assert exchanges(seen).count == 1
    assert exchanges(seen).max_ps == pytest.approx(RTT + S, rel=1e-4)


def test_a_lost_segment_of_a_response_is_made_good_by_duplicates():
    traffic = replace(ASKING, response=10 * MSS, ack_every=1)
    seen, _, _ = observe(traffic, 3 * RTT // 2, back=[1 + 3])
    assert exchanges(seen).max_ps == pytest.approx(2 * RTT, rel=1e-3)


def test_a_client_that_gets_no_response_gives_up():
    """RFC 9293, 3.9.1: after 5 min; the server goes on until it gives up itself."""
    seen, there, _ = observe(replace(ASKING, retries=30), 3 * RTT // 2, back=range(1, 100))
    assert exchanges(seen).count == 0
    assert seen.pool(2, 3).lost == {("client", "timed_out"): 1}
    assert there.seen[-1][0] < 301 * S
