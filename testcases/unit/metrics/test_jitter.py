"""The jitter of RFC 4689 by the book."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qospec.engine.experiment import Intervals
from qospec.engine.graph import emulation
from qospec.engine.measure.tally import Tally
from qospec.metrics.jitter import Jitter

MS = 10**9
"""In ps."""


@given(data=st.data())
def test_packets_are_compared_in_the_order_of_arrival(road, data):
    came, tally = road.drawn(data)
    steps = []
    for mine in came:
        in_order = sorted(mine, key=lambda trip: (trip.at_ps, trip.sent_ps))
        steps += [abs(b.latency_ps - a.latency_ps) for a, b in pairwise(in_order)]
    assert Jitter().measure(tally, "max") == max(steps, default=None)
    mean = Fraction(sum(steps), len(steps)) if steps else None
    assert Jitter().measure(tally, "mean") == mean
    assert road.has_quantiles_of(Jitter(), tally, steps)


def test_a_lost_packet_is_between_consecutive_ones(road):
    trips = [road.trip(0, 0), road.trip(10**9, 50, lost=True), road.trip(2 * 10**9, 7)]
    assert Jitter().measure(road.tally(trips), "max") == 7


@pytest.mark.parametrize("name", ["constant", "saw tooth", "step", "steps"])
def test_it_is_that_between_packets_as_sent_where_none_is_overtaken(road, name):
    variation = road.case(name).variation
    assert variation.received == variation.latencies


ALTERNATING = """
device path {
  port west, east: packet
  far = delays { each = [1 ms, 19 ms, 1 ms, 19 ms, 10 ms, 10 ms, 10 ms, 10 ms] }
  west.rx -> far -> east.tx
  east.rx -> west.tx
}
topology wan {
  a, b = host
  net = path
  link a -- net.west via media.fast_ethernet
  link net.east -- b via media.fast_ethernet
}
test t on wan {
  flow call = packets { rate = 50 pkt/s, size = 200 B @ip, phases = even } from a to b
  run { measure = 160 ms }
  report call.jitter.mean every 40 ms
}"""


def test_it_is_known_by_interval(planned) -> None:
    """Two packets in each: 18 ms alone, 18 and 18, 9 and 0, 0 and 0."""
    (case,) = planned(ALTERNATING)
    series = emulation.run(case.networks[""].experiment).series
    found = series.pool_intervals(Intervals(0, 1, 40 * MS), 0)
    means = [18 * MS, 18 * MS, Fraction(9 * MS, 2), 0]
    assert [Jitter().measure(tally, "mean") for tally in found] == means


def test_what_was_not_followed_is_no_data(tally: type[Tally]) -> None:
    assert Jitter().measure(tally(received=5), "mean") is None


def test_another_statistic_is_refused(tally: type[Tally]) -> None:
    with pytest.raises(ValueError, match="no statistic `min`"):
        Jitter().measure(tally(), "min")
