"""Frames of cells."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue.kinds import Domain, SizeMix, traffic
from qospec.dataclass import dataclass
from qospec.engine.adaptation import AalField, EncapsulationField
from qospec.engine.items.contract import Contract
from qospec.engine.source.contract import Count, Phases, Priority, VirtualPath, check_exact
from qospec.engine.source.traffic import CellTraffic
from qospec.protocol.aal import ENCAPSULATIONS, Adaptation
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CELLS = 2_048
"""In a frame; one of AAL3/4 with 65,535 bytes has 1,490."""
HIGHEST_CELL_RATE = 10**11
"""In place of a peak that is not stated."""
FrameCells = Annotated[int | None, Domain("cells", 1, MOST_CELLS)]
"""How many cells a frame has; None: as many as its packet needs."""
FrameSizes = Annotated[SizeMix | None, Domain("size mix")]
"""One size of IP packets or several in order; None: there is no packet."""
MOST_IN_TURN = 100_000
"""Cells of all frames that repeat in order."""
FrameRate = Annotated[Fraction, Domain("frame rate", Fraction(1, 10**6), 10**9)]
"""Frames per second, exact."""
PeakRate = Annotated[Fraction | None, Domain("cell rate", Fraction(1, 10**6), HIGHEST_CELL_RATE)]
"""Cells per second, exact; None: as fast as the line."""


@traffic(
    source="ATM Forum/97-0178, 1 (frames, contiguous or not); ATM Forum TM 4.1 (af-tm-0121), UBR.1",
    abbreviations={"peak_cell_rate": "pcr", "virtual_path": "vpi"},
    carries=("cell",),
)
@dataclass(frozen=True, kw_only=True)
class Frames(CellTraffic):
    """Frames of cells, evenly spaced, each counted as a whole.

    The cells of a frame follow each other at the peak cell rate or, without one, back to back on
    the line: such a frame is contiguous. `name.frames` are the frames of a flow, beside its cells.

    Not modelled: sizes or times of frames that are drawn at random; what the cells contain.
    """

    rate: FrameRate
    """Frames/s of each connection."""
    cells: FrameCells = None
    """How many cells each frame has."""
    size: FrameSizes = None
    """The IP packet that a frame carries, from which its cells follow; or several, in order."""
    aal: AalField = "aal5"
    """The ATM adaptation layer by which it does."""
    encapsulation: EncapsulationField = "llc_snap"
    """What is put around the packet."""
    peak_cell_rate: PeakRate = None
    """Cells/s within a frame; by default back to back on the line."""
    connections: Count = 1
    """Number of identical connections."""
    phases: Phases = "random"
    """Whether they start at random, or evenly spread over the time from frame to frame."""
    clp: Priority = 0
    """Cell loss priority of the cells that are sent."""
    virtual_path: VirtualPath = 0
    """VPI of the connections."""

    is_framed = True
    causes = ("incomplete",)
    takes_source: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if (self.cells is None) == (self.size is None):
            raise ValueError("give either `cells`, or the `size` of a packet")
        if self.size is not None:
            self._check_sizes(self.size)
        cells = self.frame_cells
        if sum(cells) > MOST_IN_TURN:
            raise ValueError(f"size: these frames have more than {MOST_IN_TURN:_} cells together")
        check_exact("rate", sum(cells) * self.rate, self.connections)
        if self.peak_cell_rate is not None and max(cells) * self.rate > self.peak_cell_rate:
            raise ValueError("rate: the next frame begins before this one is over")

    def _check_sizes(self, size: SizeMix) -> None:
        """Raise ValueError if frames cannot have such packets."""
        if size.layer != "ip":
            raise ValueError(f"size: packets in frames of cells are counted @ip, not @{size.layer}")
        if len(size.parts) > 1 and not size.in_order:
            raise ValueError("size: frames are not drawn; write sizes in order, `mix [ … ] @ip`")
        most_bytes = ENCAPSULATIONS[self.encapsulation].largest_mtu_bytes
        for size_bytes, _ in size.parts:
            if not IPV4_HEADER_BYTES <= size_bytes <= most_bytes:
                around = f"with `{self.encapsulation}` packets have"
                raise ValueError(f"size: {around} {IPV4_HEADER_BYTES} B to {most_bytes} B")

    @property
    def frame_cells(self) -> tuple[int, ...]:
        """Return how many cells frames have, in the order in which they are repeated."""
        if self.cells is not None or self.size is None:
            return (self.cells or 1,)
        adaptation = Adaptation(self.aal, self.encapsulation)
        if len(self.size.parts) == 1:
            return (adaptation.count_cells(self.size.parts[0][0]),)
        return tuple(
            adaptation.count_cells(size_bytes)
            for size_bytes, count in self.size.parts
            for _ in range(count)
        )

    def contract(self) -> Contract:
        return Contract("ubr", Fraction(self.peak_cell_rate or HIGHEST_CELL_RATE), 0)

    def conforming_source(self) -> tuple[str, Mapping[str, object]]:
        every_ps, cells = PS_PER_S / Fraction(self.rate), self.frame_cells
        if len(cells) == 1:
            return "burst", {"size": cells[0], "every": every_ps, "at": self.peak_cell_rate}
        apart_ps = Fraction(0)
        if self.peak_cell_rate is not None:
            apart_ps = PS_PER_S / Fraction(self.peak_cell_rate)
        intervals = [
            interval
            for count in cells
            for interval in (*[apart_ps] * (count - 1), every_ps - (count - 1) * apart_ps)
        ]
        return "pattern", {"intervals": tuple(intervals)}
