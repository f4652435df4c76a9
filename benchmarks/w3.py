"""W3: the GCRA over 10 million cells of 4,000 flows, against the same loop in C.

Twice: with a tolerance at which all cells conform, so that the verdicts are all the work; and with
one that many cells violate, so that each batch is also split into conforming and lost cells.
"""

from __future__ import annotations

import ctypes
import tempfile
from fractions import Fraction
from functools import partial
from pathlib import Path

import figures
import numpy as np
from figures import Figure, MismatchError

from qospec.elements import gcra
from qospec.engine.element import Setting
from qospec.engine.graph import emulation
from qospec.engine.items.batch import Batch, allocate_batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.random import Draws
from qospec.protocol.streams import number_flow

FLOWS = 4_000
CELLS = 10_000_000
CELL_RATE = Fraction(352_720, FLOWS)
GAP_PS = int(10**12 / (FLOWS * CELL_RATE))
"""On average; each cell is of a random flow, so those of a flow arrive at its rate, in clumps."""
TINY = {"CELLS": 10_000}
TOLERANCES_PS = {"conforming": 10**18, "violating": 2 * 10**10}


def cells() -> list[Batch]:
    """Return the cells in batches."""
    draws = Draws(("w3",)).open_stream()
    sizes, marks = np.full(emulation.CHUNK, 53, np.int32), np.zeros(emulation.CHUNK, np.uint32)
    batches, now_ps = [], 0
    for start in range(0, CELLS, emulation.CHUNK):
        count = min(emulation.CHUNK, CELLS - start)
        at_ps = now_ps + np.cumsum(draws.integers(0, 2 * GAP_PS, count))
        now_ps = int(at_ps[-1])
        flow = draws.integers(0, FLOWS, count).astype(np.int32)
        batches.append(
            build_batch(
                at_ps=at_ps,
                sent_ps=at_ps,
                connection=flow,
                size_bytes=sizes[:count],
                marks=marks[:count],
            )
        )
    return batches


class Columns(ctypes.Structure):
    """The columns of a batch, as C has them."""

    _fields_ = [(name, ctypes.c_void_p) for name in Batch._fields]


class Police:
    """The element and the C loop on the same cells, under the same contract."""

    def __init__(self, batches: list[Batch], tolerance_ps: int) -> None:
        """Take the cells, and the tolerance of all flows."""
        contract = Contract("cbr", CELL_RATE, tolerance_ps)
        connections = (contract,) * FLOWS, number_flow(FLOWS)
        self._element, self._setting = gcra.Gcra(), Setting(*connections, Draws(("w3",)))
        self._batches = batches
        self._inputs = [columns(batch) for batch in batches]
        self._violates = np.empty(emulation.CHUNK, np.uint8)
        self._out = allocate_batch(batches[0].count)

    def ours(self, seen: list[np.ndarray] | None = None) -> None:
        """Police all cells; append to `seen`, for each batch, conforming cells, then the others."""
        state = self._element.start(self._setting)
        for batch in self._batches:
            step = self._element.process(state, (batch,), int(batch.at_ps[-1]) + 1)
            if seen is not None:
                lost = [loss.batch.sent_ps for loss in step.losses]
                seen.append(np.concatenate([step.departures[0].at_ps, *lost]))

    def in_c(self, library: ctypes.CDLL, seen: list[np.ndarray] | None = None) -> None:
        """Do the same in C."""
        state = self._element.start(self._setting)
        tests = state[gcra.TESTS :].reshape(-1, gcra.FIELDS)[:, : gcra.TOLERANCE + 1].copy()
        rows, violates = (ctypes.c_void_p(a.ctypes.data) for a in (tests, self._violates))
        out = columns(self._out)
        for batch, given in zip(self._batches, self._inputs, strict=True):
            violations = library.w3(ctypes.c_int64(batch.count), given, rows, violates, out)
            if seen is not None:
                left = self._out if violations else batch
                seen.append(left.at_ps[: batch.count].copy())

    def check(self, library: ctypes.CDLL) -> None:
        """Raise if the two do not agree on every cell."""
        one: list[np.ndarray] = []
        other: list[np.ndarray] = []
        self.ours(one)
        self.in_c(library, other)
        if not all(np.array_equal(*pair) for pair in zip(one, other, strict=True)):
            raise MismatchError("w3: verdicts")


def columns(batch: Batch) -> ctypes.c_void_p:
    """Return a pointer to the columns, which must live as long as it is used."""
    return ctypes.pointer(Columns(*(column.ctypes.data for column in batch)))


def measure() -> list[Figure]:
    """Return all figures of W3."""
    emulation.keep_memory()
    batches, found = cells(), []
    with tempfile.TemporaryDirectory() as folder:
        library = figures.compiled("w3", Path(folder))
        for name, tolerance_ps in TOLERANCES_PS.items():
            police = Police(batches, tolerance_ps)
            if library is None:
                (seconds,) = figures.medians(police.ours)
                found.append(Figure(f"w3.{name}", CELLS / seconds / 1e6, "M cells/s"))
                continue
            police.check(library)
            seconds, peers = figures.medians(police.ours, partial(police.in_c, library))
            ours, its = (CELLS / s / 1e6 for s in (seconds, peers))
            target = "ratio >= 0.8"
            found.append(Figure(f"w3.{name}", ours, "M cells/s", its, "C", ours / its, target))
    return found
