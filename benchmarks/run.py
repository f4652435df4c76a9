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

import figures
from figures import MismatchError

if TYPE_CHECKING:
    from types import ModuleType

    from figures import Figure

LOOPS = ("both_ways", "ring")
"""Cyclic networks, whose emulated time can be chosen."""
NAMES = (
    "w1",
    "frames",
    "w2",
    "w3",
    "w4",
    *LOOPS,
    "echo",
    "start",
    "language",
    "language_server",
    "data_plane",
    "calls",
    "capture",
    "aqm",
    "cluster",
    "report_scale",
    "estimate",
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


def make_tiny(module: ModuleType) -> None:
    """Give a benchmark, and what it shares with others, the constants of its table `TINY`."""
    for each in (figures, sys.modules.get("event_loops"), module):
        for name, value in getattr(each, "TINY", {}).items():
            setattr(each, name, value)


def measure(name: str, milliseconds: int | None, *, tiny: bool) -> list[Figure]:
    """Return the figures of one benchmark; raises MismatchError."""
    module = importlib.import_module(name)
    if tiny:
        make_tiny(module)
    if name in LOOPS:
        found: list[Figure] = module.measure(milliseconds or (10 if tiny else 1_000))
        return found
    return list(module.measure())


def main() -> int:
    """Run the named benchmarks; return 1 if results differ from the peer's."""
    parser = argparse.ArgumentParser(description="Measure the engine against peers in one run.")
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--milliseconds",
        type=int,
        metavar="N",
        help=f"emulated time of {' and '.join(LOOPS)} (default: 1000)",
    )
    parser.add_argument(
        "--tiny", action="store_true", help="do little, once, as tests do: figures mean nothing"
    )
    parser.add_argument("--no-memory", action="store_true", help="measure only the speed")
    asked = parser.parse_args()
    figures.SHOWS_MEMORY = not asked.no_memory
    all_figures: list[dict[str, object]] = []
    for name in asked.names:
        try:
            found = measure(name, asked.milliseconds, tiny=asked.tiny)
        except MismatchError as error:
            print(f"MISMATCH {error}")
            return 1
        all_figures += [{"benchmark": name, **dataclasses.asdict(figure)} for figure in found]
        if not asked.json:
            print(*map(line, found), sep="\n", flush=True)
    if asked.json:
        print(json.dumps({"figures": all_figures}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
