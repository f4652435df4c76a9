"""What a count says of a ratio: of the cells lost, of those reordered, of the delays above a bound.

Which metrics count they say themselves, by `Metric.counting`: the "lost" out of those "sent".
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from qospec.catalogue.kinds import discover
from qospec.catalogue.statistics import bound_of
from qospec.engine.measure.metric import Counting
from qospec.engine.measure.tally import Delays
from qospec.judge.distribution import Distribution
from qospec.judge.means import skewness, spread
from qospec.judge.repeats import equal_values
from qospec.judge.statistics import bounds
from qospec.model.bounds import Bounds
from qospec.model.expression import Constant, Measured, Operation
from qospec.units import CELLS, RATIO, number_text, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qospec.judge.repeats import Repeat
    from qospec.model.expression import Expression, Leaf

LOST, ABOVE = "lost", "above"
"""What is counted, of what all metrics can; others count what they say."""
LEVELS = {LOST: 1}
OTHER_LEVELS = 2
"""At so many bounds enough cells must lie beyond to know how repeats differ.

Of delays above a bound found by calibration: at one, 6 of 100 false criteria passed where 5 may."""

SURE = Fraction(95, 100)
"""How sure a bound is that is said where no confidence is asked for."""

PERCENT = -2
TWO_DIGITS = 100


@functools.cache
def _counting() -> Mapping[str, Counting]:
    """Return by name those metrics that count."""
    metrics = discover().of("metric").items()
    return {name: counting for name, kind in metrics if (counting := kind.build.counting)}


def counting(leaf: Measured) -> Counting:
    """Return what is counted of something for which `judged` or `counts` holds."""
    return _counting().get(leaf.metric, Counting(ABOVE, ""))


def carriers(leaf: Measured) -> frozenset[str]:
    """Return of what a metric is measured: of cells, of packets, or of both."""
    kind = discover().find("metric", leaf.metric)
    return frozenset() if kind is None else frozenset(kind.carries)


def percent(confidence: Fraction) -> str:
    """Return a confidence as text, to its last digit: 99.999 % is not 100 %."""
    return f"{number_text(confidence * 100, exact=True)} %"


class Losses(NamedTuple):
    """How many cells were lost or reordered, or delays above a bound, in all repeats together.

    `each` is how many each repeat sent, where a number is judged; nothing of a ratio.
    `delays` are those of the cells that arrived: how repeats differ in the longest of them says how
    much cells that are lost in a queue depend on each other, even before one is. Of delays above a
    bound, `unsure` of those that are counted may not be: they are too near to it to tell.
    """

    lost: int
    sent: int
    repeats: int
    each: tuple[Fraction, ...]
    delays: Distribution
    counted: str = LOST
    unsure: int = 0

    @property
    def alike(self) -> bool:
        """Return whether the repeats do not differ, in losses or in delays."""
        return self.delays.alike

    @property
    def value(self) -> Fraction:
        """Return the ratio of all repeats, or the number of a mean repeat."""
        return Fraction(self.lost, self.repeats if self.each else self.sent)

    def between(self, confidence: Fraction, repeats: int) -> Bounds:
        """Return its bounds, each with that confidence, after so many repeats like these."""
        return Bounds(*self._ends(confidence, repeats))

    def reach(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return how far the value may lie below and above, after so many repeats like these."""
        low, high = self._ends(confidence, repeats)
        return self.value - low, high - self.value

    def _ends(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return the bounds.

        A number is a ratio of what is sent. Where repeats sent unequally many, that is drawn as
        well, so it has bounds of its own, and each of both half of the doubt.
        """
        if not self.each:
            return self._ratio(confidence, repeats)
        mean, wide = Fraction(self.sent, self.repeats), Fraction(0)
        if len(set(self.each)) > 1:
            confidence = (1 + confidence) / 2
            wide = spread(self.each, skewness(self.each, Fraction(0)), confidence, repeats)
        low, high = self._ratio(confidence, repeats)
        return low * max(mean - wide, Fraction(0)), high * (mean + wide)

    def _ratio(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return the bounds of the ratio, after so many repeats like these."""
        share = Fraction(self.lost, self.sent)
        if self.alike:
            low, high = self._of_equal_repeats(confidence, repeats)
        else:
            effect = self.design_effect(confidence) * self.repeats / repeats
            sent = max(1, math.floor(self.sent / effect))
            fewest = math.floor((self.lost - self.unsure) / effect)
            most = math.ceil(self.lost / effect)
            low, _ = bounds(min(fewest, sent), sent, 1 - confidence)
            _, high = bounds(min(most, sent), sent, 1 - confidence)
        return min(low, share), max(high, share)

    def _of_equal_repeats(self, confidence: Fraction, repeats: int) -> tuple[Fraction, Fraction]:
        """Return the bounds where what is drawn once in a repeat may have decided all of it."""
        possible = Bounds(Fraction(0), Fraction(1))
        surely = Fraction(self.lost - self.unsure, self.sent)
        low, _ = equal_values(surely, possible, confidence, repeats)
        _, high = equal_values(Fraction(self.lost, self.sent), possible, confidence, repeats)
        return low or Fraction(0), high or Fraction(1)

    def design_effect(self, confidence: Fraction) -> Fraction:
        """Return as how many cells one that is lost independently of all others counts."""
        share = Fraction(max(1, self.lost), self.sent)
        levels = LEVELS.get(self.counted, OTHER_LEVELS)
        return self.delays.design_effect(share, confidence, levels)

    def said(self, confidence: Fraction) -> str:
        """Return in words what ratio is excluded."""
        cells = number_text(self.sent, exact=True)
        _, most = self._ratio(confidence, self.repeats)
        return (
            f"{number_text(self.lost, exact=True)} of {cells} {self.counted}:"
            f" with {percent(confidence)} confidence the ratio is below {_above(most)}"
        )


def losses(leaf: Measured, repeats: Sequence[Repeat]) -> Losses | None:
    """Return the losses of what a criterion measures; None if no cell was sent."""
    bound_ps = bound_of(leaf.statistic)
    if bound_ps is not None:
        return _above_bound(leaf, bound_ps, repeats)
    counted, out_of = counting(leaf)
    of = replace(leaf, metric=out_of, statistic="", dimension=CELLS)
    sent = [int(_exact(repeat.read(of))) for repeat in repeats]
    if not sum(sent):
        return None
    share = leaf.dimension == RATIO
    found = [
        int(_exact(repeat.read(leaf)) * (of_all if share else 1))
        for repeat, of_all in zip(repeats, sent, strict=True)
    ]
    delays = Distribution([repeat.delays(leaf) or Delays() for repeat in repeats], sent, found)
    each = () if share else tuple(map(Fraction, sent))
    return Losses(sum(found), sum(sent), len(repeats), each, delays, counted)


def _above_bound(leaf: Measured, bound_ps: int, repeats: Sequence[Repeat]) -> Losses | None:
    found = [repeat.delays(leaf) or Delays() for repeat in repeats]
    counts = [each.count for each in found]
    if not sum(counts):
        return None
    sure, possibly = (sum(each) for each in zip(*(d.above(bound_ps) for d in found), strict=True))
    delays = Distribution(found, counts, [0] * len(found))
    return Losses(possibly, sum(counts), len(found), (), delays, ABOVE, possibly - sure)


def judged(comparison: Operation) -> Measured | None:
    """Return the losses that a comparison holds against a constant; None if it does not."""
    leaf, *others = comparison.operands
    if isinstance(leaf, Constant) and len(others) == 1:
        leaf, others = others[0], [leaf]
    known = all(isinstance(other, Constant) for other in others)
    return leaf if isinstance(leaf, Measured) and _counts(leaf) and known else None


def _counts(leaf: Measured) -> bool:
    return leaf.metric in _counting() or bound_of(leaf.statistic) is not None


def counts(leaf: Leaf) -> bool:
    """Return whether something measured is a number of such as are lost, or their share."""
    return isinstance(leaf, Measured) and leaf.metric in _counting()


def as_ratios(expression: Expression) -> Expression:
    """Return an expression that asks for the loss ratio where it is written out.

    `lost / sent` is the ratio, and `received / sent` what it leaves of 1.
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


def _exact(value: object) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(0)


def _above(ratio: Fraction) -> str:
    """Return a ratio in two digits that are not below it: `2.5 × 10⁻⁶`."""
    power = (Decimal(ratio.numerator) / ratio.denominator).adjusted()
    digits = math.ceil(ratio * Fraction(10) ** (1 - power))
    if digits == TWO_DIGITS:
        digits, power = 10, power + 1
    if power >= PERCENT:
        return text_of(Fraction(digits, 10 ** (1 - power)), RATIO)
    return f"{digits / 10:.1f} × 10{str(power).translate(_RAISED)}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
