"""W1: 4,000 CBR flows through seven FIFO hops, with full statistics, against the same work in C.

A hop is a line with an unlimited queue, as in C; `w1.fifo` has a queue of 10,000 cells before each
line, which checks for each cell whether there is room.

The flows arrive over the tester's line, which is four times as fast as the hops and stamps each
cell; so they queue at the first hop, at 99.9 % load. One histogram, as for a flow of 4,000 VCs.
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
from fractions import Fraction
from math import ceil
from pathlib import Path

import figures
import numpy as np
from figures import Figure, MismatchError

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items import delay_row
from qospec.engine.items.contract import Contract
from qospec.engine.measure import delays
from qospec.engine.measure.observation import Observation
from qospec.engine.random import Draws
from qospec.engine.source.sizes import CELLS
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.streams import number_flow
from qospec.traffic.constant import Constant

FLOWS = 4_000
CELL_RATE = Fraction(352_720)
LINE_RATE = Fraction(149_760_000)
TESTER_RATE = 4 * LINE_RATE
HOPS = 7
SECONDS = 20
TINY = {"SECONDS": 1}
PS_PER_S = 10**12
SEED = ("w1",)
LARGEST_MIB = 300
PLACES = 10_000
"""The limit of a queue, which is never reached."""
C_CHUNK = 32_768
"""Cells per window in C, at its fastest."""


def experiment(seconds: int, *, queues: bool = False) -> Experiment:
    """Return W1 over this many simulated seconds."""
    arrivals = Constant(CELL_RATE / FLOWS)
    tester, line = (Line(rate, slotted=False) for rate in (TESTER_RATE, LINE_RATE))
    hop = Fifo(limit=Buffer(PLACES, "cell")) if queues else line
    nodes = (
        Node("tester", tester, tester.build_clock(stamps=True), size_bytes=CELL_BYTES),
        *(
            Node(f"hop[{n}]", hop, line.build_clock(stamps=False), size_bytes=CELL_BYTES)
            for n in range(HOPS)
        ),
    )
    return Experiment(
        (Contract("cbr", CELL_RATE / FLOWS, 0),) * FLOWS,
        number_flow(FLOWS),
        (Source("flows", arrivals, 0, FLOWS, "random", CELLS, 0, 0),),
        nodes,
        tuple(Wire(n, 0, n + 1 if n < HOPS else END) for n in range(HOPS + 1)),
        MeasurementSpec(0, seconds * PS_PER_S, (0,) * FLOWS),
        SEED,
    )


class Pointers(ctypes.Structure):
    """A C struct whose fields are all 64 bits wide: numbers, and arrays by address."""

    def __init__(self, **fields: int | np.ndarray) -> None:
        """Fill all fields; arrays are kept alive."""
        super().__init__()
        self.kept = fields
        for name, value in fields.items():
            setattr(self, name, value.ctypes.data if isinstance(value, np.ndarray) else value)


def struct(*names: str) -> type[Pointers]:
    """Return a class for a C struct with these fields, in order."""
    return type("Struct", (Pointers,), {"_fields_": [(name, ctypes.c_int64) for name in names]})


Flows = struct("count", "phase_ps", "connection", "period_ps", "period_part", "denominator")
Trial = struct(
    "connections", "stop_ps", "window_ps", "capacity", "hops", "planned", "sent", "rows", "buckets"
)


class InC:
    """The same trial in C, and its counts."""

    def __init__(self, library: ctypes.CDLL, seconds: int) -> None:
        """Take the phases of the flows from the engine's source; everything else is done in C."""
        self._run = library.w1
        draws = Draws(SEED).derive("flow", "flows")
        arrivals = Constant(CELL_RATE / FLOWS)
        period_ps = PS_PER_S / arrivals.rate
        # One cell of each flow; "random" phases are whole picoseconds.
        first = arrivals.emit(arrivals.start(FLOWS, "random", draws), ceil(period_ps))
        self._flows = Flows(
            count=FLOWS,
            phase_ps=first[0][:FLOWS].copy(),
            connection=first[1][:FLOWS].copy(),
            period_ps=period_ps.numerator // period_ps.denominator,
            period_part=period_ps.numerator % period_ps.denominator,
            denominator=period_ps.denominator,
        )
        self._seconds = seconds
        self.planned = self.sent = self.rows = self.buckets = np.zeros(0, np.int64)

    def run(self) -> None:
        """Run the trial from the beginning."""
        self.planned, self.sent = np.zeros(FLOWS, np.int64), np.zeros(FLOWS, np.int64)
        self.rows = np.zeros((FLOWS, 8), np.int64)
        self.rows[:, 1], self.rows[:, 2] = delay_row.NO_DELAY_PS, -1
        self.buckets = np.zeros(delays.ROW_BUCKETS, np.int64)
        trial = Trial(
            connections=FLOWS,
            stop_ps=self._seconds * PS_PER_S,
            window_ps=int(C_CHUNK * PS_PER_S / CELL_RATE),
            capacity=C_CHUNK + FLOWS,
            hops=HOPS,
            planned=self.planned,
            sent=self.sent,
            rows=self.rows,
            buckets=self.buckets,
        )
        tester, lines = line_of(TESTER_RATE), np.concatenate([line_of(LINE_RATE)] * HOPS)
        addresses = (ctypes.c_void_p(array.ctypes.data) for array in (tester, lines))
        self._run(ctypes.byref(self._flows), *addresses, ctypes.byref(trial))

    def totals(self) -> list[list[int]]:
        """Return per VC: planned, sent, received, least, largest, sum and sum of squares."""
        wide = self.rows.view(np.uint64)
        sums = [wide[:, n].astype(object) + (wide[:, n + 1].astype(object) << 64) for n in (4, 6)]
        return [list(map(int, c)) for c in (self.planned, self.sent, *self.rows.T[:3], *sums)]


