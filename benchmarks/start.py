"""How long the small commands take, from a warm disk: wall time of whole processes."""

from __future__ import annotations

import statistics
import sys

import figures
from figures import REPEATS, Figure

SUITE = "testcases/suites/eantc"
COMMANDS = {"start.version": (["--version"], 0.1), "start.check": (["check", SUITE], 0.3)}
BARE = [sys.executable, "-c", "pass"]
"""The peer: what no Python program can undercut."""


def measure() -> list[Figure]:
    """Return the median wall time of each command, and of a Python that does nothing."""
    commands = {name: [*figures.command(), *words] for name, (words, _) in COMMANDS.items()}
    walls: dict[str, list[float]] = {name: [] for name in (*commands, "bare")}
    for _ in range(REPEATS + 1):
        for name, command in (*commands.items(), ("bare", BARE)):
            walls[name].append(figures.children(command)[0])
    wall_s = {name: statistics.median(times[1:]) for name, times in walls.items()}
    bare = wall_s["bare"]
    return [
        Figure(name, wall_s[name], "s", bare, "bare Python", bare / wall_s[name], f"<= {most} s")
        for name, (_, most) in COMMANDS.items()
    ]
