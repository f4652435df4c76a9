"""Examples per second of `qos fuzz`, on warm kernels and one processor."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import figures
from figures import Figure

REPEATS = 3
EXAMPLES = 1_000

PROPERTY = """qos 1
property policed {
  forall rate: CellRate in 1 cell/s .. 353_207 cell/s
  forall tau: Time in 0 s .. 1 ms
  forall arrivals in cells(at_most = 100)
  expect conforms(police(arrivals, pcr = rate, cdvt = tau), pcr = rate, cdvt = tau)
}
"""


def measure() -> list[Figure]:
    """Return how many examples of a property over one element are run in a second of CPU time."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "policed.qos"
        path.write_text(PROPERTY)
        _examples(path, 100)  # compiles, and does not count
        rates = [_rate(path) for _ in range(REPEATS)]
    return [Figure("fuzz.property", statistics.median(rates), "examples/s", target=">= 300")]


def _rate(path: Path) -> float:
    """Return examples per second: of many, less the time that few take, which is the start."""
    few, few_s = _examples(path, 1)
    many, many_s = _examples(path, EXAMPLES)
    return (many - few) / (many_s - few_s)


def _examples(path: Path, examples: int) -> tuple[int, float]:
    """Return how many examples were run, and the CPU seconds."""
    options = ["--examples", str(examples), "--no-database", "--json"]
    command = [*figures.command(), "fuzz", str(path), *options]
    _, cpu_s = figures.children(command)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return sum(each["examples"] for each in json.loads(done.stdout)["targets"]), cpu_s
