"""Searches for the throughput of seven frame sizes: their emulated time, CPU and wall time.

One router whose processor forwards 40,000 packets/s, and two gateways with traffic both ways, each
with one processor for both directions, which is a cycle. Then what a second goal costs on a hundred
drawn routers, and the tables of RFC 2544 of both with two workers. That of the router is the
shortest there is: start-up is a sixth of its time on one processor.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from subprocess import DEVNULL

import figures
from figures import Figure

REPEATS = 3
WARM = True
"""Whether each specification is run once more before, which compiles and does not count."""
SIZES = "[64 B, 128 B, 256 B, 512 B, 1024 B, 1280 B, 1518 B]"
"""Source: RFC 2544, 9.1."""
NDR = "goal ndr { loss = 0 }"
PDR = "goal pdr { loss = 0.5% }"
BISECTION = "trial = 1 s, total = 21 s, exceed = 50%, method = binary"
DRAWN = 100
TRIALS, PHASES = "", ""
"""Of the searches and of the tables: by default those of the RFCs."""
TINY = {
    "REPEATS": 1,
    "WARM": False,
    "DRAWN_PHASES": ("random",),
    "TABLES": ("gateways",),
    "SIZES": "[1518 B]",
    "DRAWN": 2,
    "TRIALS": "trial = 20 ms, total = 420 ms",
    "PHASES": ", sizes = [1518 B @frame], duration = 1 s, stream = 1 s",
}
EVEN, RANDOM = "even", "random"
"""The phases of flows: at random, all trials of a load are run, and else one stands for them."""
DRAWN_PHASES = (EVEN, RANDOM)
TABLES = ("router", "gateways")
LEAST = {EVEN: 4 / 3, RANDOM: 34 / 23}
"""What a search for NDR and PDR costs at a sharp knee, at least, as a multiple of one for NDR: the
first trial and two loads decide NDR, and PDR needs one load more. A load takes 11 of 21 trials to
decide, or one if nothing is drawn."""

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
TABLE = """
test table = rfc2544.benchmark(line = 100 Mbit/s @line{phases}) on bench {{
  {flows}
}}
"""
DRAWN_ROUTERS = """qos 1
import std.media
device router(each: Time, room: Packets) {{
  port west, east: packet
  cpu = processor {{ per_packet = each, limit = room }}
  west.rx -> cpu -> east.tx
  east.rx -> west.tx
}}
topology bench(each: Time, room: Packets) {{
  a, b = host
  dut = router(each = each, room = room)
  link a -- dut.west via media.fast_ethernet
  link dut.east -- b via media.fast_ethernet
}}
test throughput on bench(each = each, room = room) {{
  sweep (each, room) in [{rows}]
  search load in 1% .. 100% {{
    {goals}
    trial = 200 ms, total = 4.2 s
  }}
  flow f = packets {{ size = 64 B @frame, rate = load * 100 Mbit/s @line, phases = {phases} }}
    from a to b
  report ndr.load
}}
"""
PACKETS = "packets { size = size, rate = load }"
ONE_WAY = "flow forth = sent(size = size, load = load) from a to b"
BOTH_WAYS = f"{ONE_WAY}\n  flow back = sent(size = size, load = load) from b to a"
NETWORKS = {"router": (ROUTER, ONE_WAY, 3), "gateways": (GATEWAYS, BOTH_WAYS, 1)}
"""Of the tables: topology, flows, and how often each is run."""


def measure() -> list[Figure]:
    """Return what searches cost, beside those with fewer goals, by bisection, with more workers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ndr = Run(folder, _seven(ROUTER, ONE_WAY, f"{NDR}\n    {TRIALS}"))
        both = Run(folder, _seven(ROUTER, ONE_WAY, f"{NDR}\n    {PDR}\n    {TRIALS}"))
        bisection = Run(folder, _seven(ROUTER, ONE_WAY, f"{NDR}\n    {BISECTION}"))
        gateways = Run(folder, _seven(GATEWAYS, BOTH_WAYS, f"{NDR}\n    {TRIALS}"))
        return [
            Figure("search.ndr", ndr.cpu_s, "s CPU", target="<= 10 s"),
            Figure("search.ndr.gateways", gateways.cpu_s, "s CPU", target="<= 20 s"),
            _emulated("search.ndr_and_pdr", both, ndr, "NDR alone", ">= 0.77: 1 / 1.3"),
            _emulated("search.ndr", ndr, bisection, "bisection", ""),
            _emulated("search.ndr_and_pdr", both, bisection, "bisection for NDR", ""),
            *(figure for phases in DRAWN_PHASES for figure in _second_goals(folder, phases)),
            *(figure for network in TABLES for figure in _speed_up(folder, network)),
        ]


def _seven(topology: str, flows: str, goals: str) -> str:
    """Return a specification of a search for each of the seven sizes."""
    return topology + TEST.format(sizes=SIZES, flows=flows, goals=goals)


