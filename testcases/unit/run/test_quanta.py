"""Turns that are shorter than a packet: one warning for each scheduler, with one way out."""

import pytest

DEVICE = """
device fair {
  port west, east: packet
  c = classify { hi = pkt.dscp == 46, mid = pkt.dscp == 10, lo = otherwise }
  hi, mid, lo = fifo { limit = 400 pkt }
  out = drr { weights = WEIGHTS, quantum = 100 B }
  west.rx -> c
  c.hi -> hi -> out.hi
  c.mid -> mid -> out.mid
  c.lo -> lo -> out.lo
  out -> east.tx
  east.rx -> discard
}
topology t {
  a, b = host
  r = fair
  link a -- r.west via media.gige
  link r.east -- b via media.fast_ethernet
}
traffic sized(size: Data, code: Int) = packets {
  rate = 9 Mbit/s @line
  size = size @ip
  dscp = code
}
test x on t {
  flow h = sized(size = 1_000 B, code = 46) from a to b
  flow m = sized(size = 300 B, code = 10) from a to b
  flow l = sized(size = 1_000 B, code = 0) from a to b
  run { measure = 10 ms }
  expect h.lost == 0 pkt
}
"""


@pytest.mark.parametrize(
    ("weights", "inputs", "label", "way_out"),
    [
        (
            "{ hi: 1, mid: 3, lo: 2 }",
            "turns of `hi` and `lo` may be",
            "100 B per turn of `hi`, and packets of up to 1000 B",
            "write `quantum = 1000 B`",
        ),
        (
            "{ hi: 5, mid: 1, lo: 4 }",
            "turns of `hi`, `mid` and `lo` may be",
            "100 B per turn of `mid`, and packets of up to 300 B",
            "write `quantum = 300 B`",
        ),
        (
            "{ hi: 10, mid: 3, lo: 9 }",
            "a turn of `lo` may be",
            "900 B per turn of `lo`, and packets of up to 1000 B",
            "write `quantum = 112 B`",
        ),
    ],
)
def test_a_scheduler_is_warned_of_once_with_the_quantum_that_suits_all(
    planned, problems, weights, inputs, label, way_out
):
    planned(DEVICE.replace("WEIGHTS", weights))
    [warning] = problems.all
    assert warning.code == "W0603"
    assert warning.message == f"{inputs} too short for a single packet"
    assert (warning.label, warning.help) == (label, way_out)
