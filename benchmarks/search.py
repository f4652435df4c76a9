"""Searches for the throughput of seven frame sizes: their emulated time, CPU and wall time.

One router whose processor forwards 40,000 packets/s, and two gateways with traffic both ways, each
with one processor for both directions, which is a cycle.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from fractions import Fraction
from pathlib import Path

import figures
from figures import Figure

REPEATS = 3
SIZES = "[64 B, 128 B, 256 B, 512 B, 1024 B, 1280 B, 1518 B]"
"""Source: RFC 2544, 9.1."""
NDR = "goal ndr { loss = 0 }"
PDR = "goal pdr { loss = 0.5% }"
BISECTION = "trial = 1 s, total = 21 s, exceed = 50%, method = binary"
LONG_TRIALS = "trial = 10 s, total = 210 s"
"""Long enough that starting a second process does not count."""

ROUTER = """qos 1
import std.media
device router {
  port west, east: packet
  cpu = processor { per_packet = 25 us, limit = 64 pkt }
  west.rx -> cpu -> east.tx
  east.rx -> west.tx
}
topology bench {
  a, b = host
  dut = router
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}
"""
GATEWAYS = """qos 1
import std.media
device gateway {
  port west, east: packet
  cpu = processor { per_packet = 10 us, limit = 64 pkt, ports = 2 }
  west.rx -> cpu.entry[0]
  cpu.exit[0] -> east.tx
  east.rx -> cpu.entry[1]
  cpu.exit[1] -> west.tx
}
topology bench {
  a, b = host
  left, right = gateway
  link a -- left.west via media.fast_ethernet
  link left.east -- right.west via media.fast_ethernet
  link right.east -- b via media.fast_ethernet
}
"""
TEST = """
traffic sent(size: Data, load: Ratio) = packets {{
  size = size @frame, rate = load * 100 Mbit/s @line
}}
test throughput on bench {{
  sweep size in {sizes}
  search load in 1% .. 100% {{
    {goals}
  }}
  {flows}
  report ndr.load
}}
"""
ONE_WAY = "flow forth = sent(size = size, load = load) from a to b"
BOTH_WAYS = f"{ONE_WAY}\n  flow back = sent(size = size, load = load) from b to a"


def measure() -> list[Figure]:
    """Return what searches cost, beside those with fewer goals, by bisection, with more workers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ndr = Run(folder, ROUTER, ONE_WAY, NDR)
        both = Run(folder, ROUTER, ONE_WAY, f"{NDR}\n    {PDR}")
        bisection = Run(folder, ROUTER, ONE_WAY, f"{NDR}\n    {BISECTION}")
        gateways = Run(folder, GATEWAYS, BOTH_WAYS, NDR)
        return [
            Figure("search.ndr", ndr.cpu_s, "s CPU", target="<= 10 s"),
            Figure("search.ndr.gateways", gateways.cpu_s, "s CPU", target="<= 20 s"),
            _emulated("search.ndr_and_pdr", both, ndr, "NDR alone", ">= 0.77: 1 / 1.3"),
            _emulated("search.ndr", ndr, bisection, "bisection", ""),
            _emulated("search.ndr_and_pdr", both, bisection, "bisection for NDR", ""),
            _speed_up(Run(folder, GATEWAYS, BOTH_WAYS, f"{NDR}\n    {LONG_TRIALS}", repeats=1)),
        ]


class Run:
    """A specification that is run several times with one worker: its median times."""

    def __init__(
        self, folder: Path, topology: str, flows: str, goals: str, repeats: int = REPEATS
    ) -> None:
        self.path = folder / f"{len(list(folder.iterdir()))}.qos"
        self.path.write_text(topology + TEST.format(sizes=SIZES, flows=flows, goals=goals))
        self.again("-j", "1")  # compiles, and does not count
        taken = [self.again("-j", "1") for _ in range(repeats)]
        self.wall_s, self.cpu_s = map(statistics.median, zip(*taken, strict=True))
        self.emulated_s = self._emulated_s()

    def again(self, *options: str) -> tuple[float, float]:
        """Run it once more, and return the wall and CPU seconds."""
        records = str(self._records)
        command = [*figures.command(), "run", str(self.path), "--record", records, *options]
        return figures.children(command)

    @property
    def _records(self) -> Path:
        return self.path.with_suffix("")

    def _emulated_s(self) -> float:
        path = max(self._records.glob("*/outcome.json"))
        document = json.loads(path.read_text())
        found = [phase["emulated"] for case in document["cases"] for phase in case["phases"]]
        return float(sum(Fraction(each["value"]) for each in found))


def _emulated(name: str, run: Run, peer: Run, peer_name: str, target: str) -> Figure:
    name, value, unit = f"{name}.emulated", run.emulated_s, "s emulated"
    return Figure(name, value, unit, peer.emulated_s, peer_name, peer.emulated_s / value, target)


def _speed_up(run: Run) -> Figure:
    """Return the wall time with two workers, beside that with one; they take turns."""
    pairs = [(run.again("-j", "2")[0], run.again("-j", "1")[0]) for _ in range(REPEATS)]
    two_s, one_s = map(statistics.median, zip(*pairs, strict=True))
    return Figure("search.two_workers", two_s, "s", one_s, "one", one_s / two_s, ">= 1.7")
