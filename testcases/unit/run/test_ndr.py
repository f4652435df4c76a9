"""Searches of devices with a known answer: the interval holds it, and is as narrow as asked.

In a trial `n` items come at equal intervals, so it can be counted when the first of them is lost;
but in what phase the clocks of two lines are is not known, so an item may be late by a slot.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from night import is_night

from qospec.plan.plan import Bounds
from qospec.run.runner import run_alone

DEVICES = 100 if is_night() else 12
"""Of each kind."""
TRACED = 5
"""As many of each kind show what lines are reached."""
SLOT_S = Fraction(53 * 8, 149_760_000)
"""Of a cell on the line in: a cell leaves up to a slot after it is made."""

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
    trial = 20 ms, total = 20 ms, method = METHOD
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


Answer = Callable[[Fraction, int], tuple[bool, bool]]
"""Of so many items at a load: whether one of them is certainly lost, and whether one may be."""


class Device(NamedTuple):
    """A device, and what it loses."""

    changes: dict[str, str]
    answer: Answer


def queued(service_s: Fraction, room: int, late_s: Fraction = Fraction(0)) -> Answer:
    """Return what is lost of items that are served in turn, while some may wait.

    When the last of `n` comes, after n - 1 intervals, all that were served before began one after
    the other; an item that begins makes room in the same instant.
    """

    def answer(load: Fraction, items: int) -> tuple[bool, bool]:
        served = [
            1 + int(((items - 1) / load - late) / service_s) for late in (Fraction(0), late_s)
        ]
        certain, possible = (items - 1 - count >= room for count in served)
        return load * service_s > 1 and certain, load * service_s > 1 and possible

    return answer


def processor(draw: np.random.Generator) -> Device:
    """Return one that takes some time for each packet."""
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
    return Device(changes, queued(1 / rate, room))


def line(draw: np.random.Generator) -> Device:
    """Return one whose line out is slower than that in; there is a cell's slot to wait for."""
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
    slot_s = Fraction(1, rate)
    return Device(changes, queued(slot_s, room, slot_s + SLOT_S))


def policer(draw: np.random.Generator) -> Device:
    """Return one that polices a contract with some tolerance: GCRA(1 / rate, tolerance)."""
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
    tolerance_s = Fraction(tolerance_us, 10**6)

    def answer(load: Fraction, items: int) -> tuple[bool, bool]:
        early_s = (items - 1) * (Fraction(1, rate) - 1 / load)
        return early_s > tolerance_s + SLOT_S, early_s > tolerance_s - SLOT_S

    return Device(changes, answer)


@pytest.mark.parametrize(
    "number",
    [
        *range(TRACED),
        *(pytest.param(i, marks=pytest.mark.untraced) for i in range(TRACED, DEVICES)),
    ],
)
@pytest.mark.parametrize("kind", [processor, line, policer])
def test_the_answer_is_inside_the_interval_of_ndr(planned, problems, kind, number) -> None:
    draw = np.random.default_rng(number)
    device = kind(draw)
    method = ("mlrsearch", "binary")[number % 2]
    width = Fraction(int(draw.integers(1, 50)), 1_000)
    changes = {**device.changes, "METHOD": method, "WIDTH": f"{float(width * 100):g}%"}
    text = TEXT
    for name, value in changes.items():
        text = text.replace(name, value)
    plans = planned(text)
    assert not problems.errors
    (plan,) = plans
    document = run_alone(plan, Bounds(), lambda: None)
    (search,) = document["phases"]
    (goal,) = search["goals"]
    for trial in search["trials"]:
        certain, possible = device.answer(Fraction(trial["load"]["value"]), trial["sent"])
        assert certain <= (trial["lost"] > 0) <= possible, trial
    lower, upper = (Fraction(goal[end]["value"]) for end in ("lower", "upper"))
    lost = {Fraction(trial["load"]["value"]): trial["lost"] for trial in search["trials"]}
    assert lost[lower] == 0 < lost[upper]
    assert 0 < upper - lower <= width * upper
    assert (goal["regular"], goal["complete"]) == (True, True)
    assert document["verdict"] == "measured"
