"""W2: Poisson packets through a classifier, three queues and two schedulers, against the same in C.

The simple Imix (7:4:1 of 40, 576 and 1,500 bytes) arrives over a gigabit line and leaves by one of
100 Mbit/s, at loads of 95 % and 120 %. Urgent packets go first; deficit round robin shares the rest
3 : 1. Generation and statistics of each flow are included.

C draws with NumPy's own functions, from generators of the same seeds.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import figures
import numpy as np
from figures import Figure, MismatchError
from w1 import Pointers, struct

from qospec.catalogue.kinds import Buffer
from qospec.elements.classify import Classify
from qospec.elements.drr import Drr
from qospec.elements.line import Line
from qospec.elements.strict import Strict
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items import delay_row
from qospec.engine.items.contract import Contract
from qospec.engine.line import transmission
from qospec.engine.measure import delays
from qospec.engine.measure.observation import Observation
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.engine.scheduler.combined import Combined
from qospec.engine.source.sizes import Sizes
from qospec.protocol.marks import set_marks
from qospec.protocol.streams import number_flow
from qospec.traffic.poisson import Poisson
from qospec.units import PS_PER_S

IMIX = Sizes((40, 576, 1_500), (7, 4, 1))
CLASSES = ("ef", "af", "be")
MARKS = tuple(set_marks(dscp=code) for code in (46, 10, 0))
SHARES = (Fraction(4, 19), Fraction(9, 19), Fraction(6, 19))
"""Shares of the load, such that the round robin has losses at 120 %."""
LIMITS = (64, 256, 256)
"""Packets."""
QUANTUM = 1_500
LOADS = {"95": Fraction(95, 100), "120": Fraction(120, 100)}
SECONDS = 60
TINY = {"SECONDS": 1}
SEED = ("w2",)
LARGEST_MIB = 300
LEAST_SPEED = 10
DURATIONS_S = (20, 60, 120)
"""Whose memory is compared; a shorter trial is within one window of the sources, and needs less."""
C_PACKETS = 16_384
"""Packets per window in C, at its fastest."""
UDP_BYTES = 8


def ethernet(rate: int) -> Line:
    """Return a line that frames packets."""
    return Line(Fraction(rate), carries="packet", preamble=8, header=18, min_frame=64, gap=12)


FIRST, LAST = ethernet(10**9), ethernet(10**8)


def rates(load: Fraction) -> list[Fraction]:
    """Return packets/s of each flow."""
    encapsulation = LAST.build_clock(stamps=False).encapsulation
    assert encapsulation is not None
    mean = IMIX.compute_mean(encapsulation.count_line_bytes)
    return [load * share * LAST.rate / 8 / mean for share in SHARES]


def experiment(seconds: int, load: Fraction) -> Experiment:
    """Return W2 over this many simulated seconds."""
    fair = Drr((("af", Fraction(3)), ("be", Fraction(1))), quantum=QUANTUM)
    top = Combined(Strict(("ef", "rest")), (None, fair))
    columns = tuple(sorted(MARKS))
    ways = np.full((len(CLASSES), len(columns)), 255, np.uint8)
    for number, marks in enumerate(MARKS):
        ways[number, columns.index(marks)] = number
    queues = tuple(Waiting(n, Buffer(k, "cell")) for n, k in zip(CLASSES, LIMITS, strict=True))
    nodes = (
        Node("tester", FIRST, FIRST.build_clock(stamps=True)),
        Node("classes", Classify(CLASSES), outputs=ways, columns=columns),
        Node("top", top, LAST.build_clock(stamps=False), queues),
    )
    each = rates(load)
    sources = tuple(
        Source(
            name,
            Poisson(rate),
            n,
            1,
            "random",
            IMIX,
            MARKS[n],
            0,
            0,
            FIRST.build_clock(stamps=False).encapsulation,
            UDP_BYTES,
        )
        for n, (name, rate) in enumerate(zip(CLASSES, each, strict=True))
    )
    return Experiment(
        tuple(Contract("packets", rate, 0) for rate in each),
        number_flow(len(each)),
        sources,
        nodes,
        (Wire(0, 0, 1), *(Wire(1, n, 2, n) for n in range(len(CLASSES))), Wire(2, 0, END)),
        MeasurementSpec(0, seconds * PS_PER_S, tuple(range(len(each)))),
        SEED,
    )


SourceInC = struct("gaps", "sizes", "gap_ps", "marks", "size_of", "numbers", "last_ps")
LINE = ("BYTE", "BYTE_PART", "DENOMINATOR", "HEADER", "LEAST", "EXTRA", "LEAD", "PROPAGATION")
LineInC = struct(*LINE, "free_ps", "part")
Trial = struct(
    *("stop_ps", "window_ps", "capacity", "exponentials", "bounded", "class_of", "limits"),
    *("quanta", "planned", "sent", "lost", "carried", "rows", "buckets", "row_buckets"),
    *("sent_bytes", "carried_bytes"),
)


class InC:
    """The same trial in C, and its counts."""

    def __init__(self, library: ctypes.CDLL, seconds: int, load: Fraction) -> None:
        """Take the rates and the seeds; everything else is done in C."""
        self._run = library.w2
        self._seconds, self._rates = seconds, rates(load)
        drawing = ctypes.CDLL(str(importlib.import_module("numpy.random._generator").__file__))
        self._draw = [
            ctypes.cast(function, ctypes.c_void_p).value
            for function in (
                drawing.random_standard_exponential_fill,
                drawing.random_bounded_uint32_fill,
            )
        ]
        self._class_of = np.full(max(MARKS) + 1, len(CLASSES), np.uint8)
        self._class_of[list(MARKS)] = np.arange(len(MARKS))
        self._size_of = np.repeat(np.array(IMIX.size_bytes, np.int32), IMIX.weights)
        self.counts: dict[str, np.ndarray] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        flows = len(CLASSES)
        rows = np.zeros((flows, 8), np.int64)
        rows[:, 1], rows[:, 2] = delay_row.NO_DELAY_PS, -1
        flat = {name: np.zeros(flows, np.int64) for name in ("planned", "sent", "lost", "carried")}
        wide = {name: np.zeros((flows, 2), np.int64) for name in ("sent_bytes", "carried_bytes")}
        buckets = np.zeros((flows, delays.ROW_BUCKETS), np.int64)
        self.counts = {**flat, **wide, "rows": rows, "buckets": buckets}
        trial = Trial(
            stop_ps=self._seconds * PS_PER_S,
            window_ps=int(C_PACKETS * PS_PER_S / sum(self._rates)),
            capacity=3 * C_PACKETS,
            exponentials=self._draw[0],
            bounded=self._draw[1],
            class_of=self._class_of,
            limits=np.array(LIMITS),
            quanta=np.array([3 * QUANTUM, QUANTUM]),
            row_buckets=delays.ROW_BUCKETS,
            **self.counts,
        )
        generators = [[self._generator(name, of) for of in ("gaps", "sizes")] for name in CLASSES]
        sources = (SourceInC * flows)(
            *(
                SourceInC(
                    gaps=gaps.ctypes.bit_generator.value,
                    sizes=sizes.ctypes.bit_generator.value,
                    gap_ps=int(np.float64(PS_PER_S / self._rates[n]).view(np.int64)),
                    marks=MARKS[n],
                    size_of=self._size_of,
                    numbers=len(self._size_of),
                    last_ps=0,
                )
                for n, (gaps, sizes) in enumerate(generators)
            )
        )
        lines = [line_in_c(line) for line in (FIRST, LAST)]
        self._run(sources, *map(ctypes.byref, lines), ctypes.byref(trial))

    @staticmethod
    def _generator(flow: str, of: str) -> Any:
        return Draws(SEED).derive("flow", flow, of).open_stream().bit_generator

    def totals(self) -> list[list[int]]:
        """Return per flow the same as `totals`."""
        rows = self.counts["rows"]
        wide = rows.view(np.uint64)
        sums = [wide[:, n].astype(object) + (wide[:, n + 1].astype(object) << 64) for n in (4, 6)]
        names = ("planned", "sent", "lost", "carried")
        flat = [self.counts[name] for name in names]
        volumes = [c for name in ("sent_bytes", "carried_bytes") for c in self.counts[name].T]
        return [list(map(int, column)) for column in (*flat, *volumes, *rows.T[:3], *sums)]


def line_in_c(line: Line) -> Pointers:
    """Return a line as C has it."""
    fields = transmission.build_line(line.build_clock(stamps=False))
    return LineInC(
        **{name: int(fields[getattr(transmission, name)]) for name in LINE}, free_ps=0, part=0
    )


def totals(seen: Observation) -> list[list[int]]:
    """Return per flow: packets planned, sent, lost and carried; bytes; delays."""
    rows = seen.delays.astype(object)
    sums = [
        rows[:, low] + (rows[:, low + 1] << bits)
        for low, bits in (
            (delay_row.SUM_LOW, delay_row.SUM_BITS),
            (delay_row.SQUARES_LOW, delay_row.SQUARES_BITS),
        )
    ]
    lost = sum(seen.losses.values(), np.zeros_like(seen.sent))
    flat = (seen.planned, seen.sent, lost, seen.carried)
    volumes = (*seen.volumes.sent_bytes.T, *seen.volumes.carried_bytes.T)
    columns = (seen.delays[:, n] for n in (delay_row.COUNT, delay_row.LEAST, delay_row.LARGEST))
    return [list(map(int, column)) for column in (*flat, *volumes, *columns, *sums)]


def check(seen: Observation, peer: InC) -> None:
    """Raise if the two differ in any count."""
    if totals(seen) != peer.totals():
        raise MismatchError("w2: counts, bytes or delays")
    buckets = np.zeros_like(peer.counts["buckets"])
    buckets[:, seen.first_bucket : seen.first_bucket + seen.histogram.shape[1]] = seen.histogram
    if not np.array_equal(buckets, peer.counts["buckets"]):
        raise MismatchError("w2: histograms")


def speed(name: str, library: ctypes.CDLL | None) -> Figure:
    """Measure a minute at one load, ours and C's in turns."""
    ours = experiment(SECONDS, LOADS[name])
    seen = emulation.run(ours)
    packets = int(seen.planned.sum()) / 1e6
    target = f">= {LEAST_SPEED} M packets/s and ratio >= 0.75"
    if library is None:
        (seconds,) = figures.medians(lambda: emulation.run(ours))
        return Figure(f"w2.speed.{name}", packets / seconds, "M packets/s", target=target)
    peer = InC(library, SECONDS, LOADS[name])
    peer.run()
    check(seen, peer)
    seconds, peers = figures.medians(lambda: emulation.run(ours), peer.run)
    return Figure(
        f"w2.speed.{name}",
        packets / seconds,
        "M packets/s",
        packets / peers,
        "C",
        peers / seconds,
        target,
    )


def measure() -> list[Figure]:
    """Return all figures of W2."""
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled("w2", Path(folder))
        speeds = [speed(name, library) for name in LOADS]
    return speeds + figures.memory("w2", __file__, LARGEST_MIB, DURATIONS_S)


if __name__ == "__main__":
    emulation.run(experiment(int(sys.argv[1]), LOADS["120"]))
    print(figures.largest_mib())
