"""The clock of a line: when the next cell may begin, in exact rational time.

Time is kept as whole picoseconds plus a numerator below a denominator. Nothing is multiplied that
could overflow, and nothing rounded is ever added up.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from qospec.dataclass import dataclass
from qospec.protocol.atm import CELL_BYTES
from qospec.protocol.encapsulation import Encapsulation
from qospec.protocol.ip import IPV4_HEADER_BYTES
from qospec.protocol.marks import ALL_BITS, MARKS, SIZE_RANGE, WITHIN
from qospec.units import PS_PER_S


@dataclass(frozen=True)
class Clock:
    """How a line sends.

    Attributes:
        bit_rate: Bits per second: of cells, or all that a line of packets sends.
        slotted: Whether a cell begins only with a slot, at floor(k * 424 / bit_rate) + phase_ps.
        propagation_ps: Added to every departure.
        stamps: Whether it is the first line of a flow, and so writes `sent_ps`.
        phase_ps: The beginning of slot 0.
        encapsulation: The framing of packets; None for a line of cells.
    """

    bit_rate: Fraction
    slotted: bool
    propagation_ps: int = 0
    stamps: bool = False
    phase_ps: int = 0
    encapsulation: Encapsulation | None = None

    def with_tag_settled(self, *, tagged: bool) -> Clock:
        """Return it as it is for packets of a flow, given whether that has a tag."""
        framed = self.encapsulation
        if framed is None or not framed.optional_tag:
            return self
        return replace(self, encapsulation=framed.with_tag_settled(tagged=tagged))

    @cached_property
    def byte_time_ps(self) -> Fraction:
        """Return the time of one byte."""
        return 8 * PS_PER_S / self.bit_rate

    @property
    def smallest_bytes(self) -> int:
        """Return the size of the smallest item: a cell, or an IP header."""
        return CELL_BYTES if self.encapsulation is None else IPV4_HEADER_BYTES

    @property
    def layer(self) -> str:
        """Return which bits its rate counts: those of cells, or all that it sends."""
        framed = self.encapsulation
        return "cell" if framed is None or framed.per_cell_bytes else "line"

    @cached_property
    def carried_marks(self) -> int:
        """Return the bits of marks for which its frames have a field; all for cells."""
        framed = self.encapsulation
        if framed is None:
            return ALL_BITS
        fields = MARKS.items()
        lost = (m.mask for name, m in fields if name in WITHIN or not framed.carries_mark(name))
        return ALL_BITS - SIZE_RANGE.mask - sum(lost)

    @cached_property
    def slot_ps(self) -> Fraction:
        """Return the time of the smallest item, such as a cell."""
        framed = self.encapsulation
        size_bytes = CELL_BYTES if framed is None else framed.count_line_bytes(IPV4_HEADER_BYTES)
        return size_bytes * self.byte_time_ps

    @cached_property
    def least_ps(self) -> int:
        """Return the least delay: the smallest item's time, and the propagation."""
        return int(self.slot_ps) + self.arrival_ps

    @cached_property
    def lead_ps(self) -> int:
        """Return the delay of a frame's first bit, behind the preamble, in whole ps."""
        framed = self.encapsulation
        return 0 if framed is None else round(framed.preamble_bytes * self.byte_time_ps)

    @cached_property
    def arrival_ps(self) -> int:
        """Return the delay of the last bit's arrival after the line is free for the next item.

        The propagation time less the gap behind a frame, in whole ps; it may be negative.
        """
        framed = self.encapsulation
        gap_ps = Fraction(0) if framed is None else framed.gap_bytes * self.byte_time_ps
        return self.propagation_ps - round(gap_ps)
