"""TCP that sends so much: when transfers begin and are complete, packet by packet."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tcp_path import BULK, HEADERS, MS, MSS, RTT, S, observe

PAGE = replace(BULK, transfer=4_500, initial_window=10)
US = 10**6


def exchanges(seen, connections=1):
    """Return the tally of whole exchanges."""
    return seen.pool(2 * connections, 3 * connections)


def test_a_transfer_is_one_exchange_from_the_syn_to_the_last_acknowledgement():
    """Of 4,500 bytes: the handshake, and a round trip in which all are sent, the last one short.

    It has the client's FIN, its acknowledgement the server's, and the client acknowledges that.
    """
    seen, there, back = observe(PAGE, S)
    assert [size - HEADERS for _, _, size, _ in there.seen] == [0, 0, *[MSS] * 4, 500, 0]
    assert len(back.seen) == 1 + 5
    assert there.seen[-1][0] == pytest.approx(back.seen[-1][0] + RTT // 2, rel=1e-6)
    tally = exchanges(seen)
    assert (tally.sent, tally.received) == (1, 1)
    assert round(tally.delays.max_ps / MS) == 200


def test_a_transfer_goes_on_behind_the_end_of_the_trial():
    traffic = replace(PAGE, transfer=100 * MSS, send_buffer=10 * MSS)
    seen, there, _ = observe(traffic, RTT)
    assert sum(size > HEADERS for _, _, size, _ in there.seen) == 100
    assert exchanges(seen).received == 1


def test_a_transfer_whose_connection_is_given_up_is_lost():
    seen, _, _ = observe(replace(PAGE, retries=2), S, there=range(2, 99))
    assert exchanges(seen).lost == {("client", "timed_out"): 1}
    seen, _, _ = observe(replace(PAGE, retries=2), S, there=range(99))
    assert exchanges(seen).lost == {("client", "timed_out"): 1}


@pytest.mark.parametrize("write_size", [None, 300, 1_700])
def test_the_last_write_is_what_is_left(write_size):
    seen, there, _ = observe(replace(PAGE, write_size=write_size), S)
    assert sum(size - HEADERS for _, _, size, _ in there.seen) == 4_500
    assert exchanges(seen).received == 1


@pytest.mark.slow
def test_connections_begin_at_drawn_times():
    """Of 2,000 in 20 s the gaps are exponential: a mean of 10 ms, and as large a deviation."""
    traffic = replace(PAGE, transfer=1, connections=2_000, spread=20 * S, begins="random")
    _, there, _ = observe(traffic, 20 * S)
    at = [at for at, number, _, _ in there.seen if number == 0]
    gaps = [(after - before) / MS for before, after in itertools.pairwise(at)]
    mean = sum(gaps) / len(gaps)
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert len(at) == 2_000
    assert mean == pytest.approx(10, rel=0.02)
    assert deviation == pytest.approx(mean, rel=0.1)


@given(
    lost=st.tuples(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60))),
    fields=st.fixed_dictionaries(
        {
            "transfer": st.integers(1, 50 * MSS),
            "write_size": st.sampled_from([None, 300, 1_700]),
            "sack": st.booleans(),
            "connections": st.integers(1, 3),
            "begins": st.sampled_from(["even", "random"]),
            "receive_buffer": st.integers(MSS, 20 * MSS),
        }
    ),
    chunk=st.integers(1_000, 9_000),
)
@settings(max_examples=settings().max_examples // 8)
def test_each_transfer_is_complete_in_the_end(lost, fields, chunk):
    """Whatever is lost; and the size of batches changes nothing."""
    traffic = replace(BULK, spread=500 * US, retries=100, min_rto=300 * US, **fields)
    seen, there, _ = observe(traffic, 1_000 * US, *lost, rtt=100 * US)
    n = traffic.connections
    tally = exchanges(seen, n)
    assert tally.received == n
    assert not seen.ledger.imbalance
    data = {(number, size) for _, number, size, _ in there.seen if size > HEADERS}
    if n == 1:
        assert sum(size - HEADERS for _, size in data) == traffic.transfer
    again, _, _ = observe(traffic, 1_000 * US, *lost, rtt=100 * US, chunk=chunk)
    assert exchanges(again, n) == tally
