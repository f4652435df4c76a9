"""Cells of frames against cells of constant bit rate, through the same seven FIFO hops as W1.

The cells of both come at the same rates: a frame's are spaced evenly, so that what differs is that
each notes its frame, and that frames are counted. Besides, packets are cut into cells of AAL5, and
put together again.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import starmap

import figures
import w1
from figures import Figure, MismatchError

from qospec.elements.aal_reassemble import AalReassemble
from qospec.elements.aal_segment import AalSegment
from qospec.engine.experiment import END, Experiment, MeasurementSpec, Node, Source, Wire
from qospec.engine.graph import emulation
from qospec.engine.items.contract import Contract
from qospec.engine.source.framing import Framing
from qospec.engine.source.sizes import Sizes
from qospec.protocol.streams import Stream, Streams, number_flow, number_streams
from qospec.traffic.burst import Burst
from qospec.traffic.constant import Constant

CELLS = 106
SECONDS = 20
PACKET_BYTES, CELLS_OF_PACKET = 9_180, 192
"""The largest of RFC 2225: with LLC/SNAP and trailer 9,196 bytes, so 192 cells of 48."""
PACKETS = 52_080
"""Of 10 million cells."""
CONNECTIONS = 10
TINY = {"SECONDS": 1, "PACKETS": 100}
LARGEST_MIB = 400


def experiment(seconds: int, *, framed: bool = True) -> Experiment:
    """Return W1 with bursts, whose cells form frames or do not."""
    plain = w1.experiment(seconds)
    rate = w1.CELL_RATE / w1.FLOWS
    every_ps = CELLS * w1.PS_PER_S / rate
    (source,) = plain.sources
    source = source._replace(arrivals=Burst(CELLS, every_ps, Fraction(rate)))
    if not framed:
        return plain._replace(sources=(source,))
    own = starmap(Stream, ((0, "user", w1.FLOWS), (0, "frames", w1.FLOWS)))
    rows = (0,) * w1.FLOWS + (1,) * w1.FLOWS
    return plain._replace(
        contracts=plain.contracts * 2,
        streams=Streams(("f",), tuple(number_streams(own))),
        sources=(source._replace(framing=Framing((CELLS,), w1.FLOWS)),),
        measurement=MeasurementSpec(0, seconds * w1.PS_PER_S, rows),
    )


def adaptation() -> Experiment:
    """Return packets of some connections that are cut into cells and put together, in a second."""
    rate = Fraction(PACKETS, CONNECTIONS)
    sizes = Sizes((PACKET_BYTES,), (1,))
    return Experiment(
        (Contract("packets", rate, 0),) * CONNECTIONS,
        number_flow(CONNECTIONS, ("cells",)),
        (Source("packets", Constant(rate), 0, CONNECTIONS, "even", sizes, 0, 0),),
        (Node("segment", AalSegment()), Node("reassemble", AalReassemble())),
        (Wire(0, 0, 1), Wire(1, 0, END)),
        MeasurementSpec(0, w1.PS_PER_S, (0,) * CONNECTIONS),
        ("aal",),
    )


def measure_adaptation() -> Figure:
    """Return the CPU time in which packets become 10 million cells, and packets again."""
    adapted = adaptation()
    seen = emulation.run(adapted)
    made = seen.ledger.sum_items("segment").made
    if (made, int(seen.received.sum())) != (PACKETS * (CELLS_OF_PACKET - 1), PACKETS):
        raise MismatchError("frames: packets in cells")
    (seconds,) = figures.medians(lambda: emulation.run(adapted))
    return Figure("frames.adaptation", seconds, "s of CPU", target="<= 0.5 s")


def check(seen: emulation.Observation, peer: emulation.Observation) -> None:
    """Raise if cells fare otherwise, or frames are not what becomes of the cells."""
    cells, frames = slice(0, w1.FLOWS), slice(w1.FLOWS, 2 * w1.FLOWS)
    if not (seen.received[cells] == peer.received).all():
        raise MismatchError("frames: counts of cells")
    if not (abs(seen.received[frames] - seen.received[cells] // CELLS) <= 1).all():
        raise MismatchError("frames: counts of frames")


def measure() -> list[Figure]:
    """Return what a cell-hop of a frame takes, beside one of a cell alone."""
    framed, plain = experiment(SECONDS), experiment(SECONDS, framed=False)
    seen = emulation.run(framed)
    check(seen, emulation.run(plain))
    seconds, peer = figures.medians(lambda: emulation.run(framed), lambda: emulation.run(plain))
    hops = int(seen.received[: w1.FLOWS].sum()) * w1.HOPS / 1e6
    figure = Figure(
        "frames.hop",
        hops / seconds,
        "M cell-hops/s",
        hops / peer,
        "cells alone",
        peer / seconds,
        "ratio >= 0.77",
    )
    return [figure, measure_adaptation(), *figures.memory("frames", __file__, LARGEST_MIB)]


if __name__ == "__main__":
    emulation.run(experiment(int(sys.argv[1])))
    print(figures.largest_mib())
