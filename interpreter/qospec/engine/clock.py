"""The clock of a line: when the next cell may begin, in exact rational time.

Time is kept as whole picoseconds plus a numerator below a denominator. Nothing is multiplied that
could overflow, and nothing rounded is ever added up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from qospec.units import PS_PER_S


@dataclass(frozen=True)
class Clock:
    """How a line sends.

    Attributes:
        bit_rate: Bits per second, in the layer in which sizes are counted.
        slotted: Whether a cell begins only where a slot does, floor(k * 424 / bit_rate) + phase_ps.
        propagation_ps: Added to every departure.
        stamps: Whether this line is a source's own, and so writes `sent_ps`.
        phase_ps: When slot 0 begins.
    """

    bit_rate: Fraction
    slotted: bool
    propagation_ps: int = 0
    stamps: bool = False
    phase_ps: int = 0

    @property
    def byte_time_ps(self) -> Fraction:
        """Return the time of one byte."""
        return 8 * PS_PER_S / self.bit_rate

    @property
    def slot_ps(self) -> Fraction:
        """Return the time of one 53-byte cell."""
        return 53 * self.byte_time_ps
