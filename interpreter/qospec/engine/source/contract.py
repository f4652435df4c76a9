"""What kinds of cell traffic share: the types of their fields, and variable bit rate."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from qospec.catalogue.kinds import CellRate, Cells, Domain, Time
from qospec.dataclass import dataclass
from qospec.engine.items.contract import Contract
from qospec.engine.source.traffic import CellTraffic
from qospec.protocol.atm import HIGHEST_VIRTUAL_PATH, ServiceCategory
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from qospec.engine.items.contract import Contract

Count = Annotated[int, Domain("integer", 1, 2**20)]
"""A number of identical connections."""
Phases = Annotated[Literal["random", "even"], Domain("choice", choices=("random", "even"))]
"""The offsets between the starts of identical connections."""
Gaps = Annotated[Literal["constant", "poisson"], Domain("choice", choices=("constant", "poisson"))]
"""The times of packets or frames: at constant intervals, or at random."""
FrameRate = Annotated[Fraction, Domain("frame rate", Fraction(1, 10**6), 10**9)]
"""Frames per second, exact."""
Priority = Annotated[int, Domain("integer", 0, 1)]
"""The cell loss priority bit."""
VirtualPath = Annotated[int, Domain("integer", 0, HIGHEST_VIRTUAL_PATH)]
"""A VPI."""
Conformance = Annotated[
    Literal["vbr_1", "vbr_2", "vbr_3"], Domain("choice", choices=("vbr_1", "vbr_2", "vbr_3"))
]
"""Which cells the sustainable cell rate applies to, and whether others are tagged."""

ABBREVIATIONS = {
    "peak_cell_rate": "pcr",
    "cell_delay_variation_tolerance": "cdvt",
    "sustainable_cell_rate": "scr",
    "maximum_burst_size": "mbs",
    "minimum_cell_rate": "mcr",
    "initial_cell_rate": "icr",
    "rate_increase_factor": "rif",
    "rate_decrease_factor": "rdf",
    "virtual_path": "vpi",
}

LONGEST_TOLERANCE_PS = 10**18
LARGEST_NUMERATOR = 2**61
LOWEST_RANDOM_RATE = Fraction(1, 1_000)
"""At one in 1000 s the times of a block still fit int64."""


def check_exact(name: str, cell_rate: Fraction, connections: int) -> None:
    """Raise ValueError if the interval of all connections together is too fine a fraction."""
    if Fraction(cell_rate).numerator * connections > LARGEST_NUMERATOR:
        raise ValueError(f"{name}: this fraction is too fine to be kept exactly; give fewer digits")


def check_at_random(gaps: str, frame_rate: Fraction) -> None:
    """Raise ValueError if times at random would be beyond what can be kept."""
    if gaps == "poisson" and frame_rate < LOWEST_RANDOM_RATE:
        raise ValueError("rate: at random, expected at least one in 1000 s")


@dataclass(frozen=True)
class VariableBitRate(CellTraffic):
    """The fields and the contract of both kinds of variable bit rate."""

    category: ClassVar[ServiceCategory]

    peak_cell_rate: CellRate
    """The peak cell rate in cells/s, PCR."""
    sustainable_cell_rate: CellRate
    """The sustainable cell rate, the highest on average, in cells/s, SCR."""
    maximum_burst_size: Cells
    """The most cells in a row at the peak cell rate, MBS."""
    cell_delay_variation_tolerance: Time
    """How much earlier a cell may arrive than its rates alone allow, CDVT."""
    conformance: Conformance = "vbr_1"
    """Whether SCR applies to all cells (vbr_1) or CLP 0; excess is discarded (vbr_2) or tagged."""
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
        check_exact("scr", self.sustainable_cell_rate, self.connections)
        if self.sustainable_cell_rate > self.peak_cell_rate:
            raise ValueError("scr: the sustainable cell rate exceeds the peak cell rate")
        contract = self.build_contract()
        tolerance_ps = contract.burst_tolerance_ps + self.cell_delay_variation_tolerance
        if tolerance_ps > LONGEST_TOLERANCE_PS:
            raise ValueError(
                "mbs: such a burst takes more than 11 days at the sustainable cell rate"
            )

    def build_contract(self) -> Contract:
        """Return the contract that a policer enforces."""
        return Contract(
            self.category,
            Fraction(self.peak_cell_rate),
            self.cell_delay_variation_tolerance,
            Fraction(self.sustainable_cell_rate),
            self.maximum_burst_size,
            "0+1" if self.conformance == "vbr_1" else "0",
            tagging=self.conformance == "vbr_3",
        )

    def describe_conforming_source(self) -> tuple[str, Mapping[str, object]]:
        """Return bursts of full size at the full peak, as often as the sustainable rate allows."""
        every_ps = self.maximum_burst_size * PS_PER_S / Fraction(self.sustainable_cell_rate)
        size = self.maximum_burst_size
        return "burst", {"size": size, "every": every_ps, "at": Fraction(self.peak_cell_rate)}
