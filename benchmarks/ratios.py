"""Compare the speed beside peers with what is recorded: python benchmarks/ratios.py [--record].

A ratio depends less on the machine than a time, yet a single run may be off by several percent: a
process keeps the memory layout that it began with, and what else the machine does changes. So each
benchmark runs in several fresh processes, one after the other in rounds, and the median ratio
counts. Each of these is itself a median of turns of ours and the peer's. On another kind of
processor or with another compiler ratios differ: record them anew there.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
RECORDED = HERE / "ratios.json"
NAMES = (
    "w1",
    "frames",
    "w2",
    "w3",
    "w4",
    "both_ways",
    "ring",
    "echo",
    "calls",
    "capture",
    "aqm",
    "estimate",
    "start",
    "language",
    "language_server",
)
"""The benchmarks whose peer does the same work in C; that of `frames` are the same cells alone,
that of `aqm` is a `fifo`, that of `language_server` is `tokenize`, that of `calls`, `capture`,
`start` and `language` a Python that imports click or Numba, and that of `estimate` is the factor
that is promised."""
ROUNDS = 5
MOST_FALL = 0.1
"""The part of a recorded ratio that may be missing. Medians of five processes differ by less."""


def measure(rounds: int) -> dict[str, float]:
    """Return the median ratio to the peer of each figure.

    Raises:
        subprocess.CalledProcessError: A benchmark failed, or its results differ from the peer's.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    for _ in range(rounds):
        for name in NAMES:
            command = [sys.executable, str(HERE / "run.py"), name, "--json", "--no-memory"]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            for figure in json.loads(done.stdout)["figures"]:
                if figure["ratio"] is not None:
                    ratios[figure["name"]].append(figure["ratio"])
    return {name: statistics.median(each) for name, each in ratios.items()}


def find_falls(recorded: dict[str, float], measured: dict[str, float]) -> list[str]:
    """Return the names of ratios that fell by too much, were not measured, or are not recorded.

    One that is not recorded is compared with nothing, so that no fall of it would be noticed.
    """
    fallen = [
        name
        for name, ratio in recorded.items()
        if measured.get(name, 0.0) < (1 - MOST_FALL) * ratio
    ]
    return [*fallen, *(name for name in measured if name not in recorded)]


def main() -> int:
    """Print all ratios, measured and recorded; return 1 if one fell, or is missing in either."""
    parser = argparse.ArgumentParser(description="Compare ratios to peers with those recorded.")
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.name} instead")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, metavar="N", help=f"default: {ROUNDS}"
    )
    asked = parser.parse_args()
    measured = measure(asked.rounds)
    if asked.record:
        rounded = {name: round(ratio, 3) for name, ratio in measured.items()}
        RECORDED.write_text(json.dumps(rounded, indent=2) + "\n", encoding="utf-8")
    recorded: dict[str, float] = json.loads(RECORDED.read_text(encoding="utf-8"))
    falls = find_falls(recorded, measured)
    for name in sorted({*recorded, *measured}):
        ours, before = measured.get(name), recorded.get(name)
        texts = ["missing" if each is None else f"{each:.3f}" for each in (ours, before)]
        why = f"fell by more than {MOST_FALL:.0%}" if name in recorded else "run `make ratios`"
        fell = f"   {why}" if name in falls else ""
        print(f"{name:<20} {texts[0]:>8}   recorded {texts[1]}{fell}")
    return 1 if falls else 0


if __name__ == "__main__":
    sys.exit(main())
