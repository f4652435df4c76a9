"""Frames of cells."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from qospec.catalogue.kinds import Domain, SizeMix, UnfitError, traffic
from qospec.dataclass import dataclass
from qospec.engine.adaptation import AalField, EncapsulationField, Mtu, check_mtu, check_sizes
from qospec.engine.items.contract import Contract
from qospec.engine.source.contract import (
    Count,
    FrameRate,
    Gaps,
    Phases,
    Priority,
    VirtualPath,
    check_at_random,
    check_exact,
)
from qospec.engine.source.framing import count_in_cells
from qospec.engine.source.traffic import CellTraffic
from qospec.protocol.aal import AALS, LARGEST_SDU_BYTES, Adaptation
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qospec.engine.source.sizes import Sizes

MOST_CELLS = {aal: layer.count_cells(LARGEST_SDU_BYTES) for aal, layer in AALS.items()}
"""In a frame: 1,366 of AAL5, and 1,490 of AAL3/4."""
HIGHEST_CELL_RATE = 10**11
"""In place of a peak that is not stated."""
FrameCells = Annotated[int | None, Domain("cells", 1)]
"""How many cells a frame has, of which its AAL bounds the number; None: as its packet needs."""
FrameSizes = Annotated[SizeMix | None, Domain("size mix")]
"""Sizes of IP packets; None: there is no packet."""
MOST_IN_TURN = 100_000
"""Cells of all frames that repeat in order."""
PeakRate = Annotated[Fraction | None, Domain("cell rate", Fraction(1, 10**6), HIGHEST_CELL_RATE)]
"""Cells per second, exact; None: as fast as the line."""


@traffic(
    source="ATM Forum/97-0178, 1 (frames, contiguous or not); ATM Forum TM 4.1 (af-tm-0121), UBR.1",
    abbreviations={"peak_cell_rate": "pcr", "virtual_path": "vpi"},
    carries=("cell",),
)
@dataclass(frozen=True, kw_only=True)
class Frames(CellTraffic):
    """Frames of cells, each counted as a whole: evenly spaced, or at random.

    The cells of a frame follow each other at the peak cell rate or, without one, back to back on
    the line: such a frame is contiguous. `name.frames` are the frames of a flow, beside its cells.

    Not modelled: what the cells contain.
    """

    rate: FrameRate
    """Frames/s of each connection."""
    cells: FrameCells = None
    """How many cells each frame has."""
    size: FrameSizes = None
    """The IP packet that a frame carries, from which its cells follow; or a mix: weighted by number
    of packets, or in order."""
    aal: AalField = "aal5"
    """The ATM adaptation layer by which it does."""
    encapsulation: EncapsulationField = "llc_snap"
    """What is put around the packet."""
    mtu: Mtu = None
    """The largest packet; by default that which is usual for the encapsulation, as of
    `aal_segment`."""
    gaps: Gaps = "constant"
    """Whether frames begin at constant intervals or at random."""
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
    own_parts = ("frames",)
    causes = ("incomplete",)
    takes_source: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if (self.cells is None) == (self.size is None):
            raise ValueError("give either `cells`, or the `size` of a packet")
        if self.size is not None:
            check_mtu(self._adaptation, self.mtu)
            check_sizes(self._adaptation, self.size, self.mtu)
        elif self.mtu is not None:
            raise ValueError("mtu: it bounds packets, and frames of so many `cells` have none")
        if (self.cells or 0) > MOST_CELLS[self.aal]:
            raise UnfitError(
                f"cells: a frame of `{self.aal}` has at most {MOST_CELLS[self.aal]:_} cells",
                f"write at most {MOST_CELLS[self.aal]:_} cell",
            )
        cells, is_random = self.frame_cells, self.gaps == "poisson" or self.drawn is not None
        if self.drawn is None and sum(cells) > MOST_IN_TURN:
            raise ValueError(f"size: these frames have more than {MOST_IN_TURN:_} cells together")
        check_exact("rate", (1 if is_random else sum(cells)) * self.rate, self.connections)
        check_at_random(self.gaps, self.rate)
        if is_random and self.peak_cell_rate is not None:
            raise ValueError("pcr: frames at random, or of random sizes, are sent back to back")
        if self.peak_cell_rate is not None and max(cells) * self.rate > self.peak_cell_rate:
            raise ValueError("rate: the next frame begins before this one is over")

    @property
    def _adaptation(self) -> Adaptation:
        return Adaptation(self.aal, self.encapsulation)

    @property
    def frame_cells(self) -> tuple[int, ...]:
        """Return how many cells frames have, in order of repetition or, if drawn, may have."""
        if self.size is None:
            return (self.cells or 1,)
        is_repeated = self.size.in_order and len(self.size.parts) > 1
        return tuple(
            self._adaptation.count_cells(size_bytes)
            for size_bytes, count in self.size.parts
            for _ in range(count if is_repeated else 1)
        )

    @property
    def drawn(self) -> Sizes | None:
        """Return the sizes of frames in their cells, in bytes, if they are drawn."""
        if self.size is None or self.size.in_order or len(self.size.parts) == 1:
            return None
        return count_in_cells(self.size, self._adaptation)

    def build_contract(self) -> Contract:
        return Contract("ubr", Fraction(self.peak_cell_rate or HIGHEST_CELL_RATE), 0)

    def describe_conforming_source(self) -> tuple[str, Mapping[str, object]]:
        every_ps, cells = PS_PER_S / Fraction(self.rate), self.frame_cells
        if self.size is not None and (self.drawn is not None or self.gaps == "poisson"):
            names = ("rate", "size", "gaps", "aal", "encapsulation", "mtu")
            return "segmented", {name: getattr(self, name) for name in names}
        if self.gaps == "poisson":
            return "batches", {"size": cells[0], "rate": cells[0] * self.rate}
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
