"""Traffic contracts: what a source of a connection may send."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from qospec.dataclass import dataclass
from qospec.protocol.atm import ServiceCategory
from qospec.units import PS_PER_S


@dataclass(frozen=True)
class Contract:
    """A traffic contract. Source: ATM Forum TM 4.1; ITU-T I.371.

    Attributes:
        category: The service category; "packets" where only a rate is planned.
        peak_cell_rate: In cells/s, or packets/s.
        cell_delay_variation_tolerance_ps: tau of the peak cell rate's GCRA.
        sustainable_cell_rate: In cells/s, for VBR.
        maximum_burst_size: In cells, for VBR.
        sustainable_applies_to: "0+1", or "0" (VBR.2 and VBR.3): which cells the second GCRA counts.
        tagging: Whether a CLP=0 cell that fails only the second GCRA is tagged (VBR.3), not lost.
    """

    category: ServiceCategory | Literal["packets"]
    peak_cell_rate: Fraction
    cell_delay_variation_tolerance_ps: int
    sustainable_cell_rate: Fraction | None = None
    maximum_burst_size: int = 1
    sustainable_applies_to: Literal["0+1", "0"] = "0+1"
    tagging: bool = False

    @property
    def peak_interval_ps(self) -> Fraction:
        """Return T = 1/PCR."""
        return PS_PER_S / self.peak_cell_rate

    @property
    def sustained_interval_ps(self) -> Fraction:
        """Return Ts = 1/SCR."""
        if self.sustainable_cell_rate is None:
            raise ValueError("this contract has no sustainable cell rate")
        return PS_PER_S / self.sustainable_cell_rate

    @property
    def burst_tolerance_ps(self) -> int:
        """Return BT = (MBS - 1)(Ts - T), rounded up. Source: TM 4.1."""
        interval_ps = self.sustained_interval_ps - self.peak_interval_ps
        return -(-(self.maximum_burst_size - 1) * interval_ps // 1)
