"""The delays of a flow in all repeats, and the design effect of their dependence.

Items of one repeat depend on each other: a delay beyond a threshold is followed by more of them,
because the queue that caused it is still long. So n items carry less information than n independent
ones. Repeats are independent, and how much they differ in the number of items beyond a threshold
shows by how much: the design effect is the variance of that number over the variance it would have
for independent items, and the effective sample size is n divided by it. Source: Kish, Survey
Sampling (1965), 8.2. On the dependence in quantiles: Heidelberger and Lewis, Operations Research 32
(1984), 185; Chen and Kelton, Proc. Winter Simulation Conference 2001, 451.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from statistics import mean, variance
from typing import TYPE_CHECKING

from qospec.dataclass import NamedTuple
from qospec.judge.statistics import (
    compute_clopper_pearson,
    compute_normal_quantile,
    compute_student_quantile,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qospec.engine.measure.tally import Delays

SUFFICIENT_ITEMS = 10
"""Independent items beyond a threshold that suffice to show how the repeats differ there."""

FIXED_COUNT_RATIO = 10
"""Numbers of items whose variance is less than their mean over this are fixed, not drawn."""

SMALL_SAMPLE_CORRECTION = 5
"""The design effect is enlarged by this over k, for k independent items that it is estimated from.

When these are few by chance, the repeats differ less by chance, too. Found by calibration, see
docs/design/confidence.md: without it 8 of 100 false criteria of quantiles passed where 5 may, and
11 of losses in rare bursts.
"""

HALF = Fraction(1, 2)


class TailCounts(NamedTuple):
    """Ends of buckets in rising order, each with the items in buckets that end there or later."""

    times_ps: Sequence[int]
    items: Sequence[int]

    @classmethod
    def from_ends(cls, ends: Iterable[tuple[int, int]]) -> TailCounts:
        """Return the counts of buckets, given the end and the items of each."""
        found: dict[int, int] = {}
        for time_ps, items in ends:
            found[time_ps] = found.get(time_ps, 0) + items
        times_ps = sorted(found)
        falling = accumulate(found[time_ps] for time_ps in reversed(times_ps))
        return cls(times_ps, list(falling)[::-1])

    def find_nth_largest_ps(self, number: int) -> int | None:
        """Return the end of the bucket that holds the n-th largest item; None if there is none."""
        # the counts fall: the last end with as many items holds it
        place = bisect_left(self.items, 1 - number, key=operator.neg)
        return self.times_ps[place - 1] if place and number > 0 else None

    def count_from(self, time_ps: int) -> int:
        """Return how many items are in buckets that end at a time or later."""
        place = bisect_left(self.times_ps, time_ps)
        return self.items[place] if place < len(self.items) else 0


class Distribution:
    """The delays of all repeats; a lost item counts as a delay longer than any other.

    Buckets of different repeats may overlap, since those of delays above the least start at it.

    Attributes:
        totals: The number of items of each repeat.
        count: The number of items of all repeats.
    """

    def __init__(
        self, repeats: Sequence[Delays], totals: Sequence[int], lost: Sequence[int]
    ) -> None:
        """Take of each repeat the delays in buckets, the number of items, and how many were lost.

        Items that are in no bucket and not lost are below all thresholds.
        """
        self.totals = tuple(totals)
        self.count = sum(totals)
        self._lost = tuple(lost)
        self._repeats = repeats
        self._pooled_ratios: dict[tuple[Fraction, int, Fraction], Fraction] = {}

    @cached_property
    def _rows(self) -> list[TailCounts]:
        return [
            TailCounts.from_ends((low, n) for low, _, n in repeat.buckets)
            for repeat in self._repeats
        ]

    @cached_property
    def _lows(self) -> TailCounts:
        return TailCounts.from_ends(
            (low, n) for repeat in self._repeats for low, _, n in repeat.buckets
        )

    @cached_property
    def _highs(self) -> TailCounts:
        return TailCounts.from_ends(
            (high, n) for repeat in self._repeats for _, high, n in repeat.buckets
        )

    @cached_property
    def identical(self) -> bool:
        """Return whether the repeats do not differ, in delays or in losses.

        Repeats whose items are drawn one by one are not identical, whatever they measure: the
        number of items differs. Without delays this cannot be known, and they are not either.
        """
        lows, total = self._rows[0].times_ps, self.totals[0]
        if (
            len(self._rows) == 1
            or not lows
            or variance(self.totals) * FIXED_COUNT_RATIO > mean(self.totals)
        ):
            return False
        counts = [(lost, *row.items) for lost, row in zip(self._lost, self._rows, strict=True)]
        return all(
            row.times_ps == lows
            and all(
                abs(n * total - m * first) <= max(total, first)
                for n, m in zip(found, counts[0], strict=True)
            )
            for row, found, first in zip(self._rows, counts, self.totals, strict=True)
        )

    @cached_property
    def before_the_last(self) -> Distribution:
        """Return the distribution of all repeats but the last."""
        return Distribution(self._repeats[:-1], self.totals[:-1], self._lost[:-1])

    def bound_share_lost(self, confidence: Fraction) -> Fraction:
        """Return what share is lost at most if each repeat that loses anything may lose all."""
        losing = sum(lost > 0 for lost in self._lost)
        _, most = compute_clopper_pearson(losing, len(self.totals), 1 - confidence)
        return min(Fraction(1), most * max(self.totals) * len(self.totals) / self.count)

    @property
    def least_share_lost(self) -> Fraction:
        """Return what share each repeat has lost at least, of its items and of the mean number."""
        usual = Fraction(self.count, len(self.totals))
        pairs = zip(self._lost, self.totals, strict=True)
        return min(lost / max(Fraction(total), usual) for lost, total in pairs)

    def estimate_effect_of_losses(self, confidence: Fraction, repeats: int) -> Fraction:
        """Return the design effect, at least 1, that losses show without any delays.

        Losses in bursts need not leave a trace in delays, and few bursts hardly tell how long
        others are: so it is enlarged where few independent ones were seen.
        """
        lost = Fraction(sum(self._lost) * repeats, len(self.totals))
        if not lost or len(self.totals) == 1:
            return Fraction(1)
        found = allow_for_few(_compute_dispersion(self._lost, self.totals).ratio, lost)
        return max(Fraction(1), found * _compute_widening(confidence, repeats))

    @property
    def last_lost(self) -> int:
        """Return how many items the last repeat lost."""
        return self._lost[-1]

    def find_reached_in_each_ps(self, share: Fraction) -> int | None:
        """Return a time that in each repeat at least this share of all delays reach; None: none."""
        usual = Fraction(self.count, len(self.totals))
        found = [
            row.find_nth_largest_ps(max(1, math.ceil(share * max(Fraction(total), usual))))
            for row, total in zip(self._rows, self.totals, strict=True)
        ]
        known = [time_ps for time_ps in found if time_ps is not None]
        return min(known) if len(known) == len(found) else None

    def bound_nth_longest_ps(self, number: int) -> tuple[int, int] | None:
        """Return bounds of the n-th longest delay, n from 1; None if that item was lost."""
        behind = number - sum(self._lost)
        low, high = self._lows.find_nth_largest_ps(behind), self._highs.find_nth_largest_ps(behind)
        if low is None or high is None:
            return None
        least_ps = min(repeat.min_ps for repeat in self._repeats if repeat.min_ps is not None)
        most_ps = max(repeat.max_ps for repeat in self._repeats if repeat.max_ps is not None)
        return max(low, least_ps), min(high, most_ps)

    def compute_design_effect(
        self, share: Fraction, confidence: Fraction, thresholds: int, repeats: int | None = None
    ) -> Fraction:
        """Return the design effect where `share` of all items lie beyond a threshold, at least 1.

        It is estimated at that threshold and at those beyond which twice as many items lie, four
        times as many, up to half of them, until `thresholds` of them had enough items; with a share
        above half, by the items that are not beyond. Few items may agree by chance, so that at the
        threshold itself counts only if it is more than the pooled one: the squared deviations of
        all thresholds over those of independent items. The largest of them would grow with their
        number. The estimate comes from few repeats itself, so it is enlarged by the square of the
        ratio of Student's quantile to the normal one: for `repeats` such repeats, which are as many
        as there are unless it is said. With a single repeat it is unknown, and 1.
        """
        if len(self.totals) == 1:
            return Fraction(1)
        found = self._compute_pooled_ratio(
            share, thresholds, _compute_widening(confidence, len(self.totals))
        )
        return max(Fraction(1), found * _compute_widening(confidence, repeats or len(self.totals)))

    def _compute_pooled_ratio(self, share: Fraction, thresholds: int, wider: Fraction) -> Fraction:
        """Return how much the repeats differ, over how much they would by independent items."""
        key = share, thresholds, wider
        if key not in self._pooled_ratios:
            self._pooled_ratios[key] = self._pool_thresholds(*key)
        return self._pooled_ratios[key]

    def _pool_thresholds(self, share: Fraction, thresholds: int, wider: Fraction) -> Fraction:
        own, squares, expected = Fraction(0), Fraction(0), Fraction(0)
        for number, counts in enumerate(self._list_tails(share)):
            found = _compute_dispersion(counts, self.totals)
            own = found.ratio if not number and share else own
            squares, expected = squares + found.squares, expected + found.expected
            rarer = min(sum(counts), self.count - sum(counts))
            thresholds -= rarer >= SUFFICIENT_ITEMS * max(found.ratio * wider, Fraction(1))
            if thresholds <= 0:
                break
        return max(own, squares / expected if expected else Fraction(0))

    def _list_tails(self, share: Fraction) -> Iterator[tuple[int, ...]]:
        """Yield the items of each repeat beyond thresholds that move towards the median."""
        lost, low = sum(self._lost), share > HALF
        rarer = max(min(share, 1 - share), Fraction(1, max(1, self.count)))  # at least one item
        if lost >= share * self.count > 0:
            yield self._lost
        while True:
            beyond = 1 - rarer if low else rarer
            bound_ps = self._lows.find_nth_largest_ps(math.ceil(beyond * self.count) - lost)
            if bound_ps is not None:
                items = (row.count_from(bound_ps) for row in self._rows)
                yield tuple(map(operator.add, self._lost, items))
            if rarer >= HALF:
                return
            rarer = min(rarer * 2, HALF)


def allow_for_few(effect: Fraction, items: Fraction) -> Fraction:
    """Return a design effect that is enlarged the more, the fewer items it was estimated from."""
    return 1 + (effect - 1) * (1 + SMALL_SAMPLE_CORRECTION * effect / items)


def _compute_widening(confidence: Fraction, repeats: int) -> Fraction:
    """Return by how much a variance that so many repeats estimate is enlarged."""
    return (
        compute_student_quantile(confidence, repeats - 1) / compute_normal_quantile(confidence)
    ) ** 2


class Dispersion(NamedTuple):
    """The squared deviations of counts, and what they would be of independent items."""

    squares: Fraction
    expected: Fraction

    @property
    def ratio(self) -> Fraction:
        """Return the one over the other; 0 if the items are none or all."""
        return self.squares / self.expected if self.expected else Fraction(0)


def _compute_dispersion(counts: Sequence[int], totals: Sequence[int]) -> Dispersion:
    """Return by how much the counts of repeats differ.

    The share p of all items includes those of the repeat, so the squared deviations of independent
    items sum up to p (1 - p) (n - sum of n_i² / n), for n_i items of each repeat. Where one repeat
    has all items, the variance is unknown, and all of them together may count as one.
    """
    items, found = sum(totals), sum(counts)
    if max(totals) == items:
        return Dispersion(Fraction(items), Fraction(1))
    expected = found * (items - found) * (items**2 - sum(total**2 for total in totals))
    pairs = zip(counts, totals, strict=True)
    squares = sum((count * items - found * total) ** 2 for count, total in pairs)
    return Dispersion(Fraction(squares, items**2), Fraction(expected, items**3))
