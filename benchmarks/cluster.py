"""How much two workers of a Dask cluster gain, beside two runs that know nothing of each other.

Cases of about half a second each, so that it shows what it costs to hand them out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure

CASES, MEASURE = 40, "30 s"
WARMS = True
"""Whether it is run once before, so that kernels are compiled and workers have loaded them."""
TINY = {"CASES": 2, "MEASURE": "10 ms", "WARMS": False}
SPECIFICATION = """qos 1
import std.media
topology wire {{
  a, b = host
  link a -- b via media.gigabit_ethernet
}}
test t on wire {{
  sweep number in 1 .. {cases}
  flow f = packets {{ rate = 300_000 pkt/s, size = 200 B @ip, gaps = poisson }} from a to b
  run {{ measure = {measure} + number * 1 us }}
  report f.delay.mean
}}
"""
QOS = (sys.executable, "-m", "qospec")


def measure() -> list[Figure]:
    """Return the wall time of a run on two workers, beside two runs of half of it at once."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "t.qos").write_text(SPECIFICATION.format(cases=CASES, measure=MEASURE))
        if WARMS:
            _time(root, [["--part", "1/2"]])
        command = [*QOS, "cluster", "-n", "2", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as cluster:
            assert cluster.stdout is not None
            try:
                address = cluster.stdout.readline().split()[-1]
                if WARMS:
                    _time(root, [["--on", address]])
                spread_s = _time(root, [["--on", address]])
            finally:
                cluster.kill()
        apart_s = _time(root, [["--part", "1/2"], ["--part", "2/2"]])
    ratio = apart_s / spread_s
    target = "ratio >= 0.9"
    return [Figure("cluster", spread_s, "s", apart_s, "two runs at once", ratio, target)]


def _time(root: Path, options: list[list[str]]) -> float:
    """Return how long runs with these options take together, at once, in s."""
    began_s = time.monotonic()
    runs = [
        subprocess.Popen(
            [*QOS, "run", "t.qos", "--again", "--no-progress", "--quiet", *words],
            cwd=root,
            stdout=subprocess.DEVNULL,
        )
        for words in options
    ]
    for run in runs:
        if run.wait():
            raise RuntimeError(f"a run ended with {run.returncode}")
    return time.monotonic() - began_s
