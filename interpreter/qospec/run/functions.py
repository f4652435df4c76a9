"""The functions of properties, carried out by the engine's own elements.

A stream of cells is a `Batch`. `conforms` alone does without an element: it follows the definition,
so that a policer is not judged by itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from qospec.catalogue.kinds import Buffer, Load, discover
from qospec.engine.arrays import np
from qospec.engine.element import Setting
from qospec.engine.event.process import build_process
from qospec.engine.items.batch import FOREVER_PS, Batch, build_batch
from qospec.engine.items.contract import Contract
from qospec.engine.random import Draws
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.streams import number_flow
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qospec.engine.element import Element

BEFORE_PS = 10**16
"""Cells come before: a shaper may hold them for as long again, and more."""


def build_cells(times_ps: tuple[int, ...]) -> Batch:
    """Return cells at these times, in ps, which ascend."""
    if times_ps and times_ps[-1] > BEFORE_PS:
        raise ValueError(f"cells come within {BEFORE_PS // PS_PER_S:_} s")
    at_ps, count = np.array(times_ps, np.int64), len(times_ps)
    return build_batch(
        at_ps=at_ps,
        sent_ps=at_ps,
        connection=np.zeros(count, np.int32),
        size_bytes=np.full(count, CELL_BYTES, np.int32),
        marks=np.zeros(count, np.uint32),
    )


def police(arrivals: Batch, pcr: Fraction, cdvt: Fraction = Fraction(0)) -> Batch:
    """Return the cells that the element `gcra` passes."""
    contract = Contract("cbr", pcr, _to_whole_ps(cdvt))
    return _pass_through(_build_element("gcra"), contract, arrivals)


def shape(arrivals: Batch, pcr: Fraction) -> Batch:
    """Return the cells as the element `shape` sends them."""
    limit = Buffer(max(1, arrivals.count), "packet")
    one = Buffer(1, "packet")
    shaper = _build_element("shape", rate=Load(pcr, ""), burst_size=one, limit=limit)
    return _pass_through(shaper, Contract("packets", pcr, 0), arrivals)


def conforms(arrivals: Batch, pcr: Fraction, cdvt: Fraction = Fraction(0)) -> bool:
    """Return whether each cell conforms to GCRA(1/pcr, cdvt), by virtual scheduling.

    A theoretical arrival time between two picoseconds is rounded down, as times are. Source: ITU-T
    I.371, Annex A.
    """
    interval_ps, tolerance_ps = PS_PER_S / pcr, _to_whole_ps(cdvt)
    due, denominator = 0, interval_ps.denominator
    for at_ps in arrivals.at_ps.tolist():
        if at_ps + tolerance_ps < due // denominator:
            return False
        due = max(at_ps * denominator, due) + interval_ps.numerator
    return True


def delay(arrivals: Batch) -> Fraction:
    """Return the longest time from when a cell came until it left what it passed last, in s."""
    held_ps = arrivals.at_ps - arrivals.sent_ps
    return Fraction(int(held_ps.max()) if arrivals.count else 0, PS_PER_S)


def count(arrivals: Batch) -> int:
    """Return the number of cells."""
    return arrivals.count


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "cells": build_cells,
    "police": police,
    "shape": shape,
    "conforms": conforms,
    "delay": delay,
    "count": count,
}
"""By name; `check.test.properties` declares their parameters."""


def _build_element(name: str, **fields: Any) -> Element:
    element: Element = discover().select_role("element")[name].build(**fields)
    return element


def _pass_through(element: Element, contract: Contract, arrivals: Batch) -> Batch:
    """Return what leaves an element with one output."""
    setting = Setting((contract,), number_flow(1), Draws(("property",)))
    return build_process(element, setting)((arrivals,), FOREVER_PS).departures[0]


def _to_whole_ps(time_s: Fraction) -> int:
    return int(time_s * PS_PER_S)
