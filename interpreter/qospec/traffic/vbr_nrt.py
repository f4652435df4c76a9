"""Variable bit rate, non-real-time."""

from __future__ import annotations

from typing import ClassVar

from qospec.catalogue.kinds import traffic
from qospec.dataclass import dataclass
from qospec.engine.source.contract import ABBREVIATIONS, VariableBitRate
from qospec.protocol.atm import ServiceCategory


@traffic(
    source="ATM Forum TM 4.1 (af-tm-0121), VBR.1 to VBR.3; ITU-T I.371 (SBR)",
    abbreviations=ABBREVIATIONS,
    carries=("cell",),
)
@dataclass(frozen=True)
class VbrNrt(VariableBitRate):
    """A contract for bursts within a peak and a sustainable cell rate, not sensitive to delay."""

    category: ClassVar[ServiceCategory] = "vbr_nrt"
