"""Reno: packet by packet, beside NewReno."""

from dataclasses import replace

from tcp_path import MS, MSS, RTT, STEADY, S, observe

from qospec.congestion.newreno import Newreno
from qospec.congestion.reno import Reno


def test_reno_waits_for_a_timeout_where_newreno_does_not():
    """Of four losses in a window of 8, NewReno needs no timeout, Reno does."""
    lost = [2 + 8 + k for k in range(4)]
    ends = {}
    for name, algorithm in (("newreno", Newreno()), ("reno", Reno())):
        _, there, back = observe(replace(STEADY, algorithm=algorithm), 30 * RTT, there=lost)
        begun = there.data[8][0]
        ends[name] = next(at for at, n, _, _ in back.seen if n >= 1 + 16 * MSS) - begun
    assert ends["newreno"] < 6 * RTT
    assert ends["reno"] > S


def test_reno_begins_another_fast_retransmit_for_another_loss_of_the_window():
    """RFC 5681, 3.2, asks for three duplicates; that all of it is new, RFC 6582 does.

    Of a window of 16 segments 0 and 8 are lost. The repair of the first ends the recovery, and what
    was sent in it is answered by duplicates: the third of them repairs the other.
    """
    wide = 64 * MSS
    traffic = replace(STEADY, initial_window=16, send_buffer=wide, receive_buffer=wide)
    lost = [2, 2 + 8]
    _, there, back = observe(replace(traffic, algorithm=Reno()), 6 * RTT, there=lost)
    again = [at for at, number in there.data if number == 8][1]
    duplicates = [at for at, number, _, _ in back.seen if number == 1 + 8 * MSS][1:]
    assert again - duplicates[2] < RTT // 2 + MS
