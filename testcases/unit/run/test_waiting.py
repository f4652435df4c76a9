"""Packets with sizes by the exponential law wait as the theory of queues has it."""

from fractions import Fraction

import pytest

from qospec.check.evaluate.functions import STEPS, compute_probabilities

QUEUE = """
device box {
  port west, east: packet
  q = fifo { limit = 1_000_000 pkt }
  west.rx -> q -> east.tx
  east.rx -> discard
}
topology queue {
  a, b = host
  dut = box
  link a -- dut.west via media.ethernet_10g
  link dut.east -- b via media.ethernet
}
test t on queue {
  flow f = packets {
    rate = RATE pkt/s
    size = exponential(500 B, min = 40 B, max = 1_500 B) @ip
    gaps = poisson
  } from a to b
  run { warmup = 10 s, measure = 400 s }
  expect f.lost == 0
}
"""
GAP_BYTES = 12
BYTE_S = Fraction(8, 10**7)
SHARE_OF_THE_FIRST_LINK = Fraction(1, 1_000)


@pytest.mark.untraced
@pytest.mark.parametrize("load", [Fraction(1, 2), Fraction(4, 5)])
def test_the_mean_delay_is_that_of_pollaczek_and_khinchine(planned, ran, load):
    """W = rate E[S²] / (2 (1 - load)), with the moments of the table that sizes are drawn from."""
    parts = compute_probabilities(Fraction(500), 40, 1_500)
    times_s = [
        (BYTE_S * (max(size + 18, 64) + 20), Fraction(steps, STEPS)) for size, steps in parts
    ]
    mean_s = sum(time_s * share for time_s, share in times_s)
    squares_s2 = sum(time_s**2 * share for time_s, share in times_s)
    rate = round(load / mean_s)
    waiting_s = rate * squares_s2 / (2 * (1 - rate * mean_s))
    links_s = (mean_s - GAP_BYTES * BYTE_S) * (1 + SHARE_OF_THE_FIRST_LINK)
    (case,) = planned(QUEUE.replace("RATE", str(rate)))
    readings = ran(case).readings
    seen = {name: value for _, name, value, _ in readings.list_all()}
    # With 600,000 packets and more the mean has a standard error of some 0.5 and 1 %.
    assert float(seen["transfer_delay.mean"]) == pytest.approx(float(waiting_s + links_s), rel=0.03)
    # Waiting is what the law makes: packets of one size would wait for half as long.
    assert seen["transfer_delay.mean"] - links_s > Fraction(3, 4) * waiting_s
