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
from itertools import accumulate
from statistics import mean, variance
from typing import TYPE_CHECKING

from qospec.run.student import normal_quantile, quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qospec.engine.tally import Delays

ENOUGH = 10
"""As many independent items beyond a bound show how the repeats differ there."""

FIXED = 10
"""Numbers of items vary by less than that part of what they would if items came at random."""

HALF = Fraction(1, 2)


class Distribution:
    """Delays of all repeats, and items that were lost: as if their delay were beyond any other.

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
        self._rows = [
            ([low for low, _, _ in each.buckets], _from_here([n for _, _, n in each.buckets]))
            for each in repeats
        ]
        pooled: dict[tuple[int, int], int] = {}
        for low, high, items in (bucket for each in repeats for bucket in each.buckets):
            pooled[low, high] = pooled.get((low, high), 0) + items
        self._buckets = sorted(pooled)
        self._from = _from_here([pooled[bucket] for bucket in self._buckets])
        found = [each for each in repeats if each.min_ps is not None and each.max_ps is not None]
        self._least_ps = min((each.min_ps or 0 for each in found), default=0)
        self._largest_ps = max((each.max_ps or 0 for each in found), default=0)

    @property
    def alike(self) -> bool:
        """Return whether repeats have the same delays, and what came was not drawn item by item.

        Items that are drawn one by one differ in number from repeat to repeat.
        """
        (lows, items), total = self._rows[0], self.totals[0]
        if len(self._rows) == 1 or variance(self.totals) * FIXED > mean(self.totals):
            return False
        return all(
            found == lows
            and all(
                abs(n * total - m * each) <= max(total, each)
                for n, m in zip(counts, items, strict=True)
            )
            for (found, counts), each in zip(self._rows, self.totals, strict=True)
        )

    def nth_longest_ps(self, number: int) -> tuple[int, int] | None:
        """Return between what the n-th longest delay lies, n from 1; None if that never arrived."""
        place = self._place(number)
        if place is None:
            return None
        low, high = self._buckets[place]
        return max(low, self._least_ps), min(high, self._largest_ps)

    def design_effect(self, share: Fraction, confidence: Fraction, levels: int) -> Fraction:
        """Return as how many items one independent of all others counts, at least 1.

        It is looked for where `share` of all items lie beyond a bound, and where twice as many do,
        four times as many, up to half of them, until `levels` bounds have had enough items beyond
        them. The largest counts: few items may look as if they agreed. How far it is itself known
        from so few repeats is in it: it is as much larger as Student's t is wider than the normal
        distribution. Of a single repeat nothing is known, and it is 1.
        """
        repeats = len(self.totals)
        if repeats == 1:
            return Fraction(1)
        wider = (quantile(confidence, repeats - 1) / normal_quantile(confidence)) ** 2
        largest = Fraction(1)
        for counts in self._tails(share):
            effect = _dispersion(counts, self.totals) * wider
            largest = max(largest, effect)
            levels -= sum(counts) >= ENOUGH * max(effect, Fraction(1))
            if levels <= 0:
                break
        return largest

    def _tails(self, share: Fraction) -> Iterator[tuple[int, ...]]:
        """Yield by repeat how many items lie beyond a bound, ever more, up to half of them."""
        if sum(self._lost) >= share * self.count > 0:
            yield self._lost
        while True:
            place = self._place(max(1, math.ceil(share * self.count)))
            if place is not None:
                yield tuple(self._beyond(self._buckets[place][0]))
            if share >= HALF:
                return
            share = min(share * 2, HALF)

    def _place(self, number: int) -> int | None:
        """Return the bucket of the n-th longest delay; None of an item that never arrived."""
        behind = number - sum(self._lost)
        if behind <= 0 or not self._from or behind > self._from[0]:
            return None
        # `_from` falls: the last bucket with as many in it or above holds the item.
        return bisect_left(self._from, 1 - behind, key=operator.neg) - 1

    def _beyond(self, low_ps: int) -> Iterator[int]:
        for (lows, items), lost in zip(self._rows, self._lost, strict=True):
            place = bisect_left(lows, low_ps)
            yield lost + (items[place] if place < len(lows) else 0)


def _from_here(items: Sequence[int]) -> list[int]:
    """Return how many items are in each bucket and those above it together."""
    return list(accumulate(reversed(items)))[::-1]


def _dispersion(counts: Sequence[int], totals: Sequence[int]) -> Fraction:
    """Return the variance of counts over that of as many independent items; 0 of none or all."""
    items, repeats = sum(totals), len(totals)
    share = Fraction(sum(counts), items)
    if share in (0, 1):
        return Fraction(0)
    pairs = zip(counts, totals, strict=True)
    squares = sum(((count - share * total) ** 2 for count, total in pairs), Fraction(0))
    return squares / (repeats - 1) / (Fraction(items, repeats) * share * (1 - share))
