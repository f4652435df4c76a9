"""Student's t distribution: how far the mean of a few repeats may lie from the truth.

For whole degrees of freedom the distribution is a finite sum of powers of a cosine, so neither a
gamma function nor a library is needed. Source: Abramowitz and Stegun, Handbook of Mathematical
Functions, 26.7.3 and 26.7.4.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from statistics import NormalDist

DIGITS = 9
"""Quantiles are rounded to so many digits, where no two machines differ in the arctangent."""

_HALVINGS = 50


def distribution(t: float, degrees: int) -> float:
    """Return the probability that Student's t is at most `t`, for t >= 0."""
    cosine_squared = degrees / (degrees + t * t)
    sine = t / math.sqrt(degrees + t * t)
    odd = degrees % 2
    term = total = 0.0
    if degrees > 1:
        term = total = math.sqrt(cosine_squared) if odd else 1.0
    for number in range(1, (degrees - odd) // 2):
        above, below = (2 * number, 2 * number + 1) if odd else (2 * number - 1, 2 * number)
        term *= cosine_squared * above / below
        total += term
    if not odd:
        return 0.5 + sine * total / 2
    angle = math.atan(t / math.sqrt(degrees))
    return 0.5 + (angle + sine * total) / math.pi


@functools.cache
def quantile(confidence: Fraction, degrees: int) -> Fraction:
    """Return what Student's t does not exceed with that confidence, above 1/2 and below 1."""
    wanted = float(confidence)
    high = 1.0
    while distribution(high, degrees) < wanted:
        high *= 2
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if distribution(middle, degrees) < wanted:
            low = middle
        else:
            high = middle
    return Fraction(f"{high:.{DIGITS}g}")


@functools.cache
def normal_quantile(confidence: Fraction) -> Fraction:
    """Return what the standard normal distribution does not exceed with that confidence."""
    return Fraction(f"{NormalDist().inv_cdf(float(confidence)):.{DIGITS}g}")


def root(value: Fraction) -> Fraction:
    """Return the square root of a value, at least 0, to more digits than a float has."""
    scale = 10 ** (20 + max(0, value.denominator.bit_length() - value.numerator.bit_length()))
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)
