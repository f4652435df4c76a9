"""Whether anything was drawn at random in a repeat: then seeds differ, else all repeats are one."""

import pytest

TEST = """
device box {
  port west, east: packet
  cpu = processor { per_packet = 10 us, limit = 64 pktEXTRA }
  west.rx -> cpu.entry[0]
  q = fifo { limit = 64 pktDROP }
  cpu.exit[0] -> q -> east.tx
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
    "DROP": "",
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
        ({"EXTRA": ", random_interruption = 1 us"}, True),
        ({"DROP": ", drop = threshold { by = dscp, at = { 0: 4 pkt } }"}, False),
        ({"DROP": ", drop = red { low = 4 pkt, high = 8 pkt, p = 10% }"}, True),
        (
            {
                "DROP": ", drop = wred {"
                " by = dscp, low = { 0: 4 pkt }, high = { 0: 8 pkt }, p = { 0: 10% } }"
            },
            True,
        ),
        ({"GAPS": "source = burst { size = 4 pkt }"}, False),
        ({"GAPS": "source = batches { size = 4 pkt }"}, True),
        ({"GAPS": "source = on_off { on = 1 ms, off = 1 ms }"}, False),
        ({"GAPS": "source = on_off { on = 1 ms, off = 1 ms }", "PHASES": "random"}, True),
        ({"GAPS": "source = on_off { on = exponential(1 ms), off = 1 ms }"}, True),
        ({"GAPS": "source = on_off { on = 1 ms, off = exponential(1 ms) }"}, True),
        ({"GAPS": "source = mmpp { calm = 2 ms, busy = 1 ms, share = 90% }"}, True),
        ({"CONTROL": "control bare = wire"}, False),
        ({"CONTROL": "control bare = wire", "PHASES": "random"}, True),
    ],
)
def test_a_repeat_knows_whether_anything_was_drawn(planned, problems, ran, drawing, drawn) -> None:
    text = TEST
    for name, value in {**FIXED, **drawing}.items():
        text = text.replace(name, value)
    assert_drawn(text, planned, problems, ran, drawn=drawn)


CELLS = """
device box {
  port west, east: cell
  oam = oam_insert { rate = 100 cell/s, phases = PHASES }
  west.rx -> oam -> east.tx
  east.rx -> discard
}
topology bench {
  a, b = host
  dut = box
  link a -- dut.west via media.stm1
  link dut.east -- b via media.stm1
}
test t on bench {
  flow f = cbr { pcr = 1_000 cell/s, cdvt = 1 ms, connections = 3, phases = even } from a to b
  run { measure = 100 ms }
  expect f.lost == 0 cell
}
"""


@pytest.mark.parametrize(("phases", "drawn"), [("even", False), ("random", True)])
def test_so_it_does_of_oam_cells(planned, problems, ran, phases, drawn) -> None:
    assert_drawn(CELLS.replace("PHASES", phases), planned, problems, ran, drawn=drawn)


def assert_drawn(text, planned, problems, ran, *, drawn: bool) -> None:
    """What was drawn is known; where nothing was, a repeat at another seed is the same."""
    plans = planned(text), planned(text, seed="1")
    assert not problems.errors
    repeats = [ran(case) for (case,) in plans]
    assert {repeat.readings.drawn for repeat in repeats} == {drawn}
    if not drawn:
        first, second = (list(repeat.readings.list_all()) for repeat in repeats)
        assert first == second
