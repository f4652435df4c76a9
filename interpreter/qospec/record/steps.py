"""Steps of a histogram of delays, so many of equal width to each doubling.

Where there are as many as the engine's own histogram has, they are its buckets; where there are
fewer, each is a union of buckets.
"""

from __future__ import annotations

from fractions import Fraction

FINEST = 512
"""Steps to each doubling of the delay; any power of two up to that will do."""
HIGHEST = 64 * FINEST
"""No number of a step is higher: a time has 63 bits."""


def step_of(delay_ps: int, per_octave: int) -> int:
    """Return the number of the step that a delay is in."""
    if delay_ps <= 0:
        return 0
    octave = delay_ps.bit_length() - 1
    return octave * per_octave + (delay_ps * per_octave >> octave) - per_octave + 1


def step_start_ps(number: int, per_octave: int) -> Fraction:
    """Return where a step begins, in ps; step 0 holds delays of 0 alone."""
    if number <= 0:
        return Fraction(0)
    octave, part = divmod(number - 1, per_octave)
    return Fraction((per_octave + part) << octave, per_octave)
