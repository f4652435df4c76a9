"""Both ways: two routers whose processors serve both directions, against an event loop in C.

Each processor takes 5 us per packet, whichever way it goes, so the graph has a cycle. 50,000
packets/s of 200 bytes leave each host, at random, over Fast Ethernet: 95 % of a line, half of a
processor.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING

import event_loops
import figures
import numpy as np

from qospec.catalogue.kinds import Buffer
from qospec.elements.fifo import Fifo
from qospec.elements.line import Line
from qospec.elements.processor import Processor
from qospec.elements.router import Router
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.contract import Contract
from qospec.engine.source.sizes import Sizes
from qospec.protocol.streams import number_flow
from qospec.traffic.poisson import Poisson

if TYPE_CHECKING:
    from figures import Figure

PACKET_RATE = Fraction(50_000)
PACKET_BYTES = 200
SERVICE_PS = 5_000_000
LIMIT = 64
"""Packets, of each queue and of what waits for a processor."""
FLOWS = ("right", "left")
LINE = Line(Fraction(10**8), carries="packet", preamble=8, header=18, min_frame=64, gap=12)
STAMPED = LINE.build_clock(stamps=True)


def experiment(duration_ms: int) -> Experiment:
    """Return the trial: nodes 0 and 1 are the hosts' lines; each router has four, from 2 and 6."""
    limit = Buffer(LIMIT, "packet")
    clock = LINE.build_clock(stamps=False)
    nodes = [Node(f"host[{n}]", LINE, STAMPED, size_bytes=PACKET_BYTES) for n in range(2)]
    for name in ("a", "b"):
        nodes += [
            Node(f"{name}.cpu", Processor(SERVICE_PS, limit, ports=2)),
            Node(f"{name}.fabric", Router(2), outputs=np.array([[1], [0]], np.uint8), columns=(0,)),
            *(Node(f"{name}.out[{port}]", Fifo(limit), clock) for port in range(2)),
        ]
    inside = [
        wire
        for cpu in (2, 6)
        for port in range(2)
        for wire in (Wire(cpu, port, cpu + 1, port), Wire(cpu + 1, port, cpu + 2 + port))
    ]
    outside = [Wire(0, 0, 2, 0), Wire(4, 0, END), Wire(5, 0, 6, 0)]
    outside += [Wire(1, 0, 6, 1), Wire(9, 0, END), Wire(8, 0, 2, 1)]
    sources = tuple(
        Source(name, Poisson(PACKET_RATE), n, 1, "random", Sizes((PACKET_BYTES,)), 0, n)
        for n, name in enumerate(FLOWS)
    )
    return Experiment(
        (Contract("packets", PACKET_RATE, 0),) * len(FLOWS),
        number_flow(len(FLOWS)),
        sources,
        tuple(nodes),
        (*inside, *outside),
        MeasurementSpec(0, duration_ms * 10**9, (0, 1)),
        ("both_ways",),
    )


NETWORK = event_loops.Network(
    "both_ways", experiment, FLOWS, PACKET_RATE, PACKET_BYTES, LINE, LIMIT, SERVICE_PS
)


def measure(duration_ms: int) -> list[Figure]:
    """Return all figures of a trial of that length."""
    return event_loops.measure(NETWORK, __file__, duration_ms)


if __name__ == "__main__":
    emulation.run(experiment(round(1_000 * float(sys.argv[1]))))
    print(figures.largest_mib())
