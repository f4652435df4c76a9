"""Echo: a window of 64 packets to a server that answers each, alone and a thousand at once, in C.

A round trip takes 100 us and passes two queues. Draft: our side follows with the element `echo`;
until then this prints what the loop in C reaches.
"""

from __future__ import annotations

import ctypes
import tempfile
from fractions import Fraction
from pathlib import Path

import figures
import numpy as np
from event_loops import LINE, LineInC
from figures import Figure
from w1 import struct

from qospec.elements.line import Line
from qospec.engine.line import transmission
from qospec.units import PS_PER_S

WINDOW = 64
PACKET_BYTES = 1_000
ROUND_TRIP_PS = 100 * 10**6
BIT_RATE = Fraction(10**10)
"""For each client: its window keeps the line busy for half of the round trip."""
TIMEOUT_PS = 10**9
CLIENTS = (1, 1_000)
DURATION_MS = {1: 1_000, 1_000: 10}
LIMIT = 4_000
LEAST_SPEED = 5
COUNTS = ("sent", "answered", "lost", "again", "late")

Echo = struct(
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
        fields = transmission.line_of(line(clients).clock(stamps=False))
        values = {name: int(fields[getattr(transmission, name)]) for name in LINE}
        self._line, self._limit = LineInC(**values, free_ps=0, part=0), limit
        self.counts: dict[str, np.ndarray] = {}

    def run(self) -> None:
        """Run the trial from the beginning."""
        self.counts = {name: np.zeros(self._clients, np.int64) for name in COUNTS}
        self.counts["round_trip_ps"] = np.zeros((self._clients, 2), np.int64)
        trial = Echo(
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


def measure() -> list[Figure]:
    """Return what C reaches, alone and with a thousand clients."""
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled("echo", Path(folder))
        if library is None:
            return []
        peers = [InC(library, clients, DURATION_MS[clients]) for clients in CLIENTS]
        seconds = figures.medians(*(peer.run for peer in peers))
    speeds = [
        peer.totals()["answered"] / cpu_s / 1e6 for peer, cpu_s in zip(peers, seconds, strict=True)
    ]
    return [
        Figure(f"echo.{clients}", speed, "M packets/s", target=f">= {LEAST_SPEED} M packets/s")
        for clients, speed in zip(CLIENTS, speeds, strict=True)
    ]


if __name__ == "__main__":
    print(*measure(), sep="\n")
