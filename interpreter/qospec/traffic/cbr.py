"""Constant bit rate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import CellRate, Time, traffic
from qospec.dataclass import dataclass
from qospec.engine.items.contract import Contract
from qospec.engine.source.contract import (
    ABBREVIATIONS,
    Count,
    Phases,
    Priority,
    VirtualPath,
    check_exact,
)
from qospec.engine.source.traffic import CellTraffic

if TYPE_CHECKING:
    from collections.abc import Mapping


@traffic(
    source="ATM Forum TM 4.1 (af-tm-0121), CBR.1; ITU-T I.371 (DBR)",
    abbreviations=ABBREVIATIONS,
    carries=("cell",),
)
@dataclass(frozen=True)
class Cbr(CellTraffic):
    """A contract for cells at a constant rate, policed with a tolerance."""

    peak_cell_rate: CellRate
    """Cells/s of each connection, PCR."""
    cell_delay_variation_tolerance: Time
    """How much earlier a cell may arrive than its rate alone allows, CDVT."""
    connections: Count = 1
    """Number of identical connections."""
    phases: Phases = "random"
    """Whether they start at random, or evenly spread over a period."""
    clp: Priority = 0
    """Cell loss priority of the cells that are sent."""
    virtual_path: VirtualPath = 0
    """VPI of the connections."""

    def __post_init__(self) -> None:
        check_exact("pcr", self.peak_cell_rate, self.connections)

    def build_contract(self) -> Contract:
        tolerance_ps = self.cell_delay_variation_tolerance
        return Contract("cbr", Fraction(self.peak_cell_rate), tolerance_ps)

    def describe_conforming_source(self) -> tuple[str, Mapping[str, object]]:
        return "constant", {"rate": Fraction(self.peak_cell_rate)}
