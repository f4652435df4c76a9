"""What the benchmarks of cyclic networks share: Poisson flows, and a peer in C that walks events.

The peer draws with NumPy's own functions, from generators of the same seeds, and counts the same.
"""

from __future__ import annotations

import ctypes
import importlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import figures
import numpy as np
import w1
from figures import Figure, MismatchError
from w1 import struct

from qospec.engine.graph import emulation
from qospec.engine.items import delay_row
from qospec.engine.line import transmission
from qospec.engine.measure import delays
from qospec.engine.random import Draws
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from qospec.elements.line import Line
    from qospec.engine.experiment import Experiment
    from qospec.engine.measure.observation import Observation

LARGEST_RATIO = 3
"""The most CPU per item and hop, as a multiple of that of the loop in C."""
MOST_CPU_S = 0.2
"""Per emulated second."""
LARGEST_MIB = 300
REPEATS = 11
TINY = {"REPEATS": 1}

LINE = (
    *("BYTE", "BYTE_PART", "DENOMINATOR", "SLOT", "SLOT_PART", "SLOTTED"),
    *("HEADER", "LEAST", "EXTRA", "LEAD", "PROPAGATION"),
)
LineInC = struct(*LINE, "free_ps", "part")
Trial = struct(
    *("stop_ps", "size", "limit", "service_ps", "exponentials", "line"),
    *("planned", "sent", "lost", "carried", "rows", "buckets", "row_buckets"),
)


@dataclass(frozen=True)
class Network:
    """A cyclic network with one Poisson flow from each host, as both sides need it.

    Attributes:
        name: The benchmark, the file in C and the function in it.
        experiment: Returns the trial of so many milliseconds.
        flows: The names of the flows.
        rate: Items/s of each.
        size_bytes: Of each item.
        line: All lines, also those of the hosts.
        limit: Of each queue, in items.
        service_ps: The time of a processor per packet, if there is one.
    """

    name: str
    experiment: Callable[[int], Experiment]
    flows: tuple[str, ...]
    rate: Fraction
    size_bytes: int
    line: Line
    limit: int
    service_ps: int = 0


class InC:
    """The same trial in C, and its counts."""

    def __init__(self, library: ctypes.CDLL, network: Network, duration_ms: int) -> None:
        """Take the network and the seeds; everything else is done in C."""
        self._run = getattr(library, network.name)
        self._network, self._duration_ms = network, duration_ms
        drawing = ctypes.CDLL(str(importlib.import_module("numpy.random._generator").__file__))
        fill = drawing.random_standard_exponential_fill
        self._exponentials = ctypes.cast(fill, ctypes.c_void_p).value
        fields = transmission.build_line(network.line.build_clock(stamps=False))
        values = {name: int(fields[getattr(transmission, name)]) for name in LINE}
        self._line = LineInC(**values, free_ps=0, part=0)
        self.counts: dict[str, np.ndarray] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        network, flows = self._network, len(self._network.flows)
        rows = np.zeros((flows, 8), np.int64)
        rows[:, 1], rows[:, 2] = delay_row.NO_DELAY_PS, -1
        flat = {name: np.zeros(flows, np.int64) for name in ("planned", "sent", "lost", "carried")}
        buckets = np.zeros((flows, delays.ROW_BUCKETS), np.int64)
        self.counts = {**flat, "rows": rows, "buckets": buckets}
        trial = Trial(
            stop_ps=self._duration_ms * PS_PER_S // 1_000,
            size=network.size_bytes,
            limit=network.limit,
            service_ps=network.service_ps,
            exponentials=self._exponentials,
            line=ctypes.addressof(self._line),
            row_buckets=delays.ROW_BUCKETS,
            **self.counts,
        )
        generators = [
            Draws((network.name,)).derive("flow", name, "gaps").open_stream().bit_generator
            for name in network.flows
        ]
        pointers = (ctypes.c_void_p * flows)(*(g.ctypes.bit_generator.value for g in generators))
        gaps_ps = (ctypes.c_double * flows)(*[float(PS_PER_S / network.rate)] * flows)
        self._run(pointers, gaps_ps, ctypes.byref(trial))

    def totals(self) -> list[list[int]]:
        """Return per flow the same as `totals`."""
        rows = self.counts["rows"]
        wide = rows.view(np.uint64)
        sums = [wide[:, n].astype(object) + (wide[:, n + 1].astype(object) << 64) for n in (4, 6)]
        flat = [self.counts[name] for name in ("lost", "carried", "planned", "sent")]
        return [list(map(int, column)) for column in (*flat, *rows.T[:3], *sums)]


def totals(seen: Observation) -> list[list[int]]:
    """Return per flow: items lost and carried, then planned, sent, and their delays."""
    lost = sum(seen.losses.values(), np.zeros_like(seen.sent))
    return [lost.tolist(), seen.carried.tolist(), *w1.totals(seen)]


def check(name: str, seen: Observation, peer: InC) -> None:
    """Raise if the two differ in any count."""
    if totals(seen) != peer.totals():
        raise MismatchError(f"{name}: counts or delays: {totals(seen)} and {peer.totals()}")
    buckets = np.zeros_like(peer.counts["buckets"])
    buckets[:, seen.first_bucket : seen.first_bucket + seen.histogram.shape[1]] = seen.histogram
    if not np.array_equal(buckets, peer.counts["buckets"]):
        raise MismatchError(f"{name}: histograms")


def measure(network: Network, script: str, duration_ms: int) -> list[Figure]:
    """Return all figures; the script's memory is that of trials 10 and 60 times as long."""
    # Below, a trial is shorter than one window of the sources, so it needs less memory.
    seconds = (duration_ms / 100, duration_ms * 6 / 100)
    found = speed(network, duration_ms)
    return found + figures.memory(network.name, script, LARGEST_MIB, seconds)


def speed(network: Network, duration_ms: int) -> list[Figure]:
    """Measure a trial of that length, ours and C's in turns."""
    name, ours = network.name, network.experiment(duration_ms)
    seen = emulation.run(ours)
    hops = seen.cell_hops
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled(name, Path(folder))
        if library is None:
            (seconds,) = figures.medians(lambda: emulation.run(ours), repeats=REPEATS)
            return [_per_second(name, seconds, duration_ms)]
        peer = InC(library, network, duration_ms)
        peer.run()
        check(name, seen, peer)
        seconds, peers = figures.medians(lambda: emulation.run(ours), peer.run, repeats=REPEATS)
    hop_ns, its_ns = 1e9 * seconds / hops, 1e9 * peers / hops
    target = f"ratio >= 1/{LARGEST_RATIO}"
    return [
        Figure(f"{name}.hop", hop_ns, "ns per item and hop", its_ns, "C", peers / seconds, target),
        _per_second(name, seconds, duration_ms),
    ]


def _per_second(name: str, seconds: float, duration_ms: int) -> Figure:
    cpu_s = 1_000 * seconds / duration_ms
    return Figure(f"{name}.cpu", cpu_s, "s of CPU per second", target=f"<= {MOST_CPU_S} s")
