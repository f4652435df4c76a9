"""Two distributions: Student's t of means, and the binomial one of losses.

How far the mean of a few repeats may lie from the truth: for whole degrees of freedom Student's
distribution is a finite sum of powers of a cosine, so neither a gamma function nor a library is
needed. Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.

What so many losses of so many sent say of the loss ratio: the fewer are lost, the higher a ratio is
excluded, and the bound is the ratio at which no more are lost with a probability that is just the
doubt. With none lost that is (1 - p)ⁿ = doubt. Else the sum of the binomial distribution is taken
from its last term down: each is the one before times a ratio below 1, so the sum ends where nothing
is left to add. The last term itself is a difference of large logarithms, and is found in decimals
of 40 digits, which no two machines round differently. Source: Clopper and Pearson, Biometrika 26
(1934), 404; Stirling's series: Abramowitz and Stegun, 6.1.41.
"""

from __future__ import annotations

import functools
import math
from decimal import Context, Decimal, localcontext
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


"""Ratios are rounded to so many digits."""

_CONTEXT = Context(prec=40)
_SMALL = 64
"""From here on five terms of Stirling's series leave less than 10^-22."""
_HALF_LN_TAU = Decimal("0.918938533204672741780329736405617639861397")
_SERIES = tuple(Decimal(1) / n for n in (12, -360, 1260, -1680, 1188))
_NEAR = Decimal("1e-12")
_NOTHING = 2.0**-56
_MOST_STEPS = 100


@functools.lru_cache(maxsize=4096)
def bounds(lost: int, sent: int, doubt: Fraction) -> tuple[Fraction, Fraction]:
    """Return the ratios below and above which ratios are excluded, each with that doubt.

    Args:
        lost: How many were lost, each independently of the others.
        sent: Of how many, at least one.
        doubt: Below 1/2; it is that of each bound by itself.
    """
    with localcontext(_CONTEXT):
        low = 1 - _highest(sent - lost, sent, doubt)
        high = _highest(lost, sent, doubt)
        return _short(low), _short(high)


_FAR = 12
"""So many standard deviations below the mean nothing is left that would count."""


@functools.lru_cache(maxsize=4096)
def most_unlikely(sent: int, ratio: Fraction, doubt: Fraction) -> int:
    """Return the greatest number of which as many or fewer come with at most a probability `doubt`.

    -1 if even none at all is likelier than that.

    Args:
        sent: The number of trials, each independent of the others.
        ratio: With what probability each comes.
        doubt: Below 1/2.
    """
    if ratio in (0, 1):  # then all are known to come, or none
        return sent * int(ratio) - 1
    mean = sent * ratio
    first = max(0, math.floor(mean) - _FAR * (math.isqrt(math.ceil(mean * (1 - ratio))) + 1))
    with localcontext(_CONTEXT):
        p = Decimal(ratio.numerator) / ratio.denominator
        ways = _ln_factorial(sent) - _ln_factorial(first) - _ln_factorial(sent - first)
        term = float((ways + first * p.ln() + (sent - first) * (1 - p).ln()).exp())
    odds, most = float(ratio / (1 - ratio)), float(doubt)
    number, total = first, term
    while total <= most and number < sent:
        term *= (sent - number) * odds / (number + 1)
        total += term
        number += 1
    return number - 1 if total > most else number


def _short(ratio: Decimal) -> Fraction:
    return Fraction(f"{ratio:.{DIGITS}g}")


def _highest(lost: int, sent: int, doubt: Fraction) -> Decimal:
    """Return the ratio at which no more are lost with a probability of `doubt`."""
    wanted = (Decimal(doubt.numerator) / doubt.denominator).ln()
    if lost == sent:
        return Decimal(1)
    if lost == 0:
        return 1 - (wanted / sent).exp()
    ways = _ln_factorial(sent) - _ln_factorial(lost) - _ln_factorial(sent - lost)
    # The logarithm of the probability falls and is concave, so Newton's steps end on one side.
    ratio = Decimal(lost) / sent
    for _ in range(_MOST_STEPS):
        terms = Decimal(_terms(lost, sent, float((1 - ratio) / ratio)))
        last = ways + lost * ratio.ln() + (sent - lost) * (1 - ratio).ln()
        step = (last + terms.ln() - wanted) * terms * (1 - ratio) / (sent - lost)
        ratio = ratio + step if ratio + step < 1 else (1 + ratio) / 2
        if abs(step) <= _NEAR * min(ratio, 1 - ratio):
            return ratio
    raise ArithmeticError(f"no bound found for {lost} of {sent}")


def _terms(lost: int, sent: int, odds: float) -> float:
    """Return the sum of the terms from none to `lost` as a multiple of the last.

    Args:
        lost: The last term's number.
        sent: The number of trials.
        odds: (1 - p) / p.
    """
    term = total = 1.0
    for number in range(lost, 0, -1):
        term *= number * odds / (sent - number + 1)
        total += term
        if term < total * _NOTHING:
            break
    return total


def _ln_factorial(number: int) -> Decimal:
    if number < _SMALL:
        return Decimal(math.factorial(number)).ln()
    n = Decimal(number)
    rest = sum((c / n ** (2 * power + 1) for power, c in enumerate(_SERIES)), Decimal(0))
    return (n + Decimal("0.5")) * n.ln() - n + _HALF_LN_TAU + rest
