"""Schedulers that leave a free line idle, in whole cases: with one class, and below each other.

Each set of schedulers is a loop to compile, which takes seconds. So kernels run as Python.
"""

import pytest
from definition import kernels_as_python

BRIDGE = """
device bridge {
  port west, east: packet
  sort = classify { audio = pkt.dscp == 46, rest = otherwise }
  audio, rest = fifo { limit = 64 pkt }
  SCHEDULERS
  west.rx -> sort
  sort.audio -> audio
  sort.rest -> rest
  out -> east.tx
  east.rx -> discard
}
topology bridged {
  a, b = host
  box = bridge
  link a -- box.west via media.gigabit_ethernet
  link box.east -- b via media.fast_ethernet
}
traffic full(code: Int) = packets { rate = 100 Mbit/s @line, size = 1_500 B @ip, dscp = code }
test t on bridged {
  flow audio = full(code = 46) from a to b
  OTHERS
  run { overload = true, warmup = 2 ms, measure = 12.304 ms }
  expect given: audio.bit_rate.line within 11% of GIVEN
  EXPECTED
}
"""
"""A frame takes 1,538 bytes of a line, 123.04 us: of 10 Mbit/s, 10 begin in 12.304 ms."""

REST = "flow rest = full(code = 0) from a to b"
CREDIT = "shaped = credit { idle_slope = 10 Mbit/s @line }\n  audio -> shaped\n  "
STRICT = "out = strict { order = [audio, rest] }\n  rest -> out.rest\n  "
GATES = "out = gates { open = { audio: 500 us, rest: 500 us } }\n  rest -> out.rest\n  "
NARROW = GATES.replace("500 us, rest: 500 us", "130 us, rest: 870 us")


def verdicts(planned, ran, schedulers, given, others="", expected=""):
    """Return those of what is given to each class; what is proved must hold, or there is none."""
    text = BRIDGE.replace("SCHEDULERS", schedulers).replace("GIVEN", given)
    (case,) = planned(text.replace("OTHERS", others).replace("EXPECTED", expected))
    with kernels_as_python():
        return [judgement.verdict for judgement in ran(case).judgements]


@pytest.mark.parametrize(
    ("schedulers", "given"),
    [
        (CREDIT.replace("shaped", "out") + "rest -> discard", "10 Mbit/s"),
        (STRICT + CREDIT + "shaped -> out.audio", "10 Mbit/s"),
        (NARROW + "audio -> out.audio", "1_538 B / 1 ms"),
    ],
)
def test_one_class_is_held_back_as_beside_others(planned, ran, schedulers, given):
    """By its credit, and by its gate, which lets one frame pass in a cycle of 1 ms."""
    assert verdicts(planned, ran, schedulers, given) == ["pass"]


THROUGH = "mid = strict { order = [only] }\n  mid -> out.audio\n  "


@pytest.mark.parametrize(
    ("schedulers", "given", "left"),
    [
        (GATES + CREDIT + "shaped -> out.audio", "5 Mbit/s", "48 Mbit/s"),
        (STRICT + THROUGH + CREDIT + "shaped -> mid.only", "10 Mbit/s", "90 Mbit/s"),
    ],
)
def test_no_more_is_proved_than_a_class_is_given(planned, ran, schedulers, given, left):
    """It waits while its gate is closed, which was taken for open, and for its credit.

    The latter through a scheduler between, which was taken for one that never waits.
    """
    expected = f"expect left: rest.bit_rate.line within 5% of {left}"
    assert verdicts(planned, ran, schedulers, given, REST, expected) == ["pass", "pass"]
