"""Cells of frames against cells of constant bit rate, through the same seven FIFO hops as W1.

The cells of both come at the same rates: a frame's are spaced evenly, so that what differs is that
each notes its frame, and that frames are counted.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import starmap

import figures
import w1
from figures import Figure, MismatchError

from qospec.engine.experiment import Experiment, MeasurementSpec
from qospec.engine.graph import emulation
from qospec.engine.source.framing import Framing
from qospec.protocol.streams import Stream, Streams, number_streams
from qospec.traffic.burst import Burst

CELLS = 106
SECONDS = 20
TINY = {"SECONDS": 1}
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
    return [figure, *figures.memory("frames", __file__, LARGEST_MIB)]


if __name__ == "__main__":
    emulation.run(experiment(int(sys.argv[1])))
    print(figures.largest_mib())
