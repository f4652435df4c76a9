"""Reno: packet by packet, beside NewReno."""

from dataclasses import replace

from tcp_path import MSS, RTT, STEADY, S, observe

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