def line_of(rate: Fraction) -> np.ndarray:
    """Return a line as C has it."""
    cell_ps = 53 * 8 * PS_PER_S / rate
    whole_ps, rest = divmod(cell_ps, 1)
    denominator = cell_ps.denominator
    return np.array([whole_ps, int(rest * denominator), denominator, 0, 0], np.int64)


def totals(seen: Observation) -> list[list[int]]:
    """Return the same totals from the engine's observation."""
    rows = seen.delays.astype(object)
    sums = [
        rows[:, low] + (rows[:, low + 1] << bits)
        for low, bits in (
            (delay_row.SUM_LOW, delay_row.SUM_BITS),
            (delay_row.SQUARES_LOW, delay_row.SQUARES_BITS),
        )
    ]
    columns = (seen.delays[:, n] for n in (delay_row.COUNT, delay_row.LEAST, delay_row.LARGEST))
    return [list(map(int, column)) for column in (seen.planned, seen.sent, *columns, *sums)]


def check(seen: Observation, peer: InC) -> None:
    """Raise if the two differ in any count."""
    if totals(seen) != peer.totals():
        raise MismatchError("w1: counts or delays")
    buckets = np.zeros_like(peer.buckets)
    stop = seen.first_bucket + seen.histogram.shape[1]
    buckets[seen.first_bucket : stop] = seen.histogram[0]
    if not np.array_equal(buckets, peer.buckets):
        raise MismatchError("w1: histograms")


def speed() -> list[Figure]:
    """Measure 20 simulated seconds, ours and C's in turns."""
    ours, queued = experiment(SECONDS), experiment(SECONDS, queues=True)
    seen = emulation.run(ours)
    hops = int(seen.received.sum()) * HOPS / 1e6
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled("w1", Path(folder))
        if library is None:
            seconds, behind = figures.medians(
                lambda: emulation.run(ours), lambda: emulation.run(queued)
            )
            return [
                Figure("w1.speed", hops / seconds, "M cell-hops/s"),
                Figure("w1.fifo", hops / behind, "M cell-hops/s"),
            ]
        peer = InC(library, SECONDS)
        peer.run()
        check(seen, peer)
        check(emulation.run(queued), peer)
        seconds, behind, peers = figures.medians(
            lambda: emulation.run(ours), lambda: emulation.run(queued), peer.run
        )
    ratio, target = peers / seconds, "ratio >= 0.95"
    in_c, unit = hops / peers, "M cell-hops/s"
    return [
        Figure("w1.speed", hops / seconds, unit, in_c, "C", ratio, target),
        Figure("w1.time", seconds, "s of CPU", peers, "C", ratio),
        Figure("w1.fifo", hops / behind, unit, in_c, "C without limits", peers / behind),
    ]


def measure() -> list[Figure]:
    """Return all figures of W1."""
    return speed() + figures.memory("w1", __file__, LARGEST_MIB)


if __name__ == "__main__":
    emulation.run(experiment(int(sys.argv[1])))
    print(figures.largest_mib())
