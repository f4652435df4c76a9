"""Strategies of numbers between two bounds, which shrink to round ones.

A number is how it is rounded, a place on a logarithmic scale, and what follows the first digit.
Rounding it to fewer digits hardly moves it, so the number of digits shrinks first and then the
number itself.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from hypothesis import strategies as st

from qospec.dataclass import NamedTuple
from qospec.shrink.rounding import find_exponent, is_multiple

DIGITS = 6
"""The most digits that are drawn, but for bounds."""
DECADES = 12
"""How many decades a number may be below the greatest, unless that is below the finest step."""
PLACES = 9
"""What the first digit may be. Hypothesis draws from few places evenly, and from many the first."""
FINE = 10 ** (DIGITS - 1)
"""What follows it."""
ZERO, EXACT, NEAR = 0, DIGITS + 1, DIGITS + 2
"""How a number is rounded: to 0; to so many digits; to a bound, or to a number that is near."""
STEPS = (-1, 0, 0, 0, 1)
"""A number that is near, and those beside it, are as likely as numbers of all digits together."""


class _Side(NamedTuple):
    """The numbers of one sign: from `low` to `high`, both above 0, of `decades` from `bottom`."""

    sign: int
    low: Fraction
    high: Fraction
    bottom: int
    decades: int


def draw_numbers(
    low: Fraction, high: Fraction, finest: int | None = None, near: tuple[Fraction, ...] = ()
) -> st.SearchStrategy[Fraction]:
    """Return a strategy of decimal numbers from `low` to `high`, which shrink to round ones.

    Args:
        low: The least.
        high: The greatest, not below `low`.
        finest: All are multiples of ten to this power, such as 0 for whole numbers and -12 for
            picoseconds; the bounds are drawn only if they are, too. None: any fraction.
        near: Numbers that are drawn often, of those between the bounds, and those next to them.
    """
    near = tuple(number for number in near if low <= number <= high)
    return _draw_number(low, high, finest, near)


@st.composite
def _draw_number(
    draw: st.DrawFn, low: Fraction, high: Fraction, finest: int | None, near: tuple[Fraction, ...]
) -> Fraction:
    sides = _list_sides(low, high, finest)
    least = ZERO if low <= 0 <= high else 1
    kind = draw(st.integers(least, NEAR + len(STEPS) - 1 if near else EXACT))
    places = PLACES * sum(side.decades for side in sides)
    place = draw(st.integers(0, max(0, places - 1)))
    fine = draw(st.integers(0, FINE - 1))
    if kind == ZERO or not sides:
        return Fraction(0) if low <= 0 <= high else low
    side = sides[0]
    if place >= PLACES * side.decades:
        side, place = sides[1], place - PLACES * side.decades
    at = side.sign * _compute_at(side, place, fine)
    if kind >= NEAR:
        step = Fraction(10) ** (
            finest if finest is not None else find_exponent(high or -low) - DECADES
        )
        below = max((number for number in near if number <= at), default=min(near))
        return _fit_within(below + STEPS[kind - NEAR] * step, low, high, finest)
    ends = [end for end in (low, high) if is_multiple(end, finest)]
    if kind == EXACT and ends:
        return ends[0] if 2 * place < PLACES * side.decades - 1 else ends[-1]
    return side.sign * _round_number(abs(at), side, min(kind, DIGITS), finest)


def _fit_within(value: Fraction, low: Fraction, high: Fraction, finest: int | None) -> Fraction:
    """Return a value as a multiple of the finest step, between the bounds."""
    if finest is not None:
        value = value // Fraction(10) ** finest * Fraction(10) ** finest
    return min(max(value, low), high)


@lru_cache(maxsize=256)
def _list_sides(low: Fraction, high: Fraction, finest: int | None) -> tuple[_Side, ...]:
    """Return the numbers above 0, then those below, as far as there are any."""
    found = []
    for sign, least, most in ((1, low, high), (-1, -high, -low)):
        step = Fraction(10) ** finest if finest is not None else Fraction(0)
        least = max(least, step)  # noqa: PLW2901 -- the least that can be drawn
        if most <= 0 or most < least:
            continue
        top = find_exponent(most)
        bottom = top - DECADES if least <= 0 else max(find_exponent(least), top - DECADES)
        found.append(_Side(sign, least, most, bottom, top - bottom + 1))
    return tuple(found)


def _compute_at(side: _Side, place: int, fine: int) -> Fraction:
    """Return the number at a place, between the bounds."""
    decade, first = divmod(place, PLACES)
    value = (first + 1 + Fraction(fine, FINE)) * Fraction(10) ** (side.bottom + decade)
    return min(max(value, side.low), side.high)


def _round_number(value: Fraction, side: _Side, digits: int, finest: int | None) -> Fraction:
    """Return a number close to a value with so many digits, or with as few more as there is one."""
    power = find_exponent(value) - digits + 1
    while True:
        step = Fraction(10) ** (power if finest is None else max(power, finest))
        nearest: Fraction = round(value / step) * step
        for end in (nearest, nearest - step, nearest + step):
            if side.low <= end <= side.high and end > 0:
                return end
        if power < find_exponent(side.high) - DECADES - DIGITS:
            return value
        power -= 1
