"""Active queue management and gates against a queue that drops at its tail, in both drivers.

Poisson packets come at 105 % of a line, so that each has a queue to manage. Batches are what a
trial uses where nothing loops: of CoDel and FQ-CoDel, which have no loop over batches, events.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

import figures
import numpy as np
from figures import Figure

from qospec.catalogue.kinds import Buffer
from qospec.dropping.red import Red
from qospec.elements.codel import Codel
from qospec.elements.credit import Credit
from qospec.elements.dualpi2 import Dualpi2
from qospec.elements.fifo import Fifo
from qospec.elements.fq_codel import FqCodel
from qospec.elements.gates import Gates
from qospec.elements.line import Line
from qospec.elements.pie import Pie
from qospec.engine.element import Element, Setting
from qospec.engine.event.process import EventProcess, build_process
from qospec.engine.items.batch import FOREVER_PS, Batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.queue.drop_policy import Waiting
from qospec.engine.random import Draws
from qospec.protocol.streams import number_flow

if TYPE_CHECKING:
    from collections.abc import Callable

    from qospec.engine.element import Process

PACKETS = 2**18
TINY = {"PACKETS": 512}
FLOWS = 16
PACKET_BYTES = 962
"""With 38 of Ethernet 1,000 bytes, or 80 us of a line of 100 Mbit/s."""
GAP_PS = 80_000_000 * 100 / 105
LINE = Line(Fraction(10**8), carries="packet", preamble=8, header=18, min_frame=64, gap=12)
LIMIT = Buffer(1_000, "packet")
EARLY = Red(Buffer(20, "packet"), Buffer(120, "packet"), Fraction(1, 10))
ELEMENTS: dict[str, Element] = {
    "fifo": Fifo(LIMIT),
    "red": Fifo(LIMIT, EARLY),
    "pie": Pie(LIMIT),
    "codel": Codel(LIMIT),
    "fq_codel": FqCodel(LIMIT),
    "dualpi2": Dualpi2(LIMIT),
    "credit": Credit(Fraction(95 * 10**6)),
    "gates": Gates((("on", (95 * 10**7,)), ("off", (5 * 10**7,)))),
}
DRIVERS: dict[str, Callable[[Element, Setting], Process]] = {
    "batches": build_process,
    "events": lambda element, setting: EventProcess(element, setting).process,
}


def arrivals() -> Batch:
    """Return the packets, of which each flow has the same share."""
    draws = np.random.default_rng(0)
    at_ps = np.cumsum(draws.exponential(GAP_PS, PACKETS)).astype(np.int64)
    return build_batch(
        at_ps=at_ps,
        sent_ps=at_ps.copy(),
        connection=draws.integers(0, FLOWS, PACKETS).astype(np.int32),
        size_bytes=np.full(PACKETS, PACKET_BYTES, np.int32),
        marks=np.zeros(PACKETS, np.uint32),
    )


def carry(name: str, driver: str, packets: Batch) -> int:
    """Carry all packets through an element; return how many left."""
    element = ELEMENTS[name]
    setting = Setting(
        (Contract("packets", Fraction(10_000), 0),) * FLOWS,
        number_flow(FLOWS),
        Draws(("aqm", name)),
        LINE.build_clock(stamps=False),
        tuple(Waiting(each, LIMIT) for each in element.inputs),
    )
    process = DRIVERS[driver](element, setting)
    nothing = packets.select_range(0, 0)
    coming = (packets._replace(at_ps=packets.at_ps.copy()), *[nothing] * (len(element.inputs) - 1))
    (left,) = process(coming, FOREVER_PS).departures
    return int(left.count)


def measure() -> list[Figure]:
    """Return what a packet takes in each, beside one of a `fifo` in the same driver."""
    packets, found = arrivals(), []
    for driver in DRIVERS:
        runs = [functools.partial(carry, name, driver, packets) for name in ELEMENTS]
        plain, *seconds = figures.medians(*runs)
        for name, each in zip([*ELEMENTS][1:], seconds, strict=True):
            found.append(
                Figure(
                    f"aqm.{name}.{driver}",
                    each / PACKETS * 1e9,
                    "ns/packet",
                    plain / PACKETS * 1e9,
                    "fifo",
                    plain / each,
                    "ratio >= 0.5",
                )
            )
    return found