def _table(topology: str, flows: str) -> str:
    """Return a specification of the whole of RFC 2544."""
    topology = topology.replace("std.media", "std.media, std.procedures.rfc2544", 1)
    flows = flows.replace("sent(size = size, load = load)", PACKETS)
    return topology + TABLE.format(flows=flows, phases=PHASES)


class Run:
    """A specification that is run several times with one worker: its median times."""

    def __init__(self, folder: Path, text: str, repeats: int | None = None) -> None:
        self.path = folder / f"{len(list(folder.iterdir()))}.qos"
        self.path.write_text(text)
        if WARM:
            self.again("-j", "1")
        taken = [self.again("-j", "1") for _ in range(repeats or REPEATS)]
        self.wall_s, self.cpu_s = map(statistics.median, zip(*taken, strict=True))
        self.each_emulated_s = self._each_emulated_s()
        self.emulated_s = sum(self.each_emulated_s)

    def again(self, *options: str) -> tuple[float, float]:
        """Run it once more, and return the wall and CPU seconds."""
        ended = figures.children(self._command(*options))
        return ended.wall_s, ended.cpu_s

    def twice_at_once(self, *options: str) -> float:
        """Run it twice at the same time, and return the wall seconds until both have ended."""
        start = time.perf_counter()
        command = self._command(*options)
        runs = [subprocess.Popen(command, env=figures.USERS, stdout=DEVNULL) for _ in range(2)]
        for run in runs:
            run.wait()
        return time.perf_counter() - start

    def _command(self, *options: str) -> list[str]:
        records = str(self._records)
        return [*figures.command(), "run", str(self.path), "--again", "--record", records, *options]

    @property
    def _records(self) -> Path:
        return self.path.with_suffix("")

    def _each_emulated_s(self) -> list[float]:
        """Return how long all trials of each case last together."""
        path = max(self._records.glob("*/outcome.json"))
        document = json.loads(path.read_text())
        return [
            float(
                sum(
                    Fraction(phase["emulated"]["value"])
                    for phase in case["phases"]
                    if phase["kind"] == "search"
                )
            )
            for case in document["cases"]
        ]


def _emulated(name: str, run: Run, peer: Run, peer_name: str, target: str) -> Figure:
    name, value, unit = f"{name}.emulated", run.emulated_s, "s emulated"
    return Figure(name, value, unit, peer.emulated_s, peer_name, peer.emulated_s / value, target)


def _second_goals(folder: Path, phases: str) -> list[Figure]:
    """Return how many times as long a search lasts that looks for PDR too, on drawn routers."""
    draw = random.Random(1)  # noqa: S311 -- devices, with their seed
    times_us = draw.sample(range(7, 401), DRAWN)
    rows = ", ".join(f"({each} us, {draw.randint(1, 20)} pkt)" for each in times_us)
    ndr, both = (
        Run(folder, DRAWN_ROUTERS.format(rows=rows, phases=phases, goals=goals), repeats=1)
        for goals in (NDR, f"{NDR}\n    {PDR}")
    )
    times = sorted(b / n for n, b in zip(ndr.each_emulated_s, both.each_emulated_s, strict=True))
    shares = {"least": 0, "median": DRAWN // 2, "9 of 10": 9 * DRAWN // 10, "most": DRAWN - 1}
    return [
        Figure(
            f"search.ndr_and_pdr.{phases}.{name}",
            times[place],
            "times NDR alone",
            target=f"<= 1.3; at least {LEAST[phases]:.2f} at a sharp knee",
        )
        for name, place in shares.items()
    ]


def _speed_up(folder: Path, network: str) -> list[Figure]:
    """Return the wall time with two workers beside that with one, and the CPU; they take turns.

    The ratio of CPU is what part of two processors' time is not spent on having two. What two
    processors can give at all is seen in two runs at once that know nothing of each other.
    """
    topology, flows, repeats = NETWORKS[network]
    run = Run(folder, _table(topology, flows), repeats=1)
    two, one, alone = [], [], []
    for _ in range(min(repeats, REPEATS)):
        two.append(run.again("-j", "2"))
        one.append(run.again("-j", "1"))
        alone.append(run.twice_at_once("-j", "1"))
    (two_s, two_cpu_s), (one_s, one_cpu_s) = (
        map(statistics.median, zip(*each, strict=True)) for each in (two, one)
    )
    ratio, most = one_s / two_s, 2 * one_s / statistics.median(alone)
    name, target = f"search.{network}_table.two_workers", ">= 1.7 on two free processors"
    most_name, most_target = "two runs at once", ">= 0.9 of what two runs at once gain"
    cpu_ratio, cpu_target = one_cpu_s / two_cpu_s, ">= 0.85: 1.7 / 2"
    return [
        Figure(name, two_s, "s", one_s, "one", ratio, target),
        Figure(f"{name}.gain", ratio, "times", most, most_name, ratio / most, most_target),
        Figure(f"{name}.cpu", two_cpu_s, "s CPU", one_cpu_s, "one", cpu_ratio, cpu_target),
    ]
