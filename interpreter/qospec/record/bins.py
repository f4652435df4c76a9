"""Bins of a histogram of delays: a number of equal width for each doubling of the delay.

With as many of them as the engine's own histogram has, they are its buckets; with fewer, each is a
union of buckets.
"""

from __future__ import annotations

from fractions import Fraction

FINEST = 512
"""The most bins for each doubling of the delay; any smaller power of two is possible, too."""
HIGHEST = 64 * FINEST
"""No bin has a higher number: a time has 63 bits."""


def find_bin(delay_ps: int, per_octave: int) -> int:
    """Return the number of the bin that contains a delay."""
    if delay_ps <= 0:
        return 0
    octave = delay_ps.bit_length() - 1
    return octave * per_octave + (delay_ps * per_octave >> octave) - per_octave + 1


def find_bin_start_ps(number: int, per_octave: int) -> Fraction:
    """Return where a bin begins, in ps; bin 0 contains only delays of 0."""
    if number <= 0:
        return Fraction(0)
    octave, part = divmod(number - 1, per_octave)
    return Fraction((per_octave + part) << octave, per_octave)
