"""Student's t and binomial distributions, and intervals of means; alike on all machines.

Student's t: for whole degrees of freedom its distribution function is a finite sum of powers of a
cosine, so neither a gamma function nor a library is needed. Source: Abramowitz and Stegun, Handbook
of Mathematical Functions, 26.7.3 and 26.7.4.

Clopper-Pearson bounds of a loss ratio: the upper bound is the ratio p at which no more losses than
were seen have a probability equal to the significance level s. With none lost that is (1 - p)ⁿ = s.
Otherwise the binomial sum is taken from its last term down: each term is the one before times a
ratio below 1, so the sum ends where nothing is left to add. The last term itself is a difference of
large logarithms, and is worked out in decimals of 40 digits, which no two machines round
differently. Source: Clopper and Pearson, Biometrika 26 (1934), 404; Stirling's series: Abramowitz
and Stegun, 6.1.41.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

DIGITS = 9
"""Quantiles and ratios are rounded to this number of digits, in which all machines agree."""

_HALVINGS = 50

RESOLUTION = 10**21
"""Where repeats differ, their values are rounded to multiples of its inverse, in base units.

Exact sums of thousands of fractions would have thousands of digits.
"""

SKEWNESS_PER_DEVIATION = 13
"""The skewness of mean delays, per standard deviation over distance from the least delay.

It is 5 to 10 for queues at loads of 0.5 to 0.9; the rest allows for few repeats, which tend to
underestimate the deviation. Found by calibration: see docs/design/confidence.md.
"""
MAX_SKEWNESS = 4
"""Twice as skewed as the exponential distribution."""
MAX_SKEWNESS_BELOW = 8
"""Likewise below a limit, where most repeats may be, such as what was offered."""
MAX_SKEWNESS_OF_RATIO = 20
"""Likewise below 1, such as that of fairness, which falls with the square of what differs."""
SKEWNESS_BELOW_GREATEST, MAX_SKEWNESS_BELOW_GREATEST = 20, 12
"""The skewness per deviation, and the most, below the greatest of the values themselves."""

Values = Sequence[Fraction]


def compute_student_cdf(t: float, degrees: int) -> float:
    """Return Student's cumulative distribution function at `t`, at least 0."""
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
def compute_student_quantile(confidence: Fraction, degrees: int) -> Fraction:
    """Return the quantile of Student's t at a confidence above 1/2 and below 1."""
    goal = float(confidence)
    high = 1.0
    while compute_student_cdf(high, degrees) < goal:
        high *= 2
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if compute_student_cdf(middle, degrees) < goal:
            low = middle
        else:
            high = middle
    return Fraction(f"{high:.{DIGITS}g}")


@functools.cache
def compute_normal_quantile(confidence: Fraction) -> Fraction:
    """Return the quantile of the standard normal distribution at a confidence."""
    from statistics import NormalDist

    return Fraction(f"{NormalDist().inv_cdf(float(confidence)):.{DIGITS}g}")


