"""Searches of devices with a known answer: the interval holds it, and is as narrow as asked."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from qospec.plan.plan import Bounds
from qospec.run.phase import Setting
from qospec.run.phased import PhasedRun
from qospec.run.schedule import Schedule, run_here

DEVICES = 100
TRIAL_S = Fraction(1, 20)

TEXT = """
device box {
  DEVICE
}
topology bench {
  a, b = host
  dut = box
  link a -- dut.west via MEDIUM
  link dut.east -- b via OUT
}
test t on bench {
  search rate in LOW .. HIGH {
    goal ndr { loss = 0, width = WIDTH }
    trial = 50 ms, total = 50 ms, method = METHOD
  }
  flow f = TRAFFIC from a to b
  report ndr.rate
}
"""
PROCESSOR = """port west, east: packet
  cpu = processor { per_packet = TIME us, limit = ROOM pkt }
  q = fifo { limit = 1_000 pkt }
  west.rx -> cpu.entry[0]
  cpu.exit[0] -> q -> east.tx
  east.rx -> discard"""
LINE = """port west, east: cell
  q = fifo { limit = ROOM cell }
  west.rx -> q -> east.tx
  east.rx -> discard"""
POLICER = """port west, east: cell
  upc = gcra
  west.rx -> upc -> east.tx
  east.rx -> discard"""


class Device(NamedTuple):
    """A device, and between which rates per second it begins to lose something in a trial."""

    changes: dict[str, str]
    least: Fraction
    most: Fraction


def processor(draw: np.random.Generator) -> Device:
    """Return one that serves a packet in some time: what waits at the end of a trial is room."""
    time_us, room = int(draw.integers(20, 400)), int(draw.integers(1, 20))
    rate = Fraction(10**6, time_us)
    changes = {
        "DEVICE": PROCESSOR,
        "TIME": str(time_us),
        "ROOM": str(room),
        "MEDIUM": "media.fast_ethernet",
        "OUT": "media.fast_ethernet",
        "TRAFFIC": "packets { rate = rate, size = 64 B @frame }",
        "LOW": f"{int(rate / 20)} pkt/s",
        "HIGH": f"{min(int(rate * 5), 148_000)} pkt/s",
    }
    return Device(changes, rate, rate + (room + 2) / TRIAL_S)


def line(draw: np.random.Generator) -> Device:
    """Return one whose line out is slower than that in; cells come up to a slot late."""
    rate, room = int(draw.integers(2_000, 40_000)), int(draw.integers(2, 20))
    changes = {
        "DEVICE": LINE,
        "ROOM": str(room),
        "MEDIUM": "media.stm1",
        "OUT": f"line {{ rate = {rate} cell/s * 53 B/cell @cell }}",
        "TRAFFIC": "ubr { pcr = rate }",
        "LOW": "1_000 cell/s",
        "HIGH": "300_000 cell/s",
    }
    return Device(changes, Fraction(rate), rate + (room + 3) / TRIAL_S)


def policer(draw: np.random.Generator) -> Device:
    """Return one that polices a contract; it tolerates a slot, by which cells come late."""
    rate, tolerance_us = int(draw.integers(2_000, 60_000)), int(draw.integers(3, 50))
    changes = {
        "DEVICE": POLICER,
        "MEDIUM": "media.stm1",
        "OUT": "media.stm1",
        "TRAFFIC": f"cbr {{ pcr = {rate} cell/s, cdvt = {tolerance_us} us,"
        " source = constant { rate = rate } }",
        "LOW": "1_000 cell/s",
        "HIGH": "300_000 cell/s",
    }
    excess = Fraction(tolerance_us, 10**6) / TRIAL_S
    return Device(changes, Fraction(rate), rate * (1 + excess) + 2 / TRIAL_S)


@pytest.mark.parametrize("number", range(DEVICES))
def test_the_answer_is_inside_the_interval_of_ndr(planned, problems, number) -> None:
    draw = np.random.default_rng(number)
    device = (processor, line, policer)[number % 3](draw)
    method = ("mlrsearch", "binary")[number // 3 % 2]
    width = Fraction(int(draw.integers(1, 50)), 1_000)
    changes = {**device.changes, "METHOD": method, "WIDTH": f"{float(width * 100):g}%"}
    text = TEXT
    for name, value in changes.items():
        text = text.replace(name, value)
    plans = planned(text)
    assert not problems.errors
    (plan,) = plans
    (ended,) = run_here(Schedule([PhasedRun(Setting(plan, Bounds()), "")]), lambda: None)
    (search,) = ended.result.document["phases"]
    (goal,) = search["goals"]
    lower, upper = (Fraction(goal[end]["value"]) for end in ("lower", "upper"))
    assert lower <= device.most
    assert upper >= device.least
    assert 0 < upper - lower <= width * upper
    assert (goal["regular"], goal["complete"]) == (True, True)
    assert ended.result.document["verdict"] == "measured"
