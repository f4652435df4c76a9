"""Concave curves: the most that arrives in any closed interval of a length.

An interval is closed, so that the value at 0 is what may arrive in one instant. A curve is the
least of several straight lines, each a leaky bucket: Le Boudec and Thiran, 1.2 and Theorem 1.2.1.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.dataclass import dataclass

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


@dataclass(frozen=True)
class Curve:
    """The least of some lines; without any, no bound.

    Attributes:
        lines: By ascending burst and falling rate, each the least somewhere.
    """

    lines: tuple[Bucket, ...] = ()

    @classmethod
    def of(cls, lines: Iterable[tuple[Fraction | int, Fraction | int]]) -> Curve:
        """Return the curve of these lines, pairs of burst and rate."""
        kept: list[Bucket] = []
        for burst, rate in sorted(lines):
            line = Bucket(_exact(burst), _exact(rate))
            if kept and line.rate >= kept[-1].rate:
                continue
            while len(kept) > 1 and _meet(kept[-2], line) <= _meet(kept[-2], kept[-1]):
                kept.pop()
            kept.append(line)
        if len(kept) > MOST_LINES:
            kept = [*kept[: MOST_LINES // 2], *kept[-(MOST_LINES // 2) :]]
        return cls(tuple(kept))

    @property
    def is_bounded(self) -> bool:
        """Return whether there is a bound."""
        return bool(self.lines)

    @property
    def rate(self) -> Fraction | None:
        """Return the rate in the long run; None if there is no bound."""
        return self.lines[-1].rate if self.lines else None

    def at(self, length_ps: Fraction | int) -> Fraction | None:
        """Return the most that arrives in a closed interval; None if there is no bound."""
        return min((burst + rate * length_ps for burst, rate in self.lines), default=None)

    def plus(self, other: Curve) -> Curve:
        """Return the curve of both together."""
        if len(self.lines) == len(other.lines) == 1:
            (one,), (two,) = self.lines, other.lines
            return Curve((Bucket(one.burst + two.burst, one.rate + two.rate),))
        pairs = ((one, two) for one in self.lines for two in other.lines)
        return Curve.of((one.burst + two.burst, one.rate + two.rate) for one, two in pairs)

    def least(self, other: Curve) -> Curve:
        """Return the curve of what keeps within both: Le Boudec and Thiran, Lemma 1.2.4."""
        if not (self.lines and other.lines):
            return self if self.lines else other
        return Curve.of((*self.lines, *other.lines))

    def times(self, factor: Fraction | int) -> Curve:
        """Return the curve in another unit, of which there are `factor` for each; above 0."""
        return Curve(tuple(Bucket(b * factor, r * factor) for b, r in self.lines))

    def widened(self, time_ps: Fraction | int) -> Curve:
        """Return what arrives in intervals that are longer by a time.

        What arrives after delays that differ by at most that time keeps within this curve, whatever
        delayed it: all of it had arrived in such an interval.
        """
        if not (time_ps and self.lines):
            return self
        return Curve.of((b + r * time_ps, r) for b, r in self.lines)

    def through(self, rate: Fraction, latency_ps: Fraction | int) -> Curve:
        """Return what leaves a server of a rate and a latency: Le Boudec and Thiran, Theorem 1.4.3.

        The deconvolution of both: where it is steeper than the server, it is the server's line.
        """
        later = self.widened(latency_ps)
        excess = later.excess(rate)
        if excess is None:
            return UNBOUNDED
        return Curve.of([*(line for line in later.lines if line.rate <= rate), (excess, rate)])

    def excess(self, rate: Fraction | int = 1) -> Fraction | None:
        """Return the most by which it is ever above a line from 0 of that rate; None: no bound.

        The difference is concave, so it is highest where the curve's own rate falls to that of the
        line: at the start, or where two of its lines meet.
        """
        before: Bucket | None = None
        for line in self.lines:
            if line.rate <= rate:
                time_ps = Fraction(0) if before is None else _meet(before, line)
                return line.burst + (line.rate - rate) * time_ps
            before = line
        return None


UNBOUNDED = Curve()
NOTHING = Curve((Bucket(Fraction(0), Fraction(0)),))


def _exact(number: Fraction | int) -> Fraction:
    """Return a number as a fraction; to make one of a fraction again takes long."""
    return number if isinstance(number, Fraction) else Fraction(number)


def _meet(one: Bucket, other: Bucket) -> Fraction:
    """Return where two lines meet."""
    return (other.burst - one.burst) / (one.rate - other.rate)


def bursts(period_ps: Fraction, size: int = 1, apart_ps: Fraction | int = 0) -> Curve:
    """Return the curve of bursts of `size`, evenly apart, that begin once a period."""
    rate, peak = size / Fraction(period_ps), []
    if size > 1 and apart_ps:
        peak = [(Fraction(1), 1 / Fraction(apart_ps))]
    return Curve.of([(size - rate * (size - 1) * apart_ps, rate), *peak])


def periodic(gaps_ps: Sequence[Fraction]) -> Curve:
    """Return the curve of arrivals with these gaps in turn, over and over."""
    rate = len(gaps_ps) / Fraction(sum(gaps_ps))
    ends = [Fraction(0)]
    for gap_ps in (*gaps_ps, *gaps_ps):
        ends.append(ends[-1] + gap_ps)
    burst = least = Fraction(0)
    for number, end_ps in enumerate(ends):
        above = number - rate * end_ps
        least = min(least, above)
        burst = max(burst, above - least)
    count = min(len(gaps_ps), MOST_INSTANTS)
    spans = [
        min(ends[k + more] - ends[k] for k in range(len(gaps_ps)))
        for more in range(count if len(gaps_ps) <= MOST_INSTANTS else 2)
    ]
    return _above([*enumerate(spans, 1)], Bucket(burst + 1, rate))


def once(at_ps: Sequence[int], each: int = 1) -> Curve:
    """Return the curve of `each` arrivals at some instants, ascending, and of none after them."""
    total = Bucket(Fraction(each * len(at_ps)), Fraction(0))
    if len(at_ps) > MOST_INSTANTS:
        return Curve((total,))
    spans = [
        min(at_ps[k + count] - at_ps[k] for k in range(len(at_ps) - count))
        for count in range(len(at_ps))
    ]
    counts = [(count * each, Fraction(span)) for count, span in enumerate(spans, 1)]
    return _above(counts, total)


def _above(points: Sequence[tuple[int, Fraction]], last: Bucket) -> Curve:
    """Return the lowest concave curve above some arrivals and below a line.

    Args:
        points: (count, time): so many arrivals take at least that time, both ascending.
        last: A line that is above all of them.
    """
    hull: list[tuple[Fraction, Fraction]] = []
    for count, span in points:
        point = (span, Fraction(count))
        if hull and hull[-1][0] == span:
            hull.pop()
        while len(hull) > 1 and _slope(hull[-2], point) >= _slope(hull[-2], hull[-1]):
            hull.pop()
        hull.append(point)
    slopes = [_slope(one, other) for one, other in itertools.pairwise(hull)]
    lines = [(y - slope * x, slope) for (x, y), slope in zip(hull, slopes, strict=False)]
    return Curve.of([*((b, r) for b, r in lines if r > last.rate), last])


def _slope(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> Fraction:
    return (other[1] - one[1]) / (other[0] - one[0])
