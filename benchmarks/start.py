"""Time of the small commands, with a warm disk cache: whole processes."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import figures
from figures import Figure

SUITE = "testcases/suites/eantc"
COMMANDS = {"start.version": (["--version"], 0.1), "start.check": (["check", SUITE], 0.3)}
CPU = {"start.run": 0.6, "start.report": 0.3}
"""The most CPU seconds of a trivial run, and of making its report again."""
TRIFLE = """qos 1
import std.media
topology wire {
  a, b = host
  link a -- b via media.stm1
}
test trifle on wire {
  flow steady = cbr { pcr = 10_000 cell/s, cdvt = 1 ms } from a to b
  run { measure = 10 ms }
  expect steady.lost == 0
}
"""
BARE = [sys.executable, "-c", "pass"]
"""The peer: a Python program that does nothing."""
NUMBA = [sys.executable, "-c", "import numba"]
"""The peer of a run: a program that only imports the compiler."""


def measure() -> list[Figure]:
    """Return the time of each command, beside a Python that does nothing or imports Numba."""
    commands = {name: [*figures.command(), *words] for name, (words, _) in COMMANDS.items()}
    with tempfile.TemporaryDirectory() as folder:
        walls, cpus = _taken(
            {**commands, **_of_a_trifle(Path(folder)), "bare": BARE, "numba": NUMBA}
        )
    bare, numba = walls["bare"], cpus["numba"]
    return [
        *(
            Figure(name, walls[name], "s", bare, "bare Python", bare / walls[name], f"<= {most} s")
            for name, (_, most) in COMMANDS.items()
        ),
        *(
            Figure(
                name, cpus[name], "s CPU", numba, "import numba", numba / cpus[name], f"<= {most} s"
            )
            for name, most in CPU.items()
        ),
    ]


def _of_a_trifle(folder: Path) -> dict[str, list[str]]:
    """Return the commands that run a specification in a folder, and make its report again."""
    path = folder / "trifle.qos"
    path.write_text(TRIFLE, encoding="utf-8")
    run = [*figures.command(), "run", str(path), "--record", str(folder / "records")]
    figures.children(run)
    (record,) = (folder / "records").iterdir()
    report = [*figures.command(), "report", str(record), "-o", str(folder / "report.html")]
    return {"start.run": run, "start.report": report}


def _taken(commands: dict[str, list[str]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median wall and CPU seconds of commands that take turns."""
    walls: dict[str, list[float]] = {name: [] for name in commands}
    cpus: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(figures.REPEATS + 1):
        for name, command in commands.items():
            wall_s, cpu_s = figures.children(command)
            walls[name].append(wall_s)
            cpus[name].append(cpu_s)
    return (
        {name: statistics.median(times[1:]) for name, times in walls.items()},
        {name: statistics.median(times[1:]) for name, times in cpus.items()},
    )
