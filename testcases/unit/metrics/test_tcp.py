"""What senders of TCP tell: by hand of connections whose round trips and losses are known."""

from dataclasses import replace
from fractions import Fraction

import pytest
from tcp_path import MS, MSS, RTT, STEADY, S, observe

from qospec.engine.experiment import Intervals
from qospec.metrics.tcp import CongestionWindow, Goodput, Retransmitted, RoundTripTime, Timeouts

FIRST = 2
"""The order of the first segment."""


def measure(traffic, stop, every=S, **given):
    """Return the tally of the trial, and those of its intervals."""
    n = traffic.connections
    intervals = Intervals(0, n, every)
    given = {"followed": (("samples", 0, n),), "series": (intervals,)} | given
    seen, *_ = observe(traffic, stop, **given)
    return seen.pool(0, n), list(seen.series.pool_intervals(intervals, 0))


@pytest.mark.slow
def test_a_window_in_each_round_trip():
    """Eight segments of 1,000 bytes in each 100 ms, of one connection or of three."""
    for n in (1, 3):
        tally, _ = measure(replace(STEADY, connections=n), 3 * S, start=S)
        assert Goodput().measure(tally) == n * 8 * MSS * 8 * 10
        assert CongestionWindow().measure(tally, "mean") == 8 * MSS
        assert Retransmitted().measure(tally) == Timeouts().measure(tally) == 0
        times = [RoundTripTime().measure(tally, name) for name in ("min", "mean", "max")]
        assert RTT <= times[0] <= times[1] <= times[2] < RTT + MS


@pytest.mark.slow
def test_what_is_lost_is_sent_again_and_counts_once():
    """A segment of the second window is repaired by duplicates, so nothing times out."""
    tally, _ = measure(STEADY, 3 * S, there=[FIRST + 8])
    assert (Retransmitted().measure(tally), Timeouts().measure(tally)) == (1, 0)
    received, _ = measure(replace(STEADY, transfer=50 * MSS), 60 * S, there=[FIRST + 8])
    assert Goodput().measure(received) == Fraction(50 * MSS * 8, 60)


def test_a_lost_window_times_out():
    """All eight, and then the first again: RFC 6298, 5.5, doubles the timeout of 1 s to 2 s.

    Then the others follow by slow start.
    """
    tally, _ = measure(STEADY, 10 * S, there=[*range(FIRST + 8, FIRST + 17)])
    assert (Timeouts().measure(tally), Retransmitted().measure(tally)) == (2, 9)
    assert CongestionWindow().measure(tally, "min") == MSS


def test_the_window_is_weighed_by_time():
    """10, 20 and 40 segments in the first three round trips behind the SYN, as V2 has it."""
    traffic = replace(STEADY, initial_window=10, send_buffer=10**6, receive_buffer=10**6)
    tally, intervals = measure(traffic, 4 * RTT, every=RTT)
    windows = [
        tuple(CongestionWindow().measure(tally, name) for name in ("min", "mean", "max"))
        for tally in intervals
    ]
    assert windows[0] == (None, None, None)
    # The line takes 8.3 ns for each segment, so that a window grows within less than a us.
    for number, segments in ((1, 10), (2, 20), (3, 40)):
        assert windows[number][1] == pytest.approx(segments * MSS, rel=1e-4)
    assert CongestionWindow().measure(tally, "mean") == pytest.approx(70 * MSS / 3, rel=1e-4)


def test_intervals_add_up_however_they_are_batched():
    tally, intervals = measure(STEADY, 3 * S, every=300 * MS, there=[FIRST + 8, FIRST + 30])
    again, _ = measure(STEADY, 3 * S, there=[FIRST + 8, FIRST + 30], chunk=10**7)
    assert again.samples == tally.samples  # with the times of round trips
    for quantity, whole in tally.samples.items():
        parts = [tally.samples[quantity] for tally in intervals]
        assert sum(part.weight for part in parts) == whole.weight
        assert sum(part.total for part in parts) == whole.total


def test_nothing_is_told_unless_a_statement_asks_for_it():
    seen, *_ = observe(STEADY, S)
    assert seen.pool(0, 1).samples is None
    assert Goodput().measure(seen.pool(0, 1)) is None


def test_quantiles_of_round_trips():
    """A segment at a time, which waits 50 ms for its acknowledgement, and a SYN, which does not.

    So 12 round trips of 150 ms in the 1.9 s behind the first, of 100 ms. A rank is rounded up: of
    13 samples 7 % are less than one, 8 % more. A histogram knows a delay to 0.1 %.
    """
    one = replace(STEADY, ack_every=2, ack_timer=50 * MS, send_buffer=MSS)
    tally, _ = measure(one, 2 * S)
    names = ("min", "p7", "p8", "p50", "p99_9", "max", "mean", "std")
    times = [RoundTripTime().measure(tally, name) for name in names]
    long = 1.5 * RTT
    assert times[:6] == pytest.approx([RTT, RTT, long, long, long, long], rel=1e-3)
    assert times[6] == pytest.approx((RTT + 12 * long) / 13, rel=1e-6)
    assert times[7] == pytest.approx(50 * MS * 12**0.5 / 13, rel=1e-5)
    assert RoundTripTime().select_delays(tally).count_above(RTT + MS) == (12, 12)
    late, _ = measure(one, 2 * S, start=S)  # what is timed before the window does not count
    assert RoundTripTime().measure(late, "p1") == pytest.approx(long, rel=1e-3)


def test_there_is_no_other_statistic(tally):
    with pytest.raises(ValueError, match="no statistic `p100`"):
        RoundTripTime().measure(tally(), "p100")
    with pytest.raises(ValueError, match="no statistic `p99`"):
        CongestionWindow().measure(tally(), "p99")
