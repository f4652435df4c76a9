"""The ring: three switches in a circle, one slot from each to the next, against the same in C.

The cells of each host enter at its switch, at random, and leave at the second one after it. All
lines keep the same slots, so cells often arrive in the same picosecond: inputs are then served in
order. 600,000 items and hops per second.
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
from qospec.elements.vc_switch import VcSwitch
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.contract import Contract
from qospec.engine.source.sizes import CELLS
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.streams import number_flow
from qospec.traffic.poisson import Poisson

if TYPE_CHECKING:
    from figures import Figure

SWITCHES = 3
HOPS = 7
"""Of a cell: its host's line, three switches, and the queues behind them."""
CELL_RATE = Fraction(600_000, SWITCHES * HOPS)
LIMIT = 64
FLOWS = tuple(f"from[{n}]" for n in range(SWITCHES))
LINE = Line(Fraction(149_760_000))


def experiment(duration_ms: int) -> Experiment:
    """Return the trial: of each switch four nodes, its host's line, itself, and two queues."""
    limit, clock = Buffer(LIMIT, "cell"), LINE.build_clock(stamps=False)
    nodes: list[Node] = []
    wires: list[Wire] = []
    sources: list[Source] = []
    for n, name in enumerate(FLOWS):
        # Output 0 leads to the host, where the flow of the switch after the next one ends.
        outputs = np.array([[flow != (n + 1) % SWITCHES] for flow in range(SWITCHES)], np.uint8)
        host, switch, exit_, onward = range(4 * n, 4 * n + 4)
        nodes += [
            Node(f"host[{n}]", LINE, LINE.build_clock(stamps=True), size_bytes=CELL_BYTES),
            Node(f"switch[{n}]", VcSwitch(2), outputs=outputs, columns=(0,)),
            Node(f"exit[{n}]", Fifo(limit), clock),
            Node(f"onward[{n}]", Fifo(limit), clock),
        ]
        wires += [Wire(host, 0, switch, 0), Wire(switch, 0, exit_), Wire(switch, 1, onward)]
        wires += [Wire(exit_, 0, END), Wire(onward, 0, (switch + 4) % (4 * SWITCHES), 1)]
        sources.append(Source(name, Poisson(CELL_RATE), n, 1, "random", CELLS, 0, host))
    return Experiment(
        (Contract("cbr", CELL_RATE, 0),) * SWITCHES,
        number_flow(SWITCHES),
        tuple(sources),
        tuple(nodes),
        tuple(wires),
        MeasurementSpec(0, duration_ms * 10**9, tuple(range(SWITCHES))),
        ("ring",),
    )


NETWORK = event_loops.Network("ring", experiment, FLOWS, CELL_RATE, CELL_BYTES, LINE, LIMIT)


def measure(duration_ms: int) -> list[Figure]:
    """Return all figures of a trial of that length."""
    return event_loops.measure(NETWORK, __file__, duration_ms)


if __name__ == "__main__":
    emulation.run(experiment(round(1_000 * float(sys.argv[1]))))
    print(figures.largest_mib())
