"""W4: TCP at 155 Mbit/s with a round trip of 2 ms, alone and a thousand at once, beside C.

Segments have 9,140 bytes, windows 64 KiB. The path is a queue with its line each way, or, as
`w4.path`, also the line of a host before it. A thousand connections share a line a thousand times
as fast.
"""

from __future__ import annotations

import ctypes
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import figures
import numpy as np
from event_loops import LINE, LineInC
from figures import Figure, MismatchError
from w1 import struct

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.line import transmission
from qospec.protocol.streams import number_flow
from qospec.traffic.tcp import Tcp
from qospec.units import PS_PER_S

MSS = 9_140
BUFFER_BYTES = 65_536
INITIAL_SEGMENTS = 2
ROUND_TRIP_PS = 2 * 10**9
BIT_RATE, NEAR_RATE = 155 * 10**6, 10**9
"""For each connection: its window keeps the line busy. The line of a host is faster."""
QUEUE = 10_000
LEAST_RATIO, LEAST_OF_PATH, MOST_SLOWER = 0.5, 0.3, 2


class Case(NamedTuple):
    """So many connections on a path of so many lines each way, for some emulated time."""

    name: str
    connections: int
    hops: int
    duration_ms: int


CASES = (
    Case("w4.speed", 1, 1, 60_000),
    Case("w4.path", 1, 2, 60_000),
    Case("w4.1000", 1_000, 1, 100),
)
TINY = {"CASES": tuple(case._replace(duration_ms=20) for case in CASES)}
COUNTS = ("sent", "answers", "segments", "lost")

W4InC = struct(
    *("connections", "stop_ps", "mss", "limit", "initial", "every_ps", "patience_ps"),
    *("queue", "hops", "near", "line", *COUNTS, "delay_ps"),
)


def line(rate: int, delay_ps: int) -> Line:
    """Return a line of packets."""
    return Line(
        Fraction(rate),
        length=Fraction(delay_ps),
        delay_per_length=Fraction(1),
        carries="packet",
        header=8,
    )


