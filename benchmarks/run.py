"""Run benchmarks by name: python benchmarks/run.py NAME... [--json].

A figure with a peer is compared with it in the same run, so that a busy or slow machine affects
both. The peers in C are compiled on the spot and must give the same results, bit for bit.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import sys
from typing import TYPE_CHECKING

from figures import MismatchError

if TYPE_CHECKING:
    from figures import Figure

LOOPS = ("both_ways", "ring")
"""Cyclic networks, whose emulated time can be chosen."""
NAMES = (
    "w1",
    "w2",
    "w3",
    *LOOPS,
    "echo",
    "start",
    "language",
    "data_plane",
    "report_scale",
    "search",
    "crypto",
    "fuzz",
)


def line(figure: Figure) -> str:
    """Return a figure as a line of text."""
    text = f"{figure.name:<18} {figure.value:>10.3f} {figure.unit}"
    if figure.peer is not None:
        text += f"   {figure.peer_name} {figure.peer:.3f}"
    if figure.ratio is not None:
        text += f"   ratio {figure.ratio:.2f}"
    return text + (f"   (target: {figure.target})" if figure.target else "")


def main() -> int:
    """Run the named benchmarks; return 1 if results differ from the peer's."""
    parser = argparse.ArgumentParser(description="Measure the engine against peers in one run.")
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--milliseconds",
        type=int,
        default=1_000,
        metavar="N",
        help=f"emulated time of {' and '.join(LOOPS)} (default: 1000)",
    )
    asked = parser.parse_args()
    figures: list[Figure] = []
    for name in asked.names:
        try:
            module = importlib.import_module(name)
            found = module.measure(asked.milliseconds) if name in LOOPS else module.measure()
        except MismatchError as error:
            print(f"MISMATCH {error}")
            return 1
        figures += found
        if not asked.json:
            print(*map(line, found), sep="\n", flush=True)
    if asked.json:
        print(json.dumps({"figures": [dataclasses.asdict(f) for f in figures]}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
