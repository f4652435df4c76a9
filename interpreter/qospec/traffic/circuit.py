"""Circuit emulation by AAL1."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.catalogue.kinds import Domain, Time, traffic
from qospec.dataclass import dataclass
from qospec.engine.items.contract import Contract
from qospec.engine.source.contract import Count, Phases, Priority, VirtualPath, check_exact
from qospec.engine.source.traffic import CellTraffic
from qospec.protocol.aal import CIRCUIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

CircuitRate = Annotated[Fraction, Domain("rate", 1, 10**11, layers=())]
"""Bits of the circuit per second, exact."""
Filling = Annotated[int, Domain("integer", 1, CIRCUIT_BYTES)]
"""Bytes of the circuit in each cell."""


@traffic(
    source="ITU-T I.363.1, 2.4 and 2.5; ATM Forum af-vtoa-0078 (unstructured and structured "
    "circuits, partially filled cells); TM 4.1 (af-tm-0121), CBR.1",
    abbreviations={"cell_delay_variation_tolerance": "cdvt", "virtual_path": "vpi"},
    carries=("cell",),
)
@dataclass(frozen=True)
class Circuit(CellTraffic):
    """A circuit of constant bit rate in cells of AAL1, whose contract is the cell rate it needs.

    Each cell has a header of one byte: a sequence count of 3 bits and their protection, which
    `qos pcap` writes.

    Not modelled: residual time stamps (SRTS) and pointers of structured data, which take the
    place of bytes; how a receiver plays out what is late or lost.
    """

    rate: CircuitRate
    """Bits of the circuit per second."""
    cell_delay_variation_tolerance: Time
    """How much earlier a cell may arrive than its rate alone allows, CDVT."""
    filling: Filling = CIRCUIT_BYTES
    """Bytes of the circuit in each cell, of 47: fewer, and a cell is full sooner."""
    connections: Count = 1
    """Number of identical connections."""
    phases: Phases = "random"
    """Whether they start at random, or evenly spread over a period."""
    clp: Priority = 0
    """Cell loss priority of the cells that are sent."""
    virtual_path: VirtualPath = 0
    """VPI of the connections."""

    def __post_init__(self) -> None:
        check_exact("rate", self.peak_cell_rate, self.connections)

    @property
    def circuit_bytes(self) -> int:
        """Return the bytes of the circuit in each cell."""
        return self.filling

    @property
    def peak_cell_rate(self) -> Fraction:
        """Return cells/s of each connection."""
        return Fraction(self.rate) / (8 * self.filling)

    def build_contract(self) -> Contract:
        return Contract("cbr", self.peak_cell_rate, self.cell_delay_variation_tolerance)

    def describe_conforming_source(self) -> tuple[str, Mapping[str, object]]:
        return "constant", {"rate": self.peak_cell_rate}
