"""A device that reorders packets of one connection: those that exceed their rate wait longer."""

from fractions import Fraction

import pytest

from qospec.catalogue.kinds import discover
from qospec.engine.graph import emulation
from qospec.metrics.reordered import Reordered
from qospec.metrics.reordered_ratio import ReorderedRatio
from qospec.metrics.reordering_extent import ReorderingExtent
from qospec.record.outcome import describe_case
from qospec.run.trial import run

BENCH = """
device edge {
  port west, east: packet
  meter = trtcm {
    cir = 40 Mbit/s @ip
    cbs = 3_000 B
    pir = 1 Gbit/s @ip
    pbs = 9_000 B
    exceed = mark
  }
  mark = remark { dscp = { green: 10, yellow: 12 } }
  classes = classify { green = pkt.dscp == 10, yellow = otherwise }
  green, yellow = fifo { limit = 20 pkt }
  out = strict { order = [green, yellow] }
  west.rx -> meter -> mark -> classes
  classes.green -> green -> out.green
  classes.yellow -> yellow -> out.yellow
  out -> east.tx
  east.rx -> discard
}
topology lab {
  a, b = host
  dut = edge
  link a -- dut.west via media.gige
  link dut.east -- b via media.fast_ethernet
}
topology wire {
  a, b = host
  link a -- b via media.gige
}
test t on lab {
  control bare = wire
  flow f = packets {
    rate = 80 Mbit/s @ip
    size = exponential(500 B, min = 40 B, max = 1_500 B) @ip
    gaps = poisson
  } from a to b
  run { measure = 20 ms, repeat = REPEATS }
  STATEMENTS
}
"""


def text(repeats: int, *statements: str) -> str:
    return BENCH.replace("REPEATS", str(repeats)).replace("STATEMENTS", "\n  ".join(statements))


@pytest.mark.parametrize("chunk", [1, 7, 100, 10**6])
def test_it_is_what_the_times_of_all_packets_say_however_time_is_cut(planned, chunk):
    """The times of single packets are the book: i - j for the first j ahead that was sent later."""
    (case,) = planned(text(1, "expect f.reordered < 1_000 pkt"))
    tally = emulation.run(case.networks[""].experiment, chunk=chunk).pool(0, 1)
    packets = tally.variation.packets
    assert tally.variation.complete
    came = [packet.number for packet in sorted(packets, key=lambda packet: packet.at_ps)]
    firsts = (
        (i, next((j for j in range(i) if came[j] > number), None)) for i, number in enumerate(came)
    )
    extents = [i - j for i, j in firsts if j is not None]
    assert len(extents) > 10
    assert Reordered().measure(tally) == len(extents)
    assert ReorderedRatio().measure(tally) == Fraction(len(extents), len(came))
    assert ReorderingExtent().measure(tally, "max") == max(extents)
    assert ReorderingExtent().measure(tally, "mean") == Fraction(sum(extents), len(extents))


@pytest.mark.slow
def test_a_criterion_says_of_how_many_and_with_what_confidence(planned):
    (case,) = planned(
        text(
            10,
            "expect some: f.reordered_ratio > 1% with 95% confidence",
            "expect none: bare.f.reordered_ratio < 1% with 95% confidence",
            "expect fewer: bare.f.reordered_ratio < 0.01% with 95% confidence",
            "expect counted: bare.f.reordered == 0 pkt",
            "expect rare: bare.f.reordered_ratio < 0.001%",
            "expect close: f.jitter.p90 < 1 ms with 95% confidence",
        )
    )
    result = run(case, discover(), lambda _: None)
    some, none, fewer, counted, rare, close = describe_case(case, result)["statements"]
    assert (some["verdict"], none["verdict"], counted["verdict"]) == ("pass",) * 3
    assert "0 of 4176 reordered: with 95 % confidence the ratio is below" in counted["note"]
    assert rare["caution"].startswith("4176 packets cannot show")
    assert rare["caution"].endswith(", none of them reordered")
    assert close["verdict"] == "pass"
    assert " values count as " in close["note"]
    # Some 4,000 packets of which none is reordered are not enough for 1 in 10,000.
    assert fewer["verdict"] == "inconclusive"
