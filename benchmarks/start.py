"""CPU time of the small commands, with a warm disk cache: whole processes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import figures

if TYPE_CHECKING:
    from figures import Figure

SUITE = "testcases/suites/eantc"
MOST_S = {
    "start.version": 0.05,
    "start.check": 0.25,
    "start.suite": 0.3,
    "start.run": 0.6,
    "start.report": 0.3,
}
"""The most CPU seconds of each command: of a trifle `check`, `run` and `report`."""
REPEATS = 7
TINY = {"REPEATS": 1}
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


def measure() -> list[Figure]:
    """Return the time of each command, beside a Python that imports what it needs most."""
    version = {"start.version": [*figures.command(), "--version"]}
    with tempfile.TemporaryDirectory() as folder:
        others = _list_commands_on_a_trifle(Path(folder))
        others["start.suite"] = [*figures.command(), "check", SUITE]
        return [
            *figures.compare_processes(version, "click", MOST_S, REPEATS),
            *figures.compare_processes(others, "numba", MOST_S, REPEATS),
        ]


def _list_commands_on_a_trifle(folder: Path) -> dict[str, list[str]]:
    """Return the commands that check and run a specification, and make its report again."""
    path = folder / "trifle.qos"
    path.write_text(TRIFLE, encoding="utf-8")
    run = [*figures.command(), "run", str(path), "--again", "--record", str(folder / "records")]
    figures.children(run)
    (record,) = (folder / "records").iterdir()
    report = [*figures.command(), "report", str(record), "-o", str(folder / "report.html")]
    check = [*figures.command(), "check", str(path)]
    return {"start.check": check, "start.run": run, "start.report": report}
