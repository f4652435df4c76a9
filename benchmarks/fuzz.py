"""Examples per second of `qos fuzz`, on warm kernels and one processor."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

import figures
from figures import Figure

REPEATS = 3
OF_AN_ELEMENT, OF_A_DEVICE = 1_000, 300
"""Examples."""
TINY = {"REPEATS": 1, "OF_AN_ELEMENT": 200, "OF_A_DEVICE": 60}

PROPERTY = """qos 1
property policed {
  forall rate: CellRate in 1 cell/s .. 353_207 cell/s
  forall tau: Time in 0 s .. 1 ms
  forall arrivals in cells(at_most = 100)
  expect conforms(police(arrivals, pcr = rate, cdvt = tau), pcr = rate, cdvt = tau)
}
"""


DEVICE = figures.ROOT / "stdlib" / "devices" / "generic.qos"


def measure() -> list[Figure]:
    """Return how many examples are run in a second of CPU time: of one element, of a device."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "policed.qos"
        path.write_text(PROPERTY)
        return [
            Figure(
                "fuzz.property",
                _median_rate(str(path), OF_AN_ELEMENT),
                "examples/s",
                target=">= 300",
            ),
            Figure(
                "fuzz.device",
                _median_rate(f"{DEVICE}::atm_switch", OF_A_DEVICE),
                "examples/s",
                target=">= 30",
            ),
        ]


def _median_rate(target: str, most: int) -> float:
    _examples(target, most)  # compiles, and does not count
    return statistics.median(_rate(target, most) for _ in range(REPEATS))


def _rate(target: str, most: int) -> float:
    """Return examples per second: of many, less the time that few take, which is the start."""
    few, few_s = _examples(target, 1)
    many, many_s = _examples(target, most)
    return (many - few) / (many_s - few_s)


def _examples(target: str, examples: int) -> tuple[int, float]:
    """Return how many examples were run, and the CPU seconds."""
    options = ["--examples", str(examples), "--no-database", "--json"]
    command = [*figures.command(), "fuzz", target, *options]
    ended = figures.children(command)
    targets = json.loads(ended.printed)["targets"]
    return sum(target["examples"] for target in targets), ended.cpu_s
