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


PROCESSED = """
device both {
  port p[2], out: packet
  cpu = processor { ports = 2, per_packet = 10 us, limit = 64 pkt }
  large, small = fifo { limit = 64 pkt }
  fair = drr { weights = { large: 15, small: 1 }, quantum = 100 B }
  p[0].rx -> cpu.entry[0]
  p[1].rx -> cpu.entry[1]
  cpu.exit[0] -> large -> fair.large
  cpu.exit[1] -> small -> fair.small
  fair -> out.tx
  out.rx -> discard
}
topology t {
  a, b, c = host
  r = both
  link a -- r.p[0] via media.fast_ethernet
  link b -- r.p[1] via media.fast_ethernet
  link r.out -- c via media.fast_ethernet
}
test x on t {
  flow l = packets { rate = 100 pkt/s, size = 1_500 B @ip } from a to c
  flow s = packets { rate = 100 pkt/s, size = 100 B @ip } from b to c
  run { measure = 10 ms }
  expect l.lost == 0 pkt
}
"""


def test_what_comes_by_one_input_of_a_processor_is_not_large_behind_another(planned, problems):
    planned(PROCESSED)
    assert not problems.all
