"""What all benchmarks share: a figure, a C library compiled on the spot, and fair repeats."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
ROOT = HERE.parent
REPEATS = 21
PROCESSES = 5
"""How many fresh processes show the memory that a duration needs."""
DURATIONS_S: tuple[float, ...] = (1, 10, 60)
SHOWS_MEMORY = True
TINY = {"REPEATS": 1, "PROCESSES": 1, "DURATIONS_S": (1,)}
"""What makes a benchmark tiny, so that a test can run it; others have such a table, too."""
FLAGS = ("-O3", "-ffp-contract=off", "-std=c11", "-shared", "-fPIC")


USERS = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a user, whose Python keeps bytecode and compiles the package once."""


class MismatchError(Exception):
    """Our results and the peer's are not the same, bit for bit."""


@dataclass(frozen=True)
class Figure:
    """One measured number.

    Attributes:
        name: What was measured.
        value: Ours.
        unit: Of both.
        peer: The other's, of the same run, if there is one.
        peer_name: Who the other is.
        ratio: How much better ours is: above 1, ours is; None without a peer.
        target: What the ratio, or without a peer the value, should at least or at most be.
    """

    name: str
    value: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    target: str = ""


def compiled(name: str, folder: Path) -> ctypes.CDLL | None:
    """Return that C file, compiled as a library in `folder`; None without a compiler."""
    compiler = shutil.which("gcc")
    if compiler is None:
        print("gcc is not here: only our own values are printed", file=sys.stderr)
        return None
    library = folder / f"{name}.so"
    source = str(HERE / f"{name}.c")
    subprocess.run([compiler, *FLAGS, source, "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def medians(*measured: Callable[[], object], repeats: int | None = None) -> list[float]:
    """Return the CPU seconds of each; they take turns, and the first of `REPEATS` does not count.

    Of the first it is the median, of another one that times the median of what it took beside the
    first in each turn: a machine that is shared changes its speed within seconds, and what ran
    in one turn met the same.
    """
    seconds: list[list[float]] = [[] for _ in measured]
    for turn in range((repeats or REPEATS) + 1):
        for times, run in zip(seconds, measured, strict=True):
            start = time.thread_time()
            run()
            if turn:
                times.append(time.thread_time() - start)
    first = statistics.median(seconds[0])
    beside = [zip(times, seconds[0], strict=True) for times in seconds]
    return [first * statistics.median(mine / its for mine, its in pairs) for pairs in beside]


def memory(
    name: str, script: str, limit_mib: int, durations_s: tuple[float, ...] = ()
) -> list[Figure]:
    """Return the largest memory of fresh processes that simulate so many seconds, or `DURATIONS_S`.

    The script takes the seconds, and prints what `largest_mib` returns at its end. Nothing is
    measured unless `SHOWS_MEMORY`.
    """
    if not SHOWS_MEMORY:
        return []
    durations_s = durations_s or DURATIONS_S
    peaks: dict[float, list[float]] = {seconds: [] for seconds in durations_s}
    for _ in range(PROCESSES):
        for seconds, mib in peaks.items():
            run = [sys.executable, script, f"{seconds:g}"]
            done = subprocess.run(run, capture_output=True, text=True, check=True)
            mib.append(float(done.stdout))
    largest = {seconds: statistics.median(mib) for seconds, mib in peaks.items()}
    target = f"<= {limit_mib} MiB, equal within 10 %"
    least_s = durations_s[0]
    peer, peer_name = largest[least_s], f"{least_s:g} s"
    return [
        Figure(f"{name}.memory.{seconds:g}s", mib, "MiB", peer, peer_name, peer / mib, target)
        for seconds, mib in largest.items()
    ]


def largest_mib() -> float:
    """Return the peak memory of this program; 0 if there is no `/proc`.

    Not `ru_maxrss`: that begins with what the process had which started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


PR_SET_CHILD_SUBREAPER = 36


class Ended(NamedTuple):
    """What a process took, its children included, and what it printed."""

    wall_s: float
    cpu_s: float
    printed: str


def children(command: list[str]) -> Ended:
    """Run a process and return the wall and the CPU seconds that it and its children took.

    Also of those that outlive it, as the server that workers are forked from, where there is Linux.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=USERS, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ended(wall_s, cpu_s, done.stdout)


def compare_processes(
    commands: dict[str, list[str]], module: str, most_s: dict[str, float], repeats: int
) -> list[Figure]:
    """Return the median CPU time of commands beside that of a Python that imports a module.

    They take turns, and the first of each does not count. A start is mostly imports, so the peer is
    slow or fast where the commands are. `most_s` has the target of some.
    """
    turns = {**commands, "": [sys.executable, "-c", f"import {module}"]}
    times_s: dict[str, list[float]] = {name: [] for name in turns}
    for turn in range(repeats + 1):
        for name, words in turns.items():
            times_s[name] += [children(words).cpu_s] if turn else []
    taken_s = {name: statistics.median(each) for name, each in times_s.items()}
    peer, peer_name = taken_s.pop(""), f"import {module}"
    targets = {name: f"<= {most_s[name]} s" for name in commands if name in most_s}
    return [
        Figure(name, each, "s CPU", peer, peer_name, peer / each, targets.get(name, ""))
        for name, each in taken_s.items()
    ]


def command() -> list[str]:
    """Return how `qos` is called in this environment."""
    return [str(Path(sys.executable).with_name("qos"))]
