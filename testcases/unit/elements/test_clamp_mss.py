"""A gateway that lowers the MSS that ends of TCP announce: what it sees, and what passes it."""

from dataclasses import replace

import pytest
from tcp_path import HEADERS, MS, MSS, RTT, STEADY, S, observe

from qospec.catalogue.form import Form
from qospec.elements.clamp_mss import ClampMss
from qospec.engine.endpoint.tcp_connection import WINDOW_BITS
from qospec.traffic.tcp import Tcp

LARGE = Tcp(mss=1_460, ack_every=1)
LOW = (1 << WINDOW_BITS) - 1


def list_sizes(probe, headers=HEADERS):
    """Return how much data each packet had that had any."""
    return [size - headers for _, number, size, _ in probe.seen if number > 0]


def list_announced(probe):
    """Return the MSS that SYNs and the answers to them announce."""
    return [window >> WINDOW_BITS for _, _, window in probe.windows if window >> WINDOW_BITS]


@pytest.mark.parametrize(
    ("clamps", "announced", "data"),
    [
        ((None, None), (1_460, 1_460), 1_460),
        ((None, 1_000), (1_460, 1_000), 1_000),  # what comes back limits what goes there
        ((1_000, None), (1_000, 1_460), 1_460),
        ((1_200, 1_000), (1_200, 1_000), 1_000),
        ((9_000, 1_461), (1_460, 1_460), 1_460),  # nothing is ever raised
    ],
)
def test_what_an_end_sends_is_what_it_hears_announced(clamps, announced, data):
    _, there, back = observe(LARGE, 3 * RTT, clamps=clamps)
    assert (list_announced(there), list_announced(back)) == tuple([mss] for mss in announced)
    assert {*list_sizes(there)} == {data}
    assert back.windows[0][2] & LOW == 65_535


def test_options_do_not_count_in_what_is_announced():
    """RFC 9293, 3.7.1: 1,000 bytes without options, so 988 with time stamps of 12."""
    stamped = replace(LARGE, mss=1_448, time_stamps=True)
    _, there, back = observe(stamped, 3 * RTT, clamps=(None, 1_000))
    assert {*list_sizes(there, HEADERS + 12)} == {988}
    _, there, back = observe(stamped, 3 * RTT)
    assert ({*list_sizes(there, HEADERS + 12)}, list_announced(back)) == ({1_448}, [1_460])


def test_the_initial_window_is_of_smaller_segments():
    """RFC 6928, 2: 14,600 bytes, at most 10 segments, of 9,000 bytes two."""
    for mss, clamp, first in ((9_000, None, 2), (9_000, 1_460, 10), (9_000, 4_000, 3)):
        wide = Tcp(mss=mss, ack_every=1, send_buffer=10**6, receive_buffer=10**6)
        _, there, _ = observe(wide, 2 * RTT, clamps=(None, clamp))
        times = [at for at, number, _, _ in there.seen if number > 0]
        assert sum(at - times[0] < MS for at in times) == first


@pytest.mark.parametrize(("clamps", "acknowledged"), [((None, 1_000), 3), ((1_000, 1_000), 2)])
def test_acknowledgements_count_segments_as_large_as_those_taken(clamps, acknowledged):
    """RFC 5681, 4.2: of two full segments, as large as what its own end takes, or hears announced.

    Of 12 segments of 1,000 bytes: 2,920 bytes are three of them.
    """
    twelve = Tcp(mss=1_460, ack_every=2, send_buffer=12_000, receive_buffer=12_000)
    _, _, back = observe(replace(twelve, initial_window=12), 2 * RTT, clamps=clamps)
    numbers = [number - 1 for _, number, _, _ in back.seen[1:]]
    assert numbers[: 12 // acknowledged] == [
        1_000 * acknowledged * k for k in range(1, 12 // acknowledged + 1)
    ]


def test_a_window_moves_by_segments_as_large_as_those_taken():
    """RFC 9293, 3.8.6.2.2: by Eff.snd.MSS, which follows from what the other end announces."""
    for clamps, windows in (((None, 1_000), [2_000, 3_000]), ((1_000, 1_000), [3_000])):
        three = Tcp(mss=1_460, ack_every=1, receive_buffer=3_000)
        _, _, back = observe(three, 3 * RTT, clamps=clamps)
        assert sorted({window & LOW for _, _, window in back.windows}) == windows


def test_a_window_holds_more_segments_of_a_clamped_path():
    """65,535 bytes are 65 segments of 1,000, all in a round trip, where 7 of 9,000 were."""
    wide = Tcp(mss=9_000, ack_every=1, initial_window=65)
    _, there, _ = observe(wide, 3 * RTT, clamps=(None, 1_000))
    times = [at for at, number, _, _ in there.seen if number > 0]
    assert sum(at - times[0] < MS for at in times) == 65


def test_both_ends_of_a_dialogue_are_limited():
    asks = Tcp(mss=1_460, request=2_000, response=10_000, nagle=False)
    _, there, back = observe(asks, S, clamps=(800, 500))
    assert max(list_sizes(there)) == 500
    assert max(list_sizes(back)) == 800
    _, there, back = observe(asks, S)
    assert (max(list_sizes(there)), max(list_sizes(back))) == (1_460, 1_460)


def test_losses_are_repaired_by_smaller_segments():
    """The window falls by segments as they are: RFC 5681, 3.1: never below two of 1,000 bytes."""
    four = replace(STEADY, mss=1_460, send_buffer=4 * MSS, initial_window=4, sack=True)
    _, there, back = observe(four, 20 * RTT, [2 + 4], clamps=(None, 1_000))
    assert [size for *_, size, lost in there.seen if lost] == [MSS + HEADERS]
    numbers = [number for _, number, _, _ in there.seen if number > 0]
    assert len(numbers) == len({*numbers}) + 1
    assert back.seen[-1][1] - 1 == 1_000 * len({*numbers})


def test_a_syn_in_a_tunnel_is_not_seen():
    inner = Form("packet", ((100, 1),))
    assert ClampMss(1_000).predict_form(inner) is inner
    with pytest.raises(ValueError, match="not seen from outside"):
        ClampMss(1_000).predict_form(inner.with_header(24))
