"""The connections (VCs) of a trial: their contracts, and the indices of their planes.

A connection has an index for each plane: first come those of user items, then, in the same order of
connections, those of OAM cells, and so on. So an element that treats planes differently needs one
table look-up and no test of each cell.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from qospec.dataclass import dataclass
from qospec.protocol.atm import Plane, ServiceCategory
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qospec.engine.arrays import Indices, Truths


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


@dataclass(frozen=True)
class Connections:
    """All connections of a trial.

    Attributes:
        contracts: One per VC, in order of index.
        flow: The flow (statement) that each VC belongs to.
        planes: The planes in use, that of user items first.
        exchanges: How many of them, the last, are not of items that travel but of whole exchanges:
            made and sent when a request is first made, received with the first answer to it.
        messages: How many of them, those ahead of these, are of messages between machines.
    """

    contracts: tuple[Contract, ...]
    flow: tuple[int, ...]
    planes: tuple[Plane, ...] = ("user",)
    exchanges: int = 0
    messages: int = 0

    @property
    def count(self) -> int:
        """Return the number of VCs."""
        return len(self.contracts)

    @property
    def indices(self) -> int:
        """Return the number of connection indices, in all planes."""
        return self.count * len(self.planes)

    def index(self, connection: int, plane: Plane) -> int:
        """Return the index of a connection, a number from 0, in a plane that is in use."""
        return self.planes.index(plane) * self.count + connection

    def of(self, plane: Plane) -> range:
        """Return the indices of a plane, in order of connections; none if it is not in use."""
        first = self.index(0, plane) if plane in self.planes else 0
        return range(first, first + self.count * (plane in self.planes))

    def plane_of(self, index: int) -> Plane:
        """Return the plane of a connection index."""
        return self.planes[index // self.count]

    def are_exchanges(self, indices: Indices) -> Truths:
        """Return (n,) which of n indices are of whole exchanges."""
        return (indices >= self.count - self.exchanges) & (indices < self.count)

    def are_messages(self, indices: Indices) -> Truths:
        """Return (n,) which of n indices are of messages between machines."""
        stop = self.count - self.exchanges
        return (indices >= stop - self.messages) & (indices < stop)

    def are_of(self, planes: Iterable[Plane], indices: Indices) -> Truths:
        """Return (n,) which of n indices are of some planes, which need not be in use."""
        among = indices < 0
        for plane in {*planes} & {*self.planes}:
            first = self.index(0, plane)
            among |= (indices >= first) & (indices < first + self.count)
        return among
