"""The marks of an item: a small bit field whose layout is declared here only.

A cell uses one bit of it, a packet the others. Elements and the planner name the fields that they
read or write; none knows where a field lies.
"""

from __future__ import annotations

from qospec.dataclass import dataclass


@dataclass(frozen=True)
class Mark:
    """One field.

    Attributes:
        first: Its lowest bit.
        bits: Its number of bits.
        source: The standard and section that define it.
        words: The names of its values, if they have names.
    """

    first: int
    bits: int
    source: str
    words: tuple[str, ...] = ()

    @property
    def mask(self) -> int:
        """Return its bits, all set, in place."""
        return self.highest << self.first

    @property
    def highest(self) -> int:
        """Return the greatest value that it holds."""
        return (1 << self.bits) - 1

    @property
    def spelt(self) -> tuple[str, ...]:
        """Return its values as an author writes them, from 0 on."""
        return self.words or tuple(map(str, range(self.highest + 1)))

    def read(self, marks: int) -> int:
        """Return its value in `marks`."""
        return (marks & self.mask) >> self.first

    def put(self, marks: int, value: int) -> int:
        """Return `marks` with this value in it.

        Raises:
            ValueError: It holds no such value.
        """
        if not 0 <= value <= self.highest:
            raise ValueError(f"a mark of {self.bits} bits does not hold {value}")
        return (marks & ~self.mask) | (value << self.first)


COLOURS = ("green", "yellow", "red")
"""By value; a packet that no meter has seen is green."""
CODEPOINTS = ("not_ect", "ect1", "ect0", "ce")
"""By value, the codepoints of the ECN field."""

MARKS = {
    "clp": Mark(0, 1, "ITU-T I.361, 2.2.5 (cell loss priority)"),
    "colour": Mark(1, 2, "RFC 2697, 1 (a meter's finding)", COLOURS),
    "dscp": Mark(3, 6, "RFC 2474, 3 (differentiated services code point)"),
    "priority": Mark(9, 3, "IEEE 802.1Q, 9.6 (priority code point of a VLAN tag)"),
    "traffic_class": Mark(12, 3, "RFC 5462, 2 (traffic class of an MPLS label)"),
    "ecn": Mark(23, 2, "RFC 3168, 5 (explicit congestion notification)", CODEPOINTS),
}
"""All fields by name; they, LEG and SIZE_RANGE fit into BITS and do not overlap."""

LEG = Mark(15, 8, "ITU-T I.361, 2.2.3 (a connection has a VPI and VCI of its own on each link)")
"""By how many of the ports that its flow names in `via` an item has left.

It stands for the identifier that a connection has on each link, so no author can name it, and every
line carries it.
"""

SIZE_RANGE = Mark(25, 7, "RFC 3290, 4.2 (a classifier may look at any part of a packet)")
"""Ahead of a classifier that asks for sizes: in which of the ranges that it tells apart one is.

No author can name it, and no line carries it.
"""

PARTS = {"precedence": Mark(6, 3, "RFC 791, 3.1 (precedence); RFC 2474, 4.2.2 (class selectors)")}
"""Parts of fields, by names of their own: the precedence is the first half of the DSCP."""

ALL = {**MARKS, **PARTS}
"""All that is in marks."""

WITHIN = ("colour",)
"""Marks that stay within a device: no header has a place for them."""

CLP = MARKS["clp"].mask
"""For kernels: 0 where a cell is of high priority."""
CAPABLE = MARKS["ecn"].put(0, CODEPOINTS.index("ect0"))
"""What a transport writes into packets that queues may mark."""
CONGESTION = MARKS["ecn"].mask
"""For kernels: 0 where the transport of a packet takes no notice of marks; if all of these bits are
set, congestion was experienced (CE)."""
BITS = 32
"""How many bits all marks together have."""
ALL_BITS = (1 << BITS) - 1
"""All bits, set."""


def mark_congestion(marks: int) -> tuple[int, ...]:
    """Return the marks of a packet, and what a queue may make of them that marks capable ones.

    Source: RFC 3168, 5.
    """
    is_capable = 0 < marks & CONGESTION < CONGESTION
    return (marks, marks | CONGESTION) if is_capable else (marks,)


def set_marks(**values: int) -> int:
    """Return marks with these values, and 0 in all other fields."""
    marks = 0
    for name, value in values.items():
        marks = MARKS[name].put(marks, value)
    return marks
