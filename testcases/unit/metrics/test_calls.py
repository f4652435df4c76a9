"""What becomes of calls, by hand of calls that come and last evenly."""

from fractions import Fraction

import pytest

from qospec.engine.experiment import Intervals
from qospec.engine.graph import emulation
from qospec.metrics.calls import (
    CallBlocking,
    CallsCarried,
    CallsEstablished,
    CallsHeld,
    CallsOffered,
    CallsRefused,
)
from qospec.units import PS_PER_S

TWO_PLACES = """
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test t on wire {
  flow u = cbr {
    pcr = 100 cell/s
    cdvt = 0 s
    connections = 2
    source = calls { rate = 10 call/s, hold = 250 ms, gaps = even }
  } from a to b
  run { WARMUP measure = 1 s }
  report u.calls_offered every 500 ms
}
"""


@pytest.mark.parametrize(
    ("warmup", "counts", "carried"),
    [
        # At 0.0, 0.1, … s; those of 0.2, 0.5 and 0.8 s find none free. That of 0.9 s goes on.
        ("", (10, 7, 3), Fraction(16, 10)),
        # From 0.2 to 1.2 s: those of 0.2, 0.5, 0.8 and 1.1 s. At first two are held already, for
        # 50 and 150 ms, and at last those of 0.9 and 1.0 s, for all and 200 ms.
        ("warmup = 200 ms,", (10, 6, 4), Fraction(5 + 15 + 4 * 25 + 25 + 20, 100)),
    ],
)
def test_calls_are_counted_in_the_window(planned, warmup, counts, carried):
    (case,) = planned(TWO_PLACES.replace("WARMUP", warmup))
    observation = emulation.run(case.networks[""].experiment)
    tally = observation.pool(0, 2)
    found = tuple(kind().measure(tally) for kind in (CallsOffered, CallsEstablished, CallsRefused))
    assert found == counts
    assert CallBlocking().measure(tally) == Fraction(counts[2], counts[0])
    assert (CallsHeld().measure(tally), CallsCarried().measure(tally)) == (2, carried)


def test_calls_are_counted_by_interval(planned):
    (case,) = planned(TWO_PLACES.replace("WARMUP", ""))
    series = emulation.run(case.networks[""].experiment).series
    halves = list(series.pool_intervals(Intervals(0, 2, PS_PER_S // 2), 0))
    assert [CallsRefused().measure(half) for half in halves] == [1, 2]
    assert [CallsCarried().measure(half) for half in halves] == [Fraction(8, 5)] * 2
    assert [CallsHeld().measure(half) for half in halves] == [2, 2]


def test_no_more_are_offered_than_there_are(planned):
    """Four, of which the third is refused; and in the second half none, and no share of them."""
    (case,) = planned(TWO_PLACES.replace("WARMUP", "").replace("even }", "even, count = 4 call }"))
    series = emulation.run(case.networks[""].experiment).series
    first, second = series.pool_intervals(Intervals(0, 2, PS_PER_S // 2), 0)
    assert (CallsOffered().measure(first), CallBlocking().measure(first)) == (4, Fraction(1, 4))
    assert (CallsOffered().measure(second), CallBlocking().measure(second)) == (0, None)
