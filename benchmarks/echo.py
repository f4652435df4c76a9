"""Echo: a window of 64 packets to a server that answers each, alone and a thousand at once, in C.

A round trip takes 100 us and passes two queues. A packet is a request or an answer.
"""

from __future__ import annotations

import ctypes
import tempfile
from fractions import Fraction
from pathlib import Path

import figures
import numpy as np
from event_loops import LARGEST_RATIO, LINE, LineInC
from figures import Figure, MismatchError
from w1 import struct

from qospec.catalogue.kinds import Buffer, SizeMix
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.engine.endpoint.traffic import Exchange
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.line import transmission
from qospec.protocol.streams import number_flow
from qospec.traffic.echo import Echo
from qospec.units import PS_PER_S

WINDOW = 64
PACKET_BYTES = 1_000
ROUND_TRIP_PS = 100 * 10**6
BIT_RATE = Fraction(10**10)
"""For each client: its window keeps the line busy for half of the round trip."""
TIMEOUT_PS = 10**9
CLIENTS = (1, 1_000)
DURATION_MS = {1: 1_000, 1_000: 10}
TINY = {"DURATION_MS": {1: 10, 1_000: 1}}
LIMIT = 4_000
LEAST_SPEED = 5
COUNTS = ("sent", "answered", "lost", "again", "late")

EchoInC = struct(
    *("clients", "stop_ps", "size", "timeout_ps", "limit", "every_ps", "line"),
    *(*COUNTS, "round_trip_ps"),
)


def line(clients: int) -> Line:
    """Return the line of requests, and of answers: a packet takes half of the round trip."""
    framing = {"carries": "packet", "preamble": 8, "header": 18, "min_frame": 64, "gap": 12}
    near = Line(BIT_RATE * clients, **framing)
    on_the_line_ps = (PACKET_BYTES + 26) * 8 * PS_PER_S / near.rate
    return Line(
        near.rate,
        length=Fraction(round(ROUND_TRIP_PS / 2 - on_the_line_ps)),
        delay_per_length=Fraction(1),
        **framing,
    )


class InC:
    """The trial in C, and its counts."""

    def __init__(
        self, library: ctypes.CDLL, clients: int, duration_ms: int, limit: int = LIMIT
    ) -> None:
        """Take the number of clients; everything else is done in C."""
        self._run, self._clients, self._duration_ms = library.echo, clients, duration_ms
        fields = transmission.build_line(line(clients).build_clock(stamps=False))
        values = {name: int(fields[getattr(transmission, name)]) for name in LINE}
        self._line, self._limit = LineInC(**values, free_ps=0, part=0), limit
        self.counts: dict[str, np.ndarray] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        self.counts = {name: np.zeros(self._clients, np.int64) for name in COUNTS}
        self.counts["round_trip_ps"] = np.zeros((self._clients, 2), np.int64)
        trial = EchoInC(
            clients=self._clients,
            stop_ps=self._duration_ms * PS_PER_S // 1_000,
            size=PACKET_BYTES,
            timeout_ps=TIMEOUT_PS,
            limit=self._limit,
            every_ps=ROUND_TRIP_PS // self._clients,
            line=ctypes.addressof(self._line),
            **self.counts,
        )
        self._run(ctypes.byref(trial))

    def totals(self) -> dict[str, int]:
        """Return all counts, and the sum of round trips in ps."""
        wide = self.counts["round_trip_ps"].view(np.uint64).astype(object)
        flat = {name: int(self.counts[name].sum()) for name in COUNTS}
        return {**flat, "round_trip_ps": int((wide[:, 0] + (wide[:, 1] << 64)).sum())}


def experiment(clients: int, duration_ms: int) -> Experiment:
    """Return the same trial: a queue with its line there, the server, a queue back, the clients."""
    traffic = Echo(
        size=SizeMix(((PACKET_BYTES, 1),), "ip"),
        window=WINDOW,
        timeout=TIMEOUT_PS,
        connections=clients,
        spread=ROUND_TRIP_PS,
    )
    clock, limit = line(clients).build_clock(stamps=True), Buffer(LIMIT, "packet")
    sent = traffic.describe_exchange(clock, clock)
    ends = traffic.build_endpoints(Exchange(clients, 0, clients, 2 * clients, sent))
    nodes = (
        Node("there", Fifo(limit), clock, size_bytes=PACKET_BYTES),
        Node("server", ends.server),
        Node("back", Fifo(limit), clock, size_bytes=PACKET_BYTES),
        Node("clients", ends.client),
    )
    wires = [Wire(node, 0, (node + 1) % 4) for node in range(4)]
    wires += [Wire(node, output, END) for node, output in ((1, 1), (3, 1), (3, 2))]
    sources = tuple(
        Source(name, loop, first, clients, "even", sent.sizes, 0, node, 0, sent.encapsulation)
        for name, loop, first, node in (
            ("requests", sent.loop, 0, 0),
            ("answers", sent.loop, clients, 2),
        )
    )
    rows = tuple(np.repeat(range(3), clients).tolist())
    return Experiment(
        (sent.contract,) * 3 * clients,
        number_flow(clients, is_answered=True),
        sources,
        nodes,
        tuple(wires),
        MeasurementSpec(0, duration_ms * PS_PER_S // 1_000, rows),
        ("echo",),
    )


class Ours:
    """The trial of the engine, and its counts."""

    def __init__(self, clients: int, duration_ms: int) -> None:
        """Take the number of clients, and run the beginning once, to compile."""
        self._experiment, self._clients = experiment(clients, duration_ms), clients
        emulation.run(experiment(clients, 1))
        self.totals: dict[str, int] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        seen = emulation.run(self._experiment)
        delays = seen.pool(2 * self._clients, 3 * self._clients).delays
        sent = seen.ledger.sum_items("there").came
        ended = sum(seen.ledger.lost.values())
        self.totals = {"sent": sent, "answered": delays.count, "lost": ended}
        self.totals |= {"again": sent - delays.count, "late": 0, "round_trip_ps": delays.sum_ps}


def measure() -> list[Figure]:
    """Return how many packets/s the engine and C reach, alone and with a thousand clients."""
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled("echo", Path(folder))
        if library is None:
            return []
        found = []
        for clients in CLIENTS:
            peer = InC(library, clients, DURATION_MS[clients])
            ours = Ours(clients, DURATION_MS[clients])
            seconds, in_c = figures.medians(ours.run, peer.run)
            if ours.totals != peer.totals():
                raise MismatchError(f"echo.{clients}: {ours.totals}, in C {peer.totals()}")
            found.append((2 * ours.totals["answered"] / seconds / 1e6, in_c / seconds))
    (alone, _), (together, _) = found
    return [
        *(
            Figure(
                f"echo.{clients}",
                speed,
                "M packets/s",
                peer=speed / share,
                peer_name="C",
                ratio=share,
                target=f">= {LEAST_SPEED} M packets/s" if clients == 1 else "",
            )
            for clients, (speed, share) in zip(CLIENTS, found, strict=True)
        ),
        Figure("echo.slower", alone / together, "times", target=f"<= {LARGEST_RATIO} times"),
    ]


if __name__ == "__main__":
    print(*measure(), sep="\n")