def square_root(value: Fraction) -> Fraction:
    """Return the square root of a value of at least 0, to more digits than a float has."""
    scale = 10 ** (20 + max(0, value.denominator.bit_length() - value.numerator.bit_length()))
    return Fraction(math.isqrt(value.numerator * scale * scale // value.denominator), scale)


_CONTEXT = Context(prec=40)
_SMALL = 64
"""From here on five terms of Stirling's series leave less than 10^-22."""
_HALF_LN_TAU = Decimal("0.918938533204672741780329736405617639861397")
_SERIES = tuple(Decimal(1) / n for n in (12, -360, 1260, -1680, 1188))
_NEAR = Decimal("1e-12")
_NEAR_ENOUGH = 1e-6
_NOTHING = 2.0**-56
_MOST_STEPS = 100


@functools.lru_cache(maxsize=4096)
def compute_clopper_pearson(
    lost: int, sent: int, significance: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the Clopper-Pearson lower and upper bounds of a loss ratio.

    Args:
        lost: How many were lost, each independently of the others.
        sent: Out of how many, at least one.
        significance: The significance level of each bound by itself, below 1/2.
    """
    with localcontext(_CONTEXT):
        low = 1 - _compute_upper_limit(sent - lost, sent, significance)
        high = _compute_upper_limit(lost, sent, significance)
        return _round_ratio(low), _round_ratio(high)


_FAR = 12
"""Standard deviations below the mean, beyond which probabilities are negligible."""


@functools.lru_cache(maxsize=4096)
def find_binomial_critical_value(sent: int, ratio: Fraction, significance: Fraction) -> int:
    """Return the greatest k with P(X <= k) <= `significance`; -1 if that excludes even 0.

    Args:
        sent: The number of trials, each independent of the others.
        ratio: The probability of success of each.
        significance: Below 1/2.
    """
    if ratio in (0, 1):
        return sent * int(ratio) - 1
    mean = sent * ratio
    first = max(0, math.floor(mean) - _FAR * (math.isqrt(math.ceil(mean * (1 - ratio))) + 1))
    with localcontext(_CONTEXT):
        p = Decimal(ratio.numerator) / ratio.denominator
        ways = (
            _compute_ln_factorial(sent)
            - _compute_ln_factorial(first)
            - _compute_ln_factorial(sent - first)
        )
        term = float((ways + first * p.ln() + (sent - first) * (1 - p).ln()).exp())
    odds, most = float(ratio / (1 - ratio)), float(significance)
    number, total = first, term
    while total <= most:
        term *= (sent - number) * odds / (number + 1)
        total += term
        number += 1
    return number - 1


def _round_ratio(ratio: Decimal) -> Fraction:
    return Fraction(f"{ratio:.{DIGITS}g}")


def _compute_upper_limit(lost: int, sent: int, significance: Fraction) -> Decimal:
    """Return the ratio at which at most `lost` are lost with a probability of `significance`."""
    goal = (Decimal(significance.numerator) / significance.denominator).ln()
    if lost == sent:
        return Decimal(1)
    if lost == 0:
        return 1 - (goal / sent).exp()
    ways = (
        _compute_ln_factorial(sent)
        - _compute_ln_factorial(lost)
        - _compute_ln_factorial(sent - lost)
    )
    start = _compute_wilson_limit(lost, sent, float(compute_normal_quantile(1 - significance)))
    ratio = Decimal(_estimate_upper_limit(start, lost, sent, (float(ways), float(goal))))
    for _ in range(_MOST_STEPS):
        terms = Decimal(_sum_relative(lost, sent, float((1 - ratio) / ratio)))
        last = ways + lost * ratio.ln() + (sent - lost) * (1 - ratio).ln()
        step = (last + terms.ln() - goal) * terms * (1 - ratio) / (sent - lost)
        ratio = ratio + step if ratio + step < 1 else (1 + ratio) / 2
        if abs(step) <= _NEAR * min(ratio, 1 - ratio):
            return ratio
    raise ArithmeticError(f"no bound found for {lost} of {sent}")


def _compute_wilson_limit(lost: int, sent: int, deviations: float) -> float:
    """Return Wilson's upper limit of a ratio, corrected for continuity, at most midway to 1.

    Source: Wilson, Journal of the American Statistical Association 22 (1927), 209.
    """
    ratio, spread = (lost + 0.5) / sent, deviations * deviations / sent
    middle = ratio + spread / 2
    width = math.sqrt(spread * (ratio * (1 - ratio) + spread / 4))
    return min((middle + width) / (1 + spread), (1 + lost / sent) / 2)


def _estimate_upper_limit(
    ratio: float, lost: int, sent: int, logarithms: tuple[float, float]
) -> float:
    """Return about the ratio of `_compute_upper_limit`, from near it.

    So few of Newton's steps need decimals.

    The logarithm of the probability falls and is concave, so the steps end on one side.
    """
    ways, goal = logarithms
    for _ in range(_MOST_STEPS):
        terms = _sum_relative(lost, sent, (1 - ratio) / ratio)
        last = ways + lost * math.log(ratio) + (sent - lost) * math.log1p(-ratio)
        step = (last + math.log(terms) - goal) * terms * (1 - ratio) / (sent - lost)
        ratio = ratio + step if 0 < ratio + step < 1 else (lost / sent + ratio) / 2
        if abs(step) <= _NEAR_ENOUGH * min(ratio, 1 - ratio):
            break
    return ratio


def _sum_relative(lost: int, sent: int, odds: float) -> float:
    """Return the sum of the binomial terms up to `lost`, relative to the last of them.

    Args:
        lost: The number of the last term.
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


def _compute_ln_factorial(number: int) -> Decimal:
    if number < _SMALL:
        return Decimal(math.factorial(number)).ln()
    n = Decimal(number)
    rest = sum((c / n ** (2 * power + 1) for power, c in enumerate(_SERIES)), Decimal(0))
    return (n + Decimal("0.5")) * n.ln() - n + _HALF_LN_TAU + rest


def compute_mean(values: Values) -> Fraction:
    """Return the arithmetic mean."""
    return sum(values, Fraction(0)) / len(values)


def compute_variance(values: Values) -> Fraction:
    """Return the sample variance of at least two values."""
    middle = compute_mean(values)
    return sum(((value - middle) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


def estimate_skewness(
    values: Values,
    least: Fraction,
    greatest: int = MAX_SKEWNESS,
    per_deviation: int = SKEWNESS_PER_DEVIATION,
) -> Fraction:
    """Return the skewness to assume for values that cannot be below `least`, up to `greatest`."""
    deviation = square_root(compute_variance(values))
    above = compute_mean(values) - least
    if not deviation:
        return Fraction(0)
    if above <= 0:
        return Fraction(greatest)
    return min(Fraction(greatest), per_deviation * deviation / above)


def compute_half_width(
    values: Values, skewness: Fraction, confidence: Fraction, repeats: int
) -> Fraction:
    """Return the half width of the confidence interval of a mean of `repeats` such repeats."""
    t = compute_student_quantile(confidence, repeats - 1)
    wider = skewness * (1 + 2 * t**2) / (6 * square_root(Fraction(repeats)))
    exact = (t + wider) * square_root(compute_variance(values) / repeats)
    return Fraction(math.ceil(exact * RESOLUTION), RESOLUTION)
