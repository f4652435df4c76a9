"""What is noted of a piece of something longer: of which whole it is, which, and if more follow.

Two columns of `Batch.more` hold such notes, 0 of what is no piece; an item may be both:

- `fragment`, of a packet that was cut. Wholes are numbered in the trial, with the element that cut
  them. Source: RFC 791, 3.1 (identification, more fragments; the offset follows from the number, as
  all but the last fragment carry as much).
- `frame`, of a cell of a frame. Wholes are numbered within their connection, from 1, as they are
  sent; below that number is the length of the packet that a frame of cells is made of. A cell
  behind which no more follow ends its frame: in AAL5 its header says so. Source: ITU-T I.361, 2.2.4
  (user-to-user indication); I.363.5, 6 (the last cell of a CPCS-PDU).

From low bits to high: whether more follow, the number of the piece within its whole, from 0, and
the number of the whole, above 0.
"""

from __future__ import annotations

from qospec.engine.kernel import kernel

NUMBER_BITS = 11
"""Of the number of a piece: a packet of 65,535 B becomes 1,365 fragments on a path with the least
MTU, and 1,490 cells of AAL3/4, which is the most."""
ELEMENT_BITS = 16
"""Of the element that cut a packet, in the packet's number; above it the element counts."""
LENGTH_BITS = 16
"""Of the length of a packet, in the number of its frame; above it its connection counts."""
LARGEST_NUMBER = (1 << NUMBER_BITS) - 1
MORE_FOLLOW = 1


@kernel
def note_piece(whole: int, number: int, follow: int) -> int:
    """Return what is noted; `follow` is MORE_FOLLOW or 0."""
    return (whole << NUMBER_BITS | number) << 1 | follow


@kernel
def read_whole(piece: int) -> int:
    """Return the number of the whole."""
    return piece >> NUMBER_BITS + 1


@kernel
def number_in(piece: int) -> int:
    """Return which piece of the whole it is."""
    return piece >> 1 & LARGEST_NUMBER


@kernel
def read_length_bytes(piece: int) -> int:
    """Return the length in bytes of the packet that a frame of cells is made of."""
    return piece >> NUMBER_BITS + 1 & (1 << LENGTH_BITS) - 1
