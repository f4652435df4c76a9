"""Confidence intervals of ratios of counts: cells lost, cells reordered, delays above a bound.

A metric declares that it is a count by `Metric.counting`: the "lost" out of those "sent".
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from qospec.catalogue.kinds import discover
from qospec.catalogue.statistics import parse_bound
from qospec.dataclass import NamedTuple
from qospec.engine.measure.metric import Counting
from qospec.engine.measure.tally import Delays
from qospec.judge.distribution import Distribution
from qospec.judge.repeats import bound_rare_share, compute_markov_share, looks_back
from qospec.judge.statistics import compute_clopper_pearson, compute_half_width, estimate_skewness
from qospec.model.bounds import Bounds
from qospec.model.expression import Constant, Measured, Operation
from qospec.units import CELLS, RATIO, format_number, format_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.judge.repeats import RepeatReadings
    from qospec.model.expression import Expression, Leaf

LOST, ABOVE = "lost", "above"
"""What is counted by metrics of losses, and by those of delays; others declare it."""
THRESHOLDS = {LOST: 1}
OTHER_THRESHOLDS = 2
"""Thresholds beyond which enough cells must lie to estimate the design effect.

Found by calibration for delays above a bound: with one, 6 of 100 false criteria passed where 5 may.
"""

DEFAULT_CONFIDENCE = Fraction(95, 100)
"""The confidence of bounds that are shown where a criterion asks for none."""

PERCENT = -2
TWO_DIGITS = 100


@functools.cache
def _list_counting() -> Mapping[str, Counting]:
    """Return the metrics that are counts, by name."""
    metrics = discover().select_role("metric").items()
    return {name: counting for name, kind in metrics if (counting := kind.build.counting)}


def get_counting(leaf: Measured) -> Counting:
    """Return what is counted for a measured value that is a count."""
    return _list_counting().get(leaf.metric, Counting(ABOVE, ""))


def list_item_kinds(leaf: Measured) -> frozenset[str]:
    """Return the kinds of items that a metric measures: cells, packets, or both."""
    kind = discover().find("metric", leaf.metric)
    return frozenset() if kind is None else frozenset(kind.carries)


def write_percent(confidence: Fraction) -> str:
    """Return a confidence as text, to its last digit: 99.999 % is not 100 %."""
    return f"{format_number(confidence * 100, exact=True)} %"


class Losses(NamedTuple):
    """The count of cells lost or reordered, or of delays above a bound, over all repeats together.

    Attributes:
        lost: The number counted.
        sent: Out of how many.
        repeats: The number of repeats.
        sent_by_repeat: Where a number is judged, not a ratio; else empty.
        delays: Of the cells that arrived: how the repeats differ in the longest of them shows how
            much losses in a queue depend on each other, even before one occurs.
        counted: What is counted, as an adjective.
        uncertain: How many of `lost` may not be above a bound: their buckets contain it.
    """

    lost: int
    sent: int
    repeats: int
    sent_by_repeat: tuple[Fraction, ...]
    delays: Distribution
    counted: str = LOST
    uncertain: int = 0

    @property
    def identical(self) -> bool:
        """Return whether the repeats do not differ, in losses or in delays."""
        return self.delays.identical

    @property
    def value(self) -> Fraction:
        """Return the ratio over all repeats, or the mean number per repeat."""
        return Fraction(self.lost, self.repeats if self.sent_by_repeat else self.sent)

    def compute_interval(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return the interval of `repeats` such repeats, with that confidence on each side."""
        return Bounds(*self._compute_limits(confidence, repeats))

    def compute_margins_of_error(
        self, confidence: Fraction, repeats: int
    ) -> tuple[Fraction, Fraction]:
        """Return the distance of the value from the lower and upper end of its interval."""
        low, high = self._compute_limits(confidence, repeats)
        return self.value - low, high - self.value

    def _compute_limits(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return the ends of the interval.

        A number is the ratio times what is sent. Where the repeats sent unequally many, that is
        drawn as well and has an interval of its own; each has half of the significance level.
        """
        if not self.sent_by_repeat:
            return self._bound_ratio(confidence, repeats)
        mean, wide = Fraction(self.sent, self.repeats), Fraction(0)
        if len(set(self.sent_by_repeat)) > 1:
            confidence = (1 + confidence) / 2
            wide = compute_half_width(
                self.sent_by_repeat,
                estimate_skewness(self.sent_by_repeat, Fraction(0)),
                confidence,
                repeats,
            )
        low, high = self._bound_ratio(confidence, repeats)
        return low * max(mean - wide, Fraction(0)), high * (mean + wide)

    def _bound_ratio(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return the interval of the ratio of `repeats` such repeats."""
        share = Fraction(self.lost, self.sent)
        if self.identical:
            low, high = self._bound_equal_repeats(confidence, repeats)
        else:
            effect = self.compute_design_effect(confidence, repeats) * self.repeats / repeats
            sent = max(1, math.floor(self.sent / effect))
            fewest = math.floor((self.lost - self.uncertain) / effect)
            most = math.ceil(self.lost / effect)
            low, _ = compute_clopper_pearson(min(fewest, sent), sent, 1 - confidence)
            _, high = compute_clopper_pearson(min(most, sent), sent, 1 - confidence)
            if repeats == self.repeats:
                high = min(high, self._bound_before_last(confidence))
                if self.counted != ABOVE:
                    high = min(high, self.delays.bound_share_lost(confidence))
                if effect > 1:  # else these bounds are exact
                    low = max(low, self._bound_each_repeat(confidence))
        return min(low, share), max(high, share)

    def _bound_each_repeat(self, confidence: Fraction) -> Fraction:
        """Return the ratio that losses in each single repeat show, as of `compute_markov_share`."""
        least = Fraction(0) if self.uncertain else self.delays.least_share_lost
        return compute_markov_share(confidence, self.repeats) * least

    def _bound_before_last(self, confidence: Fraction) -> Fraction:
        """Return the upper bound that the repeats before a perfect one have shown.

        That nothing is lost in one more repeat makes no smaller ratio less likely; if its delays
        differ, the design effect may be estimated to be greater all the same.
        """
        if not looks_back(self.repeats) or self.delays.last_lost:
            return Fraction(1)
        before = self.repeats - 1
        delays = self.delays.before_the_last
        by_repeat = self.sent_by_repeat[:before]
        earlier = self._replace(
            sent=delays.count, repeats=before, sent_by_repeat=by_repeat, delays=delays
        )
        return earlier._bound_ratio(confidence, before)[1] if delays.count else Fraction(1)  # noqa: SLF001

    def _bound_equal_repeats(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return the interval where what is drawn once per repeat may decide all of it."""
        rare = bound_rare_share(confidence, repeats)
        surely, possibly = self.lost - self.uncertain, Fraction(self.lost, self.sent)
        return Fraction(surely, self.sent) * (1 - rare), possibly + rare * (1 - possibly)

    def compute_design_effect(self, confidence: Fraction, repeats: int | None = None) -> Fraction:
        """Return the design effect of losses: n cells count as n divided by it."""
        share = Fraction(self.lost, self.sent)
        levels = THRESHOLDS.get(self.counted, OTHER_THRESHOLDS)
        return max(
            self.delays.compute_design_effect(share, confidence, levels, repeats),
            self.delays.estimate_effect_of_losses(confidence, repeats or self.repeats),
        )

    def write_note(self, confidence: Fraction) -> str:
        """Return the count in words, with the upper bound of the ratio."""
        cells = format_number(self.sent)
        _, most = self._bound_ratio(confidence, self.repeats)
        found = (
            f"{format_number(self.lost)} of {cells} {self.counted}:"
            f" with {write_percent(confidence)} confidence the ratio is below"
            f" {_format_rounded_up(most)}"
        )
        if self.lost or self.identical or self.repeats == 1:
            return found
        rare = _format_rounded_up(bound_rare_share(confidence, self.repeats))
        return f"{found}; bursts in fewer than {rare} of repeats may not have been seen"


def pool_losses(leaf: Measured, repeats: Sequence[RepeatReadings]) -> Losses | None:
    """Return the count that a criterion measures, over all repeats; None if no cell was sent."""
    bound_ps = parse_bound(leaf.statistic)
    if bound_ps is not None:
        return _count_above_bound(leaf, bound_ps, repeats)
    counted, out_of = get_counting(leaf)
    of = replace(leaf, metric=out_of, statistic="", dimension=CELLS)
    sent = [int(_to_exact(repeat.read(of))) for repeat in repeats]
    if not sum(sent):
        return None
    share = leaf.dimension == RATIO
    found = [
        int(_to_exact(repeat.read(leaf)) * (of_all if share else 1))
        for repeat, of_all in zip(repeats, sent, strict=True)
    ]
    delays = Distribution([repeat.read_delays(leaf) or Delays() for repeat in repeats], sent, found)
    by_repeat = () if share else tuple(map(Fraction, sent))
    return Losses(sum(found), sum(sent), len(repeats), by_repeat, delays, counted)


def _count_above_bound(
    leaf: Measured, bound_ps: int, repeats: Sequence[RepeatReadings]
) -> Losses | None:
    found = [repeat.read_delays(leaf) or Delays() for repeat in repeats]
    totals = [delays.count for delays in found]
    if not sum(totals):
        return None
    surely, possibly = (
        sum(counts) for counts in zip(*(d.count_above(bound_ps) for d in found), strict=True)
    )
    delays = Distribution(found, totals, [0] * len(found))
    return Losses(possibly, sum(totals), len(found), (), delays, ABOVE, possibly - surely)


def pool_missing(
    planned: Sequence[int], missing: Sequence[int], delays: Sequence[Delays]
) -> Losses | None:
    """Return as losses what is missing of what was planned in each repeat; None without any."""
    lost = [min(max(gone, 0), of_all) for gone, of_all in zip(missing, planned, strict=True)]
    if not sum(planned):
        return None
    of = Distribution(delays, planned, lost)
    return Losses(sum(lost), sum(planned), len(lost), (), of)


def write_none_lost_note(sent: int) -> str:
    """Return in words what ratio independent losses may have if none of `sent` items was lost."""
    _, most = compute_clopper_pearson(0, sent, 1 - DEFAULT_CONFIDENCE)
    return (
        f"0 of {format_number(sent)} lost: if losses are independent, with"
        f" {write_percent(DEFAULT_CONFIDENCE)} confidence the ratio is below"
        f" {_format_rounded_up(most)}"
    )


def find_compared_count(comparison: Operation) -> Measured | None:
    """Return the count that a comparison compares with a constant; None if it compares another."""
    leaf, *others = comparison.operands
    if isinstance(leaf, Constant) and len(others) == 1:
        leaf, others = others[0], [leaf]
    known = all(isinstance(other, Constant) for other in others)
    return leaf if isinstance(leaf, Measured) and _is_counted(leaf) and known else None


def _is_counted(leaf: Measured) -> bool:
    return leaf.metric in _list_counting() or parse_bound(leaf.statistic) is not None


def is_count(leaf: Leaf) -> bool:
    """Return whether a measured value is a count of items, or their ratio to all."""
    return isinstance(leaf, Measured) and leaf.metric in _list_counting()


def as_ratios(expression: Expression) -> Expression:
    """Return an expression with the loss ratio in place of its definition.

    `lost / sent` is the ratio, and `received / sent` is 1 minus it.
    """
    if not isinstance(expression, Operation):
        return expression
    operands = tuple(as_ratios(operand) for operand in expression.operands)
    match operands if expression.operator == "/" else ():
        case Measured() as part, Measured(metric="sent") as sent:
            if replace(part, metric="sent", text=sent.text) == sent:
                name = "cell_loss_ratio" if part.dimension == CELLS else "loss_ratio"
                ratio = replace(part, metric=name, dimension=RATIO)
                if part.metric == "lost":
                    return ratio
                if part.metric == "received":
                    return Operation("-", (Constant(Fraction(1), RATIO), ratio), RATIO)
    return replace(expression, operands=operands)


def _to_exact(value: object) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(0)


@functools.lru_cache(1_024)
def _format_rounded_up(ratio: Fraction) -> str:
    """Return a ratio rounded up to two digits: `2.5 × 10⁻⁶`."""
    power = (Decimal(ratio.numerator) / ratio.denominator).adjusted()
    digits = math.ceil(ratio * Fraction(10) ** (1 - power))
    if digits == TWO_DIGITS:
        digits, power = 10, power + 1
    if power >= PERCENT:
        return format_value(Fraction(digits, 10 ** (1 - power)), RATIO)
    return f"{digits / 10:.1f} × 10{str(power).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
