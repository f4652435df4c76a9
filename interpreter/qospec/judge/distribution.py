"""The delays of a flow in all repeats, and how far the repeats agree about the longest of them.

Items of one repeat depend on each other: a delay beyond a bound is followed by more of them, for
the queue that made it is still long. So n items say less than n independent ones would. Repeats are
independent, and how they differ in the number of items beyond a bound says by how much: the design
effect is the variance of that number over what it would be of independent items, and n items count
as n divided by it. Source: Kish, Survey Sampling (1965), 8.2. That dependence must be reckoned with
in quantiles: Heidelberger and Lewis, Operations Research 32 (1984), 185; Chen and Kelton, Proc.
Winter Simulation Conference 2001, 451.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from statistics import mean, variance
from typing import TYPE_CHECKING, NamedTuple

from qospec.judge.statistics import normal_quantile, quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.engine.measure.tally import Delays

ENOUGH = 10
"""As many independent items beyond a bound show how the repeats differ there."""

FIXED = 10
"""Numbers of items that vary by less than this part of what chance would make them are planned."""

HALF = Fraction(1, 2)


class Ends(NamedTuple):
    """Ends of buckets, rising, and how many items are in those that end there or later."""

    times_ps: Sequence[int]
    items: Sequence[int]

    @classmethod
    def of(cls, ends: Iterable[tuple[int, int]]) -> Ends:
        """Return them, given each with the items of its bucket."""
        found: dict[int, int] = {}
        for time_ps, items in ends:
            found[time_ps] = found.get(time_ps, 0) + items
        times_ps = sorted(found)
        falling = accumulate(found[time_ps] for time_ps in reversed(times_ps))
        return cls(times_ps, list(falling)[::-1])

    def nth_last_ps(self, number: int) -> int | None:
        """Return the end that so many items have or exceed; None of no item, or more than all."""
        # the number of items falls: the last end with as many holds the item
        place = bisect_left(self.items, 1 - number, key=operator.neg)
        return self.times_ps[place - 1] if place and number > 0 else None

    def from_here(self, time_ps: int) -> int:
        """Return how many items are in buckets that end at a time or later."""
        place = bisect_left(self.times_ps, time_ps)
        return self.items[place] if place < len(self.items) else 0


class Distribution:
    """Delays of all repeats, and items that were lost: as if their delay were beyond any other.

    Buckets of different repeats may overlap: those of delays above the least, which differs.

    Attributes:
        totals: How many items each repeat has.
        count: Of all repeats.
    """

    def __init__(
        self, repeats: Sequence[Delays], totals: Sequence[int], lost: Sequence[int]
    ) -> None:
        """Take by repeat the delays with their buckets, the items, and how many of them were lost.

        Items that are in no bucket and not lost are below all bounds.
        """
        self.totals = tuple(totals)
        self.count = sum(totals)
        self._lost = tuple(lost)
        self._repeats = repeats
        found = [each for each in repeats if each.min_ps is not None and each.max_ps is not None]
        self._least_ps = min((each.min_ps or 0 for each in found), default=0)
        self._largest_ps = max((each.max_ps or 0 for each in found), default=0)

    @cached_property
    def _rows(self) -> list[Ends]:
        return [Ends.of((low, n) for low, _, n in each.buckets) for each in self._repeats]

    @cached_property
    def _lows(self) -> Ends:
        return Ends.of((low, n) for each in self._repeats for low, _, n in each.buckets)

    @cached_property
    def _highs(self) -> Ends:
        return Ends.of((high, n) for each in self._repeats for _, high, n in each.buckets)

    @cached_property
    def alike(self) -> bool:
        """Return whether repeats have the same delays and losses, and not by drawing item by item.

        Items that are drawn one by one differ in number from repeat to repeat. Where there are no
        delays, nothing tells.
        """
        lows, total = self._rows[0].times_ps, self.totals[0]
        if len(self._rows) == 1 or not lows or variance(self.totals) * FIXED > mean(self.totals):
            return False
        counts = [(lost, *row.items) for lost, row in zip(self._lost, self._rows, strict=True)]
        return all(
            row.times_ps == lows
            and all(
                abs(n * total - m * each) <= max(total, each)
                for n, m in zip(found, counts[0], strict=True)
            )
            for row, found, each in zip(self._rows, counts, self.totals, strict=True)
        )

    def nth_longest_ps(self, number: int) -> tuple[int, int] | None:
        """Return between what the n-th longest delay lies, n from 1; None if that never arrived."""
        behind = number - sum(self._lost)
        low, high = self._lows.nth_last_ps(behind), self._highs.nth_last_ps(behind)
        if low is None or high is None:
            return None
        return max(low, self._least_ps), min(high, self._largest_ps)

    def design_effect(self, share: Fraction, confidence: Fraction, levels: int) -> Fraction:
        """Return as how many items one independent of all others counts, at least 1.

        It is looked for where `share` of all items lie beyond a bound, and where twice as many do,
        four times as many, up to half of them, until `levels` bounds have had enough items beyond
        them; of a share above half, likewise by the items that are not beyond. The largest counts:
        few items may look as if they agreed. How far it is itself known from so few repeats is in
        it: it is as much larger as Student's t is wider than the normal distribution. Of a single
        repeat nothing is known, and it is 1.
        """
        repeats = len(self.totals)
        if repeats == 1:
            return Fraction(1)
        wider = (quantile(confidence, repeats - 1) / normal_quantile(confidence)) ** 2
        largest = Fraction(1)
        for counts in self._tails(share):
            effect = _dispersion(counts, self.totals) * wider
            largest = max(largest, effect)
            rarer = min(sum(counts), self.count - sum(counts))
            levels -= rarer >= ENOUGH * max(effect, Fraction(1))
            if levels <= 0:
                break
        return largest

    def _tails(self, share: Fraction) -> Iterator[tuple[int, ...]]:
        """Yield by repeat how many items lie beyond a bound, at shares ever nearer to half."""
        lost, low = sum(self._lost), share > HALF
        rarer = max(min(share, 1 - share), Fraction(1, max(1, self.count)))  # at least one item
        if lost >= share * self.count > 0:
            yield self._lost
        while True:
            beyond = 1 - rarer if low else rarer
            bound_ps = self._lows.nth_last_ps(max(1, math.ceil(beyond * self.count)) - lost)
            if bound_ps is not None:
                items = (row.from_here(bound_ps) for row in self._rows)
                yield tuple(map(operator.add, self._lost, items))
            if rarer >= HALF:
                return
            rarer = min(rarer * 2, HALF)


def _dispersion(counts: Sequence[int], totals: Sequence[int]) -> Fraction:
    """Return the variance of counts over that of as many independent items; 0 of none or all.

    A repeat's own items are in the share of all, so of independent ones with a share p the squared
    deviations from it come to p (1 - p) (n - sum of n_i² / n), for n_i items of each repeat. Where
    one repeat has all items, nothing tells, and all of them together may count as one.
    """
    items, found = sum(totals), sum(counts)
    if max(totals) == items:
        return Fraction(items)
    expected = found * (items - found) * (items**2 - sum(total**2 for total in totals))
    pairs = zip(counts, totals, strict=True)
    squares = sum((count * items - found * total) ** 2 for count, total in pairs)
    return Fraction(squares * items, expected) if expected else Fraction(0)
