"""What is noted of a fragment: of which packet it is, which of its fragments, and if more follow.

The column `fragment` of `Batch.more`; 0 of packets that are whole. From low bits to high: whether
more follow, the number of the fragment within its packet, from 0, and a number of the packet that
no other has which was cut in the trial. Source: RFC 791, 3.1 (identification, more fragments; the
offset follows from the number, as all but the last fragment carry as much).
"""

from __future__ import annotations

from qospec.engine.kernel import kernel

NUMBER_BITS = 11
"""Of the number of a fragment: a packet of 65,535 B becomes 1,365 on a path with the least MTU."""
ELEMENT_BITS = 16
"""Of the element that cut a packet, in the packet's number; above it the element counts."""
LARGEST_NUMBER = (1 << NUMBER_BITS) - 1
MORE_FOLLOW = 1


@kernel
def note_fragment(packet: int, number: int, follow: int) -> int:
    """Return what is noted; `follow` is MORE_FOLLOW or 0."""
    return (packet << NUMBER_BITS | number) << 1 | follow


@kernel
def packet_in(fragment: int) -> int:
    """Return the number of the packet."""
    return fragment >> NUMBER_BITS + 1


@kernel
def number_in(fragment: int) -> int:
    """Return which of the packet's fragments it is."""
    return fragment >> 1 & LARGEST_NUMBER
