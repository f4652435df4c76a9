"""The published data plane: four scenarios, both directions, 60 s each; CPU of the process."""

from __future__ import annotations

import statistics
import tempfile

import figures
from figures import Figure

SUITE = "testcases/suites/eantc/data_plane.qos"
MOST_S = 20
REPEATS = 5
OPTIONS: tuple[str, ...] = ()
TINY = {"REPEATS": 1, "OPTIONS": ("-k", "connections_at_random and scenario=1")}


def measure() -> list[Figure]:
    """Return the median CPU and wall seconds of a run with a warm cache."""
    walls, cpus = [], []
    with tempfile.TemporaryDirectory() as records:
        command = [*figures.command(), "run", SUITE, "--again", "--record", records, *OPTIONS]
        for turn in range(REPEATS + 1):
            ended = figures.children(command)
            if turn:
                walls.append(ended.wall_s)
                cpus.append(ended.cpu_s)
    return [
        Figure("data_plane.cpu", statistics.median(cpus), "s of CPU", target=f"<= {MOST_S} s"),
        Figure("data_plane.wall", statistics.median(walls), "s"),
    ]