def lines(case: Case) -> tuple[Line, Line]:
    """Return the line of a host, and the one between hosts."""
    n = case.connections
    return line(NEAR_RATE * n, 0), line(BIT_RATE * n, ROUND_TRIP_PS // 2)


def traffic(case: Case) -> Tcp:
    """Return the connections."""
    return Tcp(
        mss=MSS,
        send_buffer=BUFFER_BYTES,
        receive_buffer=BUFFER_BYTES,
        connections=case.connections,
        spread=ROUND_TRIP_PS,
    )


class InC:
    """The trial in C, and its counts."""

    def __init__(self, library: ctypes.CDLL, case: Case) -> None:
        """Take the case; everything else is done in C."""
        self._run, self._case = library.w4, case
        self._lines = []
        for each in lines(case):
            fields = transmission.build_line(each.build_clock(stamps=False))
            values = {name: int(fields[getattr(transmission, name)]) for name in LINE}
            self._lines.append(LineInC(**values, free_ps=0, part=0))
        self.counts: dict[str, np.ndarray] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        n = self._case.connections
        self.counts = {name: np.zeros(n, np.int64) for name in COUNTS}
        self.counts["delay_ps"] = np.zeros((n, 2), np.int64)
        near, between = map(ctypes.addressof, self._lines)
        trial = W4InC(
            connections=n,
            stop_ps=self._case.duration_ms * PS_PER_S // 1_000,
            mss=MSS,
            limit=BUFFER_BYTES,
            initial=INITIAL_SEGMENTS * MSS,
            every_ps=ROUND_TRIP_PS // n,
            patience_ps=PS_PER_S // 5,
            queue=QUEUE,
            hops=self._case.hops,
            near=near,
            line=between,
            **self.counts,
        )
        self._run(ctypes.byref(trial))

    def totals(self) -> dict[str, int]:
        """Return all counts, and the sum of the segments' delays in ps."""
        wide = self.counts["delay_ps"].view(np.uint64).astype(object)
        flat = {name: int(self.counts[name].sum()) for name in COUNTS}
        return {**flat, "delay_ps": int((wide[:, 0] + (wide[:, 1] << 64)).sum())}


def experiment(case: Case) -> Experiment:
    """Return the same trial: queues with their lines there and back, the server, the client."""
    near, between = (each.build_clock(stamps=True) for each in lines(case))
    n, tcp, limit = case.connections, traffic(case), Buffer(QUEUE, "packet")
    first = near if case.hops > 1 else between
    sent = tcp.describe_exchange(first, first)
    ends = tcp.build_endpoints(Exchange(n, 0, n, 2 * n, sent))
    later = lines(case)[1].build_clock(stamps=case.hops == 1)
    there, back = Node("there", Fifo(limit), later), Node("back", Fifo(limit), later)
    ways = ([there], [back])
    if case.hops > 1:
        ways[0].insert(0, Node("near", lines(case)[0], near))
        ways[1].insert(0, Node("far", lines(case)[0], near))
    nodes = (*ways[0], Node("server", ends.server), *ways[1], Node("client", ends.client))
    server, client = len(ways[0]), len(nodes) - 1
    wires = [Wire(node, 0, (node + 1) % len(nodes)) for node in range(len(nodes))]
    wires += [Wire(node, output, END) for node, output in ((server, 1), (client, 1), (client, 2))]
    sources = tuple(
        Source(name, each.loop, index, n, "even", each.sizes, 0, node, 0, each.encapsulation)
        for name, each, index, node in (
            ("segments", sent, 0, 0),
            ("acknowledgements", sent.answers, n, server + 1),
        )
    )
    rows = tuple(np.repeat(range(3), n).tolist())
    return Experiment(
        (sent.contract,) * 3 * n,
        number_flow(n, is_answered=True),
        sources,
        nodes,
        tuple(wires),
        MeasurementSpec(0, case.duration_ms * PS_PER_S // 1_000, rows),
        ("w4",),
    )


class Ours:
    """The trial of the engine, and its counts."""

    def __init__(self, case: Case) -> None:
        """Take the case, and run the beginning once, to compile."""
        self._experiment, self._case = experiment(case), case
        emulation.run(experiment(case._replace(duration_ms=1)))
        self.totals: dict[str, int] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        n, seen = self._case.connections, emulation.run(self._experiment)
        delays = seen.pool(2 * n, 3 * n).delays
        came = [seen.ledger.sum_items(name).came for name in ("there", "back")]
        lost = sum(seen.ledger.lost.values())
        self.totals = dict(zip(COUNTS, (*came, delays.count, lost), strict=True))
        self.totals["delay_ps"] = delays.sum_ps


def measure() -> list[Figure]:
    """Return how many segments/s the engine and C reach in each case."""
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled("w4", Path(folder))
        if library is None:
            return []
        found = []
        for case in CASES:
            peer, ours = InC(library, case), Ours(case)
            seconds, in_c = figures.medians(ours.run, peer.run)
            if ours.totals != peer.totals():
                raise MismatchError(f"{case.name}: {ours.totals}, in C {peer.totals()}")
            found.append((ours.totals["segments"] / seconds / 1e6, in_c / seconds))
    targets = (f">= {LEAST_RATIO} of C", f">= {LEAST_OF_PATH} of C", "")
    (alone, _), _, (together, _) = found
    return [
        *(
            Figure(
                case.name,
                speed,
                "M segments/s",
                peer=speed / share,
                peer_name="C",
                ratio=share,
                target=target,
            )
            for case, (speed, share), target in zip(CASES, found, targets, strict=True)
        ),
        Figure("w4.slower", alone / together, "times", target=f"<= {MOST_SLOWER} times"),
    ]


if __name__ == "__main__":
    print(*measure(), sep="\n")
