"""Whether anything was drawn at random in a repeat: then seeds differ, else all repeats are one."""

import pytest

TEST = """
device box {
  port west, east: packet
  cpu = processor { per_packet = 10 us, limit = 64 pktEXTRA }
  west.rx -> cpu.entry[0]
  cpu.exit[0] -> east.tx
  east.rx -> discard
}
topology bench {
  a, b = host
  dut = box
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
topology wire {
  a, b = host
  link a -- b via media.fast_ethernet
}
test t on bench {
  CONTROL
  flow f = packets { rate = 1 Mbit/s @line, size = SIZE, phases = PHASES, GAPS } from a to b
  run { measure = 100 ms }
  expect f.lost == 0 pkt
}
"""
FIXED = {
    "EXTRA": "",
    "CONTROL": "",
    "SIZE": "100 B @ip",
    "PHASES": "even",
    "GAPS": "gaps = constant",
}


@pytest.mark.parametrize(
    ("drawing", "drawn"),
    [
        ({}, False),
        ({"EXTRA": ", housekeeping = 1 us, housekeeping_phase = 1 ms"}, False),
        ({"SIZE": "mix [100 B @ip, 200 B @ip]"}, False),
        ({"PHASES": "random"}, True),
        ({"GAPS": "gaps = poisson"}, True),
        ({"SIZE": "mix { 100 B @ip: 1, 200 B @ip: 1 }"}, True),
        ({"EXTRA": ", housekeeping = 1 us"}, True),
        ({"EXTRA": ", hiccup = 1 us"}, True),
        ({"CONTROL": "control bare = wire"}, False),
        ({"CONTROL": "control bare = wire", "PHASES": "random"}, True),
    ],
)
def test_a_repeat_knows_whether_anything_was_drawn(planned, problems, ran, drawing, drawn) -> None:
    text = TEST
    for name, value in {**FIXED, **drawing}.items():
        text = text.replace(name, value)
    plans = planned(text), planned(text, seed="1")
    assert not problems.errors
    repeats = [ran(case) for (case,) in plans]
    assert {repeat.readings.drawn for repeat in repeats} == {drawn}
    if not drawn:
        first, second = (list(repeat.readings.all()) for repeat in repeats)
        assert first == second
