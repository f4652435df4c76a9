"""Concave curves: the most that arrives in any closed interval of a length.

An interval is closed, so that the value at 0 is what may arrive in one instant. A curve is the
least of several straight lines, each a leaky bucket: Le Boudec and Thiran, 1.2. Its lines are
whole numbers with one denominator: as fractions, which are reduced one by one after every step,
they made a proof take half as long again.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple, dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_LINES = 12
"""A curve of more lines leaves some out: it is then higher, so still a bound."""
MOST_INSTANTS = 200
"""Of more arrivals not every pair is compared; what is left out makes the curve higher."""


class Bucket(NamedTuple):
    """A line: `burst` at once, and `rate` for each picosecond."""

    burst: Fraction
    rate: Fraction


Scaled = tuple[int, int]
"""Burst and rate of a line, times the denominator of its curve."""


@dataclass(frozen=True)
class Curve:
    """The least of some lines; without any, no bound.

    Attributes:
        scaled: By ascending burst and falling rate, each the least somewhere.
        denominator: Of all of these, which have no divisor in common with it.
    """

    scaled: tuple[Scaled, ...] = ()
    denominator: int = 1

    @classmethod
    def from_lines(cls, lines: Iterable[tuple[Fraction | int, Fraction | int]]) -> Curve:
        """Return the curve of these lines, pairs of burst and rate."""
        pairs = [*lines]
        denominator = math.lcm(*(number.denominator for pair in pairs for number in pair))
        return _select_least(
            [
                (_multiply(burst, denominator), _multiply(rate, denominator))
                for burst, rate in pairs
            ],
            denominator,
        )

    @property
    def lines(self) -> tuple[Bucket, ...]:
        """Return the lines."""
        return tuple(
            Bucket(*(Fraction(n, self.denominator) for n in parameters))
            for parameters in self.scaled
        )

    @property
    def is_bounded(self) -> bool:
        """Return whether there is a bound."""
        return bool(self.scaled)

    @property
    def rate(self) -> Fraction | None:
        """Return the rate in the long run; None if there is no bound."""
        return Fraction(self.scaled[-1][1], self.denominator) if self.scaled else None

    def count_within(self, length_ps: Fraction | int) -> Fraction | None:
        """Return the most that arrives in a closed interval; None if there is no bound."""
        ps, parts = length_ps.numerator, length_ps.denominator
        least = min((burst * parts + rate * ps for burst, rate in self.scaled), default=None)
        return None if least is None else Fraction(least, parts * self.denominator)

    def add(self, other: Curve) -> Curve:
        """Return the curve of both together: it bends where one of them does."""
        if not (self.scaled and other.scaled):
            return UNBOUNDED
        denominator = math.lcm(self.denominator, other.denominator)
        mine, its = self._rescale(denominator), other._rescale(denominator)
        one = two = 0
        lines = [_sum(mine[0], its[0])]
        while one + 1 < len(mine) or two + 1 < len(its):
            first = _compare_bends(mine[one : one + 2], its[two : two + 2])
            one += first <= 0
            two += first >= 0
            lines.append(_sum(mine[one], its[two]))
        return _reduce(lines, denominator)

    def intersect(self, other: Curve) -> Curve:
        """Return the curve of what keeps within both."""
        if not (self.scaled and other.scaled):
            return self if self.scaled else other
        denominator = math.lcm(self.denominator, other.denominator)
        return _select_least(
            [*self._rescale(denominator), *other._rescale(denominator)], denominator
        )

    def _rescale(self, denominator: int) -> Sequence[Scaled]:
        """Return the lines with a multiple of their denominator."""
        factor = denominator // self.denominator
        return self.scaled if factor == 1 else [(b * factor, r * factor) for b, r in self.scaled]

    def scale_by(self, factor: Fraction | int) -> Curve:
        """Return the curve in another unit, of which there are `factor` for each; above 0."""
        many, parts = factor.numerator, factor.denominator
        lines = [(burst * many, rate * many) for burst, rate in self.scaled]
        return _reduce(lines, self.denominator * parts)

    def widen(self, time_ps: Fraction | int) -> Curve:
        """Return what arrives in intervals that are longer by a time.

        What arrives after delays that differ by at most that time keeps within this curve, whatever
        delayed it: all of it had arrived in such an interval.
        """
        if not (time_ps and self.scaled):
            return self
        ps, parts = time_ps.numerator, time_ps.denominator
        lines = [(burst * parts + rate * ps, rate * parts) for burst, rate in self.scaled]
        first = 0  # lines that are the least only in shorter intervals are left out
        while first + 1 < len(lines) and lines[first + 1][0] <= lines[first][0]:
            first += 1
        return _reduce(lines[first:], self.denominator * parts)

    def raise_by(self, burst: int) -> Curve:
        """Return the curve with so much more at once."""
        more = burst * self.denominator
        return Curve(tuple((burst + more, rate) for burst, rate in self.scaled), self.denominator)

    def serve(self, rate: Fraction, latency_ps: Fraction | int) -> Curve:
        """Return what leaves a server of a rate and a latency: Le Boudec and Thiran, 1.4.1.

        The deconvolution of both: where it is steeper than the server, it is the server's line.
        """
        later = self.widen(latency_ps)
        excess = later.find_excess(rate)
        if excess is None:
            return UNBOUNDED
        server = Curve.from_lines([(excess, rate)])
        slower = [
            line
            for line in later.scaled
            if line[1] * rate.denominator <= rate.numerator * later.denominator
        ]
        return server.intersect(_reduce(slower, later.denominator))

    def find_excess(self, rate: Fraction | int = 1) -> Fraction | None:
        """Return the most by which it is ever above a line from 0 of that rate; None: no bound.

        The difference is concave, so it is highest where the curve's own rate falls to that of the
        line: at the start, or where two of its lines meet.
        """
        many, parts = rate.numerator * self.denominator, rate.denominator
        before: Scaled | None = None
        for line in self.scaled:
            if line[1] * parts <= many:
                if before is None:
                    return Fraction(line[0], self.denominator)
                up, down = _find_bend(before, line)
                above = line[0] * parts * down + (line[1] * parts - many) * up
                return Fraction(above, parts * down * self.denominator)
            before = line
        return None


UNBOUNDED = Curve()
NOTHING = Curve(((0, 0),))


def _multiply(number: Fraction | int, denominator: int) -> int:
    """Return a number times a multiple of its denominator."""
    return number.numerator * (denominator // number.denominator)


def _sum(one: Scaled, other: Scaled) -> Scaled:
    return one[0] + other[0], one[1] + other[1]


def _select_least(lines: Iterable[Scaled], denominator: int) -> Curve:
    """Return the curve of lines in any order, without those that are nowhere the least."""
    kept: list[Scaled] = []
    for line in sorted(lines):
        if kept and line[1] >= kept[-1][1]:
            continue
        while len(kept) > 1 and _compare_bends((kept[-2], line), kept[-2:]) <= 0:
            kept.pop()
        kept.append(line)
    return _reduce(kept, denominator)


def _reduce(lines: Sequence[Scaled], denominator: int) -> Curve:
    """Return the curve of lines that are in order, and each the least somewhere."""
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES // 2], *lines[-(MOST_LINES // 2) :]]
    common = math.gcd(denominator, *itertools.chain.from_iterable(lines))
    if common == 1:
        return Curve(tuple(lines), denominator)
    return Curve(tuple((b // common, r // common) for b, r in lines), denominator // common)


def _find_bend(one: Scaled, other: Scaled) -> tuple[int, int]:
    """Return where two lines meet, as numerator and denominator; the first is the steeper one."""
    return other[0] - one[0], one[1] - other[1]


def _compare_bends(one: Sequence[Scaled], other: Sequence[Scaled]) -> int:
    """Return below 0 if the first two lines meet before the others, above 0 if later.

    Where there is one line, it bends nowhere; but one of both does.
    """
    if 1 in (len(one), len(other)):
        return len(other) - len(one)
    (up, down), (its_up, its_down) = _find_bend(*one), _find_bend(*other)
    return up * its_down - its_up * down


def bound_bursts(period_ps: Fraction, size: int = 1, apart_ps: Fraction | int = 0) -> Curve:
    """Return the curve of bursts of `size`, evenly apart, that begin once a period."""
    rate, peak = size / Fraction(period_ps), []
    if size > 1 and apart_ps:
        peak = [(Fraction(1), 1 / Fraction(apart_ps))]
    return Curve.from_lines([(size - rate * (size - 1) * apart_ps, rate), *peak])


def bound_gaps(gaps_ps: Sequence[Fraction]) -> Curve:
    """Return the curve of arrivals with these gaps in turn, over and over."""
    parts = math.lcm(*(gap_ps.denominator for gap_ps in gaps_ps))
    gaps = [_multiply(gap_ps, parts) for gap_ps in gaps_ps]
    count, whole = len(gaps), sum(gaps)
    ends = [0, *itertools.accumulate((*gaps, *gaps))]
    burst = least = 0
    for number, end in enumerate(ends):
        above = number * whole - count * end
        least = min(least, above)
        burst = max(burst, above - least)
    spans = [
        min(ends[k + more] - ends[k] for k in range(count))
        for more in range(count if count <= MOST_INSTANTS else 2)
    ]
    last = Bucket(Fraction(burst, whole) + 1, Fraction(count, whole))
    return _cover([*enumerate(spans, 1)], last, parts)


def bound_instants(at_ps: Sequence[int], items: int = 1) -> Curve:
    """Return the curve of `items` at each of some instants, ascending, and of none after them."""
    total = Bucket(Fraction(items * len(at_ps)), Fraction(0))
    if len(at_ps) > MOST_INSTANTS:
        return Curve.from_lines([total])
    spans = [
        min(at_ps[k + count] - at_ps[k] for k in range(len(at_ps) - count))
        for count in range(len(at_ps))
    ]
    return _cover([(count * items, span) for count, span in enumerate(spans, 1)], total)


def cover_points(points: Iterable[tuple[Fraction | int, int]]) -> Curve:
    """Return the lowest concave curve that begins at 0, never falls, and is above some points.

    Args:
        points: (value, place): that much at that place, above 0 and ascending.
    """
    known = [*points]
    return _cover([(0, 0), *known], Bucket(Fraction(max(known)[0]), Fraction(0)))


def _cover(points: Sequence[tuple[Fraction | int, int]], last: Bucket, parts: int = 1) -> Curve:
    """Return the lowest concave curve above some arrivals and below a line.

    Args:
        points: (count, time): so many arrivals take at least that time, both ascending.
        last: A line that is above all of them, of time in the same unit.
        parts: How many of these units are a picosecond.
    """
    hull: list[tuple[Fraction | int, int]] = []
    for count, span in points:
        if hull and hull[-1][1] == span:
            hull.pop()
        while len(hull) > 1 and not _is_flatter(hull[-2], hull[-1], (count, span)):
            hull.pop()
        hull.append((count, span))
    lines = [last]
    for one, other in itertools.pairwise(hull):
        slope = Fraction(other[0] - one[0], other[1] - one[1])
        if slope > last.rate:
            lines.append(Bucket(one[0] - slope * one[1], slope))
    return Curve.from_lines((burst, rate * parts) for burst, rate in lines)


def _is_flatter(
    first: tuple[Fraction | int, int],
    middle: tuple[Fraction | int, int],
    end: tuple[Fraction | int, int],
) -> bool:
    """Return whether it is flatter from the first point to the end than to the middle."""
    return (end[0] - first[0]) * (middle[1] - first[1]) < (middle[0] - first[0]) * (
        end[1] - first[1]
    )
