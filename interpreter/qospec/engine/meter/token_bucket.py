"""Token buckets, kept exactly: tokens are counted in the time that they take to accrue.

A bucket gains tokens for RATE bytes each second, up to its size. Counted in time it gains one ps
each ps, up to FULL, and a packet of B bytes takes B times BYTE. Each is whole ps and a numerator
over DENOMINATOR, which is carried: no rounded value is ever summed.

A packet that arrives in a ps did so at some instant in it. So it is covered by the tokens that
accrue before that ps ends, and the bucket may go below zero by less than a ps's worth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

from qospec.calculus.curve import Curve
from qospec.catalogue.kinds import LONGEST_PS, OF_PACKETS, Domain
from qospec.dataclass import NamedTuple
from qospec.engine.kernel import kernel
from qospec.protocol.ip import LARGEST_PACKET_BYTES
from qospec.units import PS_PER_S

if TYPE_CHECKING:
    from qospec.engine.arrays import Whole

BITS_PER_BYTE = 8
LARGEST_DENOMINATOR = 2**62 // (LARGEST_PACKET_BYTES + 1)
"""So that bytes times a numerator fit int64."""

LEVEL, LEVEL_PART, FULL, FULL_PART, BYTE, BYTE_PART, DENOMINATOR = 0, 1, 2, 3, 4, 5, 6
PRICES = 7
FIELDS = PRICES + 2 * (LARGEST_PACKET_BYTES + 1)
"""From PRICES on, the cost of packets by size once computed: a division is slow."""

Cost = tuple[int, int]
"""The cost of a packet: whole ps, and a numerator."""

TokenRate = Annotated[Fraction, Domain("rate", 8, 8 * 10**12, layers=OF_PACKETS)]
"""Bits of IP packets per second; a byte takes between a ps and a second."""
BucketSize = Annotated[int, Domain("data", 0, 2**31, layers=OF_PACKETS)]
"""Whole bytes."""


class Bucket(NamedTuple):
    """A bucket as it is declared: bit/s and bytes, each with what the author calls it."""

    rate_name: str
    bit_rate: Fraction
    size_name: str
    size_bytes: int


def check(declared: Bucket) -> None:
    """Raise ValueError, with words for an author, where a bucket cannot be kept exactly."""
    byte_ps = compute_byte_time_ps(declared.bit_rate)
    if byte_ps.denominator > LARGEST_DENOMINATOR:
        fine = "this fraction is too fine to be kept exactly; give fewer digits"
        raise ValueError(f"{declared.rate_name}: {fine}")
    if declared.size_bytes * byte_ps > LONGEST_PS:
        raise ValueError(f"{declared.size_name}: such a burst takes more than 11 days to refill")


def compute_byte_time_ps(bit_rate: Fraction) -> Fraction:
    """Return the time in which the tokens of one byte accrue."""
    return BITS_PER_BYTE * PS_PER_S / Fraction(bit_rate)


def bound_passed_bytes(declared: Bucket) -> Curve:
    """Return the bytes that a bucket lets pass at most, and the less than a ps's worth owed."""
    return Curve.from_lines(
        [(declared.size_bytes, 1 / compute_byte_time_ps(declared.bit_rate))]
    ).widen(1)


def build_full_bucket(declared: Bucket) -> list[int]:
    """Return the fields of a full bucket, up to PRICES; at the beginning, no price is known."""
    byte_ps = compute_byte_time_ps(declared.bit_rate)
    denominator = byte_ps.denominator
    byte = divmod(byte_ps.numerator, denominator)
    filled = divmod(declared.size_bytes * byte_ps.numerator, denominator)
    return [*filled, *filled, *byte, denominator]


TOO_LARGE = 1
"""What a transition returns for a size beyond that of a packet; `refuse` says so."""


def refuse(state: Whole, reason: int) -> Whole:  # noqa: ARG001  there is one reason
    """Raise ValueError for such a packet: a `Transition.replenish`."""
    raise ValueError(f"a packet has at most {LARGEST_PACKET_BYTES} bytes")


@kernel
def cost(tokens: Whole, size_bytes: int) -> Cost:
    """Return the cost of a packet of that size."""
    place = PRICES + 2 * size_bytes
    ps = tokens[place]
    if ps:
        return ps, tokens[place + 1]
    part = size_bytes * tokens[BYTE_PART]
    carried = part // tokens[DENOMINATOR]
    ps, part = size_bytes * tokens[BYTE] + carried, part - carried * tokens[DENOMINATOR]
    tokens[place], tokens[place + 1] = ps, part
    return ps, part


@kernel
def fill(tokens: Whole, ps: int, part: int) -> Cost:
    """Add the tokens of a time, and return the time of those that overflow."""
    denominator = tokens[DENOMINATOR]
    level, level_part = tokens[LEVEL] + ps, tokens[LEVEL_PART] + part
    if level_part >= denominator:
        level_part -= denominator
        level += 1
    over, over_part = level - tokens[FULL], level_part - tokens[FULL_PART]
    if over_part < 0:
        over_part += denominator
        over -= 1
    if over < 0:
        tokens[LEVEL], tokens[LEVEL_PART] = level, level_part
        return 0, 0
    tokens[LEVEL], tokens[LEVEL_PART] = tokens[FULL], tokens[FULL_PART]
    return over, over_part


@kernel
def covers(tokens: Whole, price: Cost) -> bool:
    """Return whether there are tokens for a packet before this ps ends."""
    return compute_wait_ps(tokens, price) == 0


@kernel
def take(tokens: Whole, price: Cost) -> None:
    """Take the tokens of a packet that the bucket covers; less than a ps's worth may be owed."""
    level, part = tokens[LEVEL] - price[0], tokens[LEVEL_PART] - price[1]
    if part < 0:
        part += tokens[DENOMINATOR]
        level -= 1
    tokens[LEVEL], tokens[LEVEL_PART] = level, part


@kernel
def compute_wait_ps(tokens: Whole, price: Cost) -> int:
    """Return the time until there are tokens for a packet, rounded down to whole ps."""
    missing = price[0] - tokens[LEVEL] - (price[1] < tokens[LEVEL_PART])
    return max(int(missing), 0)
